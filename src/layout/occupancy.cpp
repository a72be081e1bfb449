#include "layout/occupancy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bfstore::layout {

Bins::Bins(double bins) noexcept
    : number(bins), log_miss(std::log1p(-1 / bins)), log_miss_both(std::log1p(-2 / bins)) {}

Emptiness emptiness(const Bins& bins, double throws) noexcept {
  const double mean = std::exp(throws * bins.log_miss);
  const double both = std::expm1(throws * (bins.log_miss_both - 2 * bins.log_miss));
  const double variance = (mean - mean * mean) / bins.number + (1 - 1 / bins.number) * mean * mean * both;
  return {mean, std::max(0.0, variance)};
}

double occupancy_rate(const Bins& bins, double throws, double probes) noexcept {
  if (throws <= 0) return 0;
  const double fill = -std::expm1(throws * bins.log_miss);
  const double spread = emptiness(bins, throws).variance / (fill * fill);
  return std::min(1.0, std::exp(probes * std::log(fill) + probes * (probes - 1) / 2 * spread));
}

double estimated_throws(double bins, double set) noexcept {
  const double empty = std::max(bins - set, 0.5) / bins;
  const double log_miss = std::log1p(-1 / bins);
  const double throws = std::log(empty) / log_miss;
  if (bins <= 2) return throws;  // too few for the variance's formula
  const Emptiness there = emptiness(Bins(bins), throws);
  const double too_many = there.variance / (2 * there.mean * there.mean) / -log_miss;
  return std::max(0.0, throws - too_many);
}

double raw_throws(double bins, double set) noexcept {
  if (set >= bins) return std::numeric_limits<double>::infinity();
  return std::log((bins - set) / bins) / std::log1p(-1 / bins);
}

double variance_of_throws(double bins, double set) noexcept {
  if (set >= bins) return std::numeric_limits<double>::infinity();
  return variance_after(bins, raw_throws(bins, set));
}

double variance_after(double bins, double throws) noexcept {
  if (bins <= 2) return bins * bins;  // too few for the variance's formula
  const Bins all(bins);
  const Emptiness there = emptiness(all, throws);
  return there.variance / (there.mean * there.mean) / (all.log_miss * all.log_miss);
}

}  // namespace bfstore::layout
