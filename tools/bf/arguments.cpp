// See arguments.hpp. CLI11 knows the grammar. It would change a few unusual words, and so the keys. Therefore these
// words are masked before it parses and unmasked after (see masked_words).
#include "arguments.hpp"

#include "description.hpp"
#include "failure.hpp"
#include "numbers.hpp"

#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace bf {
namespace {

// Marks a word that is only text. No argument of a program can have a NUL, so no other word looks like it.
constexpr char kMask = '\0';

std::string unmasked(std::string word) {
  if (!word.empty() && word.front() == kMask) word.erase(0, 1);
  return word;
}

// argv as CLI11 may have it. Without masks CLI11 would split the key "[a,b]" in two, drop the key "++", take the next
// word as the value of "--note=", and refuse "--" after the first key. So this masks every word after the command's
// name that does not begin with a dash, and every word after "--".
std::vector<std::string> masked_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool named = false;
  bool only_text = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool dashed = word.starts_with('-');
    if (only_text || (named && !dashed)) {
      words.push_back(kMask + word);
    } else if (word == "--") {
      only_text = true;
    } else if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.push_back(word.substr(0, word.size() - 1));
      words.emplace_back(1, kMask);
    } else {
      named = named || !dashed;
      words.push_back(std::move(word));
    }
  }
  return words;
}

// Help without CLI11's lists of what excludes what: the usage line says it better.
class Help : public CLI::Formatter {
 public:
  explicit Help(std::string usage) : usage_("Usage: " + std::move(usage) + "\n") {}

  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }

 private:
  std::string usage_;
};

void add_help_and_version(CLI::App& app, const std::string& usage) {
  app.formatter(std::make_shared<Help>(usage));
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", std::string("bf ") + bfstore::version(), "print the version and exit");
}

// Takes an option's name and its value.
using Take = std::function<void(const std::string& name, const std::string& text)>;

// An option (or FILE) whose value is passed to `take`, unmasked and otherwise unchanged.
CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      Take take) {
  const auto callback = [name, take = std::move(take)](const CLI::results_t& results) {
    for (const std::string& result : results) take(name, unmasked(result));
    return true;
  };
  return app.add_option(name, callback, help)->type_name(type)->type_size(1)->expected(1);
}

CLI::Option* add_path(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      std::string& path) {
  const auto take = [&path](const std::string& option, const std::string& text) {
    if (text.empty()) throw Failure(option + ": the name is empty. Give a path.");
    path = text;
  };
  return tools::mark_path(add_text(app, name, help, type, take));
}

void add_file(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path(app, "FILE", help, "", arguments.file)->required();
}

void add_quiet(CLI::App& app, Arguments& arguments) {
  app.add_flag("-q,--quiet", arguments.quiet, "print no line about success");
}

void add_any_filesystem(CLI::App& app, Arguments& arguments) {
  app.add_flag("--any-filesystem", arguments.any_filesystem,
               "use a file on a network or overlay filesystem, where a process may miss others' writes");
}

void add_small_pages(CLI::App& app, Arguments& arguments) {
  app.add_flag("--small-pages", arguments.small_pages,
               "read no more of the file than a lookup needs; done unasked if the file does not fit in memory");
}

std::uint32_t parse_timeout(const std::string& option, const std::string& text) {
  if (text == "none") return 0;
  if (text == "forever") return bfstore::kWaitForEver;
  return parse_small(option, text, bfstore::kWaitForEver - 1, "none, forever, or ");
}

void add_lock_timeout(CLI::App& app, Arguments& arguments, const std::string& usually = "default: 5000") {
  add_text(
      app, "--lock-timeout", "milliseconds to wait for another process's lock, or none, or forever (" + usually + ")",
      "MS",
      [&](const std::string& name, const std::string& text) { arguments.lock_timeout_ms = parse_timeout(name, text); });
}

void add_key_file(CLI::App& app, Arguments& arguments) {
  add_path(app, "--key-file",
           "the secret key of a filter with siphash: a file of 16 bytes, or of 32 hexadecimal digits", "PATH",
           arguments.key_file);
}

void add_separator(CLI::App& app, Arguments& arguments) {
  app.add_flag_callback(
      "-0,--null", [&] { arguments.list.separator = '\0'; }, "keys end in NUL instead of LF");
  app.add_flag("--binary", arguments.list.any_bytes,
               "the keys are any bytes: no list is refused or decompressed, and no CR is left out");
}

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

CLI::Option* add_capacity(CLI::App& app, Arguments& arguments, const std::string& help) {
  return add_text(app, "--capacity", help, "N", [&](const std::string& name, const std::string& text) {
    arguments.options.capacity = parse_quantity(name, text, Unit::kKeys, kNoLimit);
  });
}

// The options for how good a filter of --capacity keys is: at most one of them.
std::vector<CLI::Option*> add_qualities(CLI::App& app, bfstore::Options& options) {
  const auto take_fpr = [&](const std::string& name, const std::string& text) { options.fpr = parse_rate(name, text); };
  const auto take_bits_per_key = [&](const std::string& name, const std::string& text) {
    options.bits_per_key = parse_fraction(name, text, static_cast<double>(bfstore::kMaxBits), "12");
  };
  const auto take_max_bytes = [&](const std::string& name, const std::string& text) {
    options.max_bytes = parse_quantity(name, text, Unit::kBytes, kNoLimit);
  };
  const std::vector<CLI::Option*> qualities = {
      add_text(app, "--fpr", "false-positive rate at that number of keys (0.01 if no other option gives the size)", "P",
               take_fpr),
      add_text(app, "--bits-per-key", "bits for each key, instead of --fpr", "B", take_bits_per_key),
      add_text(app, "--max-bytes", "the largest filter whose file is at most this big, instead of --fpr", "SIZE",
               take_max_bytes)};
  qualities[0]->excludes(qualities[1], qualities[2]);
  qualities[1]->excludes(qualities[2]);
  return qualities;
}

std::vector<CLI::Option*> add_bits_and_probes(CLI::App& app, bfstore::Options& options) {
  const char* const help = "bits (counting: counters), with --probes or --seeds: 64Mi (67,108,864), or in bytes: 8MiB";
  const auto take_bits = [&](const std::string& name, const std::string& text) {
    options.num_bits = parse_quantity(name, text, Unit::kBits, bfstore::kMaxBits);
  };
  const auto take_probes = [&](const std::string& name, const std::string& text) {
    options.num_probes = parse_small(name, text, bfstore::kMaxProbes);
  };
  const auto take_seeds = [&](const std::string& name, const std::string& text) {
    options.seeds = parse_seeds(name, text);
  };
  CLI::Option* const bits = add_text(app, "--bits", help, "M", take_bits);
  CLI::Option* const probes = add_text(app, "--probes", "bits set by each key, 1 to 64, with --bits", "K", take_probes);
  CLI::Option* const seeds =
      add_text(app, "--seeds",
               "of murmur3 and java-polynomial, one for each bit of a key: 41..47 or 3,1,4 (murmur3: 0, 1, 2, ...)",
               "S", take_seeds);
  probes->needs(bits);
  return {bits, probes, seeds};
}

