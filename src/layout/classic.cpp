// The classic layout: k probes anywhere in m bits (FORMAT.md, "Layouts"). Its row in the table, and its scalar kernel.
#include <algorithm>
#include <cmath>

#include "layout/occupancy.hpp"
#include "layout/overlap.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

using Kernel = Scalar<Classic>;
#include "layout/functions.inc"

bool has_all(const std::uint64_t* words, ByPosition::Positions positions) noexcept {
  return std::all_of(positions.begin(), positions.end(), [words](std::uint64_t bit) { return test_bit(words, bit); });
}

// Tests first, as add() does.
template <class How>
bool add_positions(std::uint64_t* words, ByPosition::Positions positions) noexcept {
  if (has_all(words, positions)) return false;
  for (const std::uint64_t bit : positions) How::set_bit(words, bit);
  return true;
}

constexpr Functions with_positions(Functions functions) noexcept {
  functions.by_position = {add_positions<Shared>, add_positions<Alone>};
  return functions;
}

constexpr Functions kScalar = with_positions(functions("scalar"));

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits, num_probes};
}

// The chance that two keys have equal runs: all bits of their digests but one are equal.
constexpr double kEqualRuns = 0x1p-63;

double expected_fill(double keys, double bits, double probes) noexcept {
  return -std::expm1(probes * keys * std::log1p(-1 / bits));
}

double rate(double keys, double bits, double probes) noexcept {
  if (bits <= 2) return 1;  // too few bins for the variance's formula
  const Filled fill = filled(Bins(bits), keys * probes);
  return std::min(1.0, occupancy_rate(fill, probes) + keys * kEqualRuns * runs_that_meet(fill, probes));
}

// Guesses Bloom's k = m/n ln 2, which is not exact if m is small.
Guess best_probes(double keys, double bits) noexcept {
  const double wanted = std::round(bits / keys * std::log(2.0));
  return {static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxProbes))), false};
}

void take(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  const std::uint64_t bits = std::min(num_words * 64, geometry.num_bits - tally.bits_taken);  // no bits after m
  tally.set_bits += count_bits(words, 0, bits);
  tally.bits_taken += bits;
}

Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  // A foreign array may have bits that no key reaches.
  const auto bits = static_cast<double>(geometry.range);
  const auto set = static_cast<double>(std::min(tally.set_bits, geometry.range));
  const double probes = geometry.num_probes;
  const double met = estimated_throws(bits, set) / probes * kEqualRuns * runs_that_meet({set / bits}, probes);
  fill.estimated_fpr = std::min(1.0, std::pow(set / bits, probes) + met);
  set_estimate(fill, estimated_throws(bits, set) / probes, variance_of_throws(bits, set) / (probes * probes));
  return fill;
}

void take_both(Overlap& overlap, const Geometry& geometry, const std::uint64_t* a, const std::uint64_t* b,
               std::uint64_t num_words) noexcept {
  const std::uint64_t bits = std::min(num_words * 64, geometry.num_bits - overlap.bits_taken());
  overlap.take_piece(geometry, bits, count_both(a, b, 0, bits));
}

}  // namespace

constexpr Row kClassicRow{
    .info = {Layout::kClassic,
             "classic",
             {.add = true, .add_alone = true, .merge = true, .intersect = true, .fold = true, .ones_are_maybe = true}},
    .in_lines = false,
    .inlined = false,
    .unit_bits = 1,
    .body_unit = 64,
    .fewest_bits = 4,
    .least_rate = 0,
    .geometry = geometry,
    .rate = rate,
    .best_probes = best_probes,
    .expected_fill = expected_fill,
    .take = take,
    .fill = fill,
    .take_both = take_both,
    .scalar = &kScalar,
    .kernels = {},
};

}  // namespace bfstore::layout
