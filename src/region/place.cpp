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

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "base/libc.hpp"
#include "region/descriptor.hpp"

namespace bfstore::region {
namespace {

constexpr const char* kBootIdPath = "/proc/sys/kernel/random/boot_id";

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

// True if the system has no answer, and false if, for example, it lacks memory for one.
bool no_answer(int failed) noexcept {
  return failed == EOPNOTSUPP || failed == ENOSYS || failed == EPERM || failed == EACCES || failed == EINVAL ||
         failed == EOVERFLOW;
}

template <class Integer>
void append(std::vector<std::byte>& bytes, Integer value) {
  bytes.resize(bytes.size() + sizeof value);
  base::store(bytes.data() + bytes.size() - sizeof value, value);
}

// If the filesystem has no other handle, one that need not lead back to the file is enough (AT_HANDLE_FID, Linux 6.5).
Error append_handle(int descriptor, std::vector<std::byte>& bytes) {
  constexpr int kOnlyToTell = 0x200;
  alignas(file_handle) std::array<std::byte, sizeof(file_handle) + MAX_HANDLE_SZ> room{};
  auto* const handle = reinterpret_cast<file_handle*>(room.data());
  for (const int flags : {AT_EMPTY_PATH, AT_EMPTY_PATH | kOnlyToTell}) {
    int mount = 0;
    handle->handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(descriptor, "", handle, &mount, flags) == 0) {
      append(bytes, static_cast<std::uint32_t>(handle->handle_type));
      const std::byte* const from = room.data() + sizeof(file_handle);
      bytes.insert(bytes.end(), from, from + handle->handle_bytes);
      return {};
    }
    if (!no_answer(errno)) return base::fail_errno(errno, "", "asking for its file handle");
  }
  return {};
}

Error append_birth(int descriptor, std::vector<std::byte>& bytes) {
  struct statx facts {};
  if (base::facts_of(descriptor, STATX_BTIME, facts) != 0)
    return no_answer(errno) ? Error{} : base::fail_errno(errno, "", "asking for the time of its birth");
  if ((facts.stx_mask & STATX_BTIME) == 0) return {};
  append(bytes, static_cast<std::uint64_t>(facts.stx_btime.tv_sec));
  append(bytes, static_cast<std::uint32_t>(facts.stx_btime.tv_nsec));
  return {};
}

}  // namespace

Result<std::vector<std::byte>> inode_mark(int descriptor) {
  std::vector<std::byte> bytes;
  if (Error error = append_handle(descriptor, bytes); !error.ok()) return error;
  if (Error error = append_birth(descriptor, bytes); !error.ok()) return error;
  return bytes;
}

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
