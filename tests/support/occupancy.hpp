// The exact occupancy distribution: how many of B bins are occupied after t throws, computed throw by throw. The
// formula of src/sizing and the measured rates are compared with it. It shares no code with either.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rooms {

class Occupancy {
 public:
  explicit Occupancy(std::size_t bins) : chance_(bins + 1), bins_(static_cast<double>(bins)) { chance_[0] = 1; }

  void throw_into(std::size_t throws) {
    for (; throws > 0; --throws) throw_one();
  }

  // E[(occupied / bins)^k].
  [[nodiscard]] double rate(double k) const {
    double sum = 0;
    for (std::size_t j = least_; j <= most_; ++j) sum += chance_[j] * std::pow(static_cast<double>(j) / bins_, k);
    return sum;
  }

 private:
  void throw_one() {
    if (most_ + 1 < chance_.size()) ++most_;
    for (std::size_t j = most_; j > least_; --j) {
      const double occupied = static_cast<double>(j) / bins_;
      const double was_empty = (bins_ - static_cast<double>(j) + 1) / bins_;
      chance_[j] = chance_[j] * occupied + chance_[j - 1] * was_empty;
    }
    chance_[least_] *= static_cast<double>(least_) / bins_;
    while (chance_[least_] < kNothing) chance_[least_++] = 0;
  }

  // Smaller chances are dropped: they are far below every rate, and arithmetic near the least double is slow.
  static constexpr double kNothing = 1e-280;

  std::vector<double> chance_;  // [j]: of exactly j occupied bins
  double bins_;
  std::size_t least_ = 0;  // the chance is 0 below and above
  std::size_t most_ = 0;
};

// Returns the exact rate of a classic filter of m bits with n keys.
inline double exact_classic(std::uint64_t n, std::uint64_t m, std::uint32_t k) {
  Occupancy occupancy(m);
  occupancy.throw_into(n * k);
  return occupancy.rate(k);
}

// The rate of blocks of 512 cells (bits, or fewer counters) with k probes, for any mean load: exact in each block,
// mixed over the Poisson load.
class ExactBlocks {
 public:
  explicit ExactBlocks(std::uint32_t k, std::size_t cells = 512)
      : k_(k), cells_(static_cast<double>(cells)), occupancy_(cells) {}

  // Counts the keys of the same block whose probes are those of the key that is asked for, except the first j or the
  // last j of them. They make the floor.
  [[nodiscard]] double rate(double cells_per_key) {
    const double load = cells_ / cells_per_key;
    double sum = 0;
    double logarithm = -load;  // of the chance that a block has i keys
    for (std::size_t i = 1; i < 4 * static_cast<std::size_t>(load) + 100; ++i) {
      logarithm += std::log(load / static_cast<double>(i));
      sum += std::exp(logarithm) * with_keys(i);
    }
    return sum;
  }

 private:
  double with_keys(std::size_t keys) {
    while (rates_.size() <= keys) {
      occupancy_.throw_into(k_);
      double shared = 1;
      for (std::uint32_t j = 1; j < k_; ++j) shared += 2 * occupancy_.rate(j);
      const double met = static_cast<double>(rates_.size()) * shared / 4294967296.0;
      rates_.push_back(std::min(1.0, occupancy_.rate(k_) + met));
    }
    return rates_[keys];
  }

  std::uint32_t k_;
  double cells_;
  Occupancy occupancy_;
  std::vector<double> rates_{0};  // [i]: of a block with i keys
};

}  // namespace rooms
