// MurmurHash64A (Austin Appleby, public domain): MurmurHash2 of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

namespace bfstore::hash {

inline std::uint64_t murmur2_64a(std::string_view key, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995U;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto mixed = [](std::uint64_t word) { return word ^ word >> 47; };
  std::uint64_t h = seed ^ key.size() * kMultiplier;
  const auto* at = reinterpret_cast<const std::byte*>(key.data());
  for (std::size_t left = key.size(); left >= kWord; left -= kWord, at += kWord)
    h = (h ^ mixed(base::load<std::uint64_t>(at) * kMultiplier) * kMultiplier) * kMultiplier;
  const std::size_t rest = key.size() % kWord;
  if (rest != 0) h = (h ^ base::load_rest(at, rest)) * kMultiplier;
  return mixed(mixed(h) * kMultiplier);
}

}  // namespace bfstore::hash
