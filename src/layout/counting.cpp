// The counting layout: counters in one 64-byte line per key, so that keys can be removed (FORMAT.md, "Layouts"). Its
// row in the table, and its scalar kernel.
#include "layout/counting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "layout/occupancy.hpp"
#include "layout/overlap.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

using Kernel = Scalar<Counting>;
#include "layout/functions.inc"

constexpr Functions kScalar = functions("scalar");

constexpr std::uint64_t kLineCells = Counting::kLineCells;
constexpr auto kBins = static_cast<double>(kLineCells);

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits / kLineCells, num_probes};
}

double rate(double keys, double bits, double probes) noexcept { return line_rate(kBins, keys, bits, probes); }

// Guesses Bloom's k = m/n ln 2, which is too high, because the lines have unequal loads.
Guess best_probes(double keys, double bits) noexcept {
  const double wanted = std::round(bits / keys * std::log(2.0));
  return {static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxProbes))), false};
}

double expected_fill(double keys, double bits, double probes) noexcept { return line_fill(kBins, keys, bits, probes); }

// Stops in each word after its last counter that is not 0, because a body is long.
void take(Tally& tally, const Geometry&, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  for (std::uint64_t line = 0; line < num_words; line += kLineBits / 64) {
    std::uint64_t set = 0;
    for (std::uint64_t i = line; i < line + kLineBits / 64; ++i) {
      std::uint64_t left = little_endian(load_word(words, i * 64));
      for (; left != 0; left >>= Counters::kBits) {
        const std::uint64_t counter = left & Counters::kMost;
        ++tally.counters_at[counter];
        set += counter != 0 ? 1U : 0U;
      }
    }
    tally.set_bits += set;
    ++tally.lines_with[set];
  }
}

// An add raises one counter for each different probe of the key. Their number is random, with the mean and the variance
// of the occupied bins after k throws. The number of keys is the sum of all counters, divided by that mean. The true
// value of a counter at 15 is unknown.
void estimate_keys(Fill& fill, const Tally& tally, const Geometry& geometry) noexcept {
  double sum = 0;
  for (std::size_t i = 1; i < tally.counters_at.size(); ++i)
    sum += static_cast<double>(i) * static_cast<double>(tally.counters_at[i]);
  const Emptiness after = emptiness(Bins(kBins), geometry.num_probes);
  const double raised = kBins * (1 - after.mean);
  const double keys = sum / raised;
  set_estimate(fill, keys, keys * kBins * kBins * after.variance / (raised * raised));
  fill.counters_at_15 = tally.counters_at[Counters::kMost];
  if (fill.counters_at_15 != 0) fill.estimated_keys_high = std::numeric_limits<double>::infinity();
}

Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  const double all_lines = static_cast<double>(geometry.num_bits) / kBins;
  for (std::uint64_t set = 0; set <= kLineCells; ++set) {
    fill.estimated_fpr += static_cast<double>(tally.lines_with[set]) *
                          rate_of_line(kBins, static_cast<double>(set), all_lines, geometry.num_probes);
  }
  fill.estimated_fpr /= all_lines;
  estimate_keys(fill, tally, geometry);
  return fill;
}

// Compares sets of keys: a counter that is not 0 is a set bit, however often its keys were added.
void take_both(Overlap& overlap, const Geometry&, const std::uint64_t* a, const std::uint64_t* b,
               std::uint64_t num_words) noexcept {
  for (std::uint64_t line = 0; line < num_words; line += kLineBits / 64) {
    SetBits set;
    for (std::uint64_t i = line; i < line + kLineBits / 64; ++i) {
      const std::uint64_t one = little_endian(load_word(a, i * 64));
      const std::uint64_t other = little_endian(load_word(b, i * 64));
      set += set_bits_of(Counters::not_empty(one), Counters::not_empty(other));
      overlap.take_counters(one, other);
    }
    overlap.take_group(kLineCells, set);
  }
}

}  // namespace

constexpr Row kCountingRow {
  .info = {Layout::kCounting,
           "counting",
           {.add = true, .add_alone = true, .remove = true, .merge = true, .fold = true, .ones_are_maybe = true},
           Counters::kBits},
  .in_lines = true, .inlined = false, .unit_bits = kLineCells, .body_unit = kLineBits, .fewest_bits = kLineCells,
  .least_rate = 1e-8, .geometry = geometry, .rate = rate, .best_probes = best_probes, .expected_fill = expected_fill,
  .unite = united_counters, .take = take, .fill = fill, .take_both = take_both, .scalar = &kScalar,
#if defined(__x86_64__)
  .kernels = {&kCountingAvx512, &kCountingAvx2, nullptr},
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  .kernels = {nullptr, nullptr, &kCountingNeon},
#else
  .kernels = {},
#endif
};

}  // namespace bfstore::layout
