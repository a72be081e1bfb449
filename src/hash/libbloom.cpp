// The positions of the C library libbloom, version 2: double hashing with MurmurHash2 (Austin Appleby, public domain).
#include "base/bytes.hpp"
#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

std::uint32_t murmur2(std::string_view key, std::uint32_t seed) noexcept {
  constexpr std::uint32_t kMultiplier = 0x5bd1e995;
  auto h = static_cast<std::uint32_t>(seed ^ key.size());
  const auto* at = reinterpret_cast<const std::byte*>(key.data());
  std::size_t left = key.size();
  for (; left >= 4; left -= 4, at += 4) {
    const std::uint32_t word = base::load<std::uint32_t>(at) * kMultiplier;
    h = h * kMultiplier ^ (word ^ word >> 24) * kMultiplier;
  }
  for (std::size_t i = 0; i < left; ++i) h ^= std::to_integer<std::uint32_t>(at[i]) << 8 * i;
  if (left != 0) h *= kMultiplier;
  h = (h ^ h >> 13) * kMultiplier;
  return h ^ h >> 15;
}

// The sums have 64 bits: the library's version 1 cuts them to 32, which are other positions.
constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::uint32_t first = murmur2(key, 0x9747b28c);
  const std::uint64_t step = murmur2(key, first);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i)
    if (!use(numbers.remainder(first + step * i))) return false;
  return true;
};

}  // namespace

// No sum of a number of 32 bits and 63 others is 64 * 2^32.
constinit const Row kLibbloomRow{.info = gives_positions(Hash::kLibbloom, "libbloom"),
                                 .probes = probes_of(kEach),
                                 .most_bits = std::uint64_t{kMaxProbes} << 32};

}  // namespace bfstore::hash
