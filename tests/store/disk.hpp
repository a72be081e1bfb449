// The bytes of a file after a power cut: a model of the page cache over a disk, which learns of the syncs of one file.
//
// A sync writes every page that changed since the one before. A sync that fails writes nothing, and yet the pages count
// as clean from then on, as on Linux: they are not written again until they change again, and the system may drop them
// and read the old ones back at any time. The same holds when the system fails to write pages of its own accord. It
// tells each open file description of a failure once, at the next sync or question. A new description learns only of a
// failure that no other one was told (errseq in the kernel's sources).
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace store_test {

class Disk {
 public:
  // The disk begins with all that the file holds now.
  explicit Disk(std::string path);

  [[nodiscard]] bool is_its(int descriptor) const;
  // Records a write through the descriptor. These pages do not count as clean, even if their bytes are the same.
  void written(std::uint64_t offset, std::uint64_t bytes);
  void synced();
  void sync_failed();
  // Records that the body's pages could not be written, and that the process died before it could say so.
  void sync_failed_for_body();

  // The system writes dirty pages of its own accord, and fails for some of them.
  void write_back_failed(std::mt19937_64& random);

  // A descriptor that is opened now learns only of failures that no other one was told of.
  void opened(int descriptor);
  // Returns whether the descriptor is told of a failure now.
  bool tells(int descriptor);

  // The filesystem is unmounted, and mounted again. Dirty pages are written, or some of them are not, and no process
  // learns of that.
  void remounted(std::mt19937_64& random);

  // Returns what is on the disk for certain.
  [[nodiscard]] const std::string& durable() const noexcept { return disk_; }
  // Returns the disk with any of the sectors that changed since.
  [[nodiscard]] std::string after_power_cut(std::mt19937_64& random) const;
  // The system drops the pages that count as clean, and reads them again.
  void reclaim();

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kSector = 512;

  [[nodiscard]] bool is_dirty(const std::string& now, std::size_t at) const;
  void write_some(std::mt19937_64& random);

  std::string path_;
  std::string disk_;
  std::string clean_;          // each page as it was at the last sync that was tried on it
  std::vector<bool> written_;  // each page, since that sync
  std::uint64_t inode_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t told_ = 0;              // the last failure that some descriptor was told of
  std::map<int, std::uint64_t> knows_;  // the last failure that this descriptor was told of
};

}  // namespace store_test
