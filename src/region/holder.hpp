// Finds the process that holds a lock, for messages only. The kernel does not tell it for an open-file-description
// lock. /proc does, for processes that the caller may look at. Never sees filters.
#pragma once

#include <cstdint>
#include <string>

namespace bfstore::region {

struct ByteRange;

// The offset of the page of a file whose mapping keeps such a lock. Locks of one byte have another offset than a part
// of a longer range, so that /proc tells them apart.
std::uint64_t offset_of_lock_page(const ByteRange& range) noexcept;

// Returns " (process 123, bf)", or nothing if the system does not tell.
std::string holder_in_words(int descriptor, const ByteRange& range);

}  // namespace bfstore::region
