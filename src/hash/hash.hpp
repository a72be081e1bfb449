// Keys to digests, and checksums. This code never sees bits. No other file includes xxhash.h, whose functions are
// inlined: the shared library needs no other library at run time, and a lookup makes no call.
//
// The only table of hashes: a number without a row is an error. The code that turns keys into digests is in hasher.hpp.
#pragma once

#include <bfstore/hashes.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace bfstore::hash {

// XXH3-64 with a seed. `data` may be null when `bytes` is 0.
inline std::uint64_t xxh3(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  static constexpr char kEmpty = 0;  // xxHash gets no null pointer
  return XXH3_64bits_withSeed(data == nullptr ? &kEmpty : data, bytes, seed);
}

struct Row {
  HashInfo info;  // number, name, what it takes
  // The digest of a public key under a public secret, as a canary. nullptr if the hash takes no keys.
  std::uint64_t (*known_digest)(const void* data, std::size_t bytes, std::uint64_t seed) noexcept;
};

// nullptr if there is no such hash.
const Row* find(std::uint16_t number) noexcept;

// The number was found before.
const Row& row_of(Hash hash) noexcept;

// A fold of the digests of fixed keys, one for each path that XXH3 takes by length (FORMAT.md, "Hashes"). A library
// that hashes differently computes another canary and refuses the file. 0 if the hash takes no keys.
std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept;

}  // namespace bfstore::hash
