// A candidate for the static layout: a bumped ribbon with windows of 32 slots. A key is an equation over 32 neighboring
// slots, each of which has `columns` bits; a key that was built in has the sums that its fingerprint says, and another
// one has them by chance, at the rate 2^-columns (Dillinger, Huebschle-Schneider, Sanders, Walzer: "Fast Succinct
// Retrieval and Approximate Membership Using Ribbon", SEA 2022).
//
// Slots are interleaved: 16 slots are a granule, in which each column has 16 bits. So a lookup reads the columns of
// three granules that lie next to each other: 42 bytes with 7 columns, in one or two cache lines.
//
// There are more keys than slots. Where too many keys begin in a bucket of 64 slots, those that begin at its first
// slots are bumped to the next layer. A threshold of two bits for each bucket says which.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#ifdef __AVX512BITALG__
#include <immintrin.h>
#endif

namespace bench::ribbon {

inline constexpr std::uint32_t kWindow = 32;
inline constexpr std::uint32_t kGranule = 16;
inline constexpr std::uint32_t kBucket = 64;
inline constexpr std::array<std::uint32_t, 4> kLevels{0, 12, 28, kBucket};  // a bucket bumps the keys before this slot
inline constexpr std::size_t kLayers = 3;
inline constexpr int kMostSeeds = 64;

__extension__ using Product = unsigned __int128;

inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint32_t scaled(std::uint32_t random, std::uint32_t below) noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{random} * below >> 32);
}

// Slots of each layer of a shard, multiples of a bucket's.
struct Shape {
  std::uint32_t columns = 7;
  std::array<std::uint32_t, kLayers> slots{};

  [[nodiscard]] std::uint32_t first_granule(std::size_t layer) const noexcept {
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < layer; ++i) first += slots[i] / kGranule;
    return first;
  }
  [[nodiscard]] std::size_t solution_bytes() const noexcept {
    return std::size_t{first_granule(kLayers)} * columns * 2;
  }
  [[nodiscard]] std::size_t threshold_bytes() const noexcept { return (slots[0] + slots[1]) / kBucket / 4 + 1; }
};

// Of the first layer's keys about 5 % are bumped, and of those about 5 % again. The last layer takes every key, so it
// is half empty. The root is for shards that get more keys than others.
inline Shape shape_for(std::size_t num_keys, std::uint32_t columns) {
  constexpr double kFull = 1.03, kBumped = 0.0455;
  const auto buckets = [](double slots) { return static_cast<std::uint32_t>(std::ceil(slots / kBucket)) * kBucket; };
  const auto n = static_cast<double>(num_keys);
  const double root = std::sqrt(n);
  return {columns,
          {buckets(n / kFull), buckets(n * kBumped + root), buckets(n * kBumped * kBumped * 2 + root / 2 + kWindow)}};
}

struct Equation {
  std::uint32_t start, coefficients, fingerprint;
};

// The parts of a digest's hash: a start for each layer, and one equation for all.
struct Hash {
  std::uint64_t starts, equation;

  Hash(std::uint64_t digest, std::uint64_t seed) noexcept
      : starts(fold(digest ^ seed, 0x9e3779b97f4a7c15)), equation(fold(starts ^ seed, 0xd6e8feb86659fd93)) {}

  [[nodiscard]] std::uint32_t start(std::size_t layer, std::uint32_t slots) const noexcept {
    const auto random = static_cast<std::uint32_t>(layer == 0 ? starts >> 32 : layer == 1 ? starts : starts >> 16);
    return scaled(random, slots - kWindow + 1);
  }
  [[nodiscard]] std::uint32_t coefficients() const noexcept { return static_cast<std::uint32_t>(equation >> 32) | 1; }
  [[nodiscard]] std::uint32_t fingerprint(std::uint32_t columns) const noexcept {
    return static_cast<std::uint32_t>(equation) & static_cast<std::uint32_t>((std::uint64_t{1} << columns) - 1);
  }
};

// Looks at a shard's bytes.
struct Shard {
  const Shape* shape;
  std::uint64_t seed;
  const std::byte* thresholds;
  const std::byte* solution;

  [[nodiscard]] bool bumps(std::uint32_t first_bucket, std::uint32_t start) const noexcept {
    const std::uint32_t bucket = first_bucket + start / kBucket;
    const auto level = std::to_integer<std::uint32_t>(thresholds[bucket / 4]) >> bucket % 4 * 2 & 3;
    return start % kBucket < kLevels[level];
  }

