// What a hash set of the keys would take, for comparison with a filter.
#pragma once

#include <cstdint>

namespace bf {

// The bytes of a std::unordered_set<std::string> of that many keys of that length, reserved for them, as libstdc++ and
// glibc's malloc make it with 64 bits: a bucket's pointer for each key; a node with a link, the string and its hash;
// and the characters elsewhere where the string has no room for them (16 bytes and more). tests/bf/hash_set_test.cpp
// measures a real one.
std::uint64_t hash_set_bytes(std::uint64_t num_keys, std::uint64_t key_bytes) noexcept;

}  // namespace bf