// The ways to give the size, and which exclude each other. `counted`: bf counts the keys, so --capacity may be left
// out.
void add_size(CLI::App& app, Arguments& arguments, bool counted) {
  CLI::Option* const capacity = add_capacity(
      app, arguments, std::string("distinct keys to have room for") + (counted ? ", instead of counting" : ""));
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
  tutorial->excludes(like);
}

// `kind` is a noun with its article; `known` are the names that exist.
template <class Info>
[[noreturn]] void refuse_name(const std::string& option, const std::string& text, const char* kind,
                              const std::vector<Info>& known) {
  std::string names;
  for (const Info& info : known) names += (names.empty() ? "" : " and ") + std::string(info.name);
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
    throw Failure(option + ": " + text + " takes digests, and build reads keys. Use xxh3.");
  return info->hash;
}

// The options whose values --like copies.
void add_layout_hash_and_seed(CLI::App& app, bfstore::Options& options, bool for_keys) {
  const auto take_layout = [&](const std::string& name, const std::string& text) {
    options.layout = parse_layout(name, text);
  };
  const auto take_hash = [&options, for_keys](const std::string& name, const std::string& text) {
    options.hash = parse_hash(name, text, for_keys);
  };
  const auto take_seed = [&](const std::string& name, const std::string& text) {
    options.seed = parse_uint64(name, text);
  };
  app.get_option("--like")->excludes(
      add_text(app, "--layout",
               "blocked (default: one cache line a key), classic (fewest false positives) or counting (removes)", "L",
               take_layout),
      add_text(app, "--hash",
               "xxh3 (default), siphash, external, murmur3, murmur3-unsigned, java-polynomial, jaybird, "
               "pybloom-live",
               "H", take_hash),
      add_text(app, "--seed", "xxh3's seed, decimal or 0x... (default: random)", "S", take_seed));
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

void add_part(CLI::App& app, bfstore::Options& options) {
  add_text(app, "--part", "make only part I of N of the filter, from 0: only the keys of that part belong to it", "I/N",
           [&](const std::string& name, const std::string& text) { options.part = parse_part(name, text); });
}

constexpr std::uint32_t kMostSpools = 4096;

void add_parts(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_text(app, "--parts", help, "N", [&](const std::string& name, const std::string& text) {
    arguments.spools = parse_small(name, text, kMostSpools);
  });
}

void add_mode(CLI::App& app, bfstore::Options& options) {
  add_text(app, "--mode",
           "permissions of the file in octal, less the umask (default: of the file that is replaced, or 0600)", "MODE",
           [&](const std::string& name, const std::string& text) { options.mode = parse_mode(name, text); });
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

void add_shape(CLI::App& app, Arguments& arguments, bool counted) {
  add_size(app, arguments, counted);
  add_layout_hash_and_seed(app, arguments.options, counted);
  add_key_file(app, arguments);
  add_note_and_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace,
               "replace an existing file; its writers then get an error, and its readers get maybe");
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
}

// The usage after the file's name, for create and build.
constexpr const char* kShapeUsage =
    "[--layout L] [--hash H] [--seed S | --key-file PATH] [--note TEXT] [--mode MODE] [--force] [-q]";

constexpr const char* kNumbers = "Numbers: 10M, 1.5G (k M G T are powers of 1000), 64MiB (Ki Mi Gi Ti: of 1024).\n";

void add_create(CLI::App& app, Arguments& arguments) {
  CLI::App& create = *app.add_subcommand("create", "Make a new, empty filter");
  create.callback([&] { arguments.command = Command::kCreate; });
  add_help_and_version(create,
                       "bf create FILE --capacity N [--fpr P | --bits-per-key B | --max-bytes SIZE]\n"
                       "       bf create FILE --bits M [--probes K | --hash H --seeds S] [--capacity N]\n"
                       "       bf create FILE --like OTHER\n"
                       "       options of all: [--part I/N] [--filling]\n                       " +
                           std::string(kShapeUsage));
  add_file(create, arguments, "the filter to make");
  add_shape(create, arguments, false);
  add_part(create, arguments.options);
  create.add_flag("--filling", arguments.options.filling,
                  "answer maybe for every key until bf finish-filling: for an online build");
  create.footer(std::string(kNumbers) +
                "\nExample: a filter for ten million users, wrong about one absent key in a hundred:\n"
                "  bf create users.bf --capacity 10M --fpr 0.01");
}

void add_build(CLI::App& app, Arguments& arguments) {
  CLI::App& build = *app.add_subcommand("build", "Make a filter of a list of keys, of the right size");
  build.callback([&] { arguments.command = Command::kBuild; });
  add_help_and_version(build,
                       "bf build FILE --from KEYS [-0] [--capacity N] [--fpr P | --bits-per-key B | --max-bytes SIZE]\n"
                       "       bf build FILE --from KEYS [-0] --bits M --probes K\n"
                       "       bf build FILE --from KEYS [-0] --like OTHER\n"
                       "       options of all: [--parts N] [--part I/N] [--digests]\n                       " +
                           std::string(kShapeUsage));
  add_file(build, arguments, "the filter to make; it appears when it is complete");
  add_path(build, "--from", "the keys, one a line; - is standard input", "PATH", arguments.from)->required();
  add_separator(build, arguments);
  add_shape(build, arguments, true);
  add_part(build, arguments.options);
  build.add_flag("--digests", arguments.digests, "the keys are digests, as bf digest writes them, 8 bytes each")
      ->excludes("--null");
  add_parts(build, arguments, "sort the digests into N parts in $TMPDIR first, for a filter larger than memory");
  build.footer(
      std::string(kNumbers) +
      "\nThe keys are counted first, unless --capacity, --bits or --like give the size. A key that comes twice\n"
      "counts twice, so the filter may be larger than necessary. A pipe is read once: bf keeps 8 bytes of each key\n"
      "until it has counted them, up to 8 MiB in memory, and the rest in an unnamed file in $TMPDIR. With --parts it\n"
      "keeps 8 bytes of each key of any list: 16 MiB in memory, and the rest in N such files. A list without keys is\n"
      "an error: bf create makes empty filters.\n"
      "\nExample:\n  bf build words.bf --from words.txt --fpr 0.001");
}

constexpr const char* kKeys =
    "Keys are bytes. Only the line's end is removed (LF, or CR LF if all lines end so), and a blank line is the empty\n"
    "key. A list that is not lines of text is refused, and one that is compressed (gzip, xz, zstd, bzip2, ...) is "
    "read\n"
    "through its program. Put -- before a key that begins with a dash. Without KEY and --from, and for -, keys are "
    "read\n"
    "from standard input.\n";

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
  keys->excludes(
      add_path(app, "--from", "a file with the keys, one a line; - is standard input", "PATH", arguments.from));
  add_separator(app, arguments);
}

