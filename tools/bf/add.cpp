// bf add: adds keys to a filter, which it makes first if it is told to.
#include "failures.hpp"
#include "filter_use.hpp"
#include "foreign.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "secret.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace bf {
namespace {

void add_mark(CLI::App& app, Arguments& arguments) {
  CLI::Option* const mark = add_text(app, "--mark", "store that every key of a log of yours up to number N is added",
                                     "N", [&](const std::string& name, const std::string& text) {
                                       arguments.mark = parse_uint64(name, text);
                                       if (*arguments.mark == 0) throw Failure(name + ": positions begin at 1.");
                                     });
  const auto take_owner = [&](const std::string& name, const std::string& text) {
    arguments.owners = {parse_uint64(name, text)};
  };
  const auto take_epoch = [&](const std::string& name, const std::string& text) {
    arguments.epoch = parse_uint64(name, text);
  };
  add_text(app, "--owner", "whose log it is, if several programs have one (default: 0)", "N", take_owner)->needs(mark);
  add_text(app, "--epoch", "which log: another number whenever it begins anew (default: 0)", "N", take_epoch)
      ->needs(mark);
}

void declare_add(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf add FILE [KEY... | --from PATH] [-0] [--mark N [--owner N] [--epoch N]] [--secret-file PATH] [-q]\n"
      "bf add FILE [KEY... | --from PATH] --create --capacity N [options of bf create]",
      {"--from", "--create", "--capacity", "--fpr", "--quiet"});
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  add_key_form(app, arguments);
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments, "5000; exclusive: 60000");
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_mark(app, arguments);
  add_quiet(app, arguments);
  add_create(app, arguments);
  app.footer(
      std::string(kAboutKeys) +
      "\nA key is certainly new if the filter called it absent just before. Any other key was added before, or it is\n"
      "new and was a false positive: the fuller the filter, the more new keys are not counted. All keys are in the\n"
      "filter in either case. bf inspect estimates how many different keys it has.\n"
      "\n--key-form is checked against the form that FILE's note names, and refused if it names none: bf create and "
      "bf\n"
      "build --key-form make a file with one.\n"
      "\nWith --create any number of processes may begin at once: one makes the file, and all add to it. A file "
      "that is\nthere keeps its size; the layout, hash, seed, secret, part and form of keys that are given must "
      "be its own.\n"
      "\nA killed bf add loses no key. But a kill in the middle of a sync (a bf add begins and ends with one), or a "
      "machine\nthat goes down, leaves an unclean file. It is refused until the keys after the last mark are added "
      "again "
      "(bf\nrecover), or all keys if no mark was stored. bfinspect shows the mark. It is your promise: after a "
      "recovery "
      "bf\ncalls a key absent that it covers and that was not added. A list without keys stores no mark.\n"
      "\nExamples:\n  bf add users.bf alice bob\n  bf add users.bf --from new-users.txt\n"
      "  tail -n +101 log | head -n 50 | bf add users.bf --mark 150\n"
      "  bf add seen.bf --create --capacity 10M https://example.org/");
}

// The time to wait for an exclusive writer, usually another bf add, unless --lock-timeout is given.
constexpr std::uint32_t kPatienceMs = 60'000;
constexpr std::chrono::milliseconds kBetweenTries{50};

using Clock = std::chrono::steady_clock;

// Returns the rest of a wait that began at `begin`.
std::uint32_t left_of(std::uint32_t patience_ms, Clock::time_point begin) {
  if (patience_ms == bfstore::kWaitForEver) return patience_ms;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  return static_cast<std::uint32_t>(std::max<std::int64_t>(patience_ms - waited, 0));
}

// *created: true once the file was made.
bfstore::Result<bfstore::Filter> open_or_make(const Arguments& arguments, bfstore::OpenMode mode, bool* created) {
  return arguments.create ? open_or_make_filter(arguments, mode, created) : open_filter(arguments, mode);
}

// Opens as the only writer, which adds several times as fast, if the keys are in a file and no other process is
// writing. An add from a pipe may take long, so it lets other writers in. The second try waits for the rest of the
// time.
bfstore::Result<bfstore::Filter> try_to_open(const Arguments& arguments, bool from_file, bool* created) {
  if (!from_file) return open_or_make(arguments, bfstore::OpenMode::kWrite, created);
  const auto begin = Clock::now();
  auto alone = open_or_make(arguments, bfstore::OpenMode::kExclusive, created);
  if (alone.ok() || alone.error().code != bfstore::Code::kBusy) return alone;
  const std::uint32_t patience = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  const std::uint32_t left = left_of(patience, begin);
  if (left == 0 && patience != 0) return alone;
  Arguments second = arguments;
  const SecretWiper wiper(second.secret);
  second.lock_timeout_ms = left;
  return open_or_make(second, bfstore::OpenMode::kWrite, created);
}

bool worth_waiting(const Arguments& arguments, Clock::time_point begin) {
  return left_of(arguments.lock_timeout_ms.value_or(kPatienceMs), begin) != 0;
}

