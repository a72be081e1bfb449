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
#include <limits>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bf {
namespace {

void add_mark(CLI::App& app, Arguments& arguments) {
  add_text(app, "--mark-after",
           "the keys are the next ones of your log after its line N: store the mark of the last one", "N",
           [&](const std::string& name, const std::string& text) { arguments.mark_after = parse_uint64(name, text); });
  CLI::Option* const mark = add_text(app, "--mark", "store that every key of a log of yours up to number N is added",
                                     "N", [&](const std::string& name, const std::string& text) {
                                       arguments.mark = parse_uint64(name, text);
                                       if (*arguments.mark == 0) throw Failure(name + ": positions begin at 1.");
                                     });
  mark->excludes("--mark-after");
  const auto take_owner = [&](const std::string& name, const std::string& text) {
    arguments.owners = {parse_uint64(name, text)};
  };
  const auto take_epoch = [&](const std::string& name, const std::string& text) {
    arguments.epoch = parse_uint64(name, text);
  };
  add_text(app, "--owner", "whose log it is, if several programs have one (default: 0)", "N", take_owner);
  add_text(app, "--epoch", "which log: another number whenever it begins anew (default: 0)", "N", take_epoch);
}

void declare_add(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app,
                       "bf add FILE [KEY... | --from PATH] [-0] [--mark-after N | --mark N] [--owner N] [--epoch N] "
                       "[--secret-file PATH] [-q]\n"
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
  add_texts(
      app,
      std::string(
          "A key is certainly new if the filter called it absent just before. Any other key was added before, or it "
          "is\n"
          "new and was a false positive: the fuller the filter, the more new keys are not counted. All keys are in "
          "the\n"
          "filter in either case. bf inspect estimates how many different keys it has.\n"
          "\n--key-form is checked against the form that FILE's note names, and refused if it names none: bf create "
          "and "
          "bf\n"
          "build --key-form make a file with one.\n"
          "\nWith --create any number of processes may begin at once: one makes the file, and all add to it. A file "
          "that is\nthere keeps its size; the layout, hash, seed, secret, part and form of keys that are given must "
          "be its own.\n"
          "\nKeys of a file (--from) are added several times as fast by a process that writes alone. So bf add does, "
          "if no "
          "other\n"
          "process writes, and other writers wait for it: bf add for a minute, others for --lock-timeout. Readers "
          "never "
          "wait.\n"
          "\nWithout a mark keep a list of all keys at hand: a kill, or a machine that goes down, can leave an unclean "
          "file.\n"
          "A killed bf add loses no key. But bf refuses an unclean file until the keys after its mark are added again "
          "(bf\n"
          "recover), or all keys if it has no mark. A kill in the middle of a sync leaves one; a bf add begins and "
          "ends "
          "with\n"
          "a sync.\n"
          "\nA mark says up to which line of your log every key was added; bfinspect shows it. --mark-after N counts: "
          "N is "
          "the\n"
          "mark in the file (0 if it has none), the list begins with line N+1 of the log, and the new mark is N plus "
          "the\n"
          "whole lines of the list. --mark N is your promise, which bf cannot check: after a recovery bf calls a key "
          "absent\n"
          "that a mark covers and that was not added. A log that begins anew needs another --epoch, and begins after "
          "line "
          "0.\n") +
          "\n" + kAboutKeys,
      "  bf add users.bf alice bob\n  bf add users.bf --from new-users.txt\n"
      "  N=$(bf inspect --json users.bf | jq -r '.marks[0].mark // 0')\n"
      "  tail -n +$((N+1)) log | bf add users.bf --mark-after $N\n"
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

// Says what another program's filter is, to which nothing is added, or that it is a list.
void refuse_other_filter(const bfstore::Error& error, const Arguments& arguments) {
  if (error.code != bfstore::Code::kMagic && error.code != bfstore::Code::kTooShort) return;
  const auto found = recognize(arguments.file, arguments.any_filesystem);
  if (!found) return refuse_list(error, arguments.file);
  throw Failure(arguments.file +
                ": is no bfstore filter, so no keys are added to it. It looks like one of the format " +
                found->formats + ": make a bfstore file of it first (bf import " + arguments.file + " NEW " +
                found->options + ").");
}

// "waiting for process 123 (bf) to close f, up to 60 s": a note, and not the error that it is after that time.
std::string waiting_words(const std::string& error, const Arguments& arguments) {
  const std::string file = arguments.file;
  const std::uint32_t patience = arguments.lock_timeout_ms.value_or(kPatienceMs);
  constexpr std::uint32_t kSecond = 1000;
  const std::string time = patience % kSecond == 0 ? grouped(patience / kSecond) + " s" : grouped(patience) + " ms";
  return "waiting for " + writer_named_in(error, file) +
         (error.find("has it open", file.size()) != std::string::npos ? " to close " : " to unlock ") + file +
         (patience == bfstore::kWaitForEver ? "" : ", up to " + time);
}

bfstore::Filter open_to_add(const Arguments& arguments, bool from_file, bool* created) {
  const std::string& file = arguments.file;
  const auto begin = Clock::now();
  auto opened = try_to_open(arguments, from_file, created);
  bool told = false;
  while (!opened.ok() && opened.error().code == bfstore::Code::kBusy && !interrupt::pending() &&
         worth_waiting(arguments, begin)) {
    if (!std::exchange(told, true)) tell(waiting_words(opened.error().message, arguments));
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
  } catch (const CutList& cut) {
    throw Failure(std::string(cut.what()) + " " + key_words(loader.keys_read()) +
                  " of it were added, which need not be its first ones. No mark was stored. Add the whole list again.");
  } catch (const BadList& bad) {
    if (loader.keys_read() == 0) throw;
    throw Failure(std::string(bad.what()) + " Before that " + key_words(loader.keys_read()) + " of it " +
                  (loader.keys_read() == 1 ? "was" : "were") + " added.");
  }
}

std::uint64_t owner_of(const Arguments& arguments) { return arguments.owners.empty() ? 0 : arguments.owners.front(); }

// "mark 150 of owner 0, epoch 3"
std::string mark_words(std::uint64_t mark, const Arguments& arguments) {
  const std::uint64_t epoch = arguments.epoch.value_or(0);
  return "mark " + std::to_string(mark) + " of owner " + std::to_string(owner_of(arguments)) +
         (epoch == 0 ? "" : ", epoch " + std::to_string(epoch));
}

// A mark beyond keys that nobody added would make a recovery answer "absent" for them.
void refuse_gap(const bfstore::Filter& filter, const Arguments& arguments) {
  if (!arguments.mark_after) return;
  const std::uint64_t known = filter.get_mark(owner_of(arguments), arguments.epoch.value_or(0));
  if (*arguments.mark_after <= known) return;
  const std::string number = std::to_string(known);
  throw Failure(arguments.file + ": has " + (known == 0 ? "no mark of this log" : mark_words(known, arguments)) +
                ", so keys of the log between that and --mark-after may be missing. Nothing was added. Give the log "
                "from line " +
                std::to_string(known + 1) + " on: --mark-after " + number + ".");
}

// The keys that were read and are surely whole.
std::uint64_t whole_keys(const Loader& loader, const std::optional<KeySource>& source) {
  return loader.keys_read() - (source && source->ended_without_separator() ? 1 : 0);
}

// Returns the mark to store, if one is wanted. The last key of a list may be the first half of one.
std::optional<std::uint64_t> mark_to_store(const Arguments& arguments, const Loader& loader,
                                           const std::optional<KeySource>& source) {
  if (interrupt::pending() || (!arguments.mark && !arguments.mark_after)) return std::nullopt;
  if (arguments.mark_after && loader.keys_read() == 0) return std::nullopt;
  const std::uint64_t whole = whole_keys(loader, source);
  if (arguments.mark_after && whole != 0) {
    if (whole > std::numeric_limits<std::uint64_t>::max() - *arguments.mark_after)
      throw Failure("--mark-after: there is no mark so high. The keys are added.");
    return *arguments.mark_after + whole;
  }
  if (arguments.mark && whole == loader.keys_read()) return arguments.mark;
  throw Failure(arguments.file + ": no mark was stored: " + source->name() +
                " does not end with a newline (with -0: a NUL), so its last key may be cut. Its " +
                key_words(loader.keys_read()) + (loader.keys_read() == 1 ? " is" : " are") +
                " added. Give them again when the last one is whole" +
                (arguments.mark ? ", or count whole keys alone with --mark-after." : "."));
}

// An interrupt may have come after the last key of a list.
std::string interrupted_words(const Arguments& arguments) {
  const bool is_list = arguments.keys.empty();
  return std::string(is_list ? ". Interrupted: the rest, if there is any, was not read"
                             : ". Interrupted after the last key") +
         (arguments.mark || arguments.mark_after ? ", and the mark is not stored." : ".");
}

// Stores the mark of a log whose keys were all added.
void store_mark(bfstore::Filter& filter, const Arguments& arguments, std::uint64_t mark) {
  const bfstore::LogPosition position{.owner = owner_of(arguments), .epoch = arguments.epoch.value_or(0), .mark = mark};
  check(filter.sync(position), arguments.file);
  const std::uint64_t stored = filter.get_mark(position.owner, position.epoch);
  if (stored <= mark) return;
  check(filter.close(), arguments.file);
  throw Failure(arguments.file + ": the keys are added, but mark " + std::to_string(mark) +
                " is not stored: the higher " + mark_words(stored, arguments) +
                " stays. If the log began anew, add its keys with another --epoch, or the mark covers keys of it that "
                "were never added.");
}

// A producer that fails in a pipe gives an empty list. The part of a log after a mark may be empty.
void refuse_empty(const KeySource& source, const Loader& loader, const Arguments& arguments,
                  const std::string& making) {
  if (loader.keys_read() != 0 || arguments.mark_after || interrupt::pending()) return;
  throw Failure(source.name() + ": holds no keys, so none were added to " + arguments.file +
                (making.empty() ? "." : ", which is new and empty."));
}

int add(const Arguments& arguments) {
  interrupt::defer();
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from, arguments.list);
  if (source) refuse_itself(*source, arguments.file);
  bool created = false;
  bfstore::Filter filter = open_to_add(arguments, source && source->bytes(), &created);
  if (!created) refuse_other_form(filter, arguments);
  refuse_gap(filter, arguments);
  const std::string making =
      created ? "created, " + shape_words(filter.stats(), arguments.file) + rounded_words(arguments, filter) + "; "
              : "";
  if (created) warn_if_useless(filter.shape(), arguments.file);
  Loader loader(filter, arguments.file, arguments.key_form);
  if (source) {
    add_list(*source, loader);
    refuse_empty(*source, loader, arguments, making);
  } else {
    warn_of_doubtful_keys(arguments);
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  loader.finish();
  advise_if_past_capacity(filter.stats(), arguments.file);
  if (filter.health() == bfstore::Code::kSuperseded) loader.fail(filter.health());
  refuse_moved(filter, arguments.file, "Add all of these keys again.");
  const auto mark = mark_to_store(arguments, loader, source);
  if (mark) store_mark(filter, arguments, *mark);
  check(filter.close(), arguments.file);
  const std::string words =
      arguments.file + ": " + making + key_words(loader.keys_read()) + " added (" + new_words(loader) + ")";
  if (interrupt::pending()) {
    complain(words + interrupted_words(arguments));
    return 0;
  }
  if (source) warn_if_unended(*source);
  if (!arguments.quiet) {
    const bool whole = whole_keys(loader, source) == loader.keys_read();
    report(words +
           (mark ? "; mark " + std::to_string(*mark) + " stored" + (whole ? "" : ", without the last key") : ""));
  }
  return 0;
}

void check_add(Arguments& arguments) {
  if ((!arguments.owners.empty() || arguments.epoch) && !arguments.mark && !arguments.mark_after)
    throw Failure("add: --owner and --epoch name the log of a mark. Give --mark-after or --mark.");
  if (arguments.create) check_create(arguments);
}

}  // namespace

const Command kAdd{"add", "Add keys to a filter", declare_add, add, check_add};

}  // namespace bf
