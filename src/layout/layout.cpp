#include "layout/layout.hpp"

#include <bit>

#include "layout/words.hpp"

namespace bfstore::layout {

const Functions& functions_for(Layout layout) noexcept {
  return layout == Layout::kBlocked ? kBlockedScalar : kClassicScalar;
}

Geometry geometry_of(Layout layout, std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  if (layout == Layout::kBlocked) return {num_bits, num_bits / kBlockBits, num_probes};
  return {num_bits, num_bits, num_probes};
}

std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept {
  std::uint64_t set = 0;
  for (std::uint64_t bit = first_bit; bit < first_bit + num_bits; bit += 64) {
    set += static_cast<std::uint64_t>(std::popcount(load_word(words, bit)));
  }
  return set;
}

}  // namespace bfstore::layout
