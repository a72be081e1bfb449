// bf dedup: prints the lines that were not seen before, as a filter in a pipe. Any number of processes share the file.
#include "counting.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bf {
namespace {

void declare_dedup(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app,
      "bf dedup FILE [KEY... | --from PATH] [-0] [--at-least-once] [--refresh] [--secret-file PATH]\n"
      "bf dedup FILE [KEY... | --from PATH] --create --capacity N [--window TIME] [options of bf create]",
      {"--from", "--at-least-once", "--create", "--capacity", "--window"});
  add_file(app, arguments, "the filter of the lines that were seen");
  add_keys(app, arguments);
  add_key_form(app, arguments);
  app.add_flag("--at-least-once", arguments.at_least_once,
               "print a line before it is added: a kill may let it come twice, and loses none");
  app.add_flag("--refresh", arguments.refresh,
               "a window: a line that comes again counts from then on, and is not printed until it stays away");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_create(app, arguments);
  add_texts(
      app,
      std::string(
          "Prints each line that the filter calls absent, and adds it. So each line is printed once; of a "
          "filter with a\n"
          "--window once in that time, or a little more: epochs that are over are ended as bf turn does. Any "
          "number of\n"
          "processes may share the file. A line that two have at the same moment is printed by one of them if "
          "the layout "
          "is\n"
          "window, whose bits of a line are set in one step, and by one or both while an epoch ends, or in other "
          "layouts.\n"
          "A filter takes some new lines for old ones: that many, at its false-positive rate, are not printed.\n"
          "\nA line is added before it is printed: after a kill, or if the output fails or is closed (a full disk, "
          "head),\n"
          "lines that were just read may never be printed. With --at-least-once a line is printed before it is "
          "added:\n"
          "then, or if two processes have a line at once, it may be printed twice. After a power cut the file may be "
          "unclean, and is refused until bf recover: lines "
          "that were\n"
          "added since its last sync can come again.\n") +
          "\n" + kAboutKeys,
      "  bf dedup seen.bf --create --capacity 10M --window 24h < events.log");
}

// Prints lines that are new.
class Deduplicator {
 public:
  Deduplicator(bfstore::Filter& filter, const Arguments& arguments) : filter_(filter), arguments_(arguments) {}

