// MurmurHash3_x86_32 (Austin Appleby, public domain): the hash of mmh3.hash in Python, and of BIP-37.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

namespace bfstore::hash {

inline std::uint32_t murmur3_scrambled(std::uint32_t word) noexcept {
  return std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
}

inline std::uint32_t murmur3_finished(std::uint32_t h) noexcept {
  h = (h ^ h >> 16) * 0x85ebca6bU;
  h = (h ^ h >> 13) * 0xc2b2ae35U;
  return h ^ h >> 16;
}

// Only the low 32 bits of the length go into the hash.
inline std::uint32_t murmur3_x86_32(std::string_view key, std::uint32_t seed) noexcept {
  const std::size_t whole = key.size() / 4 * 4;
  std::uint32_t h = seed;
  for (std::size_t at = 0; at < whole; at += 4) {
    const auto word = base::load<std::uint32_t>(reinterpret_cast<const std::byte*>(key.data() + at));
    h = std::rotl(h ^ murmur3_scrambled(word), 13) * 5 + 0xe6546b64U;
  }
  std::uint32_t rest = 0;
  for (std::size_t at = key.size(); at > whole; --at) rest = rest << 8 | static_cast<unsigned char>(key[at - 1]);
  return murmur3_finished(h ^ murmur3_scrambled(rest) ^ static_cast<std::uint32_t>(key.size()));
}

}  // namespace bfstore::hash
