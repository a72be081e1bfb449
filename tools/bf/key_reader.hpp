// Keys from a file descriptor, one per line (or NUL-separated), as views into one big buffer, without a copy.
//
// Every byte except the separator belongs to a key: nothing is trimmed. An empty line is the empty key. The last key
// needs no separator after it, and a separator at the very end begins no further key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace bf {

// A part of a regular file, from the first byte of one key to that of another, or beyond the end of the file.
struct Range {
  off_t begin = 0;
  off_t end = 0;
};

class KeyReader {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{256} << 10;  // half of a common L2 cache
  static constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 30;    // a longer key: surely the wrong separator
  static constexpr std::size_t kMaxBatch = 4096;

  // Reads `fd`, which stays the caller's; `name` is for messages.
  KeyReader(int fd, std::string name, char separator, std::size_t buffer_bytes = kBufferBytes,
            std::size_t max_key_bytes = kMaxKeyBytes);
  // Reads a range wherever the descriptor's position is, and does not move it: other readers may share the descriptor.
  KeyReader(int fd, std::string name, char separator, std::optional<Range> range);

  // The next keys, at least one. The views are valid until the next call. Waits only when no whole key has been read
  // yet, so that keys from a slow pipe are answered as they come. False at the end. Throws Failure.
  bool next(std::vector<std::string_view>& keys);

  // The next call of next() must read (and may wait): time to flush the output for the keys so far.
  [[nodiscard]] bool drained() const noexcept { return drained_; }

  // For messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // The first line ended in CR LF, so its key (and probably every other) ends in a CR.
  [[nodiscard]] bool first_line_ends_in_cr() const noexcept { return first_line_ends_in_cr_; }

  // The keys of the last call are one key, at the end, without a separator after it. The list may have been cut there.
  [[nodiscard]] bool ended_without_separator() const noexcept { return ended_without_separator_; }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  struct FreeMemory {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };

  void split(std::vector<std::string_view>& keys);
  void take_rest(std::vector<std::string_view>& keys);
  void fill();
  void make_room();

  int fd_;
  std::optional<Range> range_;  // what is left of it
  std::string name_;
  char separator_;
  std::size_t max_key_bytes_;
  std::unique_ptr<char, FreeMemory> buffer_;
  std::size_t capacity_;
  std::size_t begin_ = 0;    // of the first key that was not returned yet
  std::size_t scanned_ = 0;  // no separator between begin_ and here
  std::size_t end_ = 0;      // of what was read
  std::uint64_t bytes_read_ = 0;
  bool at_end_ = false;
  bool drained_ = true;
  bool seen_first_line_ = false;
  bool first_line_ends_in_cr_ = false;
  bool ended_without_separator_ = false;
};

// read(2) that continues after signals, and waits if the descriptor is non-blocking. 0 at the end. Throws Failure.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name);
// The same from the beginning of `rest`, which becomes shorter.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name, Range& rest);

}  // namespace bf
