// Facts from the kernel: which pages of a file are in memory, page faults, bytes written.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bench::system {

// Removes all of a file from memory: syncs it, then drops its pages. No process may have touched a mapping of it.
void drop_from_memory(const std::string& path);

// A mapping that only watches: it touches no page.
class Watched {
 public:
  explicit Watched(const std::string& path);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

  [[nodiscard]] std::uint64_t pages_in_memory() const;
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  const std::byte* data_;
  std::uint64_t bytes_;
};

struct Faults {
  long major = 0;  // had to wait for the disk
  long minor = 0;
};

// The page faults of this process so far.
Faults faults();

// Bytes that this process has caused to be read from or written to a device so far (/proc/self/io). A page counts as
// written when it becomes dirty.
std::uint64_t io_bytes(const std::string& field);

// Bytes that all processes have written so far to the whole device that the file is on. Empty if the kernel does not
// tell (a network filesystem).
std::optional<std::uint64_t> device_bytes_written(const std::string& path);

// The memory that a process's mappings of the file take: all of it, and the part that counts if shared pages are
// divided by the number of processes.
struct Memory {
  std::uint64_t resident_bytes = 0;      // Rss
  std::uint64_t proportional_bytes = 0;  // Pss
};
Memory memory_of(pid_t process, const std::string& path);

}  // namespace bench::system
