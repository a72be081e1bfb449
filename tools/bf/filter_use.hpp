// What the commands share: the library's errors as Failures, loading keys into a filter, and the words for a filter.
#pragma once

#include "arguments.hpp"
#include "interrupt.hpp"
#include "kept_digests.hpp"
#include "key_reader.hpp"
#include "key_source.hpp"
#include "secret.hpp"
#include "terminal.hpp"

#include <bfstore/bfstore.hpp>

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

// Opens the file of the command line, with the options that all commands have for it. A page that cannot be read is an
// error with a message, and not SIGBUS: no other code of this process uses that signal.
bfstore::Result<bfstore::Filter> open_filter(const Arguments& arguments, bfstore::OpenMode mode,
                                             bfstore::OpenOptions options = {});

// The same for another file.
bfstore::Result<bfstore::Filter> open_filter_at(const std::string& path, const Arguments& arguments,
                                                bfstore::OpenMode mode, bfstore::OpenOptions options = {});

// The parts of a filter, which are listed at the command line's file, for reading, as open_filter().
bfstore::Result<bfstore::Filter> open_set(const Arguments& arguments, bfstore::OpenOptions options = {});

// Calls use(options) with the options that all commands have for a new filter.
template <class Use>
auto with_new_options(const Arguments& arguments, const bfstore::Options& options, Use use) {
  bfstore::Options all = options;
  const KeyWiper wiper(all.key);
  all.key = arguments.key;
  all.any_filesystem = arguments.any_filesystem;
  all.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  all.map.guard = true;
  return use(std::as_const(all));
}

// The filter, if it was made.
bfstore::Filter made_filter(bfstore::Result<bfstore::Filter> made, const std::string& file);

// A new filter, with these options.
bfstore::Filter make_filter(const Arguments& arguments, const bfstore::Options& options);

[[noreturn]] void fail_exists(const std::string& file);

// Refuses a name that is taken, early: no user waits for a long command first. The library checks again when it
// matters. Whether a file is there, which may be replaced: one that comes later has keys of its own.
bool refuse_taken(const std::string& file, bool replace);

// Gives an unpublished filter its name.
void publish(bfstore::Filter& filter, const std::string& file);

// The filter, if it was opened and takes keys.
bfstore::Filter filter_of_keys(bfstore::Result<bfstore::Filter> opened, const std::string& file);

// A filter whose hash is external takes no keys.
void refuse_external(const bfstore::Filter& filter, const std::string& file);

// Calls take(keys, bytes read so far) for all keys of the source, or of a part of it, until that returns false. An
// interrupt ends the input, perhaps within a key, so the keys that came last are not taken.
template <class Take>
void read_keys(KeySource& source, std::optional<Range> part, Take take) {
  KeyReader reader(source, part);
  std::vector<std::string_view> keys;
  while (reader.next(keys) && !interrupt::pending()) {
    if (!take(std::span<const std::string_view>(keys), reader.bytes_read())) return;
  }
}

// Between memory and files, where digests are little-endian on every machine.
void swap_if_big_endian(std::span<std::uint64_t> digests) noexcept;

// Calls take(digests) for all digests of the source, 8 bytes each, little-endian, until that returns false.
void read_digests(const KeySource& source, const std::function<bool(std::span<const std::uint64_t>)>& take);

// Adds keys, counts them, and warns once if there are more than the filter was made for. Several threads add a large
// file of keys.
class Loader {
 public:
  Loader(bfstore::Filter& filter, std::string file);

  void add(std::span<const std::string_view> keys);
  // Adds every key of the source, until an interrupt.
  void add_all(KeySource& source);
  // Adds keys by their digests, until an interrupt.
  void add_all(const KeptDigests& digests);
  // Adds digests in the order in which the source has them, 8 bytes each, until an interrupt.
  void add_all_digests(const KeySource& source);
  // Of a part, keys of other parts are left out, and not counted.
  void leave_out_other_parts() noexcept { leaves_out_ = true; }
  // Also counts what other processes have added.
  void finish();

  [[nodiscard]] std::uint64_t keys_read() const noexcept { return keys_read_; }
  [[nodiscard]] std::uint64_t keys_left_out() const noexcept { return keys_left_out_; }
  [[nodiscard]] std::uint64_t keys_new() const noexcept { return keys_new_; }
  // Every key of the source was empty, or blanks.
  [[nodiscard]] bool read_empty_keys_alone() const noexcept { return !read_a_byte_; }
  [[nodiscard]] std::uint64_t keys_held() const noexcept { return keys_before_ + (counts_ ? keys_read_ : keys_new_); }

 private:
  void add_part(KeySource& source, std::optional<Range> part, Progress* progress);
  // Handles the outcome of adding that many keys.
  void take(bfstore::Count count, std::size_t keys);
  void add_digests(std::span<const std::uint64_t> digests);
  void add_own(std::vector<std::uint64_t> digests);
  void warn_if_overfull(std::uint64_t keys_held);

  bfstore::Filter& filter_;
  std::string file_;
  std::uint64_t keys_before_;
  bool leaves_out_ = false;
  std::uint64_t most_keys_;  // within the promise
  bool counts_;              // every add, also of a key that was there
  std::atomic<std::uint64_t> keys_read_{0};
  std::atomic<std::uint64_t> keys_left_out_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<bool> read_a_byte_{false};  // of a key
  std::atomic<std::uint64_t> keys_new_{0};
  std::atomic<bool> warned_{false};
  std::atomic<bool> failed_{false};  // in one thread, so that the others stop
};

// With so many keys the rate is the promised one: more than the capacity where the filter was rounded up to whole
// lines.
std::uint64_t keys_within_promise(const bfstore::Shape& shape);

// Those that were added and not removed.
std::uint64_t keys_left(const bfstore::Stats& stats);

// "room for 1,000 keys at a false-positive rate of 0.01; blocked, 7 probes, 1.2 KiB"
std::string shape_words(const bfstore::Stats& stats);

// "1 key", "2 keys"
std::string key_words(std::uint64_t count);

// Writes one line about success to standard output.
void report(const std::string& line);

}  // namespace bf
