// Where other programs have the bits of a filter in their bytes, and the test of a key's bits there.
#pragma once

#include <bfstore/layout/words.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bfstore::layout {

// Bit i of a filter is at position i ^ flip of the bytes, counted from the lowest bit of the first byte. So flip is 7
// if the highest bit of a byte comes first, 56 if the bytes are big-endian words of 64 bits, and 63 if the highest bit
// of such a word comes first.
struct Turn {
  std::uint32_t flip = 0;

  // Converts a little-endian word of the bytes to a word of the filter, and back: each conversion is its own inverse.
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t word) const noexcept {
    if ((flip & kInByte) != 0) word = with_bytes_reversed(word);
    return (flip & kBytes) != 0 ? __builtin_bswap64(word) : word;
  }

  // The length of the bytes that have so many bits: whole words if a word's bytes are in another order.
  [[nodiscard]] constexpr std::uint64_t bytes(std::uint64_t num_bits) const noexcept {
    return (flip & kBytes) != 0 ? (num_bits / 64 + (num_bits % 64 != 0)) * 8 : num_bits / 8 + (num_bits % 8 != 0);
  }

 private:
  static constexpr std::uint32_t kInByte = 7, kBytes = 56;

  // Exchanges neighbors, pairs and halves: the classic way without a table (Warren, "Hacker's Delight", 7-1).
  static constexpr std::uint64_t with_bytes_reversed(std::uint64_t word) noexcept {
    constexpr std::uint64_t kBits = 0x5555555555555555, kPairs = 0x3333333333333333, kHalves = 0x0f0f0f0f0f0f0f0f;
    word = (word >> 1 & kBits) | (word & kBits) << 1;
    word = (word >> 2 & kPairs) | (word & kPairs) << 2;
    return (word >> 4 & kHalves) | (word & kHalves) << 4;
  }
};

inline constexpr Turn kAsItIs{0}, kHighestBitFirst{7}, kBigEndianWords{56}, kBigEndianBits{63};

// True if all of these bits of a filter are set in the bytes, which are at any address.
inline bool contains_turned(const std::byte* bytes, Turn turn, std::span<const std::uint64_t> positions) noexcept {
  for (const std::uint64_t bit : positions) {
    if (!test_bit(bytes, bit ^ turn.flip)) return false;
  }
  return true;
}

}  // namespace bfstore::layout
