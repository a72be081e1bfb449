// The positions of LevelDB's built-in filter: double hashing with its hash function, a kind of MurmurHash1.
#include <bit>

#include "base/bytes.hpp"
#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

std::uint32_t leveldb_hash(std::string_view key) noexcept {
  constexpr std::uint32_t kMultiplier = 0xc6a4a793, kSeed = 0xbc9f1d34;
  std::uint32_t h = kSeed ^ static_cast<std::uint32_t>(key.size()) * kMultiplier;
  const auto* at = reinterpret_cast<const std::byte*>(key.data());
  std::size_t left = key.size();
  for (; left >= 4; left -= 4, at += 4) {
    h = (h + base::load<std::uint32_t>(at)) * kMultiplier;
    h ^= h >> 16;
  }
  if (left == 0) return h;
  for (std::size_t i = 0; i < left; ++i) h += std::to_integer<std::uint32_t>(at[i]) << 8 * i;
  h *= kMultiplier;
  return h ^ h >> 24;
}

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  std::uint32_t h = leveldb_hash(key);
  const std::uint32_t step = std::rotr(h, 17);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i, h += step)
    if (!use(numbers.remainder(h))) return false;
  return true;
};

}  // namespace

constinit const Row kLevelDbRow{.info = gives_positions(Hash::kLevelDb, "leveldb"),
                                .probes = probes_of(kEach),
                                .most_bits = std::uint64_t{1} << 32,
                                .unit_bits = 8};

}  // namespace bfstore::hash
