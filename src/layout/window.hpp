// The layouts whose keys expire: in the line of a key one word for each of the last epochs (FORMAT.md, "Layouts").
// Finds a digest's bits, for every kernel.
//
// A key sets k bits in the word of the epoch in which it is added. A lookup asks whether any word has all of them. A
// turn clears the word of the oldest epoch in every line, and makes it the word of the next one. So the bits of a word
// only turn from 0 to 1 until its turn, and a key is found until the word of its last add is cleared. A late change of
// a word that was cleared meanwhile sets bits that belong there no more: a false positive until the next turn of that
// word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "layout/layout.hpp"

namespace bfstore::layout {

// In the struct it would be a weak symbol.
static constexpr auto kWindowPowers = powers<kMaxProbes>();

// Line and h are as in the blocked layout, but h numbers a bit of a word. Word i of the line is that of the epochs e
// with e % kEpochs = i.
template <std::uint32_t kNumEpochs>
struct Window {
  static constexpr bool kCounts = false;
  static constexpr std::uint32_t kEpochs = kNumEpochs;
  static constexpr std::uint32_t kWordBits = kLineBits / kEpochs;
  static constexpr std::uint32_t kParts = kWordBits / 64;  // of 64 bits each
  static constexpr unsigned kShift = 32 - std::countr_zero(kWordBits);

  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t range_in(std::uint64_t body_bytes) noexcept {
    return Blocked::range_in(body_bytes);
  }

  static BFSTORE_ALWAYS_INLINE Located locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    return Blocked::locate(geometry, digest);
  }

  // The number, in the word, of the bit of probe i.
  static BFSTORE_ALWAYS_INLINE std::uint32_t bit_of(const Located& at, std::uint32_t i) noexcept {
    return static_cast<std::uint32_t>(at.state) * kWindowPowers.of[i] >> kShift;
  }

  // A key's bits of one word, as in memory.
  struct Bits {
    alignas(8 * kParts) std::uint64_t parts[kParts];
  };
  static BFSTORE_ALWAYS_INLINE Bits bits_of(const Geometry& geometry, const Located& at) noexcept {
    Bits bits{};
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i) {
      const std::uint32_t bit = bit_of(at, i);
      bits.parts[kParts == 1 ? 0 : bit / 64] |= bit_mask(bit);
    }
    return bits;
  }

  // The number of an epoch's word in its line; `epoch` is the epoch word's value.
  static BFSTORE_ALWAYS_INLINE constexpr std::uint32_t word_of(std::uint64_t epoch) noexcept {
    return static_cast<std::uint32_t>(epoch / 2 % kEpochs);
  }

  // Of the parts of a line (bit i: part i has all bits of the key) to the words: bit i * kParts is 1 if word i has all
  // bits.
  static BFSTORE_ALWAYS_INLINE constexpr unsigned whole_words(unsigned parts) noexcept {
    if constexpr (kParts == 1) return parts;
    if constexpr (kParts == 2) return parts & parts >> 1 & 0x55;
    const unsigned halves = parts & parts >> 1;
    return halves & halves >> 2 & 0x11;
  }
  static BFSTORE_ALWAYS_INLINE constexpr bool is_in(unsigned whole_words, std::uint64_t epoch) noexcept {
    return (whole_words >> word_of(epoch) * kParts & 1) != 0;
  }

  // Sets a key's bits in the word of an epoch, in one step for each part. Returns whether one was missing.
  template <class How>
  static BFSTORE_ALWAYS_INLINE bool set(std::uint64_t* words, const Located& at, const Bits& bits,
                                        std::uint64_t epoch) noexcept {
    std::uint64_t* const word = words + at.word + word_of(epoch) * kParts;
    std::uint64_t missing = 0;
    for (std::uint32_t i = 0; i < kParts; ++i) {
      if (bits.parts[i] != 0) missing |= bits.parts[i] & ~How::set_bits(word + i, bits.parts[i]);
    }
    return missing != 0;
  }
};

}  // namespace bfstore::layout
