// The positions of tutorials in Java: a polynomial in each seed over the UTF-16 units of the key.
#include <algorithm>
#include <array>
#include <bit>

#include "hash/hash.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

// SimpleHash of the tutorials: `result = seed * result + value.charAt(i)` of Java's int, and then `(cap - 1) & result`.
constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::uint32_t count = numbers.num_probes;
  std::array<std::uint32_t, kMaxProbes> hashes;
  std::fill_n(hashes.begin(), count, 0U);
  each_utf16_unit(key, [&](std::uint16_t unit) {
    for (std::uint32_t i = 0; i < count; ++i) hashes[i] = hashes[i] * numbers.seeds[i] + unit;
  });
  for (std::uint32_t i = 0; i < count; ++i)
    if (!use(hashes[i] & (numbers.num_bits - 1))) return false;
  return true;
};

// `and` with m - 1 lets through any combination of its set bits: all numbers below m only if m is a power of two.
std::uint64_t num_reached(std::uint64_t num_bits) noexcept {
  return num_bits == 0 ? 0 : std::uint64_t{1} << std::popcount(num_bits - 1);
}

constexpr std::uint64_t kLargestInt = INT32_MAX;

}  // namespace

constinit const Row kJavaPolynomialRow{.info = gives_positions(Hash::kJavaPolynomial, "java-polynomial", true),
                                       .probes = probes_of(kEach),
                                       .most_bits = kLargestInt,
                                       .counts_seeds = false,
                                       .num_reached = num_reached};

}  // namespace bfstore::hash
