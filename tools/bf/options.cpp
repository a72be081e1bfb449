// See options.hpp.
#include "options.hpp"

#include "colour.hpp"
#include "failures.hpp"
#include "foreign.hpp"
#include "library_names.hpp"
#include "numbers.hpp"
#include "secret.hpp"
#include "terminal.hpp"

#include <bfstore/bfstore.hpp>

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <limits>
#include <vector>

namespace bf {
namespace {

std::uint32_t parse_timeout(const std::string& option, const std::string& text) {
  if (text == "none") return 0;
  if (text == "forever") return bfstore::kWaitForEver;
  return parse_small(option, text, bfstore::kWaitForEver - 1, "none, forever, or ");
}

// `kind` is a noun with its article; `known` are the names that exist.
template <class Info>
[[noreturn]] void refuse_name(const std::string& option, const std::string& text, const char* kind,
                              const std::vector<Info>& known) {
  std::string names;
  for (const Info& info : known) {
    const bool last = &info == &known.back();
    names += (names.empty() ? "" : last ? " or " : ", ") + std::string(info.name);
  }
  throw Failure(option + ": '" + text + "' is not " + kind + ". Give one of " + names);
}

bfstore::Layout parse_layout(const std::string& option, const std::string& text) {
  if (const auto info = bfstore::layout_named(text)) return info->layout;
  refuse_name(option, text, "a layout", bfstore::layouts());
}

bfstore::Hash parse_hash(const std::string& option, const std::string& text, bool for_keys) {
  const auto info = bfstore::hash_named(text);
  if (!info) refuse_name(option, text, "a hash", bfstore::hashes());
  if (for_keys && !info->takes_keys)
    throw Failure(option + ": " + text + " takes digests, and this command reads keys. Use xxh3.");
  return info->hash;
}

// "xxh3 (default), siphash, ..."
std::string names_of_hashes() {
  std::string names;
  for (const bfstore::HashInfo& info : bfstore::hashes())
    names += (names.empty() ? "" : ", ") + std::string(info.name) + (names.empty() ? " (default)" : "");
  return names;
}

bfstore::Part parse_part(const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    throw Failure(option + ": '" + text + "' is not a part. Give its number, from 0, and how many there are: 2/8.");
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t parts = parse_small(option, text.substr(slash + 1), kMost);
  const std::uint64_t number = parse_uint64(option, text.substr(0, slash));
  if (number >= parts)
    throw Failure(option + ": '" + text + "' does not exist. The last part is " + std::to_string(parts - 1) + "/" +
                  std::to_string(parts) + ".");
  return {static_cast<std::uint32_t>(number), parts};
}

constexpr std::uint32_t kMostSpools = 4096;

// Adds the options for the quality of a filter of --capacity keys, of which at most one may be given.
std::vector<CLI::Option*> add_qualities(CLI::App& app, bfstore::Options& options) {
  const std::vector<CLI::Option*> qualities = {
      add_fpr(app, options, "false-positive rate at that number of keys (0.01 if no other option gives the size)"),
      add_bits_per_key(app, options, "bits for each key, instead of --fpr"),
      add_max_bytes(app, options, "the largest filter whose file is at most this big, instead of --fpr")};
  qualities[0]->excludes(qualities[1], qualities[2]);
  qualities[1]->excludes(qualities[2]);
  return qualities;
}

std::vector<CLI::Option*> add_bits_and_probes(CLI::App& app, bfstore::Options& options) {
  const auto take_seeds = [&](const std::string& name, const std::string& text) {
    options.seeds = parse_seeds(name, text);
  };
  CLI::Option* const bits = add_bits(app, options, "bits (counting: counters): 64Mi (67,108,864), or bytes: 8MiB");
  CLI::Option* const probes = add_probes(app, options, "bits each key sets, 1 to 64 (default: best for the size)");
  CLI::Option* const seeds =
      add_text(app, "--seeds",
               "of murmur3 and java-polynomial, one for each bit of a key: 41..47 or 3,1,4 (murmur3: 0, 1, 2, ...)",
               "S", take_seeds);
  return {bits, probes, seeds};
}

// Adds the ways to give the size, and which of them exclude each other. `counted`: bf counts the keys, so --capacity
// may be left out.
void add_size(CLI::App& app, Arguments& arguments, bool counted) {
  CLI::Option* const capacity = add_capacity(
      app, arguments.options, std::string("distinct keys to have room for") + (counted ? ", instead of counting" : ""));
  const auto qualities = add_qualities(app, arguments.options);
  const auto bits_and_probes = add_bits_and_probes(app, arguments.options);
  CLI::Option* const like = add_path(app, "--like", "copy size, layout, hash and seed of another filter: equal digests",
                                     "OTHER", arguments.options.like);
  like->excludes(capacity);
  for (CLI::Option* const option : qualities) {
    if (!counted) option->needs(capacity);
    bits_and_probes.front()->excludes(option);
    like->excludes(option);
  }
  for (CLI::Option* const option : bits_and_probes) like->excludes(option);
  CLI::Option* const tutorial =
      app.add_flag("--tutorial-sizing", arguments.options.tutorial_sizing,
                   "with --fpr: the m and k of most tutorials, whose rate may exceed P a little");
  tutorial->needs(qualities.front());
  tutorial->excludes(like, app.get_option("--probes"));
}

// Adds the options whose values --like copies.
void add_layout_hash_and_seed(CLI::App& app, bfstore::Options& options, bool for_keys) {
  const auto take_hash = [&app, &options, for_keys](const std::string& name, const std::string& text) {
    const CLI::Option* const digests = app.get_option_no_throw("--digests");
    if (digests != nullptr && digests->count() != 0)
      throw Failure(name + ": --digests are of the hash of their filter. Give --like, that filter, instead.");
    options.hash = parse_hash(name, text, for_keys);
  };
  const auto take_seed = [&](const std::string& name, const std::string& text) {
    options.seed = parse_uint64(name, text);
  };
  CLI::Option* const layout = add_layout(
      app, options,
      "blocked (default, one line), classic (lowest rate), counting (removes), static (built once: smallest), "
      "window (8 epochs), window-4 (4 epochs), window-2 (2 epochs), growing (5 slices)");
  CLI::Option* const window =
      add_window(app, options, "keep keys for this long after their last add, such as 24h or 7d; see bf turn");
  CLI::Option* const hash = add_text(app, "--hash", names_of_hashes(), "H", take_hash);
  CLI::Option* const seed = add_text(app, "--seed", "xxh3's seed, decimal or 0x... (default: random)", "S", take_seed);
  app.get_option("--like")->excludes(layout, window, hash, seed);
}

void add_note_and_mode(CLI::App& app, bfstore::Options& options) {
  add_text(app, "--note", "words of your own to keep in the file, at most 1024 bytes", "TEXT",
           [&](const std::string& name, const std::string& text) {
             if (text.size() > bfstore::kMaxNoteBytes) {
               throw Failure(name + ": " + std::to_string(text.size()) + " bytes are too long: at most " +
                             std::to_string(bfstore::kMaxNoteBytes));
             }
             options.note = text;
           });
  add_mode(app, options);
}

template <class Info>
std::vector<std::string> names_of(const std::vector<Info>& known) {
  std::vector<std::string> names;
  for (const Info& info : known) names.emplace_back(info.name);
  return names;
}

}  // namespace

std::vector<tools::Entry> usual_codes() { return {{"0", "it was done"}, {"2", kErrorCode}}; }

std::vector<tools::Entry> answer_codes() {
  return {{"0", "at least one of the keys may be present"}, {"1", "all are certainly absent"}, {"2", kErrorCode}};
}

void add_texts(CLI::App& app, const std::string& about, const std::string& examples,
               const std::vector<tools::Entry>& codes, const std::vector<tools::Entry>& topics) {
  tools::set_texts(app, {about, examples, codes, topics});
}

// True for a command that asks a file where it is: all its options for size and hash are of another program's filter.
static bool asks_in_place(const CLI::App& app) {
  return app.get_option_no_throw("--format") != nullptr && app.get_option_no_throw("--tolerate-damage") != nullptr;
}

void add_groups(CLI::App& app) {
  const tools::Group keys{"Keys", {"--from", "--null", "--binary", "--key-form", "--digests"}};
  const tools::Group file{"The file, and other processes",
                          {"--secret-file", "--lock-timeout", "--any-filesystem", "--small-pages"}};
  const tools::Group general{"General", {"--quiet", "--json", tools::kColourOption, "--help", "--version"}};
  if (asks_in_place(app)) {
    return tools::set_groups(app,
                             {keys,
                              file,
                              {"Filters of other programs", {"--format", "--column", "--member", "--order"}},
                              {"What the bytes of such a filter may not say",
                               {"--hash", "--seed", "--seeds", "--like", "--layout", "--window", "--capacity", "--fpr",
                                "--bits-per-key", "--max-bytes", "--bits", "--probes", "--tutorial-sizing"}},
                              general});
  }
  tools::set_groups(
      app,
      {keys,
       {"Size",
        {"--capacity", "--capacity-at-most", "--fpr", "--bits-per-key", "--max-bytes", "--bits", "--probes", "--like"}},
       {"The new filter",
        {"--layout", "--window", "--hash", "--seed", "--seeds", "--tutorial-sizing", "--part", "--filling", "--to-fpr",
         "--file-id", "--note", "--mode", "--force", "--accept-loss"}},
       file,
       general});
}

CLI::Option* add_capacity(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "-n,--capacity", help, "N", [&](const std::string& name, const std::string& text) {
    options.capacity = parse_quantity(name, text, Unit::kKeys, kNoLimit);
  });
}

