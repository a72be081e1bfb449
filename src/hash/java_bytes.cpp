// The positions of ByteBufferBloomFilter of tutorials in Java: eight polynomials over the UTF-16 units of the key, each
// of which chooses the byte for one bit of a byte.
#include <array>

#include "hash/hash.hpp"
#include "hash/remainder.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

constexpr std::array<std::uint32_t, 8> kSeeds{33, 53, 79, 97, 113, 137, 163, 181};
// As many polynomials as cost little more than one: each waits for its own products.
constexpr std::size_t kAtOnce = 4;

// `h = seed * h + charAt(i)` of Java's int, and then `((h ^ h >>> 16) & 0x7fffffff) % size`.
constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const Remainder remainder(numbers.num_bits / 8);
  for (std::size_t first = 0; first < kSeeds.size(); first += kAtOnce) {
    std::array<std::uint32_t, kAtOnce> hashes;
    hashes.fill(5381);
    each_utf16_unit(key, [&](std::uint16_t unit) {
      for (std::size_t i = 0; i < kAtOnce; ++i) hashes[i] = hashes[i] * kSeeds[first + i] + unit;
    });
    for (std::size_t i = 0; i < kAtOnce; ++i)
      if (!use(8 * remainder((hashes[i] ^ hashes[i] >> 16) & 0x7fffffff) + first + i)) return false;
  }
  return true;
};

// Java's largest array.
constexpr std::uint64_t kMostBytes = INT32_MAX;

}  // namespace

constinit const Row kJavaBytesRow{.info = gives_positions(Hash::kJavaBytes, "java-bytes"),
                                  .probes = probes_of(kEach),
                                  .most_bits = 8 * kMostBytes,
                                  .unit_bits = 8,
                                  .only_probes = kSeeds.size()};

}  // namespace bfstore::hash
