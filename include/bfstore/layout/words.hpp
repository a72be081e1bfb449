// The filter's bits as 64-bit words in shared memory: the only atomics on filter bits.
//
// Any number of threads and processes read and set bits of the same words at once. All of it is relaxed: a bit carries
// no other data with it. Whoever needs an order (the live word after the bits) adds a fence.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace bfstore::layout {

// Bit i of the body is in word i / 64; in memory it is bit i % 8 of byte i / 8 whatever the machine's byte order.
inline std::uint64_t bit_mask(std::uint64_t bit) noexcept {
  const std::uint64_t mask = std::uint64_t{1} << (bit & 63);
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap64(mask);
  return mask;
}

inline std::uint64_t load_word(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t*>(words)[bit / 64]).load(std::memory_order_relaxed);
}

inline bool test_bit(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return (load_word(words, bit) & bit_mask(bit)) != 0;
}

// How a bit is set: true if this call changed it. Both look first, so that a page on which nothing is missing stays
// clean.

// Beside any number of others who set bits. A locked instruction costs about 5 ns whatever the memory does.
struct Shared {
  static bool set_bit(std::uint64_t* words, std::uint64_t bit) noexcept {
    const std::uint64_t mask = bit_mask(bit);
    if ((load_word(words, bit) & mask) != 0) return false;
    return (std::atomic_ref<std::uint64_t>(words[bit / 64]).fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
  }
};

// By the only one who sets bits of this word, beside any number of readers: of two who do it at once, one loses.
struct Alone {
  static bool set_bit(std::uint64_t* words, std::uint64_t bit) noexcept {
    const std::uint64_t mask = bit_mask(bit);
    const std::atomic_ref<std::uint64_t> word(words[bit / 64]);
    const std::uint64_t before = word.load(std::memory_order_relaxed);
    if ((before & mask) != 0) return false;
    word.store(before | mask, std::memory_order_relaxed);
    return true;
  }
};

}  // namespace bfstore::layout
