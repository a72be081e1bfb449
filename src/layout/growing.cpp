// The layout that grows (FORMAT.md, "Growing"): its row in the table, and its scalar kernel.
#include "layout/growing.hpp"

#include <algorithm>
#include <cmath>

#include "layout/occupancy.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

#include "layout/growing_kernel.inc"
using Kernel = EachSlice<Scalar<Blocked>>;
#include "layout/functions.inc"

constexpr Functions kScalar = functions("scalar");

constexpr auto kBins = static_cast<double>(kLineBits);

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits / kLineBits, num_probes};
}

// The rate of a body whose slices are all full. n and m are those of the first slice. The others have more of both, in
// the same proportion.
double rate(double keys, double bits, double probes) noexcept {
  const double of_slice = line_rate(kBins, keys, bits, probes);
  return -std::expm1(static_cast<double>(kMaxSlices) * std::log1p(-std::min(of_slice, 1.0)));
}

Guess best_probes(double keys, double bits) noexcept { return kBlockedRow.best_probes(keys, bits); }

double expected_fill(double keys, double bits, double probes) noexcept { return line_fill(kBins, keys, bits, probes); }

double places_read(std::uint64_t, std::uint64_t, double) noexcept { return kMaxSlices; }

std::uint64_t lines_of(const Geometry& geometry, std::uint32_t slice) noexcept {
  return geometry.slices != nullptr ? geometry.slices->of[slice].lines : geometry.range;
}

// Sums up the lines that were counted last, which are a slice.
void end_slice(Tally& tally, std::uint64_t lines_in_slice, double probes) noexcept {
  Tally::OfSlice& sums = tally.slices[tally.num_slices];
  const auto all_lines = static_cast<double>(lines_in_slice);
  for (std::uint64_t set = 0; set <= kLineBits; ++set) {
    if (tally.lines_with[set] == 0) continue;
    const auto lines = static_cast<double>(tally.lines_with[set]);
    const auto in_line = static_cast<double>(set);
    sums.lines += tally.lines_with[set];
    sums.rate += lines * rate_of_line(kBins, in_line, all_lines, probes) / all_lines;
    sums.throws += lines * estimated_throws(kBins, in_line);
    sums.variance += lines * variance_of_throws(kBins, in_line);
  }
  tally.lines_with = {};
  ++tally.num_slices;
}

void take(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  for (std::uint64_t bit = 0; bit < num_words * 64 && tally.num_slices < kMaxSlices; bit += kLineBits) {
    const std::uint64_t set = count_bits(words, bit, kLineBits);
    tally.set_bits += set;
    ++tally.lines_with[set];
    tally.bits_taken += kLineBits;
    const std::uint64_t in_slice = lines_of(geometry, tally.num_slices);
    if (tally.bits_taken < in_slice * kLineBits) continue;
    end_slice(tally, in_slice, geometry.num_probes);
    tally.bits_taken = 0;
  }
}

Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  std::uint64_t lines = 0;
  double throws = 0;
  double variance = 0;
  double of_none = 1;
  for (std::uint32_t i = 0; i < tally.num_slices; ++i) {
    const Tally::OfSlice& sums = tally.slices[i];
    lines += sums.lines;
    throws += sums.throws;
    variance += sums.variance;
    of_none *= 1 - std::min(1.0, sums.rate);
  }
  const double probes = geometry.num_probes;
  fill.fill_ratio =
      static_cast<double>(tally.set_bits) / (static_cast<double>(std::max<std::uint64_t>(lines, 1)) * kBins);
  set_estimate(fill, throws / probes, variance / (probes * probes));
  fill.estimated_fpr = 1 - of_none;
  return fill;
}

}  // namespace

constexpr Row kGrowingRow {
  .info = {Layout::kGrowing, "growing", {.add = true, .add_alone = true, .grow = true, .ones_are_maybe = true}},
  .in_lines = false, .inlined = false, .unit_bits = kLineBits, .body_unit = kLineBits, .fewest_bits = kLineBits,
  .least_rate = 1e-7, .geometry = geometry, .rate = rate, .best_probes = best_probes, .expected_fill = expected_fill,
  .places_read = places_read, .take = take, .fill = fill, .scalar = &kScalar,
#if defined(__x86_64__)
  .kernels = {&kGrowingAvx512, &kGrowingAvx2, nullptr},
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  .kernels = {nullptr, nullptr, &kGrowingNeon},
#else
  .kernels = {},
#endif
};

}  // namespace bfstore::layout
