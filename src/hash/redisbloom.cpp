// The positions of RedisBloom's BF commands: MurmurHash64A of the key, and again with the first hash as the seed.
#include "hash/hash.hpp"
#include "hash/murmur2_64.hpp"
#include "hash/remainder.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kSeed = 0xc6a4a7935bd1e995U;

// RedisBloom has its bits in words of as many.
constexpr std::uint64_t kWordBits = 64;

void positions_of(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const Remainder remainder(numbers.num_bits);
  std::uint64_t hash = murmur2_64a(key, kSeed);
  const std::uint64_t step = murmur2_64a(key, hash);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i, hash += step) positions[i] = remainder(hash);
}

}  // namespace

constinit const Row kRedisBloomRow{
    .info = gives_positions(Hash::kRedisBloom, "redisbloom"), .positions = positions_of, .unit_bits = kWordBits};

}  // namespace bfstore::hash
