// An array of bits in foreign bytes, word by word. Bit i of a word is bit i of the filter.
#pragma once

#include <bfstore/options.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.hpp"
#include "layout/turn.hpp"

namespace bfstore::interop {

using layout::kAsItIs;
using layout::kBigEndianWords;
using layout::kHighestBitFirst;
using layout::Turn;

inline constexpr Turn turn_of(BitOrder order) noexcept { return order == BitOrder::kBig ? kHighestBitFirst : kAsItIs; }

// The bits of the last word that are bits of the filter.
constexpr std::uint64_t last_mask(std::uint64_t num_bits) noexcept {
  return num_bits % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << num_bits % 64) - 1;
}

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// A view of the array. The bytes may end in the middle of a word.
class Array {
 public:
  Array(std::span<const std::byte> bytes, Turn turn) noexcept : bytes_(bytes), turn_(turn) {}

  [[nodiscard]] std::uint64_t num_words() const noexcept { return (bytes_.size() + kWordBytes - 1) / kWordBytes; }
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const noexcept {
    std::array<std::byte, kWordBytes> whole{};
    const auto there = bytes_.subspan(number * kWordBytes);
    std::memcpy(whole.data(), there.data(), std::min(there.size(), kWordBytes));
    return turn_(base::load<std::uint64_t>(whole.data()));
  }
  // The array must not be empty.
  [[nodiscard]] bool has_spare_bits(std::uint64_t num_bits) const noexcept {
    return (word(num_words() - 1) & ~last_mask(num_bits)) != 0;
  }

 private:
  std::span<const std::byte> bytes_;
  Turn turn_;
};

// Writes a word of the filter into an array, but no byte after the array's end.
inline void put_word(std::span<std::byte> array, std::uint64_t number, std::uint64_t word, Turn turn) noexcept {
  std::array<std::byte, kWordBytes> whole;
  base::store(whole.data(), turn(word));
  const auto there = array.subspan(number * kWordBytes);
  std::memcpy(there.data(), whole.data(), std::min(there.size(), kWordBytes));
}

}  // namespace bfstore::interop
