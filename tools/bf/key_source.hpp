// Where keys come from: a file or standard input, that may have to be read twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace bf {

class KeySource {
 public:
  // `from` is a path, or "-" for standard input. Throws Failure.
  explicit KeySource(const std::string& from);
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  // For messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // How much there is to read, where that is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  [[nodiscard]] bool is_terminal() const;

  // Makes rewind() possible: what is not a regular file is copied to a temporary file without a name.
  void make_rewindable();
  // Back to where the source began.
  void rewind();

 private:
  void spool();
  void replace(int fd);

  int fd_ = -1;
  std::string name_;
  off_t start_ = 0;
};

}  // namespace bf
