// A bumped ribbon, the body of the static layout (FORMAT.md, "Layouts"): Dillinger, Huebschle-Schneider, Sanders,
// Walzer, "Fast Succinct Retrieval and Approximate Membership Using Ribbon", SEA 2022.
//
// A key is an equation over 32 neighboring slots, each of which has k bits, its columns. Of a key that was built in
// each column has the sum that the key's fingerprint says. Another key has that by chance: at the rate 2^-k.
//
// The scalar code here defines the answers of every kernel.
#pragma once

#include <bfstore/layout/probes.hpp>
#include <bfstore/layout/words.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bfstore::layout {

inline constexpr std::uint32_t kWindowSlots = 32;   // of an equation
inline constexpr std::uint32_t kGranuleSlots = 16;  // whose bits of a column are neighbors
inline constexpr std::uint32_t kBucketSlots = 64;   // that have a threshold
inline constexpr std::uint32_t kMostColumns = 32;
inline constexpr std::size_t kRibbonLayers = 3;

// The slots before which a bucket's keys are in the next layer, by the two bits of its threshold.
inline constexpr std::array<std::uint32_t, 4> kThresholds{0, 12, 28, kBucketSlots};

// The bytes of a shard: its seed and its number of keys, zeros; the thresholds; the slots; zeros.
inline constexpr std::uint64_t kShardHeaderBytes = 64;
inline constexpr std::uint64_t kShardTailBytes = 128;   // a lookup reads after the last slot
inline constexpr std::uint64_t kShardUnitBytes = 4096;  // if there are several: each begins at a page
inline constexpr std::uint64_t kMostShardBytes = std::uint64_t{2} << 20;

// The seed of a shard that answers "maybe" to every key: a builder never takes it.
inline constexpr std::uint64_t kMaybeSeed = ~std::uint64_t{0};

// The shards of a body of m bits with k columns.
Shards shards_of(std::uint64_t num_bits, std::uint32_t columns) noexcept;

BFSTORE_ALWAYS_INLINE std::uint64_t shard_of(const Shards& shards, std::uint64_t digest) noexcept {
  return digest >> 1 >> (63 - shards.bits);
}

BFSTORE_ALWAYS_INLINE std::uint32_t first_bucket(const Shards& shards, std::size_t layer) noexcept {
  return layer == 0 ? 0 : shards.slots[0] / kBucketSlots;
}

// The offset in the shard of the granule in which a slot of the layer is.
BFSTORE_ALWAYS_INLINE std::uint64_t granule_of(const Geometry& geometry, std::size_t layer,
                                               std::uint32_t slot) noexcept {
  const Shards& shards = geometry.shards;
  const std::uint64_t threshold_bytes = ((shards.slots[0] + shards.slots[1]) / kBucketSlots + 63) / 64 * 16;
  std::uint32_t before = slot;
  for (std::size_t i = 0; i < layer; ++i) before += shards.slots[i];
  return kShardHeaderBytes + threshold_bytes + std::uint64_t{before / kGranuleSlots} * geometry.num_probes * 2;
}

// The parts of a digest's hash: where its equation begins in each layer, and the equation.
struct RibbonHash {
  static constexpr std::uint64_t kStart = 0x9e3779b97f4a7c15, kMix = 0xd6e8feb86659fd93, kEquation = 0xa0761d6478bd642f;

  static BFSTORE_ALWAYS_INLINE std::uint64_t starts_of(std::uint64_t digest, std::uint64_t seed) noexcept {
    return folded(folded((digest ^ seed) * kStart) * kMix);
  }
  static BFSTORE_ALWAYS_INLINE std::uint64_t equation_of(std::uint64_t starts) noexcept {
    return folded(starts * kEquation);
  }
  static BFSTORE_ALWAYS_INLINE std::uint32_t start_in(std::uint64_t starts, std::size_t layer,
                                                      std::uint32_t slots) noexcept {
    const auto random = static_cast<std::uint32_t>(starts >> (layer == 0 ? 32 : layer == 1 ? 0 : 16));
    return static_cast<std::uint32_t>(std::uint64_t{random} * (slots - kWindowSlots + 1) >> 32);
  }
  static BFSTORE_ALWAYS_INLINE std::uint32_t coefficients_of(std::uint64_t equation) noexcept {
    return static_cast<std::uint32_t>(equation >> 32) | 1;
  }
  static BFSTORE_ALWAYS_INLINE std::uint32_t fingerprint_of(std::uint64_t equation, std::uint32_t columns) noexcept {
    return static_cast<std::uint32_t>(equation) & static_cast<std::uint32_t>((std::uint64_t{1} << columns) - 1);
  }

