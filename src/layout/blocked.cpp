// The blocked layout: one 64-byte line per key (FORMAT.md, "Layouts"). Its row in the table, and its scalar kernel.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "layout/occupancy.hpp"
#include "layout/overlap.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

using Kernel = Scalar<Blocked>;
#include "layout/functions.inc"

constexpr Functions kScalar = functions("scalar");

constexpr auto kBins = static_cast<double>(kLineBits);

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits / kLineBits, num_probes};
}

double rate(double keys, double bits, double probes) noexcept { return line_rate(kBins, keys, bits, probes); }

// The rate is a function of the keys in a line, so the best k is a step function of that load. Element k - 1 is the
// load below which k + 1 probes are better than k. tests/sizing computes the table again. Below the last step, more
// probes lose more by runs that meet than they gain, and the best k falls again.
constexpr std::array kLoadOfNextProbe{245.920168347, 142.848885341, 100.318795749, 76.7213300961, 61.5586263862,
                                      50.9034170419, 42.9488561582, 36.7470976849, 31.7531973571, 27.6317741926,
                                      24.1651813128, 21.2059609065, 18.6504701668, 16.4233354766, 14.4676260766,
                                      12.7377724810, 11.1925121728, 9.78174746265, 8.38832911990};

// The guess is not exact near a step and below the last one. Above 2^41 bits it is never exact, because more digests
// have equal h.
Guess best_probes(double keys, double bits) noexcept {
  constexpr double kNear = 1e-4;
  const double load = keys / (bits / kBins);
  const auto* const step =
      std::lower_bound(kLoadOfNextProbe.begin(), kLoadOfNextProbe.end(), load, std::greater<double>());
  const auto num_probes = static_cast<std::uint32_t>(step - kLoadOfNextProbe.begin()) + 1;
  const bool near_next = step == kLoadOfNextProbe.end() || load < *step * (1 + kNear);
  const bool near_last = step != kLoadOfNextProbe.begin() && load > step[-1] * (1 - kNear);
  return {num_probes, !near_next && !near_last && bits <= 0x1p41};
}

double expected_fill(double keys, double bits, double probes) noexcept { return line_fill(kBins, keys, bits, probes); }

void take(Tally& tally, const Geometry&, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  for (std::uint64_t bit = 0; bit < num_words * 64; bit += kLineBits) {
    const std::uint64_t set = count_bits(words, bit, kLineBits);
    tally.set_bits += set;
    ++tally.lines_with[set];
  }
}

// Estimates line by line: the logarithm of the whole filter's fill would assume that all lines are equally full.
Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  const double probes = geometry.num_probes;
  const double all_lines = static_cast<double>(geometry.num_bits) / kBins;
  double throws = 0;
  double variance = 0;
  for (std::uint64_t set = 0; set <= kLineBits; ++set) {
    const auto lines = static_cast<double>(tally.lines_with[set]);
    const auto in_line = static_cast<double>(set);
    fill.estimated_fpr += lines * rate_of_line(kBins, in_line, all_lines, probes);
    throws += lines * estimated_throws(kBins, in_line);
    if (lines > 0) variance += lines * variance_of_throws(kBins, in_line);
  }
  set_estimate(fill, throws / probes, variance / (probes * probes));
  fill.estimated_fpr /= all_lines;
  return fill;
}

void take_both(Overlap& overlap, const Geometry&, const std::uint64_t* a, const std::uint64_t* b,
               std::uint64_t num_words) noexcept {
  overlap.take_groups(kLineBits, a, b, num_words);
}

}  // namespace

constexpr Row kBlockedRow {
  .info = {Layout::kBlocked,
           "blocked",
           {.add = true, .add_alone = true, .merge = true, .intersect = true, .fold = true, .ones_are_maybe = true}},
  .in_lines = true, .inlined = true, .bits_stay = true, .unit_bits = kLineBits, .body_unit = kLineBits,
  .fewest_bits = kLineBits, .least_rate = 1e-8, .geometry = geometry, .rate = rate, .best_probes = best_probes,
  .expected_fill = expected_fill, .take = take, .fill = fill, .take_both = take_both, .scalar = &kScalar,
#if defined(__x86_64__)
  .kernels = {&kBlockedAvx512, &kBlockedAvx2, nullptr},
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  .kernels = {nullptr, nullptr, &kBlockedNeon},
#else
  .kernels = {},
#endif
};

}  // namespace bfstore::layout