void add_add(CLI::App& app, Arguments& arguments) {
  CLI::App& add = *app.add_subcommand("add", "Add keys to a filter");
  add.callback([&] { arguments.command = Command::kAdd; });
  add_help_and_version(add, "bf add FILE [KEY... | --from PATH] [-0] [--key-file PATH] [-q]");
  add_file(add, arguments, "the filter");
  add_keys(add, arguments);
  add_key_file(add, arguments);
  add_lock_timeout(add, arguments, "5000; exclusive: 60000");
  add_any_filesystem(add, arguments);
  add_small_pages(add, arguments);
  add_quiet(add, arguments);
  add.footer(std::string(kKeys) + "\nExamples:\n  bf add users.bf alice bob\n  bf add users.bf --from new-users.txt");
}

void add_remove(CLI::App& app, Arguments& arguments) {
  CLI::App& remove = *app.add_subcommand("remove", "Take keys out of a filter of the counting layout");
  remove.callback([&] { arguments.command = Command::kRemove; });
  add_help_and_version(remove, "bf remove FILE [KEY... | --from PATH] [-0] [--key-file PATH] [-q]");
  add_file(remove, arguments, "the filter");
  add_keys(remove, arguments);
  remove.add_flag("--skip-absent", arguments.skip_absent,
                  "keys of a list may be absent: without this, the first one that is ends the remove");
  add_key_file(remove, arguments);
  add_lock_timeout(remove, arguments);
  add_any_filesystem(remove, arguments);
  add_small_pages(remove, arguments);
  add_quiet(remove, arguments);
  remove.footer(
      std::string(kKeys) +
      "\nRemove only keys that were added, and each at most as often as it was added. To remove a key that was never\n"
      "added, or once too often, can make the filter answer no for other keys that are in it. The filter cannot\n"
      "detect this. It is the one way in which a caller can make a wrong no.\n"
      "\nA key that is certainly absent is counted, and nothing changes. Never run a remove again that failed or was\n"
      "killed: what it did not take only costs false positives. A list that seems to be damaged is refused where it\n"
      "does: one of its keys is certainly absent, or its last line has no newline.\n"
      "\nExample:\n  bf create users.bf --capacity 10M --layout counting\n  bf add users.bf alice bob\n"
      "  bf remove users.bf alice");
}

void add_count(CLI::App& app, Arguments& arguments) {
  CLI::App& count = *app.add_subcommand("count", "Ask how often keys are in a filter of the counting layout, at most");
  count.callback([&] { arguments.command = Command::kCount; });
  add_help_and_version(count, "bf count FILE [KEY... | --from PATH] [-0] [--key-file PATH]");
  add_file(count, arguments, "the filter");
  add_keys(count, arguments);
  add_key_file(count, arguments);
  add_any_filesystem(count, arguments);
  add_small_pages(count, arguments);
  count.footer(
      std::string(kKeys) +
      "Prints NUMBER<TAB>KEY for each key, in order: how often it was added and not removed, at most. 15+ means 15\n"
      "or more. Exit code: 0 if any key may be present, 1 if all are certainly absent, 2 on an error.\n"
      "\nExample:\n  bf count users.bf alice bob");
}

void add_contains(CLI::App& app, Arguments& arguments) {
  CLI::App& contains = *app.add_subcommand("contains", "Ask whether keys may be in a filter, or certainly are not");
  contains.callback([&] { arguments.command = Command::kContains; });
  add_help_and_version(contains,
                       "bf contains FILE [KEY... | --from PATH] [-0] [--maybe | --absent | --count] [--key-file PATH]\n"
                       "       bf contains --set FILE [KEY... | --from PATH] ...");
  add_file(contains, arguments, "the filter");
  contains.add_flag("--set", arguments.set, "FILE lists the parts of the filter");
  add_keys(contains, arguments);
  add_key_file(contains, arguments);
  add_any_filesystem(contains, arguments);
  add_small_pages(contains, arguments);
  contains.add_flag("--copy", arguments.copy,
                    "read the filter into memory first, so that later changes of the file do not matter");
  CLI::Option* const tolerate = contains.add_flag("--tolerate-damage", arguments.tolerate_damage,
                                                  "a sealed filter: answer maybe for keys in damaged places");
  contains.add_flag("--verify", arguments.verify, "a sealed filter: compare it with its checksums first")
      ->excludes(tolerate);
  const auto choice = [&](const char* name, Answers answers, const char* help) {
    return contains.add_flag_callback(
        name, [&arguments, answers] { arguments.answers = answers; }, help);
  };
  CLI::Option* const maybe = choice("--maybe", Answers::kMaybe, "print only the keys that may be present");
  CLI::Option* const absent = choice("--absent", Answers::kAbsent, "print only the keys that are certainly absent");
  CLI::Option* const count =
      choice("--count", Answers::kCount, "print only how many keys may be present, and how many are absent");
  maybe->excludes(absent, count);
  absent->excludes(count);
  contains.footer(
      std::string(kKeys) +
      "Prints maybe<TAB>KEY or absent<TAB>KEY for each key, in order. Exit code: 0 if any key may be\n"
      "present, 1 if all are certainly absent, 2 on an error.\n"
      "A list of parts is the line bfstore-set 1, and one path a line, relative to the list's folder. Keys of a\n"
      "part that is not listed may be present.\n"
      "\nExamples:\n  bf contains users.bf alice\n  bf contains seen.bf --absent < urls.txt > new-urls.txt\n"
      "  bf contains --set parts.set alice");
}

