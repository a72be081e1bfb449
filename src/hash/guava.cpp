// The positions of BloomFilter in Google's Guava: both of its strategies, which take two numbers of
// MurmurHash3_x64_128.
#include "hash/hash.hpp"
#include "hash/murmur3_128.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kLongBits = 64;
constexpr std::uint64_t kMostInJava = INT32_MAX;  // of a long[], and of an int

// MURMUR128_MITZ_64. Java's Long.MAX_VALUE masks the sign.
constexpr auto kEach64 = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const Murmur128 hash = murmur3_x64_128(key, 0);
  const auto next = [&](std::uint32_t i) { return numbers.remainder((hash.first + i * hash.second) & INT64_MAX); };
  return each_after_four(numbers.num_probes, next, use);
};

// MURMUR128_MITZ_32: the halves of the first number, as Java's int.
constexpr auto kEach32 = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::uint64_t hash = murmur3_x64_128(key, 0).first;
  const auto next = [&](std::uint32_t i) {
    const auto combined = static_cast<std::uint32_t>(hash + (i + 1) * (hash >> 32));
    return numbers.remainder(combined > INT32_MAX ? ~combined : combined);
  };
  return each_after_four(numbers.num_probes, next, use);
};

}  // namespace

constinit const Row kGuavaRow{.info = gives_positions(Hash::kGuava, "guava"),
                              .probes = probes_of(kEach64),
                              .most_bits = kMostInJava * kLongBits,
                              .unit_bits = kLongBits};
// More bits than an int counts would never be set.
constinit const Row kGuava32Row{.info = gives_positions(Hash::kGuava32, "guava-32"),
                                .probes = probes_of(kEach32),
                                .most_bits = kMostInJava + 1,
                                .unit_bits = kLongBits};

}  // namespace bfstore::hash
