// A filesystem of the test's own on a device that runs out of space without its knowledge. So the system cannot write
// pages with new keys, and takes them for written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loop_disk.hpp"
#include "support.hpp"

namespace store_test {

inline constexpr std::uint64_t kBefore = 1000;  // keys that are durable before the device is full
inline constexpr std::uint64_t kAll = 20'000;   // keys that were acknowledged: all over the body

extern std::string workshop;  // a folder in memory, where filesystems can be mounted

// The tmpfs that the device's image is in.
class Backing {
 public:
  Backing();
  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Shrinks the tmpfs, so that the image gets no more blocks than it has.
  void fill_up() const;
  void grow_again() const;

 private:
  void resize(std::uint64_t bytes) const;

  std::string path_;
};

// The writes that find no room on the device.
enum class Lacking { kRoom, kRoomForNewBits };

// Files with durable keys. `disk` is nothing where there can be none, and that was said. With kRoomForNewBits a page of
// a body that was not written before cannot be, and all else can: the journal, too, whatever makes the kernel write and
// when.
struct FullDisk {
  explicit FullDisk(const std::string& type, std::size_t num_files = 1, Lacking lacking = Lacking::kRoom);

  Backing backing;
  std::unique_ptr<LoopDisk> disk;
  std::vector<std::string> paths;
};

// The system drops pages that it counts as written: those that are mapped here, and those that no process maps.
void reclaim(const std::string& path);

// Returns how many of the acknowledged keys the file's bytes do not have, as they are read now.
std::uint64_t lost_in(const std::string& path);

}  // namespace store_test
