#include "layout/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace bfstore::layout {

Emptiness emptiness(double bins, double throws) noexcept {
  const double log_miss = std::log1p(-1 / bins);
  const double mean = std::exp(throws * log_miss);
  const double variance = (mean - mean * mean) / bins +
                          (1 - 1 / bins) * mean * mean * std::expm1(throws * (std::log1p(-2 / bins) - 2 * log_miss));
  return {mean, std::max(0.0, variance)};
}

double occupancy_rate(double bins, double throws, double probes) noexcept {
  if (throws <= 0) return 0;
  const double fill = -std::expm1(throws * std::log1p(-1 / bins));
  const double spread = emptiness(bins, throws).variance / (fill * fill);
  return std::min(1.0, std::exp(probes * std::log(fill) + probes * (probes - 1) / 2 * spread));
}

double estimated_throws(double bins, double set) noexcept {
  const double empty = std::max(bins - set, 0.5) / bins;
  const double log_miss = std::log1p(-1 / bins);
  const double throws = std::log(empty) / log_miss;
  if (bins <= 2) return throws;  // too few for the variance's formula
  const Emptiness there = emptiness(bins, throws);
  const double too_many = there.variance / (2 * there.mean * there.mean) / -log_miss;
  return std::max(0.0, throws - too_many);
}

}  // namespace bfstore::layout
