// bf remove: takes keys out of a counting filter.
#include "counting.hpp"
#include "damaged.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bf {
namespace {

void declare_remove(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf remove FILE [KEY... | --from PATH] [-0] [--skip-absent] [--secret-file PATH] [-q]",
                       {"--from", "--null", "--skip-absent", "--secret-file", "--quiet"});
  add_file(app, arguments, "the filter");
  add_keys(app, arguments);
  app.add_flag("--skip-absent", arguments.skip_absent,
               "keys of a list may be absent: without this, the first one that is ends the remove (exit code 2)");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_small_pages(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      std::string(
          "Remove only keys that were added, and each at most as often as it was added. To remove a key that was "
          "never\n"
          "added, or once too often, can make the filter answer no for other keys that are in it. The filter cannot\n"
          "detect this.\n"
          "\nA KEY that is certainly absent is counted, nothing changes, and the exit code is 0. A list with such a "
          "key "
          "is\n"
          "probably the wrong one: it is refused from there on, with the exit code 2, unless --skip-absent is given. "
          "So "
          "is\n"
          "a list whose last line has no newline. Never remove a list again whose remove stopped or was killed, "
          "unless\n"
          "nothing was removed: its keys would be removed twice. The message says what was removed, and names the "
          "first\n"
          "line that is left: go on with the lines from that one on alone (tail -n +N LIST). What a killed remove did "
          "not "
          "take only costs false positives.\n") +
          "\n" + kAboutKeys,
      "  bf create users.bf --capacity 10M --layout counting\n  bf add users.bf alice bob\n"
      "  bf remove users.bf alice");
}

// A word of a shell's command line.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:+@%=-";
  std::string word = text.starts_with('-') ? "./" : "";
  if (text.find_first_not_of(kPlain) == std::string::npos) return word + text;
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + word + "'";
}

constexpr const char* kInTheNewFile =
    "Remove the rest from the new file only if it was built of a list that certainly had these keys.";

constexpr std::uint8_t kMany = 15;  // Filter::count()

// To remove keys twice can make a wrong no. So a remove that stops says which keys of the list are done, and how to
// remove the rest, and nothing but the rest.
class Remover {
 public:
  Remover(bfstore::Filter& filter, const Arguments& arguments) : filter_(filter), arguments_(arguments) {}

