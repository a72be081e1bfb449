// The memory that a hash set of the keys would take, for comparison with a filter.
#pragma once

#include <cstdint>

namespace bf {

// The bytes of a std::unordered_set<std::string> that was reserved for that many keys of that length, with 64-bit
// libstdc++ and glibc's malloc. Each key takes a bucket's pointer; a node with a link, the string and its hash; and,
// from 16 bytes, another allocation for its characters. tests/bf/hash_set_test.cpp measures a real one.
std::uint64_t hash_set_bytes(std::uint64_t num_keys, std::uint64_t key_bytes) noexcept;

}  // namespace bf
