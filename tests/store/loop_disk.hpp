// A filesystem of the test's own, on a loop device over a sparse file, whose power can be cut: what was not written to
// the device is gone. Only where own_mounts() gave this process mounts of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace store_test {

class LoopDisk {
 public:
  // Makes the image and the mount point in `folder`, and mounts. Nothing, and why, where that is not possible: no loop
  // device, no mkfs, a kernel without this type.
  static std::unique_ptr<LoopDisk> make(const std::string& type, const std::string& folder, std::uint64_t bytes,
                                        std::string& why);
  // Unmounts. The kernel detaches the loop device when no process has it open any more, even if this process is killed.
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return mount_point_; }
  // Every write is of one page, for as long as it is attached: the loop driver takes a write of several pages for done
  // when the image had room for the first of them.
  [[nodiscard]] bool write_page_by_page() const;
  // Writes everything to the device.
  void settle() const;
  // The device has lost all but its first page: what is not in memory can neither be read nor written. (In an image
  // that was truncated, a write of the filesystem's own accord would make holes, which read as zeros.)
  [[nodiscard]] bool lose_everything() const;
  // The device has room for all that is written, but not for what is in these files after their first `kept` bytes and
  // was not written yet. False where the filesystem does not tell where files are.
  [[nodiscard]] bool make_room_except_for(const std::vector<std::string>& paths, std::uint64_t kept) const;
  // Makes the filesystem read-only until it is mounted again, as a failure to write the journal does. Only ext4 can do
  // it.
  [[nodiscard]] bool give_up_journal() const;
  // From now on nothing reaches the device, not even the journal. False if the filesystem cannot do that, or if this is
  // not a filesystem of the test's own.
  [[nodiscard]] bool cut() const;
  // Remembers what the device has now, and puts that back while the filesystem is not mounted.
  [[nodiscard]] bool take_snapshot() const;
  [[nodiscard]] bool put_back_snapshot() const;
  // The journal is replayed. False while a process has a file open.
  [[nodiscard]] bool unmount();
  [[nodiscard]] bool mount();

 private:
  LoopDisk(std::string type, const std::string& folder);
  bool make_image(std::uint64_t bytes) const;
  bool attach();
  bool attach_to(const std::string& device, int image);
  void detach();
  [[nodiscard]] bool is_our_own() const;

  std::string type_;
  std::string folder_;
  std::string image_;
  std::string mount_point_;
  std::string device_;
  int loop_ = -1;
  bool mounted_ = false;
};

// Sets another boot id, which this process and its children see. `folder` keeps it, and is not on the disk.
bool new_boot(const std::string& folder);

// The main of a program of such disks: `workshop` is a folder in memory where filesystems can be mounted. Returns 77
// where that is not allowed.
int run_in_workshop(int count, char** values, std::string& workshop);

}  // namespace store_test
