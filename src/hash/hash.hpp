// Keys to digests, and checksums. Never sees bits. The only file that includes xxhash.h, whose functions are inlined:
// the shared library needs no other at run time, and a lookup no call.
#pragma once

#include <bfstore/options.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace bfstore::hash {

// XXH3-64 with a seed. `data` may be null when `bytes` is 0.
inline std::uint64_t xxh3(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  static constexpr char kEmpty = 0;  // xxHash is handed no null pointer
  return XXH3_64bits_withSeed(data == nullptr ? &kEmpty : data, bytes, seed);
}

// Whether a persisted number is that of a hash.
constexpr bool is_known(std::uint16_t hash) noexcept {
  return hash >= static_cast<std::uint16_t>(Hash::kXxh3) && hash <= static_cast<std::uint16_t>(Hash::kSipHash);
}

// A fold of the digests of fixed keys, one for each path that XXH3 takes by length (FORMAT.md, "Hashes"): a library
// that hashes otherwise computes another canary, and refuses the file. SipHash's is under a key that everybody knows.
std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept;

}  // namespace bfstore::hash
