// Keys from a source, one per line (or NUL-separated), as views into one big buffer, without a copy.
//
// Every byte except the separator belongs to a key, and an empty line is the empty key. The last key needs no separator
// after it, and a separator at the very end begins no further key. In lines of text each byte is checked. If all lines
// end in CR LF, the CRs are left out. A byte that no line of text has (a NUL, another CR, a byte order mark between two
// lists) is an error.
#pragma once

#include "key_source.hpp"

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

class KeyReader {
 public:
  static constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 30;  // a longer key surely means the wrong separator
  static constexpr std::size_t kMaxBatch = 4096;

  // With a range, reads only the range, at any position of the descriptor, and does not move it: other readers may
  // share the descriptor. May wait for the first bytes. Throws Failure.
  explicit KeyReader(KeySource& source, std::optional<Range> range = std::nullopt,
                     std::size_t buffer_bytes = kBufferBytes, std::size_t max_key_bytes = kMaxKeyBytes);

  // Returns the next keys, at least one, in `keys`. The views are valid until the next call. Waits only when no whole
  // key has been read yet, so that keys from a slow pipe are answered as they come. False at the end. Throws Failure.
  bool next(std::vector<std::string_view>& keys);

  // True if the next call of next() must read, and may wait. So flush the output for the keys so far.
  [[nodiscard]] bool drained() const noexcept { return drained_; }

  [[nodiscard]] const KeySource& source() const noexcept { return source_; }
  // The name of the list, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return source_.name(); }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  struct FreeMemory {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };

  void split(std::vector<std::string_view>& keys);
  [[nodiscard]] bool may_be_odd(const char* block) const noexcept;
  void check(const char* block, std::uint64_t ends, std::uint64_t there);
  void take_line_end(LineEnds found, std::uint64_t where);
  void check_mark(std::string_view key) const;
  void take_rest(std::vector<std::string_view>& keys);
  [[nodiscard]] std::uint64_t place(std::size_t at) const noexcept { return bytes_before_ + at + 1; }
  [[noreturn]] void refuse_nul(std::size_t at) const;
  [[noreturn]] void refuse(std::size_t at, const std::string& what) const;
  void fill();
  void make_room();

  KeySource& source_;
  std::optional<Range> range_;  // the rest of the range
  char separator_;
  bool is_text_;
  LineEnds line_ends_ = LineEnds::kUnknown;  // those that this reader has seen
  bool after_cr_ = false;                    // the byte before `scanned_` is a CR
  bool looks_for_marks_ = false;             // a byte of a mark was seen
  std::size_t max_key_bytes_;
  std::unique_ptr<char, FreeMemory> buffer_;
  std::size_t capacity_;
  std::size_t begin_ = 0;           // start of the first key that was not returned yet
  std::size_t scanned_ = 0;         // no separator is between begin_ and here
  std::size_t end_ = 0;             // end of the bytes that were read
  std::uint64_t bytes_before_ = 0;  // bytes of the list before the buffer
  std::uint64_t bytes_read_ = 0;
  bool at_end_ = false;
  bool drained_ = true;
};

}  // namespace bf