void add_capacity_at_most(CLI::App& app, bfstore::Options& options) {
  CLI::Option* const most = add_text(
      app, "--capacity-at-most",
      "keys that are surely enough, if nobody knows how many will come: bf fold makes the filter smaller later; "
      "of --layout growing: room in all slices",
      "N", [&](const std::string& name, const std::string& text) {
        options.capacity_at_most = parse_quantity(name, text, Unit::kKeys, kNoLimit);
      });
  for (const char* other :
       {"--bits-per-key", "--max-bytes", "--bits", "--probes", "--seeds", "--like", "--tutorial-sizing"})
    most->excludes(app.get_option(other));
  app.get_option("--fpr")->remove_needs(app.get_option("--capacity"));
}

CLI::Option* add_fpr(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "-p,--fpr", help, "P",
                  [&](const std::string& name, const std::string& text) { options.fpr = parse_rate(name, text); });
}

CLI::Option* add_bits_per_key(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "--bits-per-key", help, "B", [&](const std::string& name, const std::string& text) {
    options.bits_per_key = parse_fraction(name, text, static_cast<double>(bfstore::kMaxBits), "12");
  });
}

CLI::Option* add_max_bytes(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "--max-bytes", help, "SIZE", [&](const std::string& name, const std::string& text) {
    options.max_bytes = parse_quantity(name, text, Unit::kBytes, kNoLimit);
  });
}