  void take(Batch lines, Batch keys, const KeyReader* reader) {
    end_epoch_if_due();
    for (std::size_t first = 0; first < lines.size(); first += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, lines.size() - first);
      take_some(lines.subspan(first, count), keys.subspan(first, count));
    }
    warn_if_overfull();
    if (reader == nullptr || reader->drained()) flush();
  }

  void finish() {
    flush();
    warn_if_overfull(true);
  }

  // Ends a run that a failure has stopped, such as a line that is none. A line that was added and not printed would not
  // come again.
  [[noreturn]] void stop(const Failure& failure) {
    if (told_) throw failure;
    flush();
    const std::string why = failure.what();
    throw Failure(why + (why.ends_with('.') ? "" : ".") +
                  (done_ == 0 ? ""
                              : " Before that " + grouped(done_) + (done_ == 1 ? " line was" : " lines were") +
                                    " read, and the new ones of these are printed."));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kAtOnce = KeyReader::kMaxBatch;
  static constexpr std::chrono::seconds kBetweenLooks{1};
  static constexpr std::uint64_t kBytesEach = 4096;

  void take_some(Batch lines, Batch keys) {
    answers_.resize(lines.size());
    check(filter_.contains_keys(bfstore::Keys::views(keys), answers_));
    if (arguments_.at_least_once) {
      print_and_add(lines, keys);
    } else {
      add_and_print(lines, keys);
    }
    if (arguments_.refresh) check(filter_.add_keys(bfstore::Keys::views(keys)));
    done_ += lines.size();
  }

  // Of several processes that add a line at once the one prints it whose add made it present.
  void add_and_print(Batch lines, Batch keys) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (answers_[i] != 0) continue;
      const bfstore::Count added = filter_.add(keys[i]);
      if (!added.ok()) check(added);
      if (added.keys() != 0) print(lines[i]);
    }
  }

  void print_and_add(Batch lines, Batch keys) {
    std::unordered_set<std::string_view> printed;
    std::vector<std::string_view> added;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (answers_[i] != 0 || !printed.insert(keys[i]).second) continue;
      print(lines[i]);
      added.push_back(keys[i]);
    }
    flush();
    check(filter_.add_keys(bfstore::Keys::views(added)));
  }

  // Each line is printed whole, or its separator is among the bytes that could not be written.
  void print(std::string_view line) {
    output_.keep(line);
    output_.keep({&arguments_.list.separator, 1});
    if (output_.is_large()) flush();
  }

  void flush() {
    try {
      output_.flush();
    } catch (const Failure& failure) {
      told_ = true;
      const std::string_view why = failure.what();
      throw Failure(std::string(why) + (why.ends_with('.') ? " " : ". ") + lost_words());
    }
  }

  // What a failed write means for the lines that were not printed.
  [[nodiscard]] std::string lost_words() const {
    if (arguments_.at_least_once)
      return "No line is lost: give the list again, and the lines that were not added come.";
    const auto lost = static_cast<std::uint64_t>(
        std::count(output_.unwritten().begin(), output_.unwritten().end(), arguments_.list.separator));
    return grouped(lost) + (lost == 1 ? " line was" : " lines were") + " added to " + arguments_.file +
           " and not printed, and will not come again. --at-least-once loses none.";
  }

  // Of an overfull filter more and more new lines are not printed. Where keys expire, a look reads all bits: it is
  // taken after so many lines that it costs a page for each, and at the end if it takes no time that a user notices.
  void warn_if_overfull(bool at_end = false) {
    constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;
    if (warned_) return;
    if (turning_ && done_ < next_look_ && !(at_end && body_bytes_ <= kSmall)) return;
    next_look_ = done_ + body_bytes_ / kBytesEach + 1;
    const std::string words = overfull_words(filter_, arguments_.file, most_keys_);
    if (words.empty()) return;
    warned_ = true;
    warn(words +
         ". More and more new lines are taken for lines that were seen, and are not printed. Begin a new file with "
         "a larger --capacity, or build one of all lines so far (bf build).");
  }

  // A filter in doubt calls every line seen, and none would be printed.
  void check(const bfstore::Count& count) {
    const bfstore::Code code = count.ok() ? filter_.health() : count.code();
    if (code == bfstore::Code::kOk) return;
    flush();
    told_ = true;
    const std::string why = doubt_words(code, arguments_.file);
    throw Failure(arguments_.file + ": stopped after " + grouped(done_) + (done_ == 1 ? " line" : " lines") + ": " +
                  why + (why.ends_with('.') ? "" : ".") +
                  " Give the rest again; some of its first lines may be added.");
  }

  void end_epoch_if_due() {
    if (!turning_ || (looked_ && Clock::now() - *looked_ < kBetweenLooks)) return;
    looked_ = Clock::now();
    unwrap(filter_.turn(), arguments_.file);
  }

  bfstore::Filter& filter_;
  const Arguments& arguments_;
  bool turning_ = filter_.stats().turning.has_value();
  std::optional<Clock::time_point> looked_;
  Output output_;
  std::vector<std::uint8_t> answers_;
  std::uint64_t done_ = 0;
  std::uint64_t most_keys_ = keys_within_promise(filter_.stats());
  std::uint64_t body_bytes_ = filter_.stats().body_bytes;
  std::uint64_t next_look_ = body_bytes_ / kBytesEach + 1;  // lines
  bool warned_ = false;
  bool told_ = false;  // the failure says which lines were taken
};

// Without a window a line that was seen stays seen, and --refresh would do nothing.
[[noreturn]] void fail_without_window(const std::string& file) {
  throw Failure(file +
                ": has no window, so a line that was seen stays seen, and --refresh has nothing to do. Leave --refresh "
                "out, or give another file that --create makes with --window TIME.");
}

int dedup(const Arguments& arguments) {
  interrupt::defer();
  bool created = false;
  auto opened = arguments.create ? open_or_make_filter(arguments, bfstore::OpenMode::kWrite, &created)
                                 : open_filter(arguments, bfstore::OpenMode::kWrite);
  bfstore::Filter filter = filter_of_keys(std::move(opened), arguments.file);
  if (!created) refuse_other_form(filter, arguments);
  if (arguments.refresh && !filter.stats().turning) fail_without_window(arguments.file);
  Deduplicator deduplicator(filter, arguments);
  try {
    each_batch(filter, arguments,
               [&](Batch lines, Batch keys, const KeyReader* reader) { deduplicator.take(lines, keys, reader); });
  } catch (const Failure& failure) {
    deduplicator.stop(failure);
  }
  deduplicator.finish();
  refuse_moved(filter, arguments.file, "Lines of this run may be printed again.");
  check(filter.close(), arguments.file);
  return 0;
}

void check_dedup(Arguments& arguments) {
  if (arguments.create) check_create(arguments);
  const bool would_make = arguments.create && ::access(arguments.file.c_str(), F_OK) != 0;
  const bool is_like_another = !arguments.options.like.empty();
  if (arguments.refresh && would_make && !is_like_another && arguments.options.window_ms == 0)
    throw Failure(
        "dedup: --refresh is for a filter with a window, and --create would make one without. Give --window TIME, such "
        "as 24h, or leave --refresh out.");
}

}  // namespace

const Command kDedup{"dedup", "Print the lines that were not seen before", declare_dedup, dedup, check_dedup};

}  // namespace bf