// Says what another program's filter is, to which nothing is added.
void refuse_other_filter(const bfstore::Error& error, const Arguments& arguments) {
  if (error.code != bfstore::Code::kMagic && error.code != bfstore::Code::kTooShort) return;
  const auto found = recognize(arguments.file, arguments.any_filesystem);
  if (!found) return;
  throw Failure(arguments.file +
                ": is no bfstore filter, so no keys are added to it. It looks like one of the format " +
                found->formats + ": make a bfstore file of it first (bf import " + arguments.file + " NEW " +
                found->options + ").");
}

bfstore::Filter open_to_add(const Arguments& arguments, bool from_file, bool* created) {
  const std::string& file = arguments.file;
  const auto begin = Clock::now();
  auto opened = try_to_open(arguments, from_file, created);
  bool told = false;
  while (!opened.ok() && opened.error().code == bfstore::Code::kBusy && !interrupt::pending() &&
         worth_waiting(arguments, begin)) {
    if (!told) {
      complain(opened.error().message + " Waiting" + (arguments.lock_timeout_ms ? "" : " for up to a minute"));
    }
    told = true;
    std::this_thread::sleep_for(kBetweenTries);
    opened = try_to_open(arguments, from_file, created);
  }
  if (!opened.ok()) refuse_other_filter(opened.error(), arguments);
  if (!arguments.create) return filter_of_keys(std::move(opened), file);
  bfstore::Filter filter = unwrap(std::move(opened), file);
  refuse_external(filter, file);
  return filter;
}

// Keys that were added stay. Adding them again changes nothing, except in a counting filter.
void add_list(KeySource& source, Loader& loader) {
  try {
    loader.add_all(source);
  } catch (const BadList& bad) {
    if (loader.keys_read() == 0) throw;
    throw Failure(std::string(bad.what()) + " Before that " + key_words(loader.keys_read()) + " of it " +
                  (loader.keys_read() == 1 ? "was" : "were") + " added.");
  }
}

// A file that is there keeps its note. Keys in another form than its own would be lost in it.
void check_form(const bfstore::Filter& filter, const Arguments& arguments) {
  const auto wanted = form_in_note(note_of_new(arguments), arguments.file);
  if (!wanted) return;
  const KeyForm its = form_of_keys(filter.note(), std::nullopt, arguments.file);
  if (its.name() == wanted->name()) return;
  throw Failure(arguments.file + ": is there, and its keys have the form " + its.name() + ", and not " +
                wanted->name() + ". Make another file, or give the form of this one.");
}

// Commands that read keys later would make them in the form that the note names, which is none: they would call these
// keys absent. A note is never changed while others have the file open.
void refuse_unnoted_form(const bfstore::Filter& filter, const Arguments& arguments) {
  if (!arguments.key_form || arguments.key_form->is_text() || form_in_note(filter.note(), arguments.file)) return;
  const std::string form = " --key-form " + arguments.key_form->name();
  throw Failure(arguments.file + ": its note names no form of keys, so bf contains would look for keys of the form " +
                "text. Make a file with that form (bf create" + form +
                "). If all keys of this one have it: bf merge NEW " + arguments.file + form + ".");
}

// Stores the mark of a log whose keys were all added.
void store_mark(bfstore::Filter& filter, const Arguments& arguments, const Loader& loader) {
  if (!arguments.mark || interrupt::pending()) return;
  if (loader.keys_read() == 0)
    throw Failure(arguments.file + ": got no keys, so the mark was not stored. Give the keys up to the mark.");
  bfstore::LogPosition position;
  if (!arguments.owners.empty()) position.owner = arguments.owners.front();
  position.epoch = arguments.epoch.value_or(0);
  position.mark = *arguments.mark;
  check(filter.sync(position), arguments.file);
}

int add(const Arguments& arguments) {
  interrupt::defer();
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from, arguments.list);
  if (source && source->is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  bool created = false;
  bfstore::Filter filter = open_to_add(arguments, source && source->bytes(), &created);
  if (arguments.create && !created) check_form(filter, arguments);
  if (!created) refuse_unnoted_form(filter, arguments);
  const std::string making = created ? "created, " + shape_words(filter.stats(), arguments.file) + "; " : "";
  if (created && !arguments.quiet) warn_if_useless(filter.shape(), arguments.file);
  Loader loader(filter, arguments.file, arguments.key_form);
  if (source) {
    add_list(*source, loader);
  } else {
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  loader.finish();
  if (!arguments.quiet) advise_if_past_capacity(filter.stats(), arguments.file);
  if (filter.health() == bfstore::Code::kSuperseded) loader.fail(filter.health());
  refuse_moved(filter, arguments.file, "Add all of these keys again.");
  store_mark(filter, arguments, loader);
  check(filter.close(), arguments.file);
  const std::string words =
      arguments.file + ": " + making + key_words(loader.keys_read()) + " added (" + new_words(loader) + ")";
  if (interrupt::pending()) {
    complain(words + ". Interrupted: the rest was not read" + (arguments.mark ? ", and the mark is not stored." : "."));
  } else if (!arguments.quiet) {
    report(words + (arguments.mark ? "; mark " + std::to_string(*arguments.mark) + " stored" : ""));
  }
  return 0;
}

void check_add(Arguments& arguments) {
  if (arguments.create) check_create(arguments);
}

}  // namespace

const Command kAdd{"add", "Add keys to a filter", declare_add, add, check_add};

}  // namespace bf
