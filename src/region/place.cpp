#include "region/place.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/fail.hpp"
#include "region/descriptor.hpp"

namespace bfstore::region {
namespace {

constexpr const char* kBootIdPath = "/proc/sys/kernel/random/boot_id";
constexpr std::uint32_t kXfsMagic = 0x58465342;  // fs/xfs/libxfs/xfs_format.h; not in <linux/magic.h>

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::array<std::uint8_t, 16> parse_uuid(std::string_view text) noexcept {
  std::array<std::uint8_t, 16> id{};
  std::size_t digits = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0 || digits == 32) continue;  // the dashes
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | digit);
    ++digits;
  }
  return digits == 32 ? id : std::array<std::uint8_t, 16>{};
}

const char* folder_of(std::uint32_t magic) noexcept {
  switch (magic) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case kXfsMagic:
      return "xfs";
    case F2FS_SUPER_MAGIC:
      return "f2fs";
    default:
      return nullptr;
  }
}

}  // namespace

Result<std::array<std::uint8_t, 16>> boot_id() {
  const int descriptor = open_high(kBootIdPath, O_RDONLY);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == EACCES || errno == ENOTDIR || errno == EPERM) return std::array<std::uint8_t, 16>{};
    return base::fail_errno(errno, kBootIdPath, "opening");
  }
  char text[64];
  ssize_t got = 0;
  do {
    got = read(descriptor, text, sizeof text);
  } while (got < 0 && errno == EINTR);
  const int failed = errno;
  close(descriptor);
  if (got < 0) return base::fail_errno(failed, kBootIdPath, "reading");
  return parse_uuid({text, static_cast<std::size_t>(got)});
}

// /sys/dev/block/8:1 is a link to .../sda1.
std::uint64_t mount_instance(int descriptor) noexcept {
  struct statfs system {};
  struct stat facts {};
  if (fstatfs(descriptor, &system) != 0 || fstat(descriptor, &facts) != 0) return 0;
  const char* const type = folder_of(static_cast<std::uint32_t>(system.f_type));
  if (type == nullptr) return 0;
  char link[64];
  std::snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(facts.st_dev), minor(facts.st_dev));
  char target[512];
  const ssize_t length = readlink(link, target, sizeof target - 1);
  if (length <= 0) return 0;
  target[length] = '\0';
  const char* const slash = std::strrchr(target, '/');
  if (slash == nullptr) return 0;
  char path[600];
  std::snprintf(path, sizeof path, "/sys/fs/%s/%s", type, slash + 1);
  struct stat instance {};
  return stat(path, &instance) == 0 ? instance.st_ino : 0;
}

}  // namespace bfstore::region
