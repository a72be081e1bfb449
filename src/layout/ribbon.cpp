#include "layout/ribbon.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace bfstore::layout {
namespace {

constexpr std::uint64_t kMostSeeds = 64;  // with one seed fewer than one shard in a thousand is not solved

// The largest whole number whose square is not above this one.
std::uint32_t root_of(std::uint64_t square) noexcept {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 16; bit != 0; bit /= 2) {
    if ((root + bit) * (root + bit) <= square) root += bit;
  }
  return static_cast<std::uint32_t>(root);
}

std::uint32_t in_buckets(std::uint32_t slots) noexcept {
  return (slots + kBucketSlots - 1) / kBucketSlots * kBucketSlots;
}

// About 4.5 % of the first layer's keys go to the second one, and 4.5 % of those to the third one, in which they are
// few, because it must take them all. The root is for shards that get more keys than others.
void set_slots(Shards& shards, std::uint32_t all) noexcept {
  const std::uint32_t root = root_of(all);
  const std::uint32_t second = in_buckets(all / 1024 * 53 + all % 1024 * 53 / 1024 + root);
  const std::uint32_t third = in_buckets(all / 256 + root / 2 + kWindowSlots);
  if (second + third + kBucketSlots > all) return;
  shards.slots[0] = all - second - third;
  shards.slots[1] = second;
  shards.slots[2] = third;
}

void put_word(std::byte* at, std::uint64_t word) noexcept {
  const std::uint64_t bytes = little_endian(word);
  std::memcpy(at, &bytes, sizeof bytes);
}

// Solves one layer of a shard after the other.
class Ribbon {
 public:
  Ribbon(std::byte* shard, const Geometry& geometry, std::span<const std::uint64_t> digests)
      : shard_(shard), geometry_(geometry), shards_(geometry.shards), digests_(digests) {}

  bool solve(std::uint64_t seed) {
    seed_ = seed;
    std::fill(shard_, shard_ + shards_.bytes, std::byte{0});
    put_word(shard_, seed);
    put_word(shard_ + 8, digests_.size());
    std::vector<std::uint64_t> left(digests_.begin(), digests_.end());
    for (std::size_t layer = 0; layer < kRibbonLayers; ++layer) left = solve_layer(left, layer);
    return left.empty();
  }

 private:
  struct Key {
    std::uint64_t digest;
    std::uint32_t start, coefficients, fingerprint;
  };
  struct Row {
    std::uint32_t coefficients = 0, fingerprint = 0;  // 0: the slot is free
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Returns the digests that this layer did not take.
  std::vector<std::uint64_t> solve_layer(std::span<const std::uint64_t> digests, std::size_t layer) {
    rows_.assign(shards_.slots[layer], {});
    std::vector<std::uint64_t> left;
    const std::vector<Key> keys = in_order(digests, layer);
    for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
      const std::uint32_t bucket = keys[begin].start / kBucketSlots;
      while (end < keys.size() && keys[end].start / kBucketSlots == bucket) ++end;
      const std::size_t kept = add_bucket(std::span(keys).subspan(begin, end - begin), layer, bucket);
      for (std::size_t i = begin + kept; i < end; ++i) left.push_back(keys[i].digest);
    }
    substitute(layer);
    return left;
  }

  [[nodiscard]] std::uint32_t start_of(std::uint64_t digest, std::size_t layer) const noexcept {
    return RibbonHash::start_in(RibbonHash::starts_of(digest, seed_), layer, shards_.slots[layer]);
  }

  // Sorts by counting: bucket by bucket, and in a bucket the highest start first, since the first slots' keys are
  // bumped.
  [[nodiscard]] std::vector<Key> in_order(std::span<const std::uint64_t> digests, std::size_t layer) const {
    const std::uint32_t slots = shards_.slots[layer];
    const auto order_of = [](std::uint32_t start) { return start ^ (kBucketSlots - 1); };
    std::vector<std::uint32_t> first(std::size_t{slots} + 1);
    for (const std::uint64_t digest : digests) ++first[order_of(start_of(digest, layer)) + 1];
    for (std::uint32_t i = 0; i < slots; ++i) first[i + 1] += first[i];
    std::vector<Key> keys(digests.size());
    for (const std::uint64_t digest : digests) {
      const std::uint64_t equation = RibbonHash::equation_of(RibbonHash::starts_of(digest, seed_));
      const std::uint32_t start = start_of(digest, layer);
      keys[first[order_of(start)]++] = {digest, start, RibbonHash::coefficients_of(equation),
                                        RibbonHash::fingerprint_of(equation, geometry_.num_probes)};
    }
    return keys;
  }

