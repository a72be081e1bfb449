#include "region/blocks.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "region/place.hpp"

namespace bfstore::region {
namespace {

// One call allocates no more than this. Before Linux 6.9 a signal ends an fallocate of a tmpfs, which then frees what
// that call had allocated: a larger call would never end while a timer fires.
constexpr std::uint64_t kAllocatedAtOnce = std::uint64_t{64} << 20;

// xfs_fsr exchanges a file's blocks for those of a copy that it made. Concurrent stores through a mapping were seen to
// get lost (xfs_fsr with fsfreeze and copies, Linux 6.18).
void keep_from_defragmenting(int descriptor) noexcept {
  struct fsxattr attributes {};
  if (ioctl(descriptor, FS_IOC_FSGETXATTR, &attributes) != 0) return;
  attributes.fsx_xflags |= FS_XFLAG_NODEFRAG;
  static_cast<void>(ioctl(descriptor, FS_IOC_FSSETXATTR, &attributes));
}

// Calls allocate(offset, bytes), which returns an errno, for each piece in turn.
template <class Allocate>
int in_pieces(const Extent& part, Allocate allocate) {
  for (std::uint64_t done = 0; done < part.bytes;) {
    const std::uint64_t piece = std::min(kAllocatedAtOnce, part.bytes - done);
    const int failed = allocate(static_cast<off_t>(part.offset + done), static_cast<off_t>(piece));
    if (failed == EINTR) continue;
    if (failed != 0) return failed;
    done += piece;
  }
  return 0;
}

// Does not use posix_fallocate. It writes zeros if a filesystem cannot allocate, and another process may be adding
// there.
int fallocate_in_place(int descriptor, int mode, const Extent& part) {
  const int failed = in_pieces(part, [&](off_t offset, off_t bytes) {
    return fallocate(descriptor, mode | FALLOC_FL_KEEP_SIZE, offset, bytes) == 0 ? 0 : errno;
  });
  return failed == EOPNOTSUPP || failed == ENOSYS ? 0 : failed;  // this filesystem cannot promise blocks
}

// A FIEMAP request, with room for the answer.
struct Question {
  static constexpr std::uint32_t kMost = 64;

  alignas(fiemap) std::byte room[sizeof(fiemap) + kMost * sizeof(fiemap_extent)]{};

  fiemap& map() noexcept { return *reinterpret_cast<fiemap*>(room); }
};

void add(std::vector<Extent>& to, std::uint64_t& sum, std::uint64_t from, std::uint64_t end) {
  if (from >= end) return;
  to.push_back({from, end - from});
  sum += end - from;
}

// Adds what the next extents, from `at`, say. Returns the offset that it reached, or nothing if the filesystem does not
// tell.
std::optional<std::uint64_t> look_on(int descriptor, std::uint64_t at, std::uint64_t end, Unowned& found) {
  Question question;
  fiemap& map = question.map();
  map.fm_start = at;
  map.fm_length = end - at;
  map.fm_extent_count = Question::kMost;
  if (ioctl(descriptor, FS_IOC_FIEMAP, &map) != 0) return std::nullopt;
  for (std::uint32_t i = 0; i < map.fm_mapped_extents; ++i) {
    const fiemap_extent& extent = map.fm_extents[i];
    const std::uint64_t from = std::clamp<std::uint64_t>(extent.fe_logical, at, end);
    const std::uint64_t stop = std::clamp<std::uint64_t>(extent.fe_logical + extent.fe_length, from, end);
    add(found.holes, found.bytes, at, from);
    if ((extent.fe_flags & FIEMAP_EXTENT_SHARED) != 0) add(found.shared, found.bytes, from, stop);
    at = stop;
  }
  if (map.fm_mapped_extents == Question::kMost) return at;
  add(found.holes, found.bytes, at, end);
  return end;
}

}  // namespace

std::optional<Unowned> unowned_in(int descriptor, const std::vector<Extent>& parts) {
  Unowned found;
  for (const Extent& part : parts) {
    const std::uint64_t end = part.offset + part.bytes;
    for (std::uint64_t at = part.offset; at < end;) {
      const auto next = look_on(descriptor, at, end, found);
      if (!next || *next <= at) return std::nullopt;
      at = *next;
    }
  }
  return found;
}

int allocate_blocks(int descriptor, const Extent& part) {
  return in_pieces(part, [&](off_t offset, off_t bytes) { return posix_fallocate(descriptor, offset, bytes); });
}

int extend_blocks(int descriptor, const Extent& part) {
  return in_pieces(part,
                   [&](off_t offset, off_t bytes) { return fallocate(descriptor, 0, offset, bytes) == 0 ? 0 : errno; });
}

int fill_hole(int descriptor, const Extent& part) { return fallocate_in_place(descriptor, 0, part); }

int unshare(int descriptor, const Extent& part) {
  return fallocate_in_place(descriptor, FALLOC_FL_UNSHARE_RANGE, part);
}

void ask_to_keep_blocks(int descriptor) noexcept {
  struct statfs facts {};
  int flags = 0;
  if (fstatfs(descriptor, &facts) != 0) return;
  if (static_cast<std::uint32_t>(facts.f_type) == kXfsMagic) return keep_from_defragmenting(descriptor);
  if (static_cast<std::uint32_t>(facts.f_type) != BTRFS_SUPER_MAGIC) return;
  if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  static_cast<void>(ioctl(descriptor, FS_IOC_SETFLAGS, &flags));  // on failure the file stays like any other there
}

}  // namespace bfstore::region
