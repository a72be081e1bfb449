// Estimates, from the bits of two filters of one shape, the number of keys in each and in both.
//
// Bits are bins, and probes are throws (occupancy.hpp). Keys that are in both sets make the same t_C throws into both
// filters. Given the places of these, all other throws are independent of each other. So the logarithms of the empty
// shares of A and of B have the covariance v(t_C), and those of A and of the union U have v(t_A), where v(t) is the
// variance of the logarithm after t throws (variance_after()). The number of throws of keys in both is t_A + t_B - t_U
// (Swamidass & Baldi, "Mathematical Correction for Fingerprint Similarity Measures to Improve Chemical Retrieval",
// 2007), and the variance of that is
//     v(t_U) + 2 v(t_C) - v(t_A) - v(t_B).
// The three numbers are not independent: v(t_A) + v(t_B) + v(t_U) would be far too much.
#pragma once

#include <bfstore/compare.hpp>
#include <bfstore/layout/probes.hpp>

#include <array>
#include <cstdint>

#include "layout/occupancy.hpp"

namespace bfstore::layout {

// The numbers of bits of a piece that are set in one filter, in the other, and in at least one of them.
struct SetBits {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t either = 0;

  SetBits& operator+=(const SetBits& more) noexcept;
};

// Counts the bits of one word of each filter.
SetBits set_bits_of(std::uint64_t one, std::uint64_t other) noexcept;

// Counts the bits of both as count_bits() does. They begin a word, or are in one. Other threads may set some meanwhile.
SetBits count_both(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t first_bit,
                   std::uint64_t num_bits) noexcept;

class Overlap {
 public:
  // Takes a whole group of bins, into which all probes of its keys go, or one of each. A full group counts as if half a
  // bin were empty, but a full filter may have any number of keys.
  void take_group(std::uint64_t bins, const SetBits& set) noexcept;
  // Takes words of both filters that are whole groups of as many bits.
  void take_groups(std::uint64_t bits, const std::uint64_t* a, const std::uint64_t* b,
                   std::uint64_t num_words) noexcept;
  // Takes a piece of the only group, whose bins are the positions that keys reach, until all bits have come.
  void take_piece(const Geometry& geometry, std::uint64_t bits_of_piece, const SetBits& set) noexcept;
  [[nodiscard]] std::uint64_t bits_taken() const noexcept { return bits_taken_; }
  // Takes a word of counters of each filter, and notes which filter has a higher one.
  void take_counters(std::uint64_t a, std::uint64_t b) noexcept;

  [[nodiscard]] const SetBits& set() const noexcept { return all_; }
  // True if no bit and no counter of the one is above that of the other.
  [[nodiscard]] bool a_in_b() const noexcept { return all_.either == all_.b && !a_is_higher_; }
  [[nodiscard]] bool b_in_a() const noexcept { return all_.either == all_.a && !b_is_higher_; }
  // Writes the estimates of a Comparison, and some_in_both.
  void estimate(double probes, Comparison& into) const noexcept;

 private:
  // An estimated number of throws, with and without the correction of the bias, and its variance.
  struct Throws {
    double number = 0;
    double raw = 0;
    double variance = 0;
  };
  [[nodiscard]] Throws throws_of(std::uint64_t bins, std::uint64_t set) noexcept;

  SetBits all_;
  SetBits pieces_;
  std::uint64_t bits_taken_ = 0;
  std::uint64_t bins_taken_ = 0;
  bool a_is_higher_ = false;
  bool b_is_higher_ = false;
  Throws a_;
  Throws b_;
  Throws either_;
  double covariance_ = 0;  // of a and b
  // A cache for groups that are lines, whose numbers repeat.
  static constexpr std::uint64_t kFewBins = 512;
  std::uint64_t known_bins_ = 0;
  std::array<Throws, kFewBins + 1> known_{};
};

}  // namespace bfstore::layout
