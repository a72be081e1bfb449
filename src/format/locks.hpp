// The bytes of a file that processes lock (FORMAT.md, "Locks").
#pragma once

#include <cstdint>

namespace bfstore::format {

// Far after any data, so that a program that locks the bytes of a file, from its beginning to its end, disturbs
// nothing.
inline constexpr std::uint64_t kStateLock = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kSyncLock = kStateLock + 1;
inline constexpr std::uint64_t kFirstWriterLock = kStateLock + 4096;
inline constexpr std::uint64_t kNumWriterLocks = 65536;

}  // namespace bfstore::format
