// From a key to the positions of its bits, for hashes that give no digest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hash/hash.hpp"

namespace bfstore::hash {

// Of one key.
class Positions {
 public:
  Positions() = default;
  Positions(std::string_view key, const Row& row, const Placing& placing) noexcept { place(key, row, placing); }

  void place(std::string_view key, const Row& row, const Placing& placing) noexcept {
    count_ = placing.num_probes;
    row.place(key, placing, numbers_.data());
  }
  [[nodiscard]] std::span<const std::uint64_t> all() const noexcept { return std::span(numbers_).first(count_); }

 private:
  std::array<std::uint64_t, kMaxProbes> numbers_;
  std::uint32_t count_ = 0;
};

// Of all keys of one filter.
class Placer {
 public:
  Placer(Hash hash, std::uint64_t num_bits, std::uint32_t num_probes, std::vector<std::uint32_t> seeds)
      : row_(row_of(hash)), seeds_(std::move(seeds)), placing_{num_bits, num_probes, seeds_} {}
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;
  ~Placer() = default;

  void place(std::string_view key, Positions& into) const noexcept { into.place(key, row_, placing_); }
  [[nodiscard]] const std::vector<std::uint32_t>& seeds() const noexcept { return seeds_; }

 private:
  const Row& row_;
  std::vector<std::uint32_t> seeds_;
  Placing placing_;
};

}  // namespace bfstore::hash