void add_recover(CLI::App& app, Arguments& arguments) {
  CLI::App& recover = *app.add_subcommand("recover", "Add again the keys that a filter may have lost in a crash");
  recover.callback([&] { arguments.command = Command::kRecover; });
  add_help_and_version(
      recover,
      "bf recover FILE [KEY... | --from PATH] [-0] [--owner N]... [--all-owners] [--epoch N]\n"
      "                        [--key-file PATH] [-q]\n"
      "       bf recover FILE --no-keys [--owner N]... [--all-owners] [--epoch N] [--key-file PATH] [-q]\n"
      "       bf recover FILE --accept-loss [--key-file PATH] [-q]");
  add_file(recover, arguments, "the filter");
  add_keys(recover, arguments);
  add_key_file(recover, arguments);
  CLI::Option* const owner = add_text(
      recover, "--owner", "an owner of these keys, as in its mark; once for each", "N",
      [&](const std::string& name, const std::string& text) { arguments.owners.push_back(parse_uint64(name, text)); });
  owner->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1, CLI::detail::expected_max_vector_size);
  owner->allow_extra_args(false);  // what follows its number is a key
  owner->excludes(
      recover.add_flag("--all-owners", arguments.all_owners, "these are the keys of every owner of a mark"));
  add_text(recover, "--epoch", "the log of these keys; refused if a mark is of another log", "N",
           [&](const std::string& name, const std::string& text) { arguments.epoch = parse_uint64(name, text); });
  CLI::Option* const none = recover.add_flag("--no-keys", arguments.no_keys, "no key was added after the marks");
  none->excludes(recover.get_option("--from"), recover.get_option("KEY"));
  CLI::Option* const loss =
      recover.add_flag("--accept-loss", arguments.accept_loss, "use the filter without the keys that may be missing");
  for (const char* other : {"--from", "--owner", "--all-owners", "--epoch", "--no-keys"})
    loss->excludes(recover.get_option(other));
  loss->excludes(recover.get_option("KEY"));
  add_lock_timeout(recover, arguments);
  add_any_filesystem(recover, arguments);
  add_small_pages(recover, arguments);
  add_quiet(recover, arguments);
  recover.footer(
      std::string(kKeys) +
      "\nFor a filter that is unclean or poisoned (see bfinspect). It has the keys up to the marks. Give all keys\n"
      "that were added after the marks: bf calls a key absent that you leave out. Until the keys of every owner\n"
      "are added, the filter answers maybe for every key. No keys at all are an error without --no-keys. With\n"
      "--accept-loss it answers absent for keys that may have been lost. Of a counting filter give also the keys that\n"
      "were removed since, and remove none of them again.\n"
      "\nExample:\n  bf recover users.bf --from users-since-the-last-mark.txt");
}

void add_seal(CLI::App& app, Arguments& arguments) {
  CLI::App& seal = *app.add_subcommand("seal", "Make a sealed copy of a filter, which detects damage");
  seal.callback([&] { arguments.command = Command::kSeal; });
  add_help_and_version(seal, "bf seal FILE SEALED [--mode MODE] [--force] [-q]");
  add_file(seal, arguments, "the filter; no writer may have it open");
  add_path(seal, "SEALED", "the file to make; it appears when it is complete", "", arguments.target)->required();
  add_mode(seal, arguments.options);
  seal.add_flag("--force", arguments.options.replace, "replace SEALED if it exists; it may be FILE itself");
  add_lock_timeout(seal, arguments);
  add_any_filesystem(seal, arguments);
  add_quiet(seal, arguments);
  seal.footer(
      "A sealed filter is never written to again, and has a checksum for each 64 KiB. bf verify names the damaged\n"
      "bytes. Readers use it as before.\n"
      "\nExample:\n  bf seal users.bf users.sealed.bf && bf verify users.sealed.bf");
}

void add_verify(CLI::App& app, Arguments& arguments) {
  CLI::App& verify = *app.add_subcommand("verify", "Compare a sealed filter with its checksums");
  verify.callback([&] { arguments.command = Command::kVerify; });
  add_help_and_version(verify, "bf verify FILE [-q]");
  add_file(verify, arguments, "the sealed filter");
  add_quiet(verify, arguments);
  verify.footer(
      "Reads it from end to end. Prints the damaged bytes, one range on each line. Exit code: 0 if it is whole,\n"
      "1 if it is damaged, 2 on an error (it is not sealed, or its header is damaged).\n"
      "bf contains --tolerate-damage uses a damaged filter, and answers maybe for keys in damaged places.\n"
      "\nExample:\n  bf verify users.sealed.bf || bf build users.bf --force --from users.txt");
}

