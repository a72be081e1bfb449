// The positions of RedisBloom's BF commands: MurmurHash64A of the key, and again with the first hash as the seed.
#include "hash/hash.hpp"
#include "hash/murmur2_64.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kSeed = 0xc6a4a7935bd1e995U;

// RedisBloom has its bits in words of as many.
constexpr std::uint64_t kWordBits = 64;

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  std::uint64_t hash = murmur2_64a(key, kSeed);
  const std::uint64_t step = murmur2_64a(key, hash);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i, hash += step)
    if (!use(numbers.remainder(hash))) return false;
  return true;
};

}  // namespace

constinit const Row kRedisBloomRow{
    .info = gives_positions(Hash::kRedisBloom, "redisbloom"), .probes = probes_of(kEach), .unit_bits = kWordBits};

}  // namespace bfstore::hash
