// A file without a name in $TMPDIR (or /tmp), for data that does not belong in memory. It vanishes when the process
// ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bf {

// Lets this process open that many more files. Throws Failure if it may not.
void allow_files(std::uint64_t count);

class Spool {
 public:
  // These throw Failure, which names the directory. `instead`: what a user without room can do besides giving more.
  explicit Spool(const char* instead);
  void append(std::span<const std::byte> bytes);
  // Reads bytes from `offset`, which were appended before.
  void read(std::span<std::byte> into, std::uint64_t offset) const;

  // Returns the descriptor, which belongs to the caller from now on.
  [[nodiscard]] int release() noexcept;

  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

 private:
  [[noreturn]] void fail() const;

  std::string directory_;
  const char* instead_;
  int fd_ = -1;
};

}  // namespace bf