 private:
  static BFSTORE_ALWAYS_INLINE std::uint64_t folded(std::uint64_t x) noexcept { return x ^ x >> 32; }
};

// Where a lookup reads, and what it compares.
struct RibbonPlace {
  const std::byte* granules;  // nullptr: the answer is maybe
  std::uint64_t row;          // the coefficients for the slots of three granules
  std::uint32_t fingerprint;
};

BFSTORE_ALWAYS_INLINE bool is_bumped(const std::byte* shard, std::uint32_t first_bucket, std::uint32_t start) noexcept {
  constexpr std::uint32_t kBytes = kThresholds[0] | kThresholds[1] << 8 | kThresholds[2] << 16 | kThresholds[3] << 24;
  const std::uint32_t bucket = first_bucket + start / kBucketSlots;
  const auto four = static_cast<std::uint32_t>(shard[kShardHeaderBytes + bucket / 4]);
  return start % kBucketSlots < (kBytes >> (four >> bucket % 4 * 2 & 3) * 8 & 0xff);
}

BFSTORE_ALWAYS_INLINE RibbonPlace ribbon_place(const std::uint64_t* words, const Geometry& geometry,
                                               std::uint64_t digest) noexcept {
  const Shards& shards = geometry.shards;
  if (shards.slots[0] == 0) return {};
  const std::uint64_t offset = shard_of(shards, digest) * shards.bytes;
  const std::uint64_t seed = little_endian(load_word(words, offset * 8));
  if (seed == kMaybeSeed) return {};
  const auto* const shard = reinterpret_cast<const std::byte*>(words) + offset;
  const std::uint64_t starts = RibbonHash::starts_of(digest, seed);
  const std::uint64_t equation = RibbonHash::equation_of(starts);
  std::size_t layer = 0;
  std::uint32_t start = RibbonHash::start_in(starts, 0, shards.slots[0]);
  while (layer + 1 < kRibbonLayers && is_bumped(shard, first_bucket(shards, layer), start)) {
    ++layer;
    start = RibbonHash::start_in(starts, layer, shards.slots[layer]);
  }
  return {shard + granule_of(geometry, layer, start),
          std::uint64_t{RibbonHash::coefficients_of(equation)} << start % kGranuleSlots,
          RibbonHash::fingerprint_of(equation, geometry.num_probes)};
}

BFSTORE_ALWAYS_INLINE std::uint64_t sixteen_bits(const std::byte* at) noexcept {
  return static_cast<std::uint64_t>(at[0]) | static_cast<std::uint64_t>(at[1]) << 8;
}

// True if the sum of each column is the fingerprint's bit.
inline bool has_sums(const RibbonPlace& place, std::uint32_t columns) noexcept {
  std::uint32_t wrong = 0;
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::byte* const at = place.granules + column * 2;
    const std::uint64_t bits =
        sixteen_bits(at) | sixteen_bits(at + columns * 2) << 16 | sixteen_bits(at + columns * 4) << 32;
    wrong |= static_cast<std::uint32_t>(std::popcount(bits & place.row)) ^ place.fingerprint >> column;
  }
  return (wrong & 1) == 0;
}

// Writes a shard whose bytes are 0. The digests are the shard's own, ascend, and are each there once. False if they are
// too many.
bool build_shard(std::byte* shard, const Geometry& geometry, std::span<const std::uint64_t> digests);

// True if the shard answers "maybe" to every key. Its number of keys is unknown then.
bool is_in_doubt(const std::byte* shard) noexcept;

// The number of keys that were built into a shard.
std::uint64_t keys_of_shard(const std::byte* shard) noexcept;

}  // namespace bfstore::layout
