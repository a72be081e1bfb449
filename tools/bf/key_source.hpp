// Where keys come from: a file or standard input.
#pragma once

#include "key_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bf {

class KeySource {
 public:
  // `from` is a path, or "-" for standard input; `what` is in it. Throws Failure.
  explicit KeySource(const std::string& from, const std::string& what = "the keys");
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  // For messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // How many bytes there are to read, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  [[nodiscard]] bool is_terminal() const;

  // The parts of a large regular file that are each worth a thread; none divides a key. Empty for any other source,
  // which is read in order. Reading the parts does not move the descriptor.
  [[nodiscard]] std::vector<Range> ranges(char separator) const;
  // Moves the descriptor to where it would be if it had been read to the end. Other processes may share it.
  void skip_to_end() const;

  // Whether there is nothing to read. Waits for the first byte if the source is not a regular file.
  [[nodiscard]] bool at_end();

  // A regular file can, a pipe cannot.
  [[nodiscard]] bool can_be_read_twice() const;
  // Back to the beginning of such a source.
  void rewind();

 private:
  [[nodiscard]] off_t next_key(off_t from, char separator) const;
  void spool();
  void replace(int fd);

  int fd_ = -1;
  std::string name_;
  off_t start_ = 0;
};

}  // namespace bf