CLI::Option* add_bits(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "-m,--bits", help, "M", [&](const std::string& name, const std::string& text) {
    options.num_bits = parse_quantity(name, text, Unit::kBits, bfstore::kMaxBits);
  });
}

CLI::Option* add_probes(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "-k,--probes", help, "K", [&](const std::string& name, const std::string& text) {
    options.num_probes = parse_small(name, text, bfstore::kMaxProbes);
  });
}

CLI::Option* add_layout(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "--layout", help, "L",
                  [&](const std::string& name, const std::string& text) { options.layout = parse_layout(name, text); });
}

CLI::Option* add_window(CLI::App& app, bfstore::Options& options, const std::string& help) {
  return add_text(app, "--window", help, "TIME", [&](const std::string& name, const std::string& text) {
    options.window_ms = parse_time(name, text);
  });
}

void add_file(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path(app, "FILE", help, "", arguments.file)->required();
}

void add_quiet(CLI::App& app, Arguments& arguments) {
  app.add_flag("-q,--quiet", arguments.quiet, "print no line about success; warnings are printed");
}

void add_any_filesystem(CLI::App& app, Arguments& arguments) {
  app.add_flag("--any-filesystem", arguments.any_filesystem,
               "use a file on a network filesystem or a read-only overlay, where a process may miss others' writes");
}

void add_small_pages(CLI::App& app, Arguments& arguments) {
  app.add_flag("--small-pages", arguments.small_pages,
               "read no more of the file than a lookup needs; done unasked if the file does not fit in memory");
}

void add_lock_timeout(CLI::App& app, Arguments& arguments, const std::string& usually) {
  add_text(
      app, "--lock-timeout", "milliseconds to wait for another process's lock, or none, or forever (" + usually + ")",
      "MS",
      [&](const std::string& name, const std::string& text) { arguments.lock_timeout_ms = parse_timeout(name, text); });
}

void add_secret_file(CLI::App& app, Arguments& arguments) {
  add_path(app, "--secret-file",
           "the secret of a filter with siphash: a file that has 16 bytes, or 32 hexadecimal digits", "PATH",
           arguments.secret_file);
}

void add_separator(CLI::App& app, Arguments& arguments) {
  app.add_flag_callback(
      "-0,--null", [&] { arguments.list.separator = '\0'; }, "keys end in NUL instead of LF");
  app.add_flag("--binary", arguments.list.any_bytes,
               "the keys are any bytes: no list is refused or decompressed, and no CR is left out");
}

void add_key_form(CLI::App& app, Arguments& arguments) {
  add_text(app, "--key-form", "what the lines are, one or several in order (text; lower,hex): see bf help key-forms",
           "FORM",
           [&](const std::string& name, const std::string& text) { arguments.key_form = parse_key_form(name, text); });
}

