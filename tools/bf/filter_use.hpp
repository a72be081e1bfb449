// Code that commands share: throws the library's errors as Failures, loads keys into a filter, and describes a filter.
#pragma once

#include "arguments.hpp"
#include "interrupt.hpp"
#include "kept_digests.hpp"
#include "key_reader.hpp"
#include "key_source.hpp"
#include "list_kind.hpp"
#include "secret.hpp"
#include "terminal.hpp"

#include <bfstore/bfstore.hpp>
#include <bfstore/inspect.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bf {

// Throws Failure for an error. `file` is named if the library has no message.
void check(const bfstore::Error& error, const std::string& file);

template <class T>
T unwrap(bfstore::Result<T> result, const std::string& file) {
  if (!result.ok()) check(result.error(), file);
  return std::move(result).value();
}

// Opens the file of the command line, with the options that all commands share. A page that cannot be read is an error
// with a message, and not SIGBUS: no other code of this process uses that signal.
bfstore::Result<bfstore::Filter> open_filter(const Arguments& arguments, bfstore::OpenMode mode,
                                             bfstore::OpenOptions options = {});

// Opens another file in the same way.
bfstore::Result<bfstore::Filter> open_filter_at(const std::string& path, const Arguments& arguments,
                                                bfstore::OpenMode mode, bfstore::OpenOptions options = {});

// Opens the file of the command line, which has another program's filter, in place.
bfstore::Result<bfstore::Filter> open_foreign(const Arguments& arguments, bfstore::OpenOptions options);

// The note of the filter that --like names, or an empty one.
std::string note_of_like(const Arguments& arguments);

// The note of a new file: the one that was given, and the form of its keys, if --key-form, --note or the filter of
// --like names one. Throws Failure if two of them name different ones.
std::string note_of_new(const Arguments& arguments);

// Throws Failure if keys that the command adds to this file, which was there, would be looked for in another form.
void refuse_other_form(const bfstore::Filter& filter, const Arguments& arguments);

// Opens the file for writing, or makes it by arguments.options if there is none; *created says which.
bfstore::Result<bfstore::Filter> open_or_make_filter(const Arguments& arguments, bfstore::OpenMode mode, bool* created);

// Opens for reading the parts of a filter that the command line's file lists, as open_filter() does.
bfstore::Result<bfstore::Filter> open_set(const Arguments& arguments, bfstore::OpenOptions options = {});

// Calls use(options) with the options that all commands share for a new filter.
template <class Use>
auto with_new_options(const Arguments& arguments, const bfstore::Options& options, Use use) {
  bfstore::Options all = options;
  const SecretWiper wiper(all.secret);
  all.secret = arguments.secret;
  all.any_filesystem = arguments.any_filesystem;
  all.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  all.map.guard = true;
  all.map.random_access = arguments.small_pages;
  return use(std::as_const(all));
}

// Returns the filter, or throws Failure if it was not made.
bfstore::Filter made_filter(bfstore::Result<bfstore::Filter> made, const std::string& file);

// Makes a new filter with these options.
bfstore::Filter make_filter(const Arguments& arguments, const bfstore::Options& options);

// True for a filter, a damaged one, and what a crash may have left of one: no bytes, or zeros. --force replaces no
// other file, whose name is rather mistyped.
bool may_be_replaced(const std::string& path);

// `instead`: what the command has for a user who wants to keep the file's keys, such as "Add to it (bf add)".
[[noreturn]] void fail_exists(const std::string& file, const std::string& instead = "");

// Refuses a name that is in use before any work, so that no user waits for a long command first. The library checks
// again when it matters. Returns true if a file exists that may be replaced: a file that appears later has other keys,
// so it may not. `instead` as for fail_exists().
bool refuse_taken(const std::string& file, bool replace, const std::string& instead = "");

// Gives an unpublished filter its name.
void publish(bfstore::Filter& filter, const std::string& file);

