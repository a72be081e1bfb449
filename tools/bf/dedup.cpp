// bf dedup: prints the lines that were not seen before, as a filter in a pipe. Any number of processes share the file.
#include "counting.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"

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
      "bf dedup FILE [LINE... | --from PATH] [-0] [--at-least-once] [--refresh] [--secret-file PATH]\n"
      "bf dedup FILE [LINE... | --from PATH] --create --capacity N [--window TIME] [options of bf create]",
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
  add_texts(app,
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
                "\nA line is added before it is printed: after a kill the lines that were just read may never be "
                "printed.\n"
                "With --at-least-once it is printed before: after a kill, or if two processes have a line at "
                "once, it "
                "may\n"
                "be printed twice. After a power cut the file may be unclean, and is refused until bf recover: lines "
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
    if (reader == nullptr || reader->drained()) output_.flush();
  }

  void finish() { output_.flush(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kAtOnce = KeyReader::kMaxBatch;
  static constexpr std::chrono::seconds kBetweenLooks{1};

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
    output_.flush();
    check(filter_.add_keys(bfstore::Keys::views(added)));
  }

  void print(std::string_view line) {
    output_.append(line);
    output_.append({&arguments_.list.separator, 1});
  }

  // A filter in doubt calls every line seen, and none would be printed.
  void check(const bfstore::Count& count) {
    const bfstore::Code code = count.ok() ? filter_.health() : count.code();
    if (code == bfstore::Code::kOk) return;
    output_.flush();
    throw Failure(arguments_.file + ": stopped after " + grouped(done_) + (done_ == 1 ? " line" : " lines") + ": " +
                  doubt_words(code, arguments_.file) + ". Give the rest again; some of its first lines may be added.");
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
};

int dedup(const Arguments& arguments) {
  interrupt::defer();
  bool created = false;
  auto opened = arguments.create ? open_or_make_filter(arguments, bfstore::OpenMode::kWrite, &created)
                                 : open_filter(arguments, bfstore::OpenMode::kWrite);
  bfstore::Filter filter = filter_of_keys(std::move(opened), arguments.file);
  Deduplicator deduplicator(filter, arguments);
  each_batch(filter, arguments,
             [&](Batch lines, Batch keys, const KeyReader* reader) { deduplicator.take(lines, keys, reader); });
  deduplicator.finish();
  refuse_moved(filter, arguments.file, "Lines of this run may be printed again.");
  check(filter.close(), arguments.file);
  return 0;
}

void check_dedup(Arguments& arguments) {
  if (arguments.create) check_create(arguments);
}

}  // namespace

const Command kDedup{"dedup", "Print the lines that were not seen before", declare_dedup, dedup, check_dedup};

}  // namespace bf
