// Counting bits, and what follows from them.
#include <algorithm>
#include <cmath>

#include "sizing/sizing.hpp"
#include "store/core.hpp"

namespace bfstore::store {

void FillCounter::take(const std::uint64_t* words, std::uint64_t num_words) noexcept {
  if (geometry_.one_block()) {
    const std::uint64_t bits = std::min(num_words * 64, geometry_.num_bits - bits_taken_);  // none behind m
    set_bits_ += layout::count_bits(words, 0, bits);
    bits_taken_ += bits;
    return;
  }
  for (std::uint64_t bit = 0; bit < num_words * 64; bit += kBlockBits) {
    const std::uint64_t set = layout::count_bits(words, bit, kBlockBits);
    set_bits_ += set;
    ++blocks_with_[set];
  }
}

Fill FillCounter::fill() const noexcept {
  Fill fill;
  const double bits = static_cast<double>(geometry_.num_bits);
  fill.set_bits = set_bits_;
  fill.fill_ratio = static_cast<double>(set_bits_) / bits;
  if (geometry_.one_block()) {
    fill.estimated_fpr = std::pow(fill.fill_ratio, geometry_.num_probes);
    fill.estimated_keys = sizing::estimated_keys(geometry_.num_bits, set_bits_, geometry_.num_probes);
    return fill;
  }
  for (std::uint64_t set = 0; set <= kBlockBits; ++set) {
    const auto blocks = static_cast<double>(blocks_with_[set]);
    const double in_block = static_cast<double>(set) / static_cast<double>(kBlockBits);
    fill.estimated_fpr += blocks * std::pow(in_block, geometry_.num_probes);
    fill.estimated_keys += blocks * sizing::estimated_keys(kBlockBits, set, geometry_.num_probes);
  }
  fill.estimated_fpr /= static_cast<double>(geometry_.range);
  return fill;
}

}  // namespace bfstore::store