// Throws Failure if the error is about a file that is no filter, and its first bytes are text.
void refuse_list(const bfstore::Error& error, const std::string& file);

// Throws Failure if the file lists the parts of a set instead of being a filter.
void refuse_set(const bfstore::Report& report);

// Throws Failure if the list of keys is the file that is to be the filter.
void refuse_itself(const KeySource& source, const std::string& file);
// Throws Failure if the answers would be appended to the list of the keys, as cat does.
void refuse_own_output(const KeySource& source);

// Returns the filter, or throws Failure if it was not opened or takes no keys.
bfstore::Filter filter_of_keys(bfstore::Result<bfstore::Filter> opened, const std::string& file);

// True if another program, or the disk, took bits of the file away while it was in use.
bool lost_its_bits(bfstore::Code code);

// Says why a filter gives no answers, or takes no keys, and what the user can do.
std::string doubt_words(bfstore::Code code, const std::string& file);

// The writer that a kBusy of the library names in its message, "process 123 (bf)", or "another process".
std::string writer_named_in(const std::string& error, const std::string& file);

// Throws Failure if another program moved the file away, or removed it, while this process wrote to it: a file of that
// name, if there is one, lacks what was written. `advice` says what to do. Closing tells that bfstore replaced the
// file.
void refuse_moved(const bfstore::Filter& filter, const std::string& file, const std::string& advice);

// Throws Failure for a filter whose hash is external: it takes no keys.
void refuse_external(const bfstore::Filter& filter, const std::string& file);

// Calls take(keys, bytes read so far) for all keys of the source, or of a part of it, until that returns false. An
// interrupt ends the input, perhaps within a key, so the last keys are not passed to take().
template <class Take>
void read_keys(KeySource& source, std::optional<Range> part, Take take) {
  KeyReader reader(source, part);
  std::vector<std::string_view> keys;
  while (reader.next(keys) && !interrupt::pending()) {
    if (!take(std::span<const std::string_view>(keys), reader.bytes_read())) return;
  }
}

// Converts digests between memory and files, which are little-endian on every machine.
void swap_if_big_endian(std::span<std::uint64_t> digests) noexcept;

// Calls take(digests) for all digests of the source, 8 bytes each, little-endian, until that returns false.
void read_digests(const KeySource& source, const std::function<bool(std::span<const std::uint64_t>)>& take);

// Adds keys, counts them, and warns once if there are more than the filter was made for. Several threads add a large
// file of keys.
class Loader {
 public:
  // The keys have the form that the filter's note names, or `form`.
  Loader(bfstore::Filter& filter, std::string file, const std::optional<KeyForm>& form = std::nullopt);

  // Adds the keys of the command line.
  void add(std::span<const std::string_view> lines);
  // Adds every key of the source, until an interrupt.
  void add_all(KeySource& source);
  // Adds keys by their digests, until an interrupt.
  void add_all(const KeptDigests& digests);
  // Adds digests in the order in which the source has them, 8 bytes each, until an interrupt.
  void add_all_digests(const KeySource& source);
  // If the filter is a part, leaves out keys of other parts, and does not count them as read.
  void leave_out_other_parts() noexcept { leaves_out_ = true; }
  // Throws the Failure of an add that ended with this code.
  [[noreturn]] void fail(bfstore::Code code) const;
  // Warns if there are too many keys, counting those that other processes have added.
  void finish();

  [[nodiscard]] std::uint64_t keys_read() const noexcept { return keys_read_; }
  [[nodiscard]] std::uint64_t keys_left_out() const noexcept { return keys_left_out_; }
  [[nodiscard]] std::uint64_t keys_new() const noexcept { return keys_new_; }
  // True if every key of the source was empty or had only blanks.
  [[nodiscard]] bool read_empty_keys_alone() const noexcept { return !read_a_byte_; }
  [[nodiscard]] std::uint64_t keys_held() const noexcept { return keys_before_ + (counts_ ? keys_read_ : keys_new_); }

