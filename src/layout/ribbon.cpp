#include "layout/ribbon.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
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

std::uint64_t word_at(const std::byte* at) noexcept {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return little_endian(bytes);
}

void put_word(std::byte* at, std::uint64_t word) noexcept {
  const std::uint64_t bytes = little_endian(word);
  std::memcpy(at, &bytes, sizeof bytes);
}

// Solves one layer of a shard after the other. A key is known by the hash of its digest that says where its equation
// begins: equal hashes are of equal digests, since each step of it can be undone.
class Ribbon {
 public:
  Ribbon(std::byte* shard, const Geometry& geometry, std::span<const std::uint64_t> digests)
      : shard_(shard), geometry_(geometry), shards_(geometry.shards), digests_(digests) {}

  bool solve(std::uint64_t seed) {
    std::fill(shard_, shard_ + shards_.bytes, std::byte{0});
    put_word(shard_, seed);
    put_word(shard_ + 8, digests_.size());
    left_.resize(digests_.size());
    std::ranges::transform(digests_, left_.begin(),
                           [seed](std::uint64_t digest) { return RibbonHash::starts_of(digest, seed); });
    for (std::size_t layer = 0; layer < kRibbonLayers; ++layer) solve_layer(layer);
    return left_.empty();
  }

 private:
  struct Row {
    std::uint32_t coefficients = 0, fingerprint = 0;  // 0: the slot is free
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Neighboring slots that are sorted together: their keys and their rows fit in a small cache.
  static constexpr std::uint32_t kRangeSlots = 4096;

  // Takes what it can of the keys that are left.
  void solve_layer(std::size_t layer) {
    rows_.assign(shards_.slots[layer], {});
    const std::vector<std::size_t> ends = divide(layer);
    left_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      add_range(std::span(divided_).subspan(begin, end - begin), layer);
      begin = end;
    }
    substitute(layer);
  }

  [[nodiscard]] std::uint32_t start_of(std::uint64_t key, std::size_t layer) const noexcept {
    return RibbonHash::start_in(key, layer, shards_.slots[layer]);
  }

  // Puts the keys in the order of their ranges. Returns where the keys of each range end.
  std::vector<std::size_t> divide(std::size_t layer) {
    divided_.resize(left_.size());
    std::vector<std::size_t> next(shards_.slots[layer] / kRangeSlots + 1);
    for (const std::uint64_t key : left_) ++next[start_of(key, layer) / kRangeSlots];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    for (const std::uint64_t key : left_) divided_[next[start_of(key, layer) / kRangeSlots]++] = key;
    return next;
  }

  // Sorts by counting: bucket by bucket, and in a bucket the highest start first, since the first slots' keys are
  // bumped.
  void add_range(std::span<const std::uint64_t> keys, std::size_t layer) {
    const auto order_of = [&](std::uint64_t key) { return (start_of(key, layer) ^ (kBucketSlots - 1)) % kRangeSlots; };
    next_.assign(kRangeSlots, 0);
    for (const std::uint64_t key : keys) ++next_[order_of(key)];
    std::exclusive_scan(next_.begin(), next_.end(), next_.begin(), std::uint32_t{0});
    sorted_.resize(keys.size());
    for (const std::uint64_t key : keys) sorted_[next_[order_of(key)]++] = key;
    const auto bucket_of = [&](std::size_t i) { return start_of(sorted_[i], layer) / kBucketSlots; };
    for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
      const std::uint32_t bucket = bucket_of(begin);
      while (end < keys.size() && bucket_of(end) == bucket) ++end;
      const std::size_t kept = add_bucket(std::span(sorted_).subspan(begin, end - begin), layer, bucket);
      left_.insert(left_.end(), sorted_.begin() + static_cast<std::ptrdiff_t>(begin + kept),
                   sorted_.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  // Returns how many of the bucket's keys this layer keeps. The others begin before the slot of the threshold. The last
  // layer has no thresholds.
  std::size_t add_bucket(std::span<const std::uint64_t> keys, std::size_t layer, std::uint32_t bucket) {
    taken_.clear();
    std::size_t kept = 0;
    while (kept < keys.size() && add(keys[kept], layer)) ++kept;
    if (kept == keys.size() || layer + 1 == kRibbonLayers) return kept;
    const std::uint32_t bumped = start_of(keys[kept], layer) % kBucketSlots + 1;
    const auto level = static_cast<std::size_t>(std::ranges::lower_bound(kThresholds, bumped) - kThresholds.begin());
    while (kept > 0 && start_of(keys[kept - 1], layer) % kBucketSlots < kThresholds[level]) {
      --kept;
      if (taken_.back() != kNone) rows_[taken_.back()] = {};
      taken_.pop_back();
    }
    const std::uint32_t number = first_bucket(shards_, layer) + bucket;
    shard_[kShardHeaderBytes + number / 4] |= static_cast<std::byte>(level << number % 4 * 2);
    return kept;
  }

  // Gauss's elimination, one key at a time. False if the equation contradicts earlier ones.
  bool add(std::uint64_t key, std::size_t layer) {
    const std::uint64_t equation = RibbonHash::equation_of(key);
    std::uint32_t slot = start_of(key, layer), coefficients = RibbonHash::coefficients_of(equation);
    std::uint32_t fingerprint = RibbonHash::fingerprint_of(equation, geometry_.num_probes);
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
      for (std::uint32_t first = 0; first < geometry_.num_probes; first += kColumnsAtOnce)
        substitute_slot(rows_[slot], first, &after[first]);
      if (slot % kGranuleSlots == 0) put_granule(shard_ + granule_of(geometry_, layer, slot), after);
    }
  }

  static constexpr std::uint32_t kColumnsAtOnce = 8;  // in a loop that a compiler makes of vectors

  // A column's sum is the parity of its bits that count and of its bit of the fingerprint.
  static void substitute_slot(const Row& row, std::uint32_t first, std::uint32_t* after) noexcept {
    for (std::uint32_t column = 0; column < kColumnsAtOnce; ++column) {
      const std::uint32_t known = after[column] << 1;
      std::uint32_t sum = (known & row.coefficients) ^ (row.fingerprint & std::uint32_t{1} << first << column);
      sum ^= sum >> 16;
      sum ^= sum >> 8;
      sum ^= sum >> 4;
      sum ^= sum >> 2;
      sum ^= sum >> 1;
      after[column] = known | (sum & 1);
    }
  }

  void put_granule(std::byte* granule, const std::array<std::uint32_t, kMostColumns>& columns) const noexcept {
    for (std::uint32_t column = 0; column < geometry_.num_probes; ++column) {
      granule[column * 2] = static_cast<std::byte>(columns[column]);
      granule[column * 2 + 1] = static_cast<std::byte>(columns[column] >> 8);
    }
  }

  std::byte* shard_;
  const Geometry& geometry_;
  const Shards& shards_;
  std::span<const std::uint64_t> digests_;
  std::vector<std::uint64_t> left_;     // the keys that no layer has taken yet
  std::vector<std::uint64_t> divided_;  // the same, by ranges
  std::vector<std::uint64_t> sorted_;   // those of a range
  std::vector<std::uint32_t> next_;     // where the next key of each of its slots goes
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

bool is_in_doubt(const std::byte* shard) noexcept { return word_at(shard) == kMaybeSeed; }

std::uint64_t keys_of_shard(const std::byte* shard) noexcept { return word_at(shard + 8); }

}  // namespace bfstore::layout