  // Removes keys of the list of `reader`, or of the command line (nullptr).
  void remove(Batch lines, Batch keys, const KeyReader* reader) {
    if (reader != nullptr) {
      decompression_ = reader->source().decompression();
      is_file_ = !decompression_.empty() || reader->source().can_be_read_twice();
      refuse_unended(*reader);
    }
    refuse_state();  // before the call, which does not say whether it removed any
    const std::vector<std::uint8_t> counts = counts_of(keys);
    if (reader != nullptr && !arguments_.skip_absent) refuse_absent(lines, keys, counts, *reader);
    stuck_ += static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), kMany));
    doubtful_ = keys.size();
    const bfstore::Count count = filter_.remove_keys(bfstore::Keys::views(keys));
    if (!count.ok()) throw Failure(words_of(count.code()));
    doubtful_ = 0;
    asked_ += keys.size();
    removed_ += count.keys();
  }

  [[nodiscard]] Failure stopped(const std::string& why) const {
    const std::string reason = why + (why.ends_with('.') ? " " : ". ");
    if (asked_ + doubtful_ == 0)
      return Failure(reason + "Nothing was removed." + (superseded_ ? " " + std::string(kInTheNewFile) : ""));
    return Failure(arguments_.file + ": removing stopped after " + key_words(asked_) + ": " + reason + what_is_done());
  }

  // What to do after a remove that ended before its list.
  [[nodiscard]] std::string what_is_done() const {
    if (!arguments_.keys.empty())
      return doubtful_ == 0 ? "Do not remove these keys again." : "Some of the keys may be removed: do not repeat it.";
    const std::uint64_t done = asked_ + doubtful_;
    if (done == 0) return "Nothing was removed.";
    const std::string some = doubtful_ == 0 ? "" : ", and perhaps some of the next " + grouped(doubtful_);
    std::string words = "The first " + grouped(asked_) + " of the list are done" + some +
                        ": never remove them again. No other was removed. ";
    if (unended_) return words.substr(0, words.size() - 1);
    if (superseded_) return words + kInTheNewFile;
    if (lost_) return words + "Leave all keys of the list out when you build it again.";
    return words + "Go on with the rest alone: " + rest_from(done + 1) + ".";
  }

  [[nodiscard]] std::string words() const {
    const std::uint64_t stay = std::min(stuck_, removed_);
    const std::string stay_words = stay == 0 ? ""
                                             : ", " + grouped(stay) + (stay == 1 ? " stays" : " stay") +
                                                   " (a key that may have been added 15 times is never taken out)";
    const bfstore::Stats stats = filter_.stats();
    return arguments_.file + ": " + key_words(removed_ - stay) + " removed" + stay_words + ", " +
           grouped(asked_ - removed_) + " certainly absent; " +
           key_words(std::min(keys_left(stats) + stay, stats.keys_added)) + " left";
  }

  // A program that fails in a pipe gives an empty list.
  void refuse_no_keys() const {
    if (asked_ != 0 || interrupt::pending()) return;
    throw Failure((arguments_.from == "-" ? "standard input" : arguments_.from) +
                  ": holds no keys, so none were removed from " + arguments_.file + ".");
  }

  // The report says it, which -q leaves out.
  void warn_of_absent() const {
    const std::uint64_t absent = asked_ - removed_;
    if (!arguments_.quiet || arguments_.skip_absent || absent == 0) return;
    warn(arguments_.file + ": " + key_words(absent) + (absent == 1 ? " was" : " were") +
         " certainly absent, and not removed.");
  }

  // More removes than adds: then some key was removed that was not there, and the filter cannot tell which.
  void warn_of_excess() const {
    const bfstore::Stats stats = filter_.stats();
    if (stats.keys_removed <= stats.keys_added) return;
    warn(arguments_.file + ": in all " + key_words(stats.keys_removed) + " removed of " + grouped(stats.keys_added) +
         " added. A remove of a key that was not added, or once too often, can make the filter answer no for another "
         "key. Build it again of the keys that it should have (" +
         tools::build_again(arguments_.file) + ").");
  }

 private:
  [[nodiscard]] std::string words_of(bfstore::Code code) {
    superseded_ = code == bfstore::Code::kSuperseded;
    lost_ = lost_its_bits(code);
    return superseded_ ? "another file replaced this one, or is replacing it" : doubt_words(code, arguments_.file);
  }

  // Removing a key that was never added can make a wrong no. So a remove stops at the first sign that the list is
  // damaged.
  void refuse_unended(const KeyReader& reader) {
    unended_ = reader.source().ended_without_separator();
    if (!unended_) return;
    throw Failure(
        reader.name() +
        ": does not end with a newline (with -0: a NUL), so its last key may be cut. That key was not removed. "
        "If it is whole, remove it alone: " +
        rest_from(asked_ + 1) + ".");
  }

  void refuse_state() {
    const bfstore::Code health = filter_.health();
    if (health == bfstore::Code::kOk) return;
    throw Failure((asked_ == 0 ? arguments_.file + ": " : "") + words_of(health));
  }

  // Returns how often each key may have been added: kMany where the filter does not know, and its counters stay as they
  // are.
  [[nodiscard]] std::vector<std::uint8_t> counts_of(Batch keys) {
    std::vector<std::uint8_t> counts(keys.size());
    const bfstore::Count counted = filter_.count_keys(bfstore::Keys::views(keys), counts);
    if (!counted.ok()) throw Failure(words_of(counted.code()));
    return counts;
  }

  // Refuses a list with a key that is certainly absent, or is when its turn comes: the same call removes it before. The
  // list is of another filter, or its keys differ invisibly from those that were added. All other keys of such a list
  // may be wrong, too. To skip such keys is no advice for a list of which a part is done: the whole list would be
  // removed again.
  void refuse_absent(Batch lines, Batch keys, const std::vector<std::uint8_t>& counts, const KeyReader& reader) {
    std::unordered_map<std::string_view, unsigned> times;
    times.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const unsigned turn = ++times[keys[i]];
      if (turn <= counts[i] || counts[i] == kMany) continue;
      throw BadList(reader.name() + ": the key '" + std::string(lines[i]) + "' (number " + grouped(asked_ + i + 1) +
                    (turn == 1 ? ") is certainly absent" : ") is in the list more often than it was added") +
                    ", so these are not the keys that were added." +
                    (asked_ != 0 ? "" : " Correct the list. If some of its keys may be absent: --skip-absent."));
    }
  }

  // "tail -n +5 LIST > REST": the list from its key number `first` on.
  [[nodiscard]] std::string rest_from(std::uint64_t first) const {
    const bool has_nuls = arguments_.list.separator == '\0';
    if (arguments_.from == "-" || !is_file_)
      return "give bf remove " + std::string(has_nuls ? "the keys" : "the lines") + " of " +
             (arguments_.from == "-" ? "its standard input" : arguments_.from) + " from number " +
             std::to_string(first) + " on" +
             (!unended_  ? ""
              : has_nuls ? ", with a NUL at the end"
                         : ", with a newline at the end");
    const std::string tail = std::string(has_nuls ? "tail -z -n +" : "tail -n +") + std::to_string(first);
    const std::string list = shell_word(arguments_.from);
    const std::string rest = decompression_.empty() ? tail + " " + list : decompression_ + " < " + list + " | " + tail;
    return (unended_ ? "{ " + rest + "; " + (has_nuls ? "printf '\\0'" : "echo") + "; }" : rest) +
           " > REST, and then --from REST";
  }

  bfstore::Filter& filter_;
  const Arguments& arguments_;
  std::string decompression_;
  bool is_file_ = false;  // the list is one
  bool unended_ = false;  // its last key may be cut
  bool superseded_ = false;
  bool lost_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t doubtful_ = 0;  // keys of a call that failed
  std::uint64_t removed_ = 0;
  std::uint64_t stuck_ = 0;  // of them: their counters have reached 15, and stay
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