 private:
  void add_part(KeySource& source, std::optional<Range> part, Progress* progress);
  void add_keys(std::span<const std::string_view> lines, std::span<const std::string_view> keys);
  // Throws a Failure that names the line if the digest is of another part. `number`: of the line, if it is known.
  void refuse_other_part(std::string_view line, std::uint64_t digest, std::uint64_t number = 0) const;
  // The same for digests of a list.
  void refuse_digests_of_other_part(std::span<const std::uint64_t> digests, const std::string& list) const;
  // Handles the outcome of adding that many keys.
  void take(bfstore::Count count, std::size_t keys);
  void add_digests(std::span<const std::uint64_t> digests);
  // Adds those of this part, and empties the vector. It keeps its memory: for each new one the kernel clears pages.
  void add_own(std::vector<std::uint64_t>& digests);
  void warn(const std::string& words);
  [[nodiscard]] std::string way_out() const;

  bfstore::Filter& filter_;
  std::string file_;
  KeyForm form_;
  std::uint64_t keys_before_;
  bool leaves_out_ = false;
  std::uint64_t most_keys_;  // within the promise
  bool expires_;             // keys expire
  bool grows_;               // gets more room
  bool counts_;              // every add counts, also of a key that was present
  std::atomic<std::uint64_t> keys_read_{0};
  std::atomic<std::uint64_t> keys_left_out_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<bool> read_a_byte_{false};  // true if a key had a byte that is not a blank
  std::atomic<std::uint64_t> keys_new_{0};
  std::atomic<bool> warned_{false};
  std::atomic<bool> failed_{false};  // set by a thread that failed, so that the others stop
};

// See promise.hpp.
std::uint64_t keys_within_promise(const bfstore::Stats& stats);

// "f: holds more than the 1,024 keys with which it keeps its promised false-positive rate of 0.01", or nothing if it
// keeps it. Where keys expire, the count has keys that are gone: all bits are read, and give the rate of now. A file
// that grows keeps it as long as it can grow; if it could not, it is said how many keys its slices have room for.
std::string overfull_words(const bfstore::Filter& filter, const std::string& file, std::uint64_t most_keys);

// Says that the filter has more keys than it was made for, if it keeps its promise all the same, because its last line
// has room. So this is advice, and no warning of Loader's, which comes when the promise is broken.
void advise_if_past_capacity(const bfstore::Stats& stats, const std::string& file);

// Warns if a new filter of that size answers nearly always "maybe" when it has the keys that it was made for.
void warn_if_useless(const bfstore::Shape& shape, const std::string& file);

// Says that a new filter has more bits than --bits, and why, or nothing.
std::string rounded_words(const Arguments& arguments, const bfstore::Filter& filter);

// The number of keys that were added and not removed.
std::uint64_t keys_left(const bfstore::Stats& stats);

// "room for 1,000 keys at a false-positive rate of 0.01; blocked, 7 probes, 17.2 KiB": the size is that of the file.
// "room for 1,000 keys, grows to 11,111,000, at a false-positive ..."
std::string shape_words(const bfstore::Stats& stats, const std::string& file);

// "1 key", "2 keys"
std::string key_words(std::uint64_t count);

// Returns how many of the keys the filter called absent before: "2,744 of them certainly new".
std::string new_words(const Loader& loader);

// Warns of a list whose last key no separator ends, once the list was read.
void warn_if_unended(const KeySource& source);

// Warns once of a key of the command line that may not be the one that the user means: it ends as a line of a list
// does, or is also the name of a file, of whose lines the user may have thought.
void warn_of_doubtful_keys(const Arguments& arguments);

// Writes one line about success to standard output. Names of files cannot control the terminal.
void report(const std::string& line);
// Writes text as it is, and a line end.
void report_text(const std::string& text);

}  // namespace bf