  // The bytes that a lookup reads, and what it compares.
  struct Place {
    const std::byte* at;
    std::uint32_t shift, coefficients, fingerprint;
  };

  [[nodiscard]] Place place(std::uint64_t digest) const noexcept {
    const Hash hash(digest, seed);
    std::size_t layer = 0;
    std::uint32_t start = hash.start(0, shape->slots[0]), granule = 0;
    if (bumps(0, start)) [[unlikely]] {
      layer = 1;
      start = hash.start(1, shape->slots[1]);
      if (bumps(shape->slots[0] / kBucket, start)) {
        layer = 2;
        start = hash.start(2, shape->slots[2]);
      }
      granule = shape->first_granule(layer);
    }
    granule += start / kGranule;
    return {solution + std::size_t{granule} * shape->columns * 2, start % kGranule, hash.coefficients(),
            hash.fingerprint(shape->columns)};
  }

  [[nodiscard]] std::size_t window_bytes() const noexcept { return std::size_t{shape->columns} * 6; }

  [[nodiscard]] bool contains_scalar(const Place& place) const noexcept {
    const std::uint64_t row = std::uint64_t{place.coefficients} << place.shift;
    std::uint32_t wrong = 0;
    for (std::uint32_t column = 0; column < shape->columns; ++column) {
      std::uint16_t part[3];
      for (std::size_t i = 0; i < 3; ++i)
        std::memcpy(&part[i], place.at + (i * shape->columns + column) * 2, sizeof part[i]);
      const std::uint64_t bits = part[0] | std::uint64_t{part[1]} << 16 | std::uint64_t{part[2]} << 32;
      wrong |= static_cast<std::uint32_t>(std::popcount(bits & row)) ^ place.fingerprint >> column;
    }
    return (wrong & 1) == 0;
  }

  [[nodiscard]] bool contains(const Place& place) const noexcept {
#ifdef __AVX512BITALG__
    if (shape->columns <= 8) return contains_in_vectors(place);
#endif
    return contains_scalar(place);
  }

#ifdef __AVX512BITALG__
  [[nodiscard]] bool contains_in_vectors(const Place& place) const noexcept {
    const std::uint64_t row = std::uint64_t{place.coefficients} << place.shift;
    const std::uint32_t stride = shape->columns * 2;
    const auto part = [&](unsigned i) {
      const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place.at + std::size_t{i} * stride));
      return _mm_and_si128(bits, _mm_set1_epi16(static_cast<short>(row >> 16 * i)));
    };
    const __m128i counts = _mm_popcnt_epi16(_mm_xor_si128(_mm_xor_si128(part(0), part(1)), part(2)));
    const std::uint32_t odd = _mm_test_epi16_mask(counts, _mm_set1_epi16(1));
    return ((odd ^ place.fingerprint) & ((1U << shape->columns) - 1)) == 0;
  }
#endif
};

// Builds one shard. Digests are sorted, and each is there once.
class Builder {
 public:
  explicit Builder(const Shape& shape) : shape_(shape) {}

  // False if no seed solves it. The caller asks every digest afterwards.
  bool build(std::span<const std::uint64_t> digests, std::uint64_t first_seed) {
    for (int attempt = 0; attempt < kMostSeeds; ++attempt) {
      seed_ = first_seed + static_cast<std::uint64_t>(attempt);
      if (try_seed(digests)) return true;
    }
    return false;
  }

  [[nodiscard]] Shard shard() const noexcept { return {&shape_, seed_, thresholds_.data(), solution_.data()}; }

 private:
  static constexpr std::size_t kOver = 32;  // bytes after the last granule that a vector reads

  struct Key {
    std::uint64_t digest;
    Equation equation;
  };

