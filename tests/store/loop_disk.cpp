#include "loop_disk.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "mounts.hpp"
#include "support.hpp"

namespace store_test {
namespace {

// Not in the headers of Debian 12. XFS had it first; ext4, f2fs and others use the same number.
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kNoLogFlush = 2;

bool run(const std::vector<std::string>& words) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

dev_t device_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_dev : 0;
}

using Range = std::pair<std::uint64_t, std::uint64_t>;  // first byte and length

// Adds the ranges of the device where the file is, after its first `kept` bytes.
bool add_places(const std::string& path, std::uint64_t kept, std::vector<Range>& places) {
  constexpr std::uint32_t kMost = 256;
  alignas(struct fiemap) std::array<std::byte, sizeof(struct fiemap) + kMost * sizeof(struct fiemap_extent)> room{};
  auto* const map = reinterpret_cast<struct fiemap*>(room.data());
  map->fm_start = kept;
  map->fm_length = FIEMAP_MAX_OFFSET - kept;
  map->fm_flags = FIEMAP_FLAG_SYNC;
  map->fm_extent_count = kMost;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool told = file >= 0 && ioctl(file, FS_IOC_FIEMAP, map) == 0 && map->fm_mapped_extents < kMost;
  close(file);
  if (!told) return false;
  for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
    const struct fiemap_extent& extent = map->fm_extents[i];
    const std::uint64_t before = extent.fe_logical < kept ? kept - extent.fe_logical : 0;
    places.emplace_back(extent.fe_physical + before, extent.fe_length - before);
  }
  return true;
}

std::string random_uuid() {
  std::random_device random;
  std::string uuid;
  constexpr const char* kDigits = "0123456789abcdef";
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uuid += '-';
    uuid += kDigits[random() % 16];
  }
  return uuid;
}

}  // namespace

LoopDisk::LoopDisk(std::string type, const std::string& folder)
    : type_(std::move(type)), folder_(folder), image_(folder + "/image." + type_), mount_point_(folder + "/" + type_) {}

LoopDisk::~LoopDisk() {
  if (mounted_) umount2(mount_point_.c_str(), MNT_DETACH);
  detach();
}

std::unique_ptr<LoopDisk> LoopDisk::make(const std::string& type, const std::string& folder, std::uint64_t bytes,
                                         std::string& why) {
  std::unique_ptr<LoopDisk> disk(new LoopDisk(type, folder));
  errno = 0;
  if (!disk->make_image(bytes)) {
    why = "mkfs." + type + " does not work here";
  } else if (!disk->mount()) {
    const std::string error = std::strerror(errno);
    why = disk->device_.empty() ? "no loop device: " + error : type + " can not be mounted: " + error;
  } else {
    return disk;
  }
  return nullptr;
}

bool LoopDisk::make_image(std::uint64_t bytes) const {
  const int image = open(image_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (image < 0) return false;
  const bool sized = ftruncate(image, static_cast<off_t>(bytes)) == 0;
  close(image);
  mkdir(mount_point_.c_str(), 0700);
  const std::string force = type_.rfind("ext", 0) == 0 ? "-F" : "-f";
  return sized && run({"mkfs." + type_, "-q", force, image_});
}

// Detaches and attaches again for every mount, so that nothing stays in the device's own cache that the cut took.
bool LoopDisk::attach_to(const std::string& device, int image) {
  const int loop = open(device.c_str(), O_RDWR | O_CLOEXEC);
  if (loop < 0) return false;
  struct loop_config config {};
  config.fd = static_cast<__u32>(image);
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  if (ioctl(loop, LOOP_CONFIGURE, &config) != 0) {
    close(loop);
    return false;
  }
  device_ = device;
  loop_ = loop;
  return true;
}

void LoopDisk::detach() {
  if (loop_ >= 0) close(loop_);
  loop_ = -1;
}

bool LoopDisk::attach() {
  const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0) return false;
  const int image = open(image_.c_str(), O_RDWR | O_CLOEXEC);
  if (!device_.empty()) attach_to(device_, image);                // the same number again, as a rule
  for (int attempt = 0; attempt < 200 && loop_ < 0; ++attempt) {  // another process may take the same one
    const int number = ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) break;
    attach_to("/dev/loop" + std::to_string(number), image);
  }
  close(image);
  close(control);
  return loop_ >= 0;
}