  // Returns how many of the bucket's keys this layer keeps. The others begin before the slot of the threshold. The last
  // layer has no thresholds.
  std::size_t add_bucket(std::span<const Key> keys, std::size_t layer, std::uint32_t bucket) {
    taken_.clear();
    std::size_t kept = 0;
    while (kept < keys.size() && add(keys[kept])) ++kept;
    if (kept == keys.size() || layer + 1 == kRibbonLayers) return kept;
    const std::uint32_t bumped = keys[kept].start % kBucketSlots + 1;
    const auto level = static_cast<std::size_t>(std::ranges::lower_bound(kThresholds, bumped) - kThresholds.begin());
    while (kept > 0 && keys[kept - 1].start % kBucketSlots < kThresholds[level]) {
      --kept;
      if (taken_.back() != kNone) rows_[taken_.back()] = {};
      taken_.pop_back();
    }
    const std::uint32_t number = first_bucket(shards_, layer) + bucket;
    shard_[kShardHeaderBytes + number / 4] |= static_cast<std::byte>(level << number % 4 * 2);
    return kept;
  }

  // Gauss's elimination, one key at a time. False if the equation contradicts earlier ones.
  bool add(const Key& key) {
    std::uint32_t slot = key.start, coefficients = key.coefficients, fingerprint = key.fingerprint;
    while (rows_[slot].coefficients != 0) {
      coefficients ^= rows_[slot].coefficients;
      fingerprint ^= rows_[slot].fingerprint;
      if (coefficients == 0) {
        if (fingerprint == 0) taken_.push_back(kNone);
        return fingerprint == 0;
      }
      const int zeros = std::countr_zero(coefficients);
      coefficients >>= zeros;
      slot += static_cast<std::uint32_t>(zeros);
    }
    rows_[slot] = {coefficients, fingerprint};
    taken_.push_back(slot);
    return true;
  }

  // From the last slot to the first: a slot's bits follow from those of the 31 slots after it. A free slot has zeros.
  void substitute(std::size_t layer) {
    std::array<std::uint32_t, kMostColumns> after{};  // of each column: the bits of the slots from here on
    for (std::uint32_t slot = shards_.slots[layer]; slot-- > 0;) {
      const Row row = rows_[slot];
      std::byte* const granule = shard_ + granule_of(geometry_, layer, slot);
      for (std::uint32_t column = 0; column < geometry_.num_probes; ++column) {
        const std::uint32_t known = after[column] << 1;
        const auto sum =
            static_cast<std::uint32_t>(std::popcount(known & row.coefficients)) ^ row.fingerprint >> column;
        after[column] = known | (row.coefficients != 0 ? sum & 1 : 0);
        if (slot % kGranuleSlots != 0) continue;
        granule[column * 2] = static_cast<std::byte>(after[column]);
        granule[column * 2 + 1] = static_cast<std::byte>(after[column] >> 8);
      }
    }
  }

  std::byte* shard_;
  const Geometry& geometry_;
  const Shards& shards_;
  std::span<const std::uint64_t> digests_;
  std::uint64_t seed_ = 0;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> taken_;  // the slot of each key of this bucket
};

}  // namespace

Shards shards_of(std::uint64_t num_bits, std::uint32_t columns) noexcept {
  Shards shards;
  while (num_bits / 8 >> shards.bits > kMostShardBytes) ++shards.bits;
  const std::uint64_t unit = shards.bits == 0 ? kLineBits / 8 : kShardUnitBytes;
  shards.bytes = static_cast<std::uint32_t>((num_bits / 8 >> shards.bits) / unit * unit);
  constexpr std::uint64_t kNotSlots =
      kShardHeaderBytes + kShardTailBytes + 16;  // thresholds are rounded up to 16 bytes
  if (columns > kMostColumns || shards.bytes < kNotSlots) return shards;
  // A slot takes a bit in each column, and its part of a threshold's two bits.
  const std::uint64_t bits = (shards.bytes - kNotSlots) * 8;
  const std::uint64_t slots = bits * (kBucketSlots / 2) / (columns * (kBucketSlots / 2) + 1);
  set_slots(shards, static_cast<std::uint32_t>(slots / kBucketSlots * kBucketSlots));
  return shards;
}

bool build_shard(std::byte* shard, const Geometry& geometry, std::span<const std::uint64_t> digests) {
  if (geometry.shards.slots[0] == 0) return false;
  Ribbon ribbon(shard, geometry, digests);
  for (std::uint64_t seed = 0; seed < kMostSeeds; ++seed) {
    if (ribbon.solve(seed)) return true;
  }
  return false;
}

std::uint64_t keys_of_shard(const std::byte* shard) noexcept {
  std::uint64_t bytes;
  std::memcpy(&bytes, shard + 8, sizeof bytes);
  return little_endian(bytes);
}

}  // namespace bfstore::layout
