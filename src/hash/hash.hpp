// Keys to digests, and checksums. Never sees bits. The only file that includes xxhash.h, whose functions are inlined:
// the shared library needs no other at run time, and a lookup no call.
//
// THE table of hashes: a number without a row is an error. What turns keys into digests is in hasher.hpp.
#pragma once

#include <bfstore/hashes.hpp>

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

struct Row {
  HashInfo info;  // number, name, what it takes
  // Of a key that everybody knows, under a secret that everybody knows; nullptr where no keys are taken.
  std::uint64_t (*known_digest)(const void* data, std::size_t bytes, std::uint64_t seed) noexcept;
};

// nullptr if there is no such hash.
const Row* find(std::uint16_t number) noexcept;

// Of a number that was found before.
const Row& row_of(Hash hash) noexcept;

// A fold of the digests of fixed keys, one for each path that XXH3 takes by length (FORMAT.md, "Hashes"): a library
// that hashes otherwise computes another canary, and refuses the file. 0 where no keys are taken.
std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept;

}  // namespace bfstore::hash