bool LoopDisk::mount() {
  if (loop_ < 0 && !attach()) return false;
  mounted_ = ::mount(device_.c_str(), mount_point_.c_str(), type_.c_str(), MS_NOATIME, nullptr) == 0;
  return mounted_;
}

bool LoopDisk::unmount() {
  for (int attempt = 0; attempt < 6000 && mounted_; ++attempt) {
    if (umount2(mount_point_.c_str(), 0) == 0) {
      mounted_ = false;
    } else if (errno == EBUSY) {  // a killed process is still on its way out
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } else {
      return false;
    }
  }
  if (!mounted_) detach();
  return !mounted_;
}

// A shutdown of the filesystem that the machine is on would end the machine.
bool LoopDisk::is_our_own() const {
  struct stat loop {};
  if (!mounted_ || fstat(loop_, &loop) != 0 || !S_ISBLK(loop.st_mode)) return false;
  const dev_t here = device_of(mount_point_);
  return here == loop.st_rdev && here != device_of("/") && here != device_of(folder_);
}

bool LoopDisk::write_page_by_page() const {
  const std::string name = device_.substr(device_.rfind('/') + 1);
  std::ofstream limit("/sys/block/" + name + "/queue/max_sectors_kb");
  limit << 4 << std::flush;
  return limit.good();
}

void LoopDisk::settle() const {
  const int root = open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return;
  syncfs(root);
  close(root);
}

bool LoopDisk::lose_everything() const {
  struct loop_info64 info {};
  if (ioctl(loop_, LOOP_GET_STATUS64, &info) != 0) return false;
  info.lo_sizelimit = 4096;
  return ioctl(loop_, LOOP_SET_STATUS64, &info) == 0;
}

bool LoopDisk::give_up_journal() const {
  return ::mount(nullptr, mount_point_.c_str(), nullptr, MS_REMOUNT, "abort") == 0;
}

bool LoopDisk::make_room_except_for(const std::vector<std::string>& paths, std::uint64_t kept) const {
  std::vector<Range> left_out;
  for (const std::string& path : paths) {
    if (!add_places(path, kept, left_out)) return false;
  }
  std::sort(left_out.begin(), left_out.end());
  struct stat facts {};
  const int image = open(image_.c_str(), O_RDWR | O_CLOEXEC);
  bool good = image >= 0 && fstat(image, &facts) == 0;
  left_out.push_back({static_cast<std::uint64_t>(facts.st_size), 0});
  std::uint64_t at = 0;
  for (const auto& [begin, length] : left_out) {
    if (good && begin > at) good = fallocate(image, 0, static_cast<off_t>(at), static_cast<off_t>(begin - at)) == 0;
    at = begin + length;
  }
  close(image);
  return good;
}

bool LoopDisk::cut() const {
  if (!is_our_own()) return false;
  const int root = open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return false;
  std::uint32_t how = kNoLogFlush;
  const bool done = ioctl(root, kShutdown, &how) == 0;
  close(root);
  return done;
}

bool LoopDisk::take_snapshot() const { return run({"cp", "--sparse=always", image_, image_ + ".kept"}); }

bool LoopDisk::put_back_snapshot() const {
  return !mounted_ && run({"cp", "--sparse=always", image_ + ".kept", image_});
}

bool new_boot(const std::string& folder) {
  constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";
  const std::string ours = folder + "/boot_id";
  const bool first = access(ours.c_str(), F_OK) != 0;
  std::ofstream(ours) << random_uuid() << "\n";
  return !first || ::mount(ours.c_str(), kBootId, nullptr, MS_BIND, nullptr) == 0;
}

int run_in_workshop(int count, char** values, std::string& workshop) {
  take_options(count, values);
  const TempDir dir(memory_folder());
  if (!own_mounts()) {
    std::printf("SKIP: nothing can be mounted here: %s\n", std::strerror(errno));
    return 77;
  }
  workshop = dir.path();
  doctest::Context context(count, values);
  return context.run();
}

}  // namespace store_test
