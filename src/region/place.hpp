// When and where a file is used: the system's boot, and the mount of its filesystem. Never sees filters.
#pragma once

#include <bfstore/error.hpp>

#include <array>
#include <cstdint>

namespace bfstore::region {

// All zero where there is none to be read (no /proc, no permission). What fails for another reason, such as want of
// descriptors, is an error: it says nothing of the boot.
Result<std::array<std::uint8_t, 16>> boot_id();

// A number that the kernel gives to the mount of this file's filesystem, another one each time that it is mounted in
// one boot: the inode number of /sys/fs/TYPE/DEVICE. 0 where there is none to be read.
std::uint64_t mount_instance(int descriptor) noexcept;

}  // namespace bfstore::region
