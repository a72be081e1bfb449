// The static layout (FORMAT.md, "Layouts"): built once, from all of its keys. Its row in the table, and its scalar
// kernel.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "layout/ribbon.hpp"
#include "layout/table.hpp"

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET

struct Kernel {
  static BFSTORE_ALWAYS_INLINE std::uint64_t bytes_read(std::uint32_t columns) noexcept { return columns * 6; }
  static BFSTORE_ALWAYS_INLINE bool has(const RibbonPlace& place, std::uint32_t columns) noexcept {
    return has_sums(place, columns);
  }
};
#include "layout/static_functions.inc"

constexpr Functions kScalar = functions("scalar");

Geometry geometry(std::uint64_t num_bits, std::uint32_t num_probes) noexcept {
  return {num_bits, num_bits, num_probes, nullptr, shards_of(num_bits, num_probes)};
}

// The keys for which the first layer has room, a little below what a builder solves: some shards get more keys than
// others, by 3 standard deviations at most. A smooth function of m, so that a size can be looked for.
double room(double bits, double columns) noexcept {
  constexpr double kNotSlots = (kShardHeaderBytes + kShardTailBytes) * 8 + kBucketSlots * 2.0;
  constexpr double kLeastShardBits = kMostShardBytes * 4.0;
  constexpr double kOfFirstLayer = 1.04 * (1 - 53.0 / 1024 - 4.0 / 1024);
  constexpr double kRoots = 4.5;  // 1.5 for the other layers, and 3 standard deviations
  const double slots = (bits - kNotSlots) / (columns + 2.0 / kBucketSlots);
  if (slots <= 0) return 0;
  const double shard_slots = std::min(slots, kLeastShardBits / (columns + 2.0 / kBucketSlots));
  return std::max(0.0, kOfFirstLayer * slots - kRoots * slots / std::sqrt(shard_slots) - 2.0 * kBucketSlots);
}

double rate(double keys, double bits, double probes) noexcept {
  return probes <= kMostColumns && keys <= room(bits, probes) ? std::exp2(-probes) : 1;
}

Guess best_probes(double keys, double bits) noexcept {
  std::uint32_t columns = static_cast<std::uint32_t>(std::clamp(bits / keys, 1.0, static_cast<double>(kMostColumns)));
  while (columns > 1 && keys > room(bits, columns)) --columns;
  return {columns, true};
}

double expected_fill(double, double, double) noexcept { return 0.5; }

// Three granules, and beside them the threshold of their bucket and the seed of their shard. Those of a whole filter
// take a two-hundredth of it. So their pages are soon in memory, and of a large filter a cold lookup reads the
// granules' page alone; the seeds are in a cache, too.
double places_read(std::uint64_t body_bytes, std::uint64_t place_bytes, double columns) noexcept {
  const double bytes = static_cast<double>(place_bytes);
  const double of_granules = 1 + (6 * columns - 2) / bytes;
  const bool of_thresholds = place_bytes <= kLineBits / 8;
  return std::min(std::ceil(static_cast<double>(body_bytes) / bytes), of_granules + (of_thresholds ? 1 : 0));
}

std::byte* shard_at(std::uint64_t* words, const Shards& shards, std::uint64_t number) noexcept {
  return reinterpret_cast<std::byte*>(words) + number * shards.bytes;
}

Error build(std::uint64_t* words, const Geometry& geometry, std::uint64_t part,
            std::span<const std::uint64_t> digests) {
  if (build_shard(shard_at(words, geometry.shards, part), geometry, digests)) return {};
  return base::fail(Code::kFull, std::to_string(digests.size()) + " keys have no room in a shard of " +
                                     std::to_string(geometry.shards.bytes) + " bytes. Give a larger capacity.");
}

unsigned part_bits(const Geometry& geometry) noexcept { return geometry.shards.bits; }

// The first page of each shard that is damaged somewhere: its seed says that every key is "maybe".
ByteRange range_of_ones(const Geometry& geometry, const ByteRange& damaged) noexcept {
  const std::uint64_t bytes = std::max(geometry.shards.bytes, 1U);
  const std::uint64_t last = (std::uint64_t{1} << geometry.shards.bits) - 1;
  const std::uint64_t first = damaged.offset / bytes;
  if (first > last) return {};  // behind the last shard a few bytes are of none
  const std::uint64_t end = std::min((damaged.offset + damaged.bytes - 1) / bytes, last);
  return {first * bytes, (end - first) * bytes + kShardUnitBytes};
}

// A piece has whole shards or whole lines of one. The header of a shard is its first line.
void take(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept {
  tally.set_bits += count_bits(words, 0, num_words * 64);
  const std::uint64_t shard_bits = std::uint64_t{geometry.shards.bytes} * 8;
  const std::uint64_t end = tally.bits_taken + num_words * 64;
  const std::uint64_t all = shard_bits << geometry.shards.bits;
  const std::uint64_t first = shard_bits == 0 ? all : (tally.bits_taken + shard_bits - 1) / shard_bits * shard_bits;
  for (std::uint64_t bit = first; bit < std::min(end, all); bit += shard_bits) {
    const auto* const shard = reinterpret_cast<const std::byte*>(words) + (bit - tally.bits_taken) / 8;
    if (is_in_doubt(shard)) {
      ++tally.shards_in_doubt;
    } else {
      tally.keys += keys_of_shard(shard);
    }
  }
  tally.bits_taken = end;
}

// A shard in doubt says nothing of its keys. It has as many as the others, by the chance of the digests (Poisson).
void estimate_keys(Fill& fill, double keys, double in_doubt, double shards) noexcept {
  if (in_doubt == shards) {
    set_estimate(fill, 0, std::numeric_limits<double>::infinity());
    return;
  }
  const double more = keys * in_doubt / (shards - in_doubt);
  set_estimate(fill, keys + more, more * shards / (shards - in_doubt));
}

Fill fill(const Tally& tally, const Geometry& geometry) noexcept {
  Fill fill;
  fill.set_bits = tally.set_bits;
  fill.fill_ratio = static_cast<double>(tally.set_bits) / static_cast<double>(geometry.num_bits);
  const auto shards = static_cast<double>(std::uint64_t{1} << geometry.shards.bits);
  const bool has_slots = geometry.shards.slots[0] != 0;  // otherwise every answer is "maybe"
  const double in_doubt = has_slots ? static_cast<double>(tally.shards_in_doubt) : shards;
  const double of_shard = std::exp2(-static_cast<double>(geometry.num_probes));
  fill.estimated_fpr = of_shard + (1 - of_shard) * in_doubt / shards;
  estimate_keys(fill, static_cast<double>(tally.keys), in_doubt, shards);
  return fill;
}

#if defined(__x86_64__)
constexpr Kernels kKernels{&kStaticAvx512, &kStaticAvx2, nullptr};
#else
constexpr Kernels kKernels{};
#endif

}  // namespace

constexpr Row kStaticRow{
    .info = {Layout::kStatic, "static", {.build = true, .ones_are_maybe = true}},
    .in_lines = false,
    .inlined = false,
    .unit_bits = kLineBits,
    .body_unit = kLineBits,
    .fewest_bits = kLineBits * 32,  // room for a key with 32 columns
    .least_rate = 0x1p-32,
    .geometry = geometry,
    .rate = rate,
    .best_probes = best_probes,
    .expected_fill = expected_fill,
    .places_read = places_read,
    .part_bits = part_bits,
    .build = build,
    .range_of_ones = range_of_ones,
    .take = take,
    .fill = fill,
    .scalar = &kScalar,
    .kernels = kKernels,
};

}  // namespace bfstore::layout
