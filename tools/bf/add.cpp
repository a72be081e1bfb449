// bf add: adds keys to an existing filter.
#include "failure.hpp"
#include "filter_use.hpp"
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

void declare_add(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf add FILE [KEY... | --from PATH] [-0] [--key-file PATH] [-q]");
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  add_key_file(app, arguments);
  add_lock_timeout(app, arguments, "5000; exclusive: 60000");
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_quiet(app, arguments);
  app.footer(std::string(kAboutKeys) +
             "\nExamples:\n  bf add users.bf alice bob\n  bf add users.bf --from new-users.txt");
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

// Opens as the only writer, which adds several times as fast, if the keys are in a file and no other process is
// writing. An add from a pipe may take long, so it lets other writers in. The second try waits for the rest of the
// time.
bfstore::Result<bfstore::Filter> try_to_open(const Arguments& arguments, bool from_file) {
  if (!from_file) return open_filter(arguments, bfstore::OpenMode::kWrite);
  const auto begin = Clock::now();
  auto alone = open_filter(arguments, bfstore::OpenMode::kExclusive);
  if (alone.ok() || alone.error().code != bfstore::Code::kBusy) return alone;
  const std::uint32_t patience = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  const std::uint32_t left = left_of(patience, begin);
  if (left == 0 && patience != 0) return alone;
  Arguments second = arguments;
  const KeyWiper wiper(second.key);
  second.lock_timeout_ms = left;
  return open_filter(second, bfstore::OpenMode::kWrite);
}

bool worth_waiting(const Arguments& arguments, Clock::time_point begin) {
  return left_of(arguments.lock_timeout_ms.value_or(kPatienceMs), begin) != 0;
}

bfstore::Filter open_to_add(const Arguments& arguments, bool from_file) {
  const std::string& file = arguments.file;
  const auto begin = Clock::now();
  auto opened = try_to_open(arguments, from_file);
  bool told = false;
  while (!opened.ok() && opened.error().code == bfstore::Code::kBusy && !interrupt::pending() &&
         worth_waiting(arguments, begin)) {
    if (!told) {
      complain(opened.error().message + " Waiting" + (arguments.lock_timeout_ms ? "" : " for up to a minute"));
    }
    told = true;
    std::this_thread::sleep_for(kBetweenTries);
    opened = try_to_open(arguments, from_file);
  }
  return filter_of_keys(std::move(opened), file);
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

int add(const Arguments& arguments) {
  interrupt::defer();
  std::optional<KeySource> source;
  if (arguments.keys.empty()) source.emplace(arguments.from, arguments.list);
  if (source && source->is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  bfstore::Filter filter = open_to_add(arguments, source && source->bytes());
  Loader loader(filter, arguments.file);
  if (source) {
    add_list(*source, loader);
  } else {
    loader.add(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()));
  }
  loader.finish();
  check(filter.close(), arguments.file);
  const std::string words = arguments.file + ": " + key_words(loader.keys_read()) + " added (" +
                            grouped(loader.keys_new()) + " new to it), " + grouped(loader.keys_held()) + " in all";
  if (interrupt::pending()) {
    complain(words + ". Interrupted: the rest was not read.");
  } else if (!arguments.quiet) {
    report(words);
  }
  return 0;
}

}  // namespace

const Command kAdd{"add", "Add keys to a filter", declare_add, add};

}  // namespace bf
