// bf remove: takes keys out of a counting filter.
#include "counting.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bf {
namespace {

void declare_remove(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf remove FILE [KEY... | --from PATH] [-0] [--secret-file PATH] [-q]");
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  app.add_flag("--skip-absent", arguments.skip_absent,
               "keys of a list may be absent: without this, the first one that is ends the remove (exit code 2)");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_quiet(app, arguments);
  app.footer(
      std::string(kAboutKeys) +
      "\nRemove only keys that were added, and each at most as often as it was added. To remove a key that was never\n"
      "added, or once too often, can make the filter answer no for other keys that are in it. The filter cannot\n"
      "detect this.\n"
      "\nA KEY that is certainly absent is counted, nothing changes, and the exit code is 0. A list with such a key "
      "is\n"
      "probably the wrong one: it is refused from there on, with the exit code 2, unless --skip-absent is given. So "
      "is\n"
      "a list whose last line has no newline. Never run a remove again that failed or was killed: what it did not "
      "take\n"
      "only costs false positives.\n"
      "\nExample:\n  bf create users.bf --capacity 10M --layout counting\n  bf add users.bf alice bob\n"
      "  bf remove users.bf alice");
}

// Removing a key that was never added can make a wrong no. So a remove stops at the first sign that the list
// is damaged.
void refuse_doubt(const KeyReader& reader) {
  if (reader.ended_without_separator()) {
    throw Failure(
        reader.name() +
        ": does not end with a newline (with -0: a NUL), so its last key may be cut. That key was not removed. "
        "If it is whole, remove it alone.");
  }
}

// Refuses a list with a key that is certainly absent. The list is of another filter, or its keys differ invisibly from
// those that were added. All other keys of such a list may be wrong, too.
void refuse_absent(const bfstore::Filter& filter, Batch lines, Batch keys, const KeyReader& reader) {
  std::array<std::uint8_t, KeyReader::kMaxBatch> answers{};
  const bfstore::Count there = filter.contains_keys(bfstore::Keys::views(keys), answers);
  if (!there.ok()) throw Failure(bfstore::code_text(there.code()));
  if (there.keys() == keys.size()) return;
  const auto absent = std::find(answers.begin(), answers.end(), 0) - answers.begin();
  throw BadList(reader.name() + ": the key '" + std::string(lines[static_cast<std::size_t>(absent)]) +
                "' is certainly absent, so these are not the keys that were added. Correct the list. If some of its "
                "keys may be absent: --skip-absent.");
}

// A remove is never repeated. So a failure says how many keys of the list were removed, and that some more may be.
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
  std::uint64_t doubtful_ = 0;  // keys of a call that failed
  std::uint64_t removed_ = 0;
};

// The exit code is 2 if the report cannot be written, and a script may then remove the keys again. So the message
// warns.
void report_removed(const std::string& words) {
  try {
    report(words);
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + ". Do not remove these again.");
  }
}

int remove(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file);
  refuse_layout(filter, arguments.file, "removes no keys");
  Remover remover(filter, arguments.file);
  try {
    each_batch(filter, arguments, [&](Batch lines, Batch keys, const KeyReader* reader) {
      if (reader != nullptr) refuse_doubt(*reader);
      if (reader != nullptr && !arguments.skip_absent) refuse_absent(filter, lines, keys, *reader);
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

}  // namespace

const Command kRemove{"remove", "Take keys out of a filter of the counting layout", declare_remove, remove};

}  // namespace bf