// Removes all keys, and closes the filter. Returns what was done.
std::string remove_all(bfstore::Filter& filter, Remover& remover, const Arguments& arguments) {
  try {
    each_batch(filter, arguments,
               [&](Batch lines, Batch keys, const KeyReader* reader) { remover.remove(lines, keys, reader); });
  } catch (const Failure& failure) {
    throw remover.stopped(failure.what());
  } catch (const std::bad_alloc&) {
    throw remover.stopped("out of memory. " + tools::memory_words());
  }
  remover.refuse_no_keys();
  std::string words = remover.words();
  remover.warn_of_excess();
  remover.warn_of_absent();
  try {
    refuse_moved(filter, arguments.file, "It was done in the file that was moved.");
    check(filter.close(), arguments.file);
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + (std::string_view(failure.what()).ends_with('.') ? "" : ".") +
                  " Before that: " + words + ". Do not remove these again.");
  }
  return words;
}

int remove(const Arguments& arguments) {
  interrupt::defer();
  bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kWrite), arguments.file);
  refuse_layout(filter, arguments.file, "removes no keys");
  Remover remover(filter, arguments);
  const std::string words = remove_all(filter, remover, arguments);
  if (interrupt::pending()) {
    complain(words + ". Interrupted. " + remover.what_is_done());
  } else if (!arguments.quiet) {
    report_removed(words);
  }
  return 0;
}

}  // namespace

const Command kRemove{"remove", "Take keys out of a filter of the counting layout", declare_remove, remove};

}  // namespace bf
