// The source of keys: a file or standard input, perhaps through a program that decompresses it. All readers of one
// source share the kind of the list, which its first bytes tell, and the ends of its lines.
#pragma once

#include "decompressor.hpp"
#include "list_format.hpp"
#include "list_kind.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bf {

// A part of a regular file, from the beginning of one key to that of another, or beyond the end of the file.
struct Range {
  off_t begin = 0;
  off_t end = 0;
};

// The bytes that one call reads: half of a common L2 cache.
inline constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

enum class LineEnds { kUnknown, kLf, kCrLf };

class KeySource {
 public:
  // `from` is a path, or "-" for standard input. Throws Failure.
  KeySource(const std::string& from, ListFormat format);
  // Opens a source of other bytes than keys, which `what` names in messages.
  KeySource(const std::string& from, const std::string& what);
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  [[nodiscard]] ListFormat format() const noexcept { return format_; }
  // Changes in begin(), if the list is compressed.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  // The name of the source, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // The number of bytes to read, if it is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  // True if it is a regular file, to which the standard output goes, too.
  [[nodiscard]] bool is_standard_output() const;
  [[nodiscard]] bool is_terminal() const;

  // Looks at the first bytes, once, and waits for them if necessary. Every reader calls it before it reads. Skips a
  // mark at the beginning, and reads a compressed list through its program. Throws Failure if the bytes are not a list.
  void begin();
  // True if it is a file of digests, as far as its first bytes tell. Those of a few digests tell nothing.
  [[nodiscard]] bool looks_like_digests() const;
  // A reader calls it at the end, and says up to where it has read a regular file (0: it is none), and where
  // its range ends. Throws Failure if
  // the list could not be decompressed as a whole, or is shorter than it was at first.
  void ended(off_t reached, off_t end_of_range);
  // A reader calls it for the end of a line. Throws Failure if another line ended differently.
  void take_line_end(LineEnds found, std::uint64_t at_byte);
  [[nodiscard]] LineEnds line_ends() const noexcept { return line_ends_; }
  // A reader calls it for a last key without a separator after it.
  void take_unended_key() noexcept { ended_without_separator_ = true; }
  // True if the last key, which was read, had no separator after it. The list may have been cut there.
  [[nodiscard]] bool ended_without_separator() const noexcept { return ended_without_separator_; }
  // The command that decompresses the list ("gzip -dc"), or empty.
  [[nodiscard]] const std::string& decompression() const noexcept { return decompression_; }

  // The parts of a large regular file, each worth a thread; no key is in two of them. Empty for any other source, which
  // is read in order. Reading the parts does not move the descriptor.
  [[nodiscard]] std::vector<Range> ranges() const;
  // Moves the descriptor's position to the end, as if it had been read. Other processes may share it.
  void skip_to_end() const;

  // Where a reader of the whole list begins.
  [[nodiscard]] off_t start() const noexcept { return start_; }

  // True if there is nothing to read. Waits for the first byte if the source is not a regular file.
  [[nodiscard]] bool at_end();

  // True for a regular file, false for a pipe.
  [[nodiscard]] bool can_be_read_twice() const;
  // Goes back to the beginning of a source that can be read twice.
  void rewind();

 private:
  KeySource(const std::string& from, const std::string& what, ListFormat format);

  void refuse_digests() const;
  [[nodiscard]] std::string head() const;
  void skip(std::size_t bytes);
  void decompress(const ListKind& kind);
  void tell_of_mark();
  [[nodiscard]] off_t next_key(off_t from) const;
  void spool();
  void replace(int fd);

  ListFormat format_;
  int fd_ = -1;
  std::string name_;
  off_t start_ = 0;
  off_t first_end_ = 0;  // of a regular file, when it was opened
  bool begun_ = false;
  std::atomic<bool> has_mark_{false};  // a byte order mark was left out, and the user does not know yet
  std::atomic<LineEnds> line_ends_{LineEnds::kUnknown};
  std::atomic<bool> ended_without_separator_{false};
  std::optional<Decompressor> decompressor_;
  std::string decompression_;
};

// Calls read(2), continues after signals, and waits if the descriptor is non-blocking. Returns 0 at the end. Throws
// Failure.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name);
// Reads in the same way from the beginning of `rest`, which becomes shorter.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name, Range& rest);

}  // namespace bf
