// The canary of a hash.
#include "hash/hash.hpp"

#include <array>
#include <bit>

namespace bfstore::hash {

std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept {
  if (hash == Hash::kExternal) return 0;
  constexpr std::array<std::size_t, 7> kLengths{0, 3, 8, 16, 100, 240, 1000};
  std::array<unsigned char, 1000> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i % 251);
  std::uint64_t fold = 0;
  for (const std::size_t length : kLengths) fold = std::rotl(fold, 9) ^ xxh3(key.data(), length, seed);
  return fold;
}

}  // namespace bfstore::hash
