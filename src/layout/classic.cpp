// The classic layout: k probes anywhere in m bits (FORMAT.md, "Layouts"). Its row in the table, and its scalar kernel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

// The rates and estimates of filters whose hash keeps all probes of a key together.

// Counts the groups of bits, each of `bits`, by the number of their bits that are set.
template <class TakeGroup>
void take_groups(Tally& tally, const Geometry& geometry, std::uint64_t bits, std::uint64_t num_words,
                 TakeGroup take_group) noexcept {
  const std::uint64_t all = std::min(num_words * 64, geometry.num_bits - tally.bits_taken);
  for (std::uint64_t first = 0; first < all; first += bits) take_group(first);
  tally.bits_taken += all;
}

void take_lines(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  take_groups(tally, geometry, kLineBits, num_words, [&](std::uint64_t first) {
    const std::uint64_t set = count_bits(words, first, kLineBits);
    tally.set_bits += set;
    ++tally.lines_with[set];
  });
}

// Here a tally's lines are words of 32 bits.
void take_blocks(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  take_groups(tally, geometry, static_cast<std::uint64_t>(kBlockBits), num_words, [&](std::uint64_t first) {
    double rate = 1;
    for (std::uint64_t bit = first; bit < first + static_cast<std::uint64_t>(kBlockBits); bit += 64) {
      const std::uint64_t both = little_endian(load_word(words, bit));
      for (const std::uint64_t half : {both & 0xffffffff, both >> 32}) {
        const auto set = static_cast<std::size_t>(std::popcount(half));
        tally.set_bits += set;
        ++tally.lines_with[set];
        rate *= static_cast<double>(set) / kBlockWordBits;
      }
    }
    tally.block_rates += rate;
  });
}

void take_both_lines(Overlap& overlap, const Geometry&, const std::uint64_t* a, const std::uint64_t* b,
                     std::uint64_t num_words) noexcept {
  overlap.take_groups(kLineBits, a, b, num_words);
}

// Each word of a block has one probe of each of the block's keys.
void take_both_blocks(Overlap& overlap, const Geometry&, const std::uint64_t* a, const std::uint64_t* b,
                      std::uint64_t num_words) noexcept {
  overlap.take_groups(static_cast<std::uint64_t>(kBlockWordBits), a, b, num_words);
}

// Sets the number of keys that the groups are as full as, each of `bins` bits with `probes` of each of its keys.
// `groups_of_key`: a key has its probes in so many groups. A full group counts as if half a bit were not set, but a
// full filter may have any number of keys.
void estimate_by_groups(Fill& fill, const Tally& tally, const Geometry& geometry, double bins, double probes,
                        double groups_of_key) noexcept {
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  double throws = 0;
  double variance = 0;
  for (std::size_t set = 0; static_cast<double>(set) <= bins; ++set) {
    const auto groups = static_cast<double>(tally.lines_with[set]);
    if (groups == 0) continue;
    throws += groups * estimated_throws(bins, static_cast<double>(set));
    variance += groups * variance_of_throws(bins, std::min(static_cast<double>(set), bins - 0.5));
  }
  if (tally.set_bits >= geometry.num_bits) variance = std::numeric_limits<double>::infinity();
  const double each = probes * groups_of_key;
  set_estimate(fill, throws / each, variance / (each * each));
}

Fill fill_of_lines(const Tally& tally, const Geometry& geometry) noexcept {
  constexpr auto kBins = static_cast<double>(kLineBits);
  Fill fill;
  const double probes = geometry.num_probes;
  const double all_lines = static_cast<double>(geometry.num_bits) / kBins;
  estimate_by_groups(fill, tally, geometry, kBins, probes, 1);
  for (std::size_t set = 0; set < tally.lines_with.size(); ++set) {
    if (tally.lines_with[set] != 0)
      fill.estimated_fpr += static_cast<double>(tally.lines_with[set]) *
                            rate_of_line(kBins, static_cast<double>(set), all_lines, probes) / all_lines;
  }
  return fill;
}

Fill fill_of_blocks(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  estimate_by_groups(fill, tally, geometry, kBlockWordBits, 1, kBlockWords);
  const double blocks = static_cast<double>(geometry.num_bits) / kBlockBits;
  fill.estimated_fpr = std::min(1.0, tally.block_rates / blocks + fill.estimated_keys / blocks * 0x1p-32);
  return fill;
}

// The places that k random probes touch (the occupancy problem).
double places_read(std::uint64_t body_bytes, std::uint64_t place_bytes, double probes) noexcept {
  const double all = std::ceil(static_cast<double>(body_bytes) / static_cast<double>(place_bytes));
  return all <= 1 ? 1 : all * -std::expm1(probes * std::log1p(-1 / all));
}

double rate_in_lines(double keys, double bits, double probes) noexcept {
  return line_rate(static_cast<double>(kLineBits), keys, bits, probes);
}

double fill_in_lines(double keys, double bits, double probes) noexcept {
  return line_fill(static_cast<double>(kLineBits), keys, bits, probes);
}

// Every filter of split blocks has eight probes.
double rate_in_blocks(double keys, double bits, double) noexcept { return split_block_rate(keys, bits); }
double fill_in_blocks(double keys, double bits, double) noexcept { return split_block_fill(keys, bits); }

}  // namespace

constexpr Row kClassicRow{
    .info = {Layout::kClassic,
             "classic",
             {.add = true, .add_alone = true, .merge = true, .intersect = true, .fold = true, .ones_are_maybe = true}},
    .in_lines = false,
    .inlined = false,
    .bits_stay = true,
    .unit_bits = 1,
    .body_unit = 64,
    .fewest_bits = 4,
    .least_rate = 0,
    .geometry = geometry,
    .rate = rate,
    .best_probes = best_probes,
    .expected_fill = expected_fill,
    .places_read = places_read,
    .take = take,
    .fill = fill,
    .take_both = take_both,
    .scalar = &kScalar,
    .kernels = {},
};

namespace {

constexpr Row in_lines_of_classic() noexcept {
  Row row = kClassicRow;
  row.body_unit = kLineBits;
  row.rate = rate_in_lines;
  row.expected_fill = fill_in_lines;
  row.take = take_lines;
  row.fill = fill_of_lines;
  row.take_both = take_both_lines;
  return row;
}

constexpr Row in_split_blocks() noexcept {
  Row row = kClassicRow;
  row.body_unit = static_cast<std::uint64_t>(kBlockBits);
  row.rate = rate_in_blocks;
  row.expected_fill = fill_in_blocks;
  row.take = take_blocks;
  row.fill = fill_of_blocks;
  row.take_both = take_both_blocks;
  return row;
}

}  // namespace

constexpr Row kClassicInLinesRow = in_lines_of_classic();
constexpr Row kSplitBlocksRow = in_split_blocks();

}  // namespace bfstore::layout
