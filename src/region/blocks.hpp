// Finds the blocks that a file lacks, and allocates them. Takes numbers and descriptors; never sees filters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "region/file.hpp"

namespace bfstore::region {

// The parts of a file in which a store to a mapped page needs new blocks.
struct Unowned {
  std::vector<Extent> holes;
  std::vector<Extent> shared;  // shared with another file: the filesystem copies on write
  std::uint64_t bytes = 0;     // of holes and shared parts
};

// Finds the unowned blocks. Returns nothing if the filesystem does not tell (tmpfs).
std::optional<Unowned> unowned_in(int descriptor, const std::vector<Extent>& parts);

// These return an errno, or 0. allocate_blocks() and extend_blocks() extend the file. Where a filesystem cannot
// allocate, allocate_blocks() writes zeros, and extend_blocks() fails: other processes may write there.
int allocate_blocks(int descriptor, const Extent& part);
int extend_blocks(int descriptor, const Extent& part);
int fill_hole(int descriptor, const Extent& part);
int unshare(int descriptor, const Extent& part);

// On a filesystem that writes each change to a new place, asks it to keep the blocks of this file, which is still
// empty.
void ask_to_keep_blocks(int descriptor) noexcept;

}  // namespace bfstore::region
