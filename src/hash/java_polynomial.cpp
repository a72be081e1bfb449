// The positions of tutorials in Java: a polynomial in each seed over the UTF-16 units of the key.
#include <algorithm>
#include <bit>

#include "hash/hash.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

// SimpleHash of the tutorials: `result = seed * result + value.charAt(i)` of Java's int, and then `(cap - 1) & result`.
// Only the low 32 bits of a product matter, so the numbers here may be longer.
void positions_of(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const std::uint32_t count = numbers.num_probes;
  std::fill_n(positions, count, std::uint64_t{0});
  each_utf16_unit(key, [&](std::uint16_t unit) {
    for (std::uint32_t i = 0; i < count; ++i) positions[i] = positions[i] * numbers.seeds[i] + unit;
  });
  for (std::uint32_t i = 0; i < count; ++i) positions[i] &= numbers.num_bits - 1;
}

// `and` with m - 1 lets through any combination of its set bits: all numbers below m only if m is a power of two.
std::uint64_t num_reached(std::uint64_t num_bits) noexcept {
  return num_bits == 0 ? 0 : std::uint64_t{1} << std::popcount(num_bits - 1);
}

constexpr std::uint64_t kLargestInt = INT32_MAX;

}  // namespace

constinit const Row kJavaPolynomialRow{.info = gives_positions(Hash::kJavaPolynomial, "java-polynomial", true),
                                       .positions = positions_of,
                                       .most_bits = kLargestInt,
                                       .counts_seeds = false,
                                       .num_reached = num_reached};

}  // namespace bfstore::hash
