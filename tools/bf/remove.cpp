// bf remove and bf count: keys out of a counting filter, and how often they are in it.
#include "commands.hpp"
#include "failure.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "output.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bf {
namespace {

using Batch = std::span<const std::string_view>;

// The keys of the command line, or those of the source until an interrupt, some at a time; and who read them, if
// anyone did.
void each_batch(const Arguments& arguments, const std::function<void(Batch, const KeyReader*)>& take) {
  if (!arguments.keys.empty()) {
    take(std::vector<std::string_view>(arguments.keys.begin(), arguments.keys.end()), nullptr);
    return;
  }
  KeySource source(arguments.from, arguments.list);
  if (source.is_same_file(arguments.file)) {
    throw Failure(arguments.file + ": is the filter itself, not a list of keys. Name another file with --from.");
  }
  KeyReader reader(source);
  std::vector<std::string_view> keys;
  while (reader.next(keys) && !interrupt::pending()) take(keys, &reader);
}

void refuse_layout(const bfstore::Filter& filter, const std::string& file, const char* what) {
  const auto layout = bfstore::layout_of(filter.shape().layout);
  if (layout && layout->can.remove) return;
  throw Failure(file + ": a filter of the " + (layout ? layout->name : "unknown") + " layout " + what +
                ". Build one with --layout counting from all keys.");
}

// To remove a key that was never added can make a wrong no. So keys are not taken from a list that seems to be damaged.
void refuse_doubt(const KeyReader& reader) {
  if (reader.ended_without_separator()) {
    throw Failure(
        reader.name() +
        ": does not end with a newline (with -0: a NUL), so its last key may be cut. That key was not removed. "
        "If it is whole, remove it alone.");
  }
}

// Nor from one whose keys are not all in the filter: it is of another filter, or its keys differ from those that were
// added by something that nobody sees. All other keys of such a list may be wrong, too.
void refuse_absent(const bfstore::Filter& filter, Batch keys, const KeyReader& reader) {
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers{};
  const bfstore::Count there = filter.contains_keys(bfstore::Keys::views(keys), answers);
  if (!there.ok()) throw Failure(bfstore::code_text(there.code()));
  if (there.keys() == keys.size()) return;
  const auto absent = std::find(answers.begin(), answers.end(), 0) - answers.begin();
  throw BadList(reader.name() + ": the key '" + std::string(keys[static_cast<std::size_t>(absent)]) +
                "' is certainly absent, so these are not the keys that were added. Correct the list. If some of its "
                "keys may be absent: --skip-absent.");
}

// A remove is never repeated. So whoever fails says how many keys of the list are done, and that some more may be.
class Remover {
 public:
  Remover(bfstore::Filter& filter, const std::string& file) : filter_(filter), file_(file) {}

  void remove(Batch keys) {
    doubtful_ = keys.size();
    const bfstore::Count count = filter_.remove_keys(bfstore::Keys::views(keys));
    if (!count.ok()) throw Failure(bfstore::code_text(count.code()));
    doubtful_ = 0;
    asked_ += keys.size();
    removed_ += count.keys();
  }

  [[nodiscard]] Failure stopped(const Failure& why) const {
    if (asked_ + doubtful_ == 0) return why;
    const std::string more = doubtful_ == 0 ? "" : ", nor the next " + grouped(doubtful_) + ": some may be removed";
    std::string reason = why.what();
    if (!reason.ends_with('.')) reason += '.';
    return Failure(file_ + ": removing stopped after " + key_words(asked_) + ": " + reason +
                   " Do not remove these again" + more + ".");
  }

  [[nodiscard]] std::string words() const {
    return file_ + ": " + key_words(removed_) + " removed, " + grouped(asked_ - removed_) + " certainly absent; " +
           key_words(keys_left(filter_.stats())) + " left";
  }

 private:
  bfstore::Filter& filter_;
  const std::string& file_;
  std::uint64_t asked_ = 0;
  std::uint64_t doubtful_ = 0;  // of a call that failed
  std::uint64_t removed_ = 0;
};

// Whoever reads no more than the exit code removes them again.
void report_removed(const std::string& words) {
  try {
    report(words);
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + ". Do not remove these again.");
  }
}

}  // namespace

int remove(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file);
  refuse_layout(filter, arguments.file, "removes no keys");
  Remover remover(filter, arguments.file);
  try {
    each_batch(arguments, [&](Batch keys, const KeyReader* reader) {
      if (reader != nullptr) refuse_doubt(*reader);
      if (reader != nullptr && !arguments.skip_absent) refuse_absent(filter, keys, *reader);
      remover.remove(keys);
    });
  } catch (const Failure& failure) {
    throw remover.stopped(failure);
  }
  const std::string words = remover.words();
  check(filter.close(), arguments.file);
  if (interrupt::pending()) {
    complain(words + ". Interrupted: the rest was not read. Do not remove the first ones again.");
  } else if (!arguments.quiet) {
    report_removed(words);
  }
  return 0;
}

int count(const Arguments& arguments) {
  const bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  refuse_layout(filter, arguments.file, "does not count keys");
  Output output;
  bool any = false;
  each_batch(arguments, [&](Batch keys, const KeyReader*) {
    for (const std::string_view key : keys) {
      const bfstore::Count counted = filter.count(key);
      const bfstore::Code code = counted.ok() ? filter.health() : counted.code();
      if (code != bfstore::Code::kOk) {
        output.flush();
        throw Failure(arguments.file + ": no answers: " + bfstore::code_text(code));
      }
      const std::uint64_t times = counted.keys();
      any = any || times != 0;
      output.append(std::to_string(times) + (times == 15 ? "+\t" : "\t"));
      output.append(key);
      output.append({&arguments.list.separator, 1});
    }
  });
  output.flush();
  return any ? 0 : 1;
}

}  // namespace bf
