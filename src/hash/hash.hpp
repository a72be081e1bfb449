// Keys to digests, and checksums. Never sees bits. The source file is the only one that includes xxhash.h.
#pragma once

#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>

namespace bfstore::hash {

// XXH3-64 with a seed. `data` may be null when `bytes` is 0.
std::uint64_t xxh3(const void* data, std::size_t bytes, std::uint64_t seed) noexcept;

// A fold of the digests of fixed keys, one for each path that XXH3 takes by length (FORMAT.md, "Hashes"): a library
// that hashes otherwise computes another canary, and refuses the file.
std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept;

}  // namespace bfstore::hash
