// The bytes of a file that processes lock (FORMAT.md, "Locks").
#pragma once

#include <cstdint>

namespace bfstore::format {

// Far after any data, so that a program that locks the bytes of a file, from its beginning to its end, disturbs
// nothing.
inline constexpr std::uint64_t kStateLock = std::uint64_t{1} << 62;
// Not beside the state lock: Linux makes one lock of two that touch, and whoever asked for the second would be told of
// one that begins before it, as a stranger's does.
inline constexpr std::uint64_t kSyncLock = kStateLock + 2;
inline constexpr std::uint64_t kFirstWriterLock = kStateLock + 4096;
inline constexpr std::uint64_t kNumWriterLocks = 65536;

}  // namespace bfstore::format
