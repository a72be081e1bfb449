// The bytes of a file that processes lock (FORMAT.md, "Locks").
#pragma once

#include <cstdint>

namespace bfstore::format {

// Far after any data, so that a program that locks all bytes of a file, from its beginning to its end, is not in the
// way.
inline constexpr std::uint64_t kStateLock = std::uint64_t{1} << 62;
// Not adjacent to the state lock: Linux merges two locks that touch into one. A process that asks about the second
// would then get one that begins before it, like a stranger's.
inline constexpr std::uint64_t kSyncLock = kStateLock + 2;
inline constexpr std::uint64_t kFirstWriterLock = kStateLock + 4096;
inline constexpr std::uint64_t kNumWriterLocks = 65536;

}  // namespace bfstore::format
