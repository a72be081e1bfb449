// Folding (FORMAT.md, "Folding"): makes the body of a filter that is a whole number of times smaller, from the words of
// a larger one, which come piece by piece and in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout.hpp"

namespace bfstore::layout {

// Returns large / small, or 0 if `large` cannot be folded to the size of `small`.
constexpr std::uint64_t times_larger(std::uint64_t large, std::uint64_t small) noexcept {
  return small != 0 && large % small == 0 ? large / small : 0;
}

class Folding {
 public:
  // Folds a body with m = `num_bits`, which is a multiple of times * row.unit_bits.
  Folding(const Row& row, std::uint64_t num_bits, std::uint64_t times)
      : unite_(row.unite),
        unit_bits_(row.unit_bits * row.info.cell_bits),
        num_bits_(num_bits * row.info.cell_bits),
        times_(times) {
    if (times > 1) folded_.resize(std::min(kMostWords, body_bytes(row, num_bits / times) / sizeof(std::uint64_t)));
  }

  // Takes the next words, and calls give(first word, words) for words of the small body that are complete. A piece is a
  // whole number of lines, except for the last one.
  template <class Give>
  void take(std::span<const std::uint64_t> words, Give give) {
    if (times_ == 1) {
      give(taken_, words);
    } else if (unit_bits_ % 64 == 0) {
      take_units(words, give);
    } else {
      take_bits(words, give);
    }
    taken_ += words.size();
  }

  // Call it after the last piece. Gives the remaining words of the small body, even those without bits.
  template <class Give>
  void end(Give give) {
    if (times_ == 1) return;
    static_cast<void>(at(words_of(num_bits_ / times_) - 1, give));
    give(first_, std::span<const std::uint64_t>(folded_));
  }

 private:
  static constexpr std::uint64_t kMostWords = std::uint64_t{1} << 15;

  // Returns a word of the small body. Gives the words before it when no room is left.
  template <class Give>
  std::uint64_t& at(std::uint64_t word, Give give) {
    while (word - first_ >= folded_.size()) {
      give(first_, std::span<const std::uint64_t>(folded_));
      first_ += folded_.size();
      std::fill(folded_.begin(), folded_.end(), 0);
      const std::uint64_t left = words_of(num_bits_ / times_) - first_;
      folded_.resize(std::min<std::uint64_t>(folded_.size(), left));
    }
    return folded_[word - first_];
  }

  template <class Give>
  void take_units(std::span<const std::uint64_t> words, Give give) {
    const std::uint64_t unit_words = unit_bits_ / 64;
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      const std::uint64_t word = taken_ + i;
      std::uint64_t& into = at(word / unit_words / times_ * unit_words + word % unit_words, give);
      into = unite_(into, words[i]);
    }
  }

  template <class Give>
  void take_bits(std::span<const std::uint64_t> words, Give give) {
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      for (std::uint64_t left = little_endian(words[i]); left != 0; left &= left - 1) {
        const std::uint64_t bit = (taken_ + i) * 64 + static_cast<unsigned>(std::countr_zero(left));
        if (bit >= num_bits_) break;
        at(bit / times_ / 64, give) |= bit_mask(bit / times_);
      }
    }
  }

  static std::uint64_t words_of(std::uint64_t bits) noexcept { return (bits + 63) / 64; }

  decltype(Row::unite) unite_;
  std::uint64_t unit_bits_;  // bits of the body, here and below
  std::uint64_t num_bits_;
  std::uint64_t times_;
  std::uint64_t taken_ = 0;            // words of the large body
  std::uint64_t first_ = 0;            // the word of the small body that folded_ begins with
  std::vector<std::uint64_t> folded_;  // whole lines, or up to the end of the body
};

}  // namespace bfstore::layout
