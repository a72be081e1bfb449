// Where keys come from: a file or standard input, perhaps through a program that decompresses it. All readers of one
// source agree about what the list is: its first bytes, and how its lines end.
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

// A part of a regular file, from the first byte of one key to that of another, or beyond the end of the file.
struct Range {
  off_t begin = 0;
  off_t end = 0;
};

// What is read at a time: half of a common L2 cache.
inline constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

enum class LineEnds { kUnknown, kLf, kCrLf };

class KeySource {
 public:
  // `from` is a path, or "-" for standard input. Throws Failure.
  KeySource(const std::string& from, ListFormat format);
  // The same for something else than keys, which `what` names.
  KeySource(const std::string& from, const std::string& what);
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  [[nodiscard]] ListFormat format() const noexcept { return format_; }
  // Another one after begin(), if the list is compressed.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  // For messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // How many bytes there are to read, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  [[nodiscard]] bool is_terminal() const;

  // Looks at the first bytes, once, and waits for them if they are not there yet. Every reader calls it before it
  // reads. A mark at the beginning is skipped, and a compressed list comes from its program. Throws Failure for what is
  // no list.
  void begin();
  // A reader has come to the end. Throws Failure if the list could not be decompressed as a whole.
  void ended();
  // A reader has found a line that ends so. Throws Failure if another line ends otherwise.
  void take_line_end(LineEnds found, std::uint64_t at_byte);
  [[nodiscard]] LineEnds line_ends() const noexcept { return line_ends_; }

  // The parts of a large regular file that are each worth a thread; none divides a key. Empty for any other source,
  // which is read in order. Reading the parts does not move the descriptor.
  [[nodiscard]] std::vector<Range> ranges() const;
  // Moves the descriptor to where it would be if it had been read to the end. Other processes may share it.
  void skip_to_end() const;

  // Whether there is nothing to read. Waits for the first byte if the source is not a regular file.
  [[nodiscard]] bool at_end();

  // A regular file can, a pipe cannot.
  [[nodiscard]] bool can_be_read_twice() const;
  // Back to the beginning of such a source.
  void rewind();

 private:
  KeySource(const std::string& from, const std::string& what, ListFormat format);

  [[nodiscard]] std::string head() const;
  void skip(std::size_t bytes);
  void decompress(const ListKind& kind);
  [[nodiscard]] off_t next_key(off_t from) const;
  void spool();
  void replace(int fd);

  ListFormat format_;
  int fd_ = -1;
  std::string name_;
  off_t start_ = 0;
  bool begun_ = false;
  std::atomic<LineEnds> line_ends_{LineEnds::kUnknown};
  std::optional<Decompressor> decompressor_;
};

// read(2) that continues after signals, and waits if the descriptor is non-blocking. 0 at the end. Throws Failure.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name);
// The same from the beginning of `rest`, which becomes shorter.
std::size_t read_some(int fd, char* to, std::size_t bytes, const std::string& name, Range& rest);

}  // namespace bf
