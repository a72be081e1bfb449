// The positions of BloomFilter in Google's Guava: both of its strategies, which take two numbers of
// MurmurHash3_x64_128.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"
#include "hash/remainder.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kLongBits = 64;
constexpr std::uint64_t kMostInJava = INT32_MAX;  // of a long[], and of an int

// MURMUR128_MITZ_64. Java's Long.MAX_VALUE masks the sign.
void positions_64(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const Remainder remainder(numbers.num_bits);
  const Murmur128 hash = murmur3_x64_128(key, 0);
  std::uint64_t combined = hash.first;
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i, combined += hash.second)
    positions[i] = remainder(combined & INT64_MAX);
}

// MURMUR128_MITZ_32: the halves of the first number, as Java's int.
void positions_32(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const std::uint64_t hash = murmur3_x64_128(key, 0).first;
  const auto num_bits = static_cast<std::uint32_t>(numbers.num_bits);
  auto combined = static_cast<std::uint32_t>(hash);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    combined += static_cast<std::uint32_t>(hash >> 32);
    positions[i] = (combined > INT32_MAX ? ~combined : combined) % num_bits;
  }
}

}  // namespace

constinit const Row kGuavaRow{.info = gives_positions(Hash::kGuava, "guava"),
                              .positions = positions_64,
                              .most_bits = kMostInJava * kLongBits,
                              .unit_bits = kLongBits};
// More bits than an int counts would never be set.
constinit const Row kGuava32Row{.info = gives_positions(Hash::kGuava32, "guava-32"),
                                .positions = positions_32,
                                .most_bits = kMostInJava + 1,
                                .unit_bits = kLongBits};

}  // namespace bfstore::hash
