// The positions of RedisBloom's BF commands: MurmurHash64A of the key, and again with the first hash as the seed.
#include "hash/hash.hpp"
#include "hash/murmur2_64.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kSeed = 0xc6a4a7935bd1e995U;

// RedisBloom has its bits in words of as many.
constexpr std::uint64_t kWordBits = 64;

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::uint64_t first = murmur2_64a(key, kSeed);
  const std::uint64_t step = murmur2_64a(key, first);
  return each_after_four(
      numbers.num_probes, [&](std::uint32_t i) { return numbers.remainder(first + i * step); }, use);
};

}  // namespace

constinit const Row kRedisBloomRow{
    .info = gives_positions(Hash::kRedisBloom, "redisbloom"), .probes = probes_of(kEach), .unit_bits = kWordBits};

}  // namespace bfstore::hash
