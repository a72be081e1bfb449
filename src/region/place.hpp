// When and where a file is used: the boot of the system, and the mount of its filesystem. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bfstore::region {

inline constexpr std::uint32_t kXfsMagic = 0x58465342;  // fs/xfs/libxfs/xfs_format.h; not in <linux/magic.h>

// All zero if it cannot be read (no /proc, no permission). A failure for another reason, such as a lack of descriptors,
// is an error: it says nothing about the boot.
Result<std::array<std::uint8_t, 16>> boot_id();

// Bytes that differ from those of every earlier and later inode of the same number: its file handle, as the filesystem
// makes it for NFS (a generation number, and on btrfs the subvolume), and the time of its birth. Empty if it has
// neither.
Result<std::vector<std::byte>> inode_mark(int descriptor);

// A number that the kernel gives to the mount of this file's filesystem, a new one for each mount in one boot: the
// inode number of /sys/fs/TYPE/DEVICE. 0 if it cannot be read.
std::uint64_t mount_instance(int descriptor) noexcept;

}  // namespace bfstore::region
