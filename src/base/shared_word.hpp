// A word of memory that processes share. It is little-endian on every machine, as its bytes are in a file. One
// instruction sets or clears bits in either byte order. No single instruction adds on a big-endian machine, where
// carries go the other way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace bfstore::base {

class SharedWord {
 public:
  // `at` is a multiple of 8.
  explicit SharedWord(std::byte* at) noexcept : word_(reinterpret_cast<std::uint64_t*>(at)) {}

  [[nodiscard]] std::uint64_t load() const noexcept { return little_endian(__atomic_load_n(word_, __ATOMIC_SEQ_CST)); }
  [[nodiscard]] std::uint64_t load_relaxed() const noexcept {
    return little_endian(__atomic_load_n(word_, __ATOMIC_RELAXED));
  }
  void store(std::uint64_t value) const noexcept { __atomic_store_n(word_, little_endian(value), __ATOMIC_SEQ_CST); }
  // These return the old word.
  std::uint64_t fetch_or(std::uint64_t bits) const noexcept {
    return little_endian(__atomic_fetch_or(word_, little_endian(bits), __ATOMIC_SEQ_CST));
  }
  std::uint64_t fetch_and(std::uint64_t bits) const noexcept {
    return little_endian(__atomic_fetch_and(word_, little_endian(bits), __ATOMIC_SEQ_CST));
  }

  // Stores `wanted` if the word is `expected`. False if it is not.
  [[nodiscard]] bool replace(std::uint64_t expected, std::uint64_t wanted) const noexcept {
    std::uint64_t seen = little_endian(expected);
    return __atomic_compare_exchange_n(word_, &seen, little_endian(wanted), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }

  void add_relaxed(std::uint64_t value) const noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      __atomic_fetch_add(word_, value, __ATOMIC_RELAXED);
    } else {
      std::uint64_t seen = __atomic_load_n(word_, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(word_, &seen, little_endian(little_endian(seen) + value), true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
    }
  }

  // As the only writer of the word.
  void add_alone(std::uint64_t value) const noexcept {
    __atomic_store_n(word_, little_endian(load_relaxed() + value), __ATOMIC_RELAXED);
  }

 private:
  std::uint64_t* word_;
};

}  // namespace bfstore::base
