// When and where a file is used: the system's boot, and the mount of its filesystem. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bfstore::region {

inline constexpr std::uint32_t kXfsMagic = 0x58465342;  // fs/xfs/libxfs/xfs_format.h; not in <linux/magic.h>

// All zero where there is none to be read (no /proc, no permission). What fails for another reason, such as want of
// descriptors, is an error: it says nothing of the boot.
Result<std::array<std::uint8_t, 16>> boot_id();

// Bytes that no other inode of the same number has, before or after this one: its file handle, as the filesystem makes
// it for NFS (a generation number, and on btrfs the subvolume), and the time of its birth. Empty where there is
// neither.
Result<std::vector<std::byte>> inode_mark(int descriptor);

// A number that the kernel gives to the mount of this file's filesystem, another one each time that it is mounted in
// one boot: the inode number of /sys/fs/TYPE/DEVICE. 0 where there is none to be read.
std::uint64_t mount_instance(int descriptor) noexcept;

}  // namespace bfstore::region