void add_sources(CLI::App& app, Arguments& arguments, const std::string& help) {
  const auto take = [&](const CLI::results_t& results) {
    for (const std::string& word : results) {
      arguments.sources.push_back(unmasked(word));
      if (arguments.sources.back().empty()) throw Failure("IN: the name is empty. Give a path.");
    }
    return true;
  };
  tools::mark_path(app.add_option("IN", take, help))
      ->type_name("")
      ->type_size(1)
      ->expected(-1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->required();
}

void add_merge(CLI::App& app, Arguments& arguments) {
  CLI::App& merge = *app.add_subcommand("merge", "Make one filter of the keys of several");
  merge.callback([&] { arguments.command = Command::kMerge; });
  add_help_and_version(merge,
                       "bf merge OUT IN... [--key-file PATH] [--mode MODE] [--force] [-q]\n"
                       "       bf merge OUT IN... --into [--key-file PATH] [-q]");
  add_path(merge, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(merge, arguments, "the filters whose keys it gets; they stay as they are, and may be in use");
  CLI::Option* const into =
      merge.add_flag("--into", arguments.into, "OUT exists and gets the keys besides its own, while others use it");
  add_mode(merge, arguments.options);
  CLI::Option* const force = merge.add_flag("--force", arguments.options.replace, "replace OUT if it exists");
  into->excludes(force, merge.get_option("--mode"));
  add_key_file(merge, arguments);
  add_lock_timeout(merge, arguments);
  add_any_filesystem(merge, arguments);
  add_quiet(merge, arguments);
  merge.footer(
      "The filters need one layout, hash, seed or secret, and number of probes: make them with bf create --like, or\n"
      "build them with bf build --like. Their numbers of bits may be multiples of the smallest one, which OUT gets.\n"
      "The result is the filter that one build of all keys makes. Marks are not taken over. After a kill or an error\n"
      "merge again: with --into, OUT then has some of the keys already, which does no harm. (Counting: keys that\n"
      "count twice leak, which is no wrong no.) If OUT was not closed cleanly, recover it first (bf recover).\n"
      "\nExample: four parts of a list at once, and one filter of all:\n"
      "  bf create part1.bf --capacity 10M --fpr 0.01\n"
      "  bf create part2.bf --like part1.bf\n"
      "  bf add part1.bf --from list1.txt & bf add part2.bf --from list2.txt; wait\n"
      "  bf merge all.bf part1.bf part2.bf");
}

void add_join(CLI::App& app, Arguments& arguments) {
  CLI::App& join = *app.add_subcommand("join", "Make the whole filter of its parts");
  join.callback([&] { arguments.command = Command::kJoin; });
  add_help_and_version(join, "bf join OUT IN... [--filling] [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_path(join, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(join, arguments, "every part once, in any order; they stay as they are, and may be in use");
  join.add_flag("--filling", arguments.options.filling, "the filter answers maybe until bf finish-filling");
  add_mode(join, arguments.options);
  join.add_flag("--force", arguments.options.replace, "replace OUT if it exists");
  add_key_file(join, arguments);
  add_lock_timeout(join, arguments);
  add_any_filesystem(join, arguments);
  add_quiet(join, arguments);
  join.footer(
      "The bits of OUT are those that one build of all keys sets. A part that is missing, or there twice, is an error\n"
      "that names it. Two filters of one part are first merged (bf merge). Marks and notes are not taken over.\n"
      "\nExample: two machines, each with one part in memory, and one filter of both:\n"
      "  bf build part0.bf --from keys.txt --part 0/2 --capacity 10M --seed 1\n"
      "  bf build part1.bf --from keys.txt --part 1/2 --capacity 10M --seed 1\n"
      "  bf join all.bf part0.bf part1.bf");
}

void add_digest(CLI::App& app, Arguments& arguments) {
  CLI::App& digest = *app.add_subcommand("digest", "Write the digests of keys, all of them or sorted by part");
  digest.callback([&] { arguments.command = Command::kDigest; });
  add_help_and_version(digest, "bf digest FILE [KEY... | --from PATH] [-0] [--parts N --to PREFIX] [--key-file PATH]");
  add_file(digest, arguments, "a filter with the hash and the seed of the one to build, such as one of its parts");
  add_keys(digest, arguments);
  add_parts(digest, arguments, "sort the digests by the part that they belong to");
  CLI::Option* const to = add_path(digest, "--to", "write those of part I to PREFIXI, at the end of the file", "PREFIX",
                                   arguments.spool_prefix);
  to->needs("--parts");
  digest.get_option("--parts")->needs(to);
  add_key_file(digest, arguments);
  add_any_filesystem(digest, arguments);
  digest.footer(
      "A digest is 8 bytes, the lowest first. bf build --digests reads them. Without --parts they go to standard "
      "output.\n"
      "Up to 16 MiB of them are in memory, and each file is open.\n"
      "Digests of a filter with a secret key are as secret as the key.\n"
      "Processes of one machine may append to files of one prefix. Each machine takes a prefix of its own: on a "
      "network "
      "filesystem two would overwrite each other's digests.\n"
      "\nExample: two lists of keys, sorted into two parts, of which each is built alone:\n"
      "  bf create like.bf --part 0/2 --capacity 10M\n"
      "  bf digest like.bf --from list1.txt --parts 2 --to digests.\n"
      "  bf digest like.bf --from list2.txt --parts 2 --to digests.\n"
      "  bf build part0.bf --like like.bf --part 0/2 --from digests.0 --digests\n"
      "  bf build part1.bf --like like.bf --part 1/2 --from digests.1 --digests\n"
      "  bf join all.bf part0.bf part1.bf");
}

void add_copy(CLI::App& app, Arguments& arguments) {
  CLI::App& copy = *app.add_subcommand("copy", "Make a clean copy of a filter, also while others add to it");
  copy.callback([&] { arguments.command = Command::kCopy; });
  add_help_and_version(copy, "bf copy FILE COPY [--filling] [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_file(copy, arguments, "the filter; it stays as it is, and may be in use");
  add_path(copy, "COPY", "the file to make; it appears when it is complete", "", arguments.target)->required();
  copy.add_flag("--filling", arguments.options.filling,
                "the copy answers maybe until bf finish-filling: for an older state that takes its place again");
  add_mode(copy, arguments.options);
  copy.add_flag("--force", arguments.options.replace, "replace COPY if it exists; it is another file than FILE");
  add_key_file(copy, arguments);
  add_lock_timeout(copy, arguments);
  add_any_filesystem(copy, arguments);
  add_quiet(copy, arguments);
  copy.footer(
      "The copy has every key up to its marks, and every key that was added before the command began. cp of a file\n"
      "in use makes a file that is refused.\n"
      "\nExample:\n  bf copy users.bf backup/users.bf");
}

void add_fold(CLI::App& app, Arguments& arguments) {
  CLI::App& fold = *app.add_subcommand("fold", "Make a smaller filter of the same keys");
  fold.callback([&] { arguments.command = Command::kFold; });
  add_help_and_version(fold, "bf fold FILE SMALLER --to-fpr P [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_file(fold, arguments, "the filter; it stays as it is, and may be in use");
  add_path(fold, "SMALLER", "the file to make; it appears when it is complete", "", arguments.target)->required();
  add_text(fold, "--to-fpr", "the highest false-positive rate that the smaller filter may have with these keys", "P",
           [&](const std::string& name, const std::string& text) { arguments.options.fpr = parse_rate(name, text); })
      ->required();
  add_mode(fold, arguments.options);
  fold.add_flag("--force", arguments.options.replace, "replace SMALLER if it exists; it is another file than FILE");
  add_key_file(fold, arguments);
  add_lock_timeout(fold, arguments);
  add_any_filesystem(fold, arguments);
  add_quiet(fold, arguments);
  fold.footer(
      "For a filter that was made too large, since nobody knew how many keys would come. The smaller filter is the\n"
      "one that a build of that size makes from the same keys. Its size is a whole number of times smaller, so make\n"
      "filters that are to be folded with a number of bits that has many divisors: --bits 8Gi --probes 7.\n"
      "\nExample:\n  bf create large.bf --bits 8Mi --probes 7\n  bf add large.bf --from keys.txt\n"
      "  bf fold large.bf users.bf --to-fpr 0.01");
}

// The ways to give sizes that `create` has, in any combination that does not give one of them twice.
void add_plan(CLI::App& app, Arguments& arguments) {
  CLI::App& plan = *app.add_subcommand("plan", "Say what a filter will be like, for each layout, without making one");
  plan.callback([&] { arguments.command = Command::kPlan; });
  add_help_and_version(plan,
                       "bf plan [-n N] [-p P] [--bits-per-key B] [--bits M | --max-bytes SIZE] [-k K] [--layout L]\n"
                       "               [--key-bytes L] [--json] [--svg PATH [--force]]");
  bfstore::Options& options = arguments.options;
  const auto number = [&plan](const std::string& names, const std::string& help, const std::string& type, Take take) {
    const std::string name = names.substr(names.find("--"));
    return add_text(plan, names, help, type,
                    [name, take = std::move(take)](const std::string&, const std::string& text) { take(name, text); });
  };
  number("-n,--capacity", "distinct keys", "N", [&](const std::string& name, const std::string& text) {
    options.capacity = parse_quantity(name, text, Unit::kKeys, kNoLimit);
  });
  number("-p,--fpr", "the highest false-positive rate at that number of keys", "P",
         [&](const std::string& name, const std::string& text) { options.fpr = parse_rate(name, text); });
  number("--bits-per-key", "bits for each key", "B", [&](const std::string& name, const std::string& text) {
    options.bits_per_key = parse_fraction(name, text, static_cast<double>(bfstore::kMaxBits), "12");
  });
  CLI::Option* const bits = number("-m,--bits", "m: 64Mi (67,108,864), or a size in bytes: 8MiB", "M",
                                   [&](const std::string& name, const std::string& text) {
                                     options.num_bits = parse_quantity(name, text, Unit::kBits, bfstore::kMaxBits);
                                   });
  bits->excludes(number("--max-bytes", "the largest file, instead of --bits", "SIZE",
                        [&](const std::string& name, const std::string& text) {
                          options.max_bytes = parse_quantity(name, text, Unit::kBytes, kNoLimit);
                        }));
  number("-k,--probes", "bits set by each key, 1 to 64", "K", [&](const std::string& name, const std::string& text) {
    options.num_probes = parse_small(name, text, bfstore::kMaxProbes);
  });
  number("--layout", "this layout alone", "L",
         [&](const std::string& name, const std::string& text) { options.layout = parse_layout(name, text); });
  number("--key-bytes", "the average length of a key in the hash set that the filter is compared with (24)", "L",
         [&](const std::string& name, const std::string& text) {
           arguments.key_bytes = parse_quantity(name, text, Unit::kBytes, 1 << 20);
         });
  plan.add_flag("--json", arguments.json, "one JSON object instead of a table");
  add_path(plan, "--svg", "also draw the rates as the filters fill, in this file", "PATH", arguments.target);
  plan.add_flag("--force", options.replace, "replace the picture if it exists");
  plan.footer(
      std::string(kNumbers) +
      "\nGive two numbers or more; the others follow. k is the best one if it is not given; m is the smallest,\n"
      "and n the largest, that keeps the rate. -n alone is for a rate of 0.01. Where no number of keys follows,\n"
      "it is a million. JSON has a number \"schema\", 1 now, and every key of it is always present.\n"
      "\nExamples:\n  bf plan -n 100M -p 1%\n  bf plan --max-bytes 64MiB --fpr 0.001\n"
      "  bf plan -m 5M -k 7 --layout classic --json");
}

void add_intersect(CLI::App& app, Arguments& arguments) {
  CLI::App& intersect = *app.add_subcommand("intersect", "Make a filter of the keys that all of several filters have");
  intersect.callback([&] { arguments.command = Command::kIntersect; });
  add_help_and_version(intersect, "bf intersect OUT IN... [--key-file PATH] [--mode MODE] [--force] [-q]");
  add_path(intersect, "OUT", "the filter to make; it appears when it is complete", "", arguments.file)->required();
  add_sources(intersect, arguments, "the filters; they stay as they are, and may be in use");
  add_mode(intersect, arguments.options);
  intersect.add_flag("--force", arguments.options.replace, "replace OUT if it exists; it is another file than each IN");
  add_key_file(intersect, arguments);
  add_lock_timeout(intersect, arguments);
  add_any_filesystem(intersect, arguments);
  add_quiet(intersect, arguments);
  intersect.footer(
      "OUT says maybe to every key that all of the filters have. It says maybe to some other keys, too: to fewer of "
      "them\n"
      "than each of the filters. The filters need one layout, hash, seed or secret, and number of probes (--like). "
      "Their\n"
      "numbers of bits may be multiples of the smallest one, which OUT gets. OUT has no marks.\n"
      "\nExample: users who are both customers and readers:\n"
      "  bf build customers.bf --from customers.txt\n  bf build readers.bf --from readers.txt --like customers.bf\n"
      "  bf intersect both.bf customers.bf readers.bf");
}

void add_compare(CLI::App& app, Arguments& arguments) {
  CLI::App& compare = *app.add_subcommand("compare", "Say in what two filters differ, and how many keys both have");
  compare.callback([&] { arguments.command = Command::kCompare; });
  add_help_and_version(compare, "bf compare A B [--json | -q] [--key-file PATH]");
  add_path(compare, "A", "a filter; it may be in use", "", arguments.file)->required();
  add_path(compare, "B", "the other one", "", arguments.target)->required();
  compare.add_flag("--json", arguments.json, "print one JSON object")
      ->excludes(compare.add_flag("-q,--quiet", arguments.quiet, "print nothing: the exit code is the answer"));
  add_key_file(compare, arguments);
  add_any_filesystem(compare, arguments);
  compare.footer(
      "Exit code: 0 if the bits are equal, so that both say the same of every key, 1 if not, 2 on an error.\n"
      "The numbers of keys are estimates, each with the interval that has it in 95 of 100 cases. They need filters "
      "that\n"
      "differ in nothing but the number of bits, of which one is a multiple of the other; the larger filter then "
      "counts\n"
      "as folded to the size of the smaller one. Filters of the counting layout are equal if all counters are, and a\n"
      "key counts once in them, however often it was added.\n"
      "\nExample:\n  bf compare customers.bf readers.bf\n  bf compare users.bf backup/users.bf -q || echo differs");
}

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path(app, "RAW", help, "", arguments.raw)->required();
}

bfstore::BitOrder parse_order(const std::string& option, const std::string& text) {
  if (text == "little") return bfstore::BitOrder::kLittle;
  if (text == "big") return bfstore::BitOrder::kBig;
  throw Failure(option + ": '" + text + "' is no order of bits. Give little or big.");
}

void add_order(CLI::App& app, Arguments& arguments) {
  add_text(app, "--order",
           "which bit of a byte comes first: little is the lowest, as in C and Java; big is bitarray's in Python",
           "little|big",
           [&](const std::string& name, const std::string& text) { arguments.order = parse_order(name, text); });
}

void add_format(CLI::App& app, Arguments& arguments) {
  add_text(app, "--format", "raw (default): the bits alone; jaybird: the file of python-bloomfilter's BloomFilter",
           "raw|jaybird", [&](const std::string& name, const std::string& text) {
             if (text != "raw" && text != "jaybird")
               throw Failure(name + ": '" + text + "' is not a format. Give raw or jaybird.");
             arguments.jaybird = text == "jaybird";
           });
}

void add_import(CLI::App& app, Arguments& arguments) {
  CLI::App& from = *app.add_subcommand("import", "Make a filter of another program's bit array");
  from.callback([&] { arguments.command = Command::kImport; });
  add_help_and_version(
      from,
      "bf import RAW FILE --order little|big --hash H --bits M (--probes K | --seeds S) [--check KEYS]\n"
      "       bf import RAW FILE --order little|big --like OTHER [--check KEYS]\n"
      "       bf import RAW FILE --format jaybird [--hash H] [--check KEYS]\n"
      "       options of all: [-0] [--capacity N]\n       " +
          std::string(kShapeUsage));
  add_raw(from, arguments, "the bits and nothing else: as many bytes as M bits need; - is standard input");
  add_file(from, arguments, "the filter to make; it appears when it is complete");
  add_order(from, arguments);
  add_format(from, arguments);
  add_path(from, "--check", "keys that must all be in the bits, one a line; - is standard input", "KEYS",
           arguments.check);
  add_separator(from, arguments);
  add_shape(from, arguments, false);
  from.footer(
      "Nothing in a bit array tells its number of bits, its hash, its seeds or its order: bf takes your word for "
      "them.\n"
      "If one of them is wrong, the filter calls keys absent that are in it. So give --check a list of keys that the\n"
      "other program added: if one of them is absent, bf makes nothing. The count of keys is an estimate from the "
      "bits.\n"
      "A file that tofile() of python-bloomfilter (pybloom, pybloom-live) wrote tells all of it but one thing: small\n"
      "filters need --hash pybloom-live if version 4 of pybloom-live or a later one made them, and otherwise\n"
      "--hash jaybird. Its keys are str(key): in Python 3 the key b\"x\" is the text b'x'.\n"
      "\nExample: what Python's mmh3 and bitarray made, with the seeds 0 to 3, and wrote with tofile():\n"
      "  bf import words.bits words.bf --order big --hash murmur3 --bits 124 --probes 4 --check words.txt");
}

void add_export(CLI::App& app, Arguments& arguments) {
  CLI::App& to = *app.add_subcommand("export", "Write a filter's bits for another program");
  to.callback([&] { arguments.command = Command::kExport; });
  add_help_and_version(to,
                       "bf export FILE RAW (--order little|big | --format jaybird) [--key-file PATH] [--mode MODE]\n"
                       "                 [--force] [-q]");
  add_file(to, arguments, "the filter, of the classic layout; it stays as it is, and may be in use");
  add_raw(to, arguments, "the file to make; it appears when it is complete; - is standard output");
  add_order(to, arguments);
  add_format(to, arguments);
  add_mode(to, arguments.options);
  to.add_flag("--force", arguments.options.replace, "replace RAW if it exists");
  add_key_file(to, arguments);
  add_lock_timeout(to, arguments);
  add_any_filesystem(to, arguments);
  add_quiet(to, arguments);
  to.footer(
      "RAW has the bits and nothing else. The other program needs their number, the hash and the seeds, too: "
      "bfinspect\n"
      "tells them. With --format jaybird, BloomFilter.fromfile() of python-bloomfilter reads the file; the filter was\n"
      "made with --hash jaybird or pybloom-live, --capacity and --fpr, or imported from a file of that size.\n"
      "\nExample:\n  bf export words.bf words.bits --order big");
}

void add_clear(CLI::App& app, Arguments& arguments) {
  CLI::App& clear = *app.add_subcommand("clear", "Replace a filter by an empty one of the same shape");
  clear.callback([&] { arguments.command = Command::kClear; });
  add_help_and_version(clear, "bf clear FILE --force [--filling] [--key-file PATH] [-q]");
  add_file(clear, arguments, "the filter");
  clear.add_flag("--force", arguments.options.replace, "needed: the filter loses every key");
  clear.add_flag("--filling", arguments.options.filling,
                 "the empty filter answers maybe for every key until bf finish-filling");
  add_key_file(clear, arguments);
  add_lock_timeout(clear, arguments);
  add_any_filesystem(clear, arguments);
  add_quiet(clear, arguments);
  clear.footer(
      "The empty filter has the layout, hash, seed or secret, size, note and permissions of the old one, and no "
      "marks.\n"
      "It is a new file in the place of the old one: a process that has the old file open gets maybe for every key, "
      "and\n"
      "its adds get an error, until it opens the path again. Afterwards bf calls each old key absent: so if rows of\n"
      "them are left, give --filling, add their keys, and end with bf finish-filling.\n"
      "\nExample:\n  bf clear seen-today.bf --force");
}

void add_finish_filling(CLI::App& app, Arguments& arguments) {
  CLI::App& finish = *app.add_subcommand("finish-filling", "Say that a filter of create --filling has every key");
  finish.callback([&] { arguments.command = Command::kFinishFilling; });
  add_help_and_version(finish, "bf finish-filling FILE [--key-file PATH] [-q]");
  add_file(finish, arguments, "the filter");
  add_key_file(finish, arguments);
  add_lock_timeout(finish, arguments);
  add_any_filesystem(finish, arguments);
  add_quiet(finish, arguments);
  finish.footer(
      "An online build: writers add new keys while the old ones are added. Until this command the filter answers\n"
      "maybe for every key. From then on bf calls a key absent that was never added.\n"
      "\nExample:\n  bf create users.bf --capacity 10M --filling\n  bf add users.bf --from old-users.txt\n"
      "  bf finish-filling users.bf");
}

// Why CLI11 refused the words.
std::string reason_of(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  // Unknown words come first, because something else may be missing only because of them, and because CLI11's own text
  // ends at the first mask.
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return "'" + unmasked(unknown.front()) + "' is not expected here";
  const std::string reason = error.what();
  if (reason.starts_with(words.back() + ": 1 required")) return words.back() + " needs a value";
  const std::size_t name_end = reason.find(" was given a disallowed flag override");
  if (name_end != std::string::npos) return "--" + reason.substr(0, name_end) + " takes no value";
  return reason;
}

[[noreturn]] void fail_to_parse(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  const auto used = app.get_subcommands();
  if (!used.empty()) {
    const std::string name = used.front()->get_name();
    throw Failure(name + ": " + reason_of(app, words, error) + ". See bf " + name + " --help.");
  }
  if (words.empty()) throw Failure("no command given. See bf --help.");
  throw Failure("'" + words.front() + "' is not a command. See bf --help.");
}

void check_hash(const Arguments& arguments) {
  const auto& hash = arguments.options.hash;
  if (!hash || !bfstore::hash_of(*hash)->takes_secret || !arguments.key_file.empty()) return;
  throw Failure(
      "--hash: siphash needs a secret key. Make one with head -c 16 /dev/urandom > FILE, and give --key-file FILE.");
}

void check_plan(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  const bool size = options.num_bits != 0 || options.max_bytes != 0;
  const int given =
      (options.fpr != 0) + (options.bits_per_key != 0) + (options.num_probes != 0) + size + (options.capacity != 0);
  if (given < 2 && options.capacity == 0) {
    throw Failure(
        "plan: too few numbers. Give two of --capacity, --fpr, --bits-per-key, --probes, and --bits or --max-bytes. "
        "See bf plan --help.");
  }
  if (options.capacity != 0 && options.bits_per_key != 0 && size) {
    throw Failure(
        "plan: of --capacity, --bits-per-key and the size (--bits or --max-bytes), two give the third. Leave one out.");
  }
}

void check_size(const Arguments& arguments) {
  if (arguments.command == Command::kPlan) return check_plan(arguments);
  const bfstore::Options& options = arguments.options;
  const bool imports = arguments.command == Command::kImport;
  const std::string name = arguments.command == Command::kBuild ? "build" : imports ? "import" : "create";
  if (options.num_bits != 0 && options.num_probes == 0 && options.seeds.empty()) {
    throw Failure(name + ": --bits needs --probes, or --seeds with a hash that takes them. See bf " + name +
                  " --help.");
  }
  if ((arguments.command != Command::kCreate && !imports) || arguments.is_sized() || arguments.jaybird) return;
  throw Failure(name + ": no size given. Give --capacity N, or --bits M and --probes K, or --like OTHER.");
}

void check_parts(const Arguments& arguments) {
  if (arguments.command != Command::kBuild) return;
  const auto& part = arguments.options.part;
  if ((part || arguments.digests) && !arguments.is_sized())
    throw Failure("build: the keys of one part do not tell the size of the whole. Give --capacity, --bits or --like.");
  if (arguments.digests && arguments.options.like.empty())
    throw Failure(
        "build: digests do not tell by which hash and seed they were made. Give --like, the filter that bf "
        "digest was given.");
  if (part && arguments.spools != 0)
    throw Failure("build: --parts builds all parts, and --part one of them. Give one of the two.");
  const auto& hash = arguments.options.hash;
  const bool needs_digests = part || arguments.digests || arguments.spools != 0;
  if (needs_digests && hash && bfstore::hash_of(*hash)->gives_positions)
    throw Failure(std::string("--hash: ") + bfstore::hash_of(*hash)->name +
                  " has no digests, by which keys belong to parts. Use xxh3.");
}

// What bf would choose by itself in a new filter, the array does not have.
void check_import(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (arguments.command != Command::kImport || arguments.jaybird || !options.like.empty()) return;
  if (!options.hash)
    throw Failure("import: no hash given. Give the one that the bits are of, --hash H, or --like OTHER.");
  if (bfstore::hash_of(*options.hash)->takes_seed && !options.seed)
    throw Failure("import: no seed given. Give the one that the bits are of, --seed S, or --like OTHER.");
}

// The file of python-bloomfilter has a header, from which all of this follows.
void check_jaybird(const Arguments& arguments) {
  const bfstore::Options& options = arguments.options;
  if (arguments.is_sized() || options.fpr != 0 || options.bits_per_key != 0 || options.max_bytes != 0 ||
      options.num_probes != 0 || options.layout || options.seed || !options.seeds.empty() || options.tutorial_sizing ||
      arguments.order) {
    throw Failure(
        "--format: a file of python-bloomfilter tells its size and its order. Give no size, layout, seed or order with "
        "jaybird.");
  }
  const auto& hash = options.hash;
  if (hash && *hash != bfstore::Hash::kJaybird && *hash != bfstore::Hash::kPybloomLive)
    throw Failure("--hash: a file of python-bloomfilter has the hash jaybird or pybloom-live. Give one of them.");
}

void check_array(Arguments& arguments) {
  const bool imports = arguments.command == Command::kImport;
  if (!imports && arguments.command != Command::kExport) return;
  if (imports && arguments.raw == "-" && arguments.check == "-")
    throw Failure("import: the bits and the keys cannot both be standard input. Give a path for one of them.");
  if (arguments.jaybird) {
    check_jaybird(arguments);
    arguments.order = bfstore::BitOrder::kLittle;
  }
  if (!arguments.order)
    throw Failure(std::string(imports ? "import" : "export") +
                  ": no order of the bits given. Give --order little or big.");
}

template <class Info>
std::vector<std::string> names_of(const std::vector<Info>& known) {
  std::vector<std::string> names;
  for (const Info& info : known) names.emplace_back(info.name);
  return names;
}

// The words that the parsers of these options know.
tools::Words known_words() {
  return {{"--layout", names_of(bfstore::layouts())},
          {"--hash", names_of(bfstore::hashes())},
          {"--lock-timeout", {"none", "forever"}}};
}

}  // namespace

std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Bloom filters in files that any number of processes share.", "bf");
  app.require_subcommand(1);
  app.option_defaults()->disable_flag_override();  // no --force=false
  app.footer(
      "Example:\n  bf create users.bf --capacity 10M --fpr 0.01\n  bf add users.bf alice\n"
      "  bf contains users.bf alice bob\n\n"
      "Never put a copy of a filter back over its original with cp: bf would call keys absent that were added after\n"
      "the copy. Remove the file first, or mv the copy over it.\n\n"
      "bf COMMAND --help says more about a command.");
  add_create(app, arguments);
  add_build(app, arguments);
  add_add(app, arguments);
  add_remove(app, arguments);
  add_count(app, arguments);
  add_contains(app, arguments);
  add_recover(app, arguments);
  add_seal(app, arguments);
  add_verify(app, arguments);
  add_merge(app, arguments);
  add_join(app, arguments);
  add_digest(app, arguments);
  add_copy(app, arguments);
  add_fold(app, arguments);
  add_intersect(app, arguments);
  add_compare(app, arguments);
  add_clear(app, arguments);
  add_plan(app, arguments);
  add_import(app, arguments);
  add_export(app, arguments);
  add_finish_filling(app, arguments);
  add_help_and_version(app, "bf COMMAND ...");
  if (argc == 2 && std::string_view(argv[1]) == tools::kDescribe) return tools::described(app, known_words());

  std::vector<std::string> words = masked_words(argc, argv);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::Error& error) {
    fail_to_parse(app, words, error);
  }
  check_size(arguments);
  check_parts(arguments);
  check_hash(arguments);
  check_import(arguments);
  check_array(arguments);
  return arguments;
}

}  // namespace bf
