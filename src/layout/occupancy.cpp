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

Filled filled(const Bins& bins, double throws) noexcept {
  if (throws <= 0) return {0, 0};
  const double fill = -std::expm1(throws * bins.log_miss);
  return {fill, emptiness(bins, throws).variance / (fill * fill)};
}

double occupancy_rate(const Filled& fill, double probes) noexcept {
  if (fill.mean <= 0) return 0;
  return std::min(1.0, std::exp(probes * std::log(fill.mean) + probes * (probes - 1) / 2 * fill.spread));
}

double runs_that_meet(const Filled& fill, double probes) noexcept {
  const double growth = std::exp(fill.spread);
  double next = fill.mean;
  double power = 1;  // E[fill^j]
  double sum = 0;
  for (double j = 1; j < probes; ++j) {
    power *= std::min(1.0, next);
    sum += power;
    next *= growth;
  }
  return 1 + 2 * sum;
}

double equal_runs(double lines) noexcept { return std::max(0x1p-32, lines * 0x1p-64); }

// The mean of rate(x) over a Poisson load x of that mean, where no key makes a rate of 0.
template <class Rate>
static double mean_over_load(double load, Rate rate) noexcept {
  const double reach = 12 * std::sqrt(load) + 20;  // the tail beyond is below 1e-15
  const double first = std::max(1.0, std::floor(load - reach));
  const double log_load = std::log(load);
  double sum = 0;
  for (double in_line = first; in_line <= load + reach; ++in_line) {
    int sign = 0;  // lgamma_r: the plain one writes a global variable
    const double chance = std::exp(in_line * log_load - load - lgamma_r(in_line + 1, &sign));
    sum += chance * std::min(1.0, rate(in_line));
  }
  return std::min(1.0, sum);
}

double line_rate(double bins, double keys, double cells, double probes) noexcept {
  const Bins line(bins);
  const double equal = equal_runs(cells / bins);
  return mean_over_load(keys / (cells / bins), [&](double in_line) {
    const Filled fill = filled(line, in_line * probes);
    return occupancy_rate(fill, probes) + in_line * equal * runs_that_meet(fill, probes);
  });
}

// Both halves of the hash have 32 bits: one chooses the block, and the other all bits in it.
double split_block_rate(double keys, double cells) noexcept {
  return mean_over_load(keys / (cells / kBlockBits), [](double in_block) {
    return std::pow(-std::expm1(in_block * std::log1p(-1 / kBlockWordBits)), kBlockWords) + in_block * 0x1p-32;
  });
}

double split_block_fill(double keys, double cells) noexcept {
  return -std::expm1(-keys / (cells / kBlockBits) / kBlockWordBits);
}

double line_fill(double bins, double keys, double cells, double probes) noexcept {
  return -std::expm1(keys / (cells / bins) * std::expm1(probes * std::log1p(-1 / bins)));
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

double rate_of_line(double bins, double set, double lines, double probes) noexcept {
  const double keys = estimated_throws(bins, set) / probes;
  return std::min(1.0, std::pow(set / bins, probes) + keys * equal_runs(lines) * runs_that_meet({set / bins}, probes));
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
