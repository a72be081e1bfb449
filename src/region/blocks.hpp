// Which blocks a file has, and getting those that it lacks. Numbers and descriptors; never sees filters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "region/file.hpp"

namespace bfstore::region {

// What a store to a mapped page of a file needs new blocks for.
struct Unowned {
  std::vector<Extent> holes;
  std::vector<Extent> shared;  // with another file: the filesystem copies on write
  std::uint64_t bytes = 0;     // of both
};

// Nothing where the filesystem does not tell (tmpfs).
std::optional<Unowned> unowned_in(int descriptor, const std::vector<Extent>& parts);

// These return an errno, or 0. The first one extends the file.
int allocate_blocks(int descriptor, const Extent& part);
int fill_hole(int descriptor, const Extent& part);
int unshare(int descriptor, const Extent& part);

// Where a filesystem writes every change to another place, a file that is still empty may ask to keep its blocks.
void ask_to_keep_blocks(int descriptor) noexcept;

}  // namespace bfstore::region
