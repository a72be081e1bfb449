// The filter's bits as 64-bit words in shared memory: the only atomics on filter bits.
//
// Any number of threads and processes read and set bits of the same words at once. All operations are relaxed: a bit
// carries no other data with it. Code that needs an order (the live word after the bits) adds a fence.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// Kernels are compiled for one instruction set. Nothing that they use may become a function that the linker keeps for
// the whole program. For the same reason they use the compiler's atomics, and not the standard library's templates.
#define BFSTORE_ALWAYS_INLINE inline __attribute__((always_inline))

namespace bfstore::layout {

// Converts a word of memory, which is little-endian on every machine, to a number, and back.
BFSTORE_ALWAYS_INLINE constexpr std::uint64_t little_endian(std::uint64_t word) noexcept {
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap64(word);
  return word;
}

// Bit i of the body is in word i / 64. In memory it is bit i % 8 of byte i / 8, in every byte order.
BFSTORE_ALWAYS_INLINE std::uint64_t bit_mask(std::uint64_t bit) noexcept {
  return little_endian(std::uint64_t{1} << (bit & 63));
}

BFSTORE_ALWAYS_INLINE std::uint64_t load_word(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return __atomic_load_n(words + bit / 64, __ATOMIC_RELAXED);
}

BFSTORE_ALWAYS_INLINE bool test_bit(const std::uint64_t* words, std::uint64_t bit) noexcept {
  return (load_word(words, bit) & bit_mask(bit)) != 0;
}

// Tests the same bit, by bytes, in a body at any address.
BFSTORE_ALWAYS_INLINE bool test_bit(const std::byte* body, std::uint64_t bit) noexcept {
  const auto* const as_numbers = reinterpret_cast<const unsigned char*>(body);
  return (__atomic_load_n(as_numbers + bit / 8, __ATOMIC_RELAXED) >> (bit & 7) & 1) != 0;
}

BFSTORE_ALWAYS_INLINE void set_bit(std::byte* body, std::uint64_t bit) noexcept {
  body[bit / 8] |= static_cast<std::byte>(1U << (bit & 7));
}

// Two words, one before the bits and one after them. An answer "no" holds only if both words have their values. The
// test compares their difference, which changes when either word changes or both are lost. The expected difference is a
// number, in every byte order.
struct Sentinel {
  const std::uint64_t* front = nullptr;
  const std::uint64_t* end = nullptr;
  std::uint64_t expected = 0;

  // The bits in which the difference is not the expected one.
  BFSTORE_ALWAYS_INLINE std::uint64_t differing() const noexcept {
    return differing(__atomic_load_n(front, __ATOMIC_RELAXED), __atomic_load_n(end, __ATOMIC_RELAXED));
  }
  // Does the same for words that were read before.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE std::uint64_t differing(std::uint64_t front_word,
                                                              std::uint64_t end_word) const noexcept {
    return little_endian(front_word ^ end_word) ^ expected;
  }
};

// Call it after the bits were read. Bits that were lost took a word with them: the front word if the file was
// overwritten or zero-filled from its beginning, the end word if it was truncated, even if it was grown again.
BFSTORE_ALWAYS_INLINE bool in_doubt(const Sentinel& sentinel) noexcept {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return sentinel.differing() != 0;
}
// The same for a caller whom only these bits concern.
BFSTORE_ALWAYS_INLINE bool in_doubt(const Sentinel& sentinel, std::uint64_t compared) noexcept {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return (sentinel.differing() & compared) != 0;
}

// The epoch word of a file whose keys expire: twice the number of the current epoch, and 1 more while a turn clears the
// bits of the oldest epoch. A turn stores it before it clears, and once more when the next epoch begins. Between that
// store and the first cleared bit it has a full fence.
//
// It makes each lookup and each add look twice. A lookup that reads a key's word of now before the key is added there
// again, and its old word after that was cleared, would be a wrong "no". So would an add into a word that is about to
// be cleared.
BFSTORE_ALWAYS_INLINE std::uint64_t load_epoch(const std::uint64_t* epoch) noexcept {
  return little_endian(__atomic_load_n(epoch, __ATOMIC_ACQUIRE));
}
// Call it after the bits were read. If it is true, they may be of two epochs: read them again.
BFSTORE_ALWAYS_INLINE bool moved_while_read(const std::uint64_t* epoch, std::uint64_t before) noexcept {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return load_epoch(epoch) != before;
}
// Call it after bits were set. If it is true, they may be in the word of an older epoch: set them again.
BFSTORE_ALWAYS_INLINE bool moved_while_set(const std::uint64_t* epoch, std::uint64_t before) noexcept {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return load_epoch(epoch) != before;
}

// The number of slices of a file that grows. Its end word stands for the bits of all slices before it.
BFSTORE_ALWAYS_INLINE std::uint64_t load_num_slices(const std::uint64_t* number) noexcept {
  return little_endian(__atomic_load_n(number, __ATOMIC_ACQUIRE));
}
// Call it after the bits were read.
BFSTORE_ALWAYS_INLINE bool is_end_word_lost(const std::uint64_t* word, std::uint64_t expected) noexcept {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(word, __ATOMIC_RELAXED) != expected;
}

