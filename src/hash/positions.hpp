// Computes the positions of a key's bits, for hashes that give no digest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hash/hash.hpp"

namespace bfstore::hash {

// The positions of one key's bits.
class Positions {
 public:
  Positions() = default;
  Positions(std::string_view key, const Row& row, const ProbeNumbers& numbers) noexcept { find(key, row, numbers); }

  void find(std::string_view key, const Row& row, const ProbeNumbers& numbers) noexcept {
    count_ = numbers.num_probes;
    row.probes.positions(key, numbers, numbers_.data());
  }
  [[nodiscard]] std::span<const std::uint64_t> all() const noexcept { return std::span(numbers_).first(count_); }

 private:
  std::array<std::uint64_t, kMaxProbes> numbers_;
  std::uint32_t count_ = 0;
};

// Computes the positions for the keys of one filter.
class PositionSource {
 public:
  PositionSource(Hash hash, std::uint64_t num_bits, std::uint32_t num_probes, std::vector<std::uint32_t> seeds)
      : row_(row_of(hash)), seeds_(std::move(seeds)), numbers_of_filter_{num_bits, num_probes, seeds_} {}
  PositionSource(const PositionSource&) = delete;
  PositionSource& operator=(const PositionSource&) = delete;
  PositionSource(PositionSource&&) noexcept = default;  // the seeds stay where they are
  PositionSource& operator=(PositionSource&&) = delete;
  ~PositionSource() = default;

  void find(std::string_view key, Positions& into) const noexcept { into.find(key, row_, numbers_of_filter_); }
  // True if the bits at all positions of the key are set (hash.hpp).
  [[nodiscard]] bool are_set(std::string_view key, const std::byte* bytes, std::uint32_t flip) const noexcept {
    return row_.probes.are_set(key, numbers_of_filter_, bytes, flip);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& seeds() const noexcept { return seeds_; }
  [[nodiscard]] std::uint64_t num_bits() const noexcept { return numbers_of_filter_.num_bits; }

 private:
  const Row& row_;
  std::vector<std::uint32_t> seeds_;
  ProbeNumbers numbers_of_filter_;
};

}  // namespace bfstore::hash