  bool try_seed(std::span<const std::uint64_t> digests) {
    thresholds_.assign(shape_.threshold_bytes(), std::byte{0});
    solution_.assign(shape_.solution_bytes() + kOver, std::byte{0});
    std::vector<std::uint64_t> left(digests.begin(), digests.end());
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      left = solve(left, layer);
      if (layer + 1 == kLayers) return left.empty();
    }
    return false;
  }

  // Returns the digests that are bumped.
  std::vector<std::uint64_t> solve(std::span<const std::uint64_t> digests, std::size_t layer) {
    rows_.assign(shape_.slots[layer], {});
    std::vector<std::uint64_t> bumped;
    const std::vector<Key> keys = in_order(digests, layer);
    for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
      const std::uint32_t bucket = keys[begin].equation.start / kBucket;
      while (end < keys.size() && keys[end].equation.start / kBucket == bucket) ++end;
      const std::size_t kept = add_bucket(std::span(keys).subspan(begin, end - begin), layer, bucket);
      for (std::size_t i = begin + kept; i < end; ++i) bumped.push_back(keys[i].digest);
    }
    substitute(layer);
    return bumped;
  }

  // Bucket by bucket; within a bucket the highest start comes first, since the first starts are bumped.
  std::vector<Key> in_order(std::span<const std::uint64_t> digests, std::size_t layer) const {
    const std::uint32_t slots = shape_.slots[layer];
    const auto order_of = [](std::uint32_t start) { return start ^ (kBucket - 1); };
    std::vector<std::uint32_t> first(slots + 1);
    for (const std::uint64_t digest : digests) ++first[order_of(Hash(digest, seed_).start(layer, slots)) + 1];
    for (std::uint32_t i = 0; i < slots; ++i) first[i + 1] += first[i];
    std::vector<Key> keys(digests.size());
    for (const std::uint64_t digest : digests) {
      const Hash hash(digest, seed_);
      const std::uint32_t start = hash.start(layer, slots);
      keys[first[order_of(start)]++] = {digest, {start, hash.coefficients(), hash.fingerprint(shape_.columns)}};
    }
    return keys;
  }

  // Returns how many of the bucket's keys stay in this layer; the others are bumped.
  std::size_t add_bucket(std::span<const Key> keys, std::size_t layer, std::uint32_t bucket) {
    taken_.clear();
    std::size_t kept = 0;
    while (kept < keys.size() && add(keys[kept].equation)) ++kept;
    if (kept == keys.size()) return kept;
    if (layer + 1 == kLayers) return kept;
    const std::uint32_t bumps = keys[kept].equation.start % kBucket + 1;
    const auto level = static_cast<std::size_t>(std::ranges::lower_bound(kLevels, bumps) - kLevels.begin());
    while (kept > 0 && keys[kept - 1].equation.start % kBucket < kLevels[level]) {
      --kept;
      if (taken_.back() != kNone) rows_[taken_.back()] = {};
      taken_.pop_back();
    }
    const std::size_t at = (layer == 0 ? 0 : shape_.slots[0] / kBucket) + bucket;
    thresholds_[at / 4] |= static_cast<std::byte>(level << at % 4 * 2);
    return kept;
  }

  // Gauss's elimination, a key at a time. False if the equation contradicts earlier ones.
  bool add(Equation equation) {
    std::uint32_t slot = equation.start;
    for (;;) {
      Row& row = rows_[slot];
      if (row.coefficients == 0) {
        row = {equation.coefficients, equation.fingerprint};
        taken_.push_back(slot);
        return true;
      }
      equation.coefficients ^= row.coefficients;
      equation.fingerprint ^= row.fingerprint;
      if (equation.coefficients == 0) break;
      const int zeros = std::countr_zero(equation.coefficients);
      equation.coefficients >>= zeros;
      slot += static_cast<std::uint32_t>(zeros);
    }
    if (equation.fingerprint != 0) return false;
    taken_.push_back(kNone);
    return true;
  }

  // From the last slot to the first: what a slot has follows from the 31 after it. A free slot is zero.
  void substitute(std::size_t layer) {
    std::array<std::uint32_t, 32> after{};  // of each column
    const std::uint32_t columns = shape_.columns;
    std::byte* const granules = solution_.data() + std::size_t{shape_.first_granule(layer)} * columns * 2;
    for (std::uint32_t slot = shape_.slots[layer]; slot-- > 0;) {
      const Row row = rows_[slot];
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint32_t known = after[column] << 1;
        const std::uint32_t bit =
            row.coefficients == 0
                ? 0
                : (static_cast<std::uint32_t>(std::popcount(known & row.coefficients)) ^ row.fingerprint >> column) & 1;
        after[column] = known | bit;
        if (slot % kGranule != 0) continue;
        const auto part = static_cast<std::uint16_t>(after[column]);
        std::memcpy(granules + (std::size_t{slot / kGranule} * columns + column) * 2, &part, sizeof part);
      }
    }
  }

  struct Row {
    std::uint32_t coefficients = 0, fingerprint = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Shape shape_;
  std::uint64_t seed_ = 0;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> taken_;  // the slot of each key of this bucket
  std::vector<std::byte> thresholds_, solution_;
};

}  // namespace bench::ribbon
