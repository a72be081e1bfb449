// The filter's bits as 64-bit words in shared memory: the only atomics on filter bits.
//
// Any number of threads and processes read and set bits of the same words at once. All of it is relaxed: a bit carries
// no other data with it. Whoever needs an order (the live word after the bits) adds a fence.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bytes.hpp"

namespace bfstore::layout {

// Bit i of the body is in word i / 64; in memory it is bit i % 8 of byte i / 8 whatever the machine's byte order.
inline std::uint64_t bit_mask(std::uint64_t bit) noexcept {
  return base::little_endian(std::uint64_t{1} << (bit & 63));
}

inline std::uint64_t load_word(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t*>(words)[bit / 64]).load(std::memory_order_relaxed);
}

inline bool test_bit(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return (load_word(words, bit) & bit_mask(bit)) != 0;
}

// Sets a bit; true if this call changed it. Looks first: a locked instruction costs about 5 ns whatever the memory
// does, and a page on which nothing is missing stays clean.
inline bool set_bit(std::uint64_t* words, std::uint64_t bit) noexcept {
  const std::uint64_t mask = bit_mask(bit);
  if ((load_word(words, bit) & mask) != 0) return false;
  return (std::atomic_ref<std::uint64_t>(words[bit / 64]).fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
}

}  // namespace bfstore::layout
