// The bytes of a file that processes lock (FORMAT.md, "Locks").
#pragma once

#include <cstdint>

namespace bfstore::format {

// The locks are far after any data, so that a program that locks a file from its beginning to its end does not conflict
// with them.
inline constexpr std::uint64_t kStateLock = std::uint64_t{1} << 62;
// These bytes are not next to the state lock and to each other, because Linux merges two locks that touch into one. A
// process that asks about the second lock would then get one that begins before it, like another program's.
inline constexpr std::uint64_t kSyncLock = kStateLock + 2;
inline constexpr std::uint64_t kGrowthLock = kStateLock + 4;
inline constexpr std::uint64_t kFirstWriterLock = kStateLock + 4096;
inline constexpr std::uint64_t kNumWriterLocks = 65536;

}  // namespace bfstore::format
