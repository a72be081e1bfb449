// The canary of a hash.
#include "hash/hash.hpp"

#include <array>
#include <bit>
#include <numeric>

#include "hash/siphash.hpp"

namespace bfstore::hash {

std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept {
  if (hash == Hash::kExternal) return 0;
  constexpr std::array<std::size_t, 7> kLengths{0, 3, 8, 16, 100, 240, 1000};
  std::array<unsigned char, 1000> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i % 251);
  Key counting{};
  std::iota(counting.begin(), counting.end(), std::uint8_t{0});
  std::uint64_t fold = 0;
  for (const std::size_t length : kLengths) {
    const bool keyed = hash == Hash::kSipHash;
    fold = std::rotl(fold, 9) ^ (keyed ? siphash(key.data(), length, counting) : xxh3(key.data(), length, seed));
  }
  return fold;
}

}  // namespace bfstore::hash
