// The positions of ByteBufferBloomFilter of tutorials in Java: eight polynomials over the UTF-16 units of the key, each
// of which chooses the byte for one bit of a byte.
#include <array>

#include "hash/hash.hpp"
#include "hash/remainder.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

constexpr std::array<std::uint32_t, 8> kSeeds{33, 53, 79, 97, 113, 137, 163, 181};

// `h = seed * h + charAt(i)` of Java's int, and then `((h ^ h >>> 16) & 0x7fffffff) % size`.
void positions_of(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  std::array<std::uint32_t, kSeeds.size()> hashes;
  hashes.fill(5381);
  each_utf16_unit(key, [&](std::uint16_t unit) {
    for (std::size_t i = 0; i < kSeeds.size(); ++i) hashes[i] = hashes[i] * kSeeds[i] + unit;
  });
  const Remainder remainder(numbers.num_bits / 8);
  for (std::size_t i = 0; i < kSeeds.size(); ++i)
    positions[i] = 8 * remainder((hashes[i] ^ hashes[i] >> 16) & 0x7fffffff) + i;
}

// Java's largest array.
constexpr std::uint64_t kMostBytes = INT32_MAX;

}  // namespace

constinit const Row kJavaBytesRow{.info = gives_positions(Hash::kJavaBytes, "java-bytes"),
                                  .positions = positions_of,
                                  .most_bits = 8 * kMostBytes,
                                  .unit_bits = 8,
                                  .only_probes = kSeeds.size()};

}  // namespace bfstore::hash