void add_form_of_sources(CLI::App& app, Arguments& arguments) {
  add_text(app, "--key-form", "the form of the keys of each filter whose note names none", "FORM",
           [&](const std::string& name, const std::string& text) { arguments.key_form = parse_key_form(name, text); });
}

void add_part(CLI::App& app, bfstore::Options& options) {
  add_text(app, "--part", "make only part I of N of the filter, from 0: only the keys of that part belong to it", "I/N",
           [&](const std::string& name, const std::string& text) { options.part = parse_part(name, text); });
}

void add_parts(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_text(app, "--parts", help, "N", [&](const std::string& name, const std::string& text) {
    arguments.spools = parse_small(name, text, kMostSpools);
  });
}

// The strictest of the usual ones that takes nothing away.
static std::uint32_t usual_umask(std::uint32_t mode) {
  for (const std::uint32_t mask : {022U, 002U}) {
    if ((mode & mask) == 0) return mask;
  }
  return 0;
}

// The library takes the umask's bits away, as for every file that a program makes.
static void warn_of_umask(const std::string& name, std::uint32_t mode) {
  const mode_t mask = ::umask(0);  // bf has one thread here
  ::umask(mask);
  if ((mode & mask) == 0) return;
  std::array<char, 192> words{};
  std::snprintf(
      words.data(), words.size(),
      ": the umask %03o takes rights away, so the file gets the mode %04o. For %04o: umask %03o before bf, or "
      "chmod %04o after it.",
      mask, mode & ~mask, mode, usual_umask(mode), mode);
  warn(name + words.data());
}

void add_mode(CLI::App& app, bfstore::Options& options) {
  add_text(app, "--mode",
           "permissions of the file in octal, less the umask (default: of the file that is replaced, or 0600)", "MODE",
           [&](const std::string& name, const std::string& text) {
             options.mode = parse_mode(name, text);
             warn_of_umask(name, *options.mode);
           });
}

void add_new_file(CLI::App& app, Arguments& arguments, const std::string& force) {
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, force);
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
}

void add_accept_loss(CLI::App& app, Arguments& arguments, const std::string& replaced) {
  app.add_flag("--accept-loss", arguments.accept_loss,
               "with --force: also if " + replaced + " may have keys that the new file lacks")
      ->needs("--force");
}

void add_shape(CLI::App& app, Arguments& arguments, bool counted, const std::string& force) {
  add_size(app, arguments, counted);
  add_layout_hash_and_seed(app, arguments.options, counted);
  add_secret_file(app, arguments);
  add_note_and_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace, force);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
}

void add_filling(CLI::App& app, bfstore::Options& options) {
  app.add_flag("--filling", options.filling, "answer maybe for every key until bf finish-filling: for an online build");
}

void need(CLI::App& app, CLI::Option* option, std::size_t first) {
  const auto all = app.get_options();
  for (std::size_t i = first; i < all.size(); ++i) all[i]->needs(option);
}

void add_create(CLI::App& app, Arguments& arguments) {
  CLI::Option* const create =
      app.add_flag("--create", arguments.create,
                   "make the file if there is none, by the options for size and shape; never replaces one");
  const std::size_t before = app.get_options().size();
  add_size(app, arguments, false);
  add_capacity_at_most(app, arguments.options);
  add_layout_hash_and_seed(app, arguments.options, true);
  add_note_and_mode(app, arguments.options);
  add_part(app, arguments.options);
  add_filling(app, arguments.options);
  need(app, create, before);
}

void add_unsaid(CLI::App& app, Arguments& arguments, CLI::Option* format, std::size_t first) {
  add_size(app, arguments, false);
  add_layout_hash_and_seed(app, arguments.options, true);
  need(app, format, first);
}