// Sixteen counters of 4 bits in a word, the first one in its lowest bits. A counter that has reached 15 stays 15: the
// number of its keys is not known. The functions take numbers, not words in memory; `ones` has a 1 in each selected
// counter, and nothing else.
struct Counters {
  static constexpr unsigned kBits = 4;
  static constexpr unsigned kInWord = 64 / kBits;
  static constexpr std::uint64_t kMost = 15;
  static constexpr std::uint64_t kOnes = 0x1111111111111111;

  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t one(std::uint64_t cell) noexcept {
    return std::uint64_t{1} << cell % kInWord * kBits;
  }
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t at(std::uint64_t number, std::uint64_t cell) noexcept {
    return number >> cell % kInWord * kBits & kMost;
  }
  // A 1 in each counter that is not 0, and in each that is 15.
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t not_empty(std::uint64_t number) noexcept {
    return (number | number >> 1 | number >> 2 | number >> 3) & kOnes;
  }
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t stuck(std::uint64_t number) noexcept {
    return number & number >> 1 & number >> 2 & number >> 3 & kOnes;
  }
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t raised(std::uint64_t number, std::uint64_t ones) noexcept {
    return number + (ones & ~stuck(number));
  }
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t lowered(std::uint64_t number, std::uint64_t ones) noexcept {
    return number - (ones & ~stuck(number) & not_empty(number));
  }
  // Each counter is the sum of two, or 15 if that is more.
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t sums(std::uint64_t one, std::uint64_t other) noexcept {
    return half_sums(one, other) | half_sums(one >> kBits, other >> kBits) << kBits;
  }

 private:
  // Takes every other counter, so that the 4 bits above it have room for the carry.
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t half_sums(std::uint64_t one, std::uint64_t other) noexcept {
    constexpr std::uint64_t kHalf = 0x0f0f0f0f0f0f0f0f;
    const std::uint64_t sums = (one & kHalf) + (other & kHalf);
    const std::uint64_t carries = sums & ~kHalf;
    return (sums | (carries - (carries >> kBits))) & kHalf;
  }
};

// The bits, or the counters, of one word for the keys of two filters. Both are numbers in memory order, as in a body.
BFSTORE_ALWAYS_INLINE constexpr std::uint64_t united_bits(std::uint64_t one, std::uint64_t other) noexcept {
  return one | other;
}
BFSTORE_ALWAYS_INLINE constexpr std::uint64_t united_counters(std::uint64_t one, std::uint64_t other) noexcept {
  return little_endian(Counters::sums(little_endian(one), little_endian(other)));
}

// The two ways to change a cell.

// Changes cells concurrently with any number of other writers. The locked instruction costs about 5 ns, whether the
// word is cached or not.
struct Shared {
  static BFSTORE_ALWAYS_INLINE void set_bit(std::uint64_t* words, std::uint64_t bit) noexcept {
    __atomic_fetch_or(words + bit / 64, bit_mask(bit), __ATOMIC_RELAXED);
  }
  // Sets some bits of a word in one step, and returns the old word.
  static BFSTORE_ALWAYS_INLINE std::uint64_t set_bits(std::uint64_t* word, std::uint64_t bits) noexcept {
    return __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
  }
  // Clears a word. Writes nothing if no bit is set.
  static BFSTORE_ALWAYS_INLINE void clear(std::uint64_t* word) noexcept {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != 0) __atomic_store_n(word, 0, __ATOMIC_RELAXED);
  }
  // Replaces a word by `changed` of its value, in one step, and returns the old value. Writes nothing if both are
  // equal.
  template <class Changed>
  static BFSTORE_ALWAYS_INLINE std::uint64_t change(std::uint64_t* word, Changed changed) noexcept {
    std::uint64_t was = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
      const std::uint64_t wanted = changed(was);
      if (wanted == was || __atomic_compare_exchange_n(word, &was, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return was;
      }
    }
  }
};

// Changes cells as the only writer of their word, concurrently with any number of readers. Two writers would lose bits.
struct Alone {
  static BFSTORE_ALWAYS_INLINE void set_bit(std::uint64_t* words, std::uint64_t bit) noexcept {
    __atomic_store_n(words + bit / 64, load_word(words, bit) | bit_mask(bit), __ATOMIC_RELAXED);
  }
  static BFSTORE_ALWAYS_INLINE std::uint64_t set_bits(std::uint64_t* word, std::uint64_t bits) noexcept {
    const std::uint64_t was = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, was | bits, __ATOMIC_RELAXED);
    return was;
  }
  template <class Changed>
  static BFSTORE_ALWAYS_INLINE std::uint64_t change(std::uint64_t* word, Changed changed) noexcept {
    const std::uint64_t was = __atomic_load_n(word, __ATOMIC_RELAXED);
    const std::uint64_t wanted = changed(was);
    if (wanted != was) __atomic_store_n(word, wanted, __ATOMIC_RELAXED);
    return was;
  }
};

}  // namespace bfstore::layout
