// A file without a name in $TMPDIR (or /tmp), for what does not belong in memory. It is gone with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bf {

// Lets this process have so many more files open. Throws Failure if it may not.
void allow_files(std::uint64_t count);

class Spool {
 public:
  // These throw Failure, which names the directory.
  Spool();
  void append(std::span<const std::byte> bytes);
  // All bytes from `offset` on. They were appended.
  void read(std::span<std::byte> into, std::uint64_t offset) const;

  // The descriptor, which is the caller's from now on.
  [[nodiscard]] int release() noexcept;

  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

 private:
  [[noreturn]] void fail() const;

  std::string directory_;
  int fd_ = -1;
};

}  // namespace bf
