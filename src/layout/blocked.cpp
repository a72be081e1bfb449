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
// load below which k + 1 probes are better than k. tests/sizing computes the table again.
constexpr std::array kLoadOfNextProbe{
    245.920279971, 142.848943322, 100.318842162, 76.7213761287, 61.5586787855, 50.9034830451, 42.9489463116,
    36.7472295836, 31.7534024344, 27.6321112594, 24.1657647987, 21.207021843,  18.6524922738, 16.4273691867,
    14.4760399955, 12.7561339506, 11.2346291008, 9.88523845081, 8.68661562911, 7.62109988398, 6.67382443039,
    5.83207462133, 5.08482091691, 4.42237597203, 3.83614092395, 3.31841638566, 2.86226068703, 2.46138274712,
    2.1100603542,  1.8030770495,  1.5356725667,  1.30350306656, 1.10260837827, 0.929384198595};

// Not exact near a step, nor where rounding decides. Below the last step the rates of many k differ only by rounding.
// Above 2^41 bits so many digests have equal h that this begins earlier.
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

// Line by line: the logarithm of the whole filter's fill would assume that all lines are equally full.
Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  double throws = 0;
  double variance = 0;
  for (std::uint64_t set = 0; set <= kLineBits; ++set) {
    const auto lines = static_cast<double>(tally.lines_with[set]);
    const auto in_line = static_cast<double>(set);
    fill.estimated_fpr += lines * std::pow(in_line / kBins, geometry.num_probes);
    throws += lines * estimated_throws(kBins, in_line);
    if (lines > 0) variance += lines * variance_of_throws(kBins, in_line);
  }
  const double probes = geometry.num_probes;
  set_estimate(fill, throws / probes, variance / (probes * probes));
  fill.estimated_fpr /= static_cast<double>(geometry.num_bits) / kBins;
  return fill;
}

void take_both(Overlap& overlap, const Geometry&, const std::uint64_t* a, const std::uint64_t* b,
               std::uint64_t num_words) noexcept {
  for (std::uint64_t bit = 0; bit < num_words * 64; bit += kLineBits)
    overlap.take_group(kLineBits, count_both(a, b, bit, kLineBits));
}

}  // namespace

constexpr Row kBlockedRow {
  .info = {Layout::kBlocked,
           "blocked",
           {.add = true, .add_alone = true, .merge = true, .intersect = true, .fold = true, .ones_are_maybe = true}},
  .in_lines = true, .inlined = true, .unit_bits = kLineBits, .body_unit = kLineBits, .fewest_bits = kLineBits,
  .least_rate = 1e-8, .geometry = geometry, .rate = rate, .best_probes = best_probes, .expected_fill = expected_fill,
  .take = take, .fill = fill, .take_both = take_both, .scalar = &kScalar,
#if defined(__x86_64__)
  .kernels = {&kBlockedAvx512, &kBlockedAvx2, nullptr},
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  .kernels = {nullptr, nullptr, &kBlockedNeon},
#else
  .kernels = {},
#endif
};

}  // namespace bfstore::layout