void add_keys(CLI::App& app, Arguments& arguments) {
  CLI::Option* const keys = app.add_option(
      "KEY",
      [&](const CLI::results_t& results) {
        for (const std::string& word : results) {
          // CLI11 takes "-5" for a number, and "-05" for the option -0.
          if (word.starts_with('-') && word.size() > 1)
            throw Failure("KEY: '" + word + "' begins with a dash. Put -- before it.");
          if (word == "-" && results.size() > 1)
            throw Failure("KEY: - is standard input, and excludes other keys. For the key itself put -- before it.");
          if (word != "-") arguments.keys.push_back(unmasked(word));
        }
        return true;
      },
      "the keys");
  keys->type_name("")->type_size(1)->expected(-1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  keys->excludes(add_path_or_stream(app, "--from", "a file with the keys, one a line; - is standard input", "PATH",
                                    arguments.from));
  add_separator(app, arguments);
}

// Adds an option, or a positional one, that takes several paths to `sources`.
CLI::Option* add_paths(CLI::App& app, const std::string& name, const std::string& help, Arguments& arguments) {
  const auto take = [name, &arguments](const CLI::results_t& results) {
    for (const std::string& word : results) arguments.sources.push_back(named_path(name, unmasked(word)));
    return true;
  };
  return tools::mark_path(app.add_option(name, take, help));
}

CLI::Option* add_any(CLI::App& app, Arguments& arguments) {
  return add_paths(app, "--any", "another filter: ask FILE and each of them, and say which may have the key", arguments)
      ->type_name("OTHER")
      ->type_size(1)
      ->expected(-1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_sources(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_paths(app, "IN", help, arguments)
      ->type_name("")
      ->type_size(1)
      ->expected(-1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->required();
}

void check_hash(const Arguments& arguments) {
  const auto& hash = arguments.options.hash;
  if (!hash || !bfstore::hash_of(*hash)->takes_secret || !arguments.secret_file.empty()) return;
  throw Failure(std::string("--hash: siphash needs a secret.") + kMakeSecret + " Give it: --secret-file FILE.");
}

tools::Words known_words() {
  return {{"--layout", names_of(bfstore::layouts())},
          {"--hash", names_of(bfstore::hashes())},
          {"--format", format_names()},
          {"--key-form", key_step_names()},
          {"--lock-timeout", {"none", "forever"}}};
}

// True for a hash that has only one k: then m alone makes a plan.
static bool has_own_probes(bfstore::Hash hash) {
  constexpr std::uint64_t kAnyBits = 1 << 16;
  return bfstore::plan({.layout = bfstore::Layout::kClassic, .num_bits = kAnyBits, .hash = hash}).ok();
}

void check_bits(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (options.num_probes != 0 && options.num_bits == 0)
    throw Failure(std::string(arguments.command->name) + ": --probes needs --bits.");
  if (options.num_bits == 0 || options.num_probes != 0 || !options.seeds.empty()) return;
  if (options.hash && has_own_probes(*options.hash)) return;
  const std::string name = arguments.command->name;
  throw Failure(name + ": --bits needs --probes, or --seeds with a hash that takes them. See bf " + name + " --help.");
}

// The numbers that were given, for a plan.
static bfstore::PlanRequest request_of(const bfstore::Options& options) {
  bfstore::PlanRequest request;
  if (options.hash) request.hash = *options.hash;
  if (bfstore::hash_of(request.hash)->gives_positions) request.layout = bfstore::Layout::kClassic;
  if (options.window_ms != 0) request.layout = bfstore::Layout::kWindow;
  if (options.layout) request.layout = *options.layout;
  request.capacity = options.capacity;
  request.bits_per_key = options.bits_per_key;
  request.max_bytes = options.max_bytes;
  request.num_bits = options.num_bits;
  request.num_probes = options.num_probes;
  const bool has_size = request.num_bits != 0 || request.bits_per_key != 0 || request.max_bytes != 0;
  if (options.capacity == 0 || !has_size) request.fpr = options.fpr != 0 ? options.fpr : kUsualFpr;
  return request;
}

void complete_size(Arguments& arguments) {
  bfstore::Options& options = arguments.options;
  arguments.bits_asked = options.num_bits;
  if ((options.num_bits != 0) == (options.num_probes != 0) || !options.seeds.empty()) return;
  if (options.num_bits != 0 && options.hash && has_own_probes(*options.hash)) return;
  const std::string name = arguments.command->name;
  if (options.num_bits == 0 && options.capacity == 0)
    throw Failure(name + ": --probes alone gives no size. Give --capacity N or --bits M, too. See bf " + name +
                  " --help.");
  const auto plan = bfstore::plan(request_of(options));
  if (!plan) throw Failure(name + ": " + with_names_of_options(plan.error().message, ""));
  options.num_bits = plan->num_bits;
  options.num_probes = plan->num_probes;
  options.capacity = plan->capacity;
  options.fpr = options.bits_per_key = 0;
  options.max_bytes = 0;
}

void check_create(Arguments& arguments) {
  complete_size(arguments);
  if (!arguments.is_sized()) fail_unsized(arguments);
  check_hash(arguments);
}

void fail_unsized(const Arguments& arguments) {
  const std::string name = arguments.command->name;
  throw Failure(name + ": no size given. Give --capacity N, or --bits M, or --like OTHER. See bf " + name + " --help.");
}

}  // namespace bf
