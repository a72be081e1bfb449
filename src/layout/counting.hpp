// The counting layout: 128 counters of 4 bits in one 64-byte line per key (FORMAT.md, "Layouts"). Finds a digest's
// counters, and changes them in adds and removes, for every kernel.
//
// The invariant of each counter: it is at least the number of present keys that have it, or it is 15. A key is present
// from the return of its add to the call of its remove. Each change is one step on one word, which keeps the invariant.
// So the counters of a present key are never 0, and a lookup needs no version, lock or order. An interrupted add or
// remove makes no counter too low: some counters of its key stay too high.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "layout/layout.hpp"

namespace bfstore::layout {

// Line and h are as in the blocked layout, but the line is 128 counters. A key's counters are the set of its probes: a
// counter that two of them reach is one counter.
struct Counting {
  static constexpr bool kCounts = true;  // a cell is a counter
  static constexpr std::uint64_t kLineWords = kLineBits / 64;
  static constexpr std::uint64_t kLineCells = kLineBits / Counters::kBits;
  static constexpr unsigned kShift = 25;  // the top 7 bits of h

  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t range_in(std::uint64_t body_bytes) noexcept {
    return Blocked::range_in(body_bytes);  // lines have the same length
  }

  static BFSTORE_ALWAYS_INLINE Located locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    return Blocked::locate(geometry, digest);
  }

  template <class Visit>
  static BFSTORE_ALWAYS_INLINE bool each_probe(const Geometry& geometry, const Located& at, Visit visit) noexcept {
    auto h = static_cast<std::uint32_t>(at.state);
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i) {
      h *= Blocked::kNext;
      if (!visit(at.word * Counters::kInWord + (h >> kShift))) return false;
    }
    return true;
  }

  // Raises the counters of a key. Returns true if one was 0: the key was certainly absent.
  template <class How>
  static BFSTORE_ALWAYS_INLINE bool raise(std::uint64_t* words, const Geometry& geometry, const Located& at) noexcept {
    const auto key = ones_of(geometry, at);
    std::uint64_t were_empty = 0;
    for (std::size_t i = 0; i < kLineWords; ++i) {
      const std::uint64_t ones = key[i];
      if (ones == 0) continue;
      const auto raised = [ones](std::uint64_t word) __attribute__((always_inline)) {
        return little_endian(Counters::raised(little_endian(word), ones));
      };
      were_empty |= ones & ~Counters::not_empty(little_endian(How::change(words + at.word + i, raised)));
    }
    return were_empty != 0;
  }

  // Raises the counters of a key in a body at any address, which no other thread changes.
  static BFSTORE_ALWAYS_INLINE void raise(std::byte* body, const Geometry& geometry, const Located& at) noexcept {
    const auto key = ones_of(geometry, at);
    for (std::size_t i = 0; i < kLineWords; ++i) {
      std::byte* const place = body + (at.word + i) * sizeof(std::uint64_t);
      std::uint64_t word = 0;
      std::memcpy(&word, place, sizeof word);
      word = little_endian(Counters::raised(little_endian(word), key[i]));
      std::memcpy(place, &word, sizeof word);
    }
  }

  // Lowers the counters of a key that was added. A counter at 15 stays.
  template <class How>
  static BFSTORE_ALWAYS_INLINE void lower(std::uint64_t* words, const Geometry& geometry, const Located& at) noexcept {
    const auto key = ones_of(geometry, at);
    for (std::size_t i = 0; i < kLineWords; ++i) {
      const std::uint64_t ones = key[i];
      if (ones == 0) continue;
      How::change(
          words + at.word + i, [ones](std::uint64_t word) __attribute__((always_inline)) {
            return little_endian(Counters::lowered(little_endian(word), ones));
          });
    }
  }

  // Returns the lowest counter of a key.
  static BFSTORE_ALWAYS_INLINE unsigned count(const std::uint64_t* words, const Geometry& geometry,
                                              std::uint64_t digest) noexcept {
    std::uint64_t least = Counters::kMost;
    each_probe(geometry, locate(geometry, digest), [&](std::uint64_t cell) {
      const std::uint64_t word = little_endian(load_word(words, cell * Counters::kBits));
      if (Counters::at(word, cell) < least) least = Counters::at(word, cell);
      return true;
    });
    return static_cast<unsigned>(least);
  }

 private:
  // Returns the words of the key's line with a 1 in each counter of the key.
  static BFSTORE_ALWAYS_INLINE std::array<std::uint64_t, kLineWords> ones_of(const Geometry& geometry,
                                                                             const Located& at) noexcept {
    std::array<std::uint64_t, kLineWords> ones{};
    each_probe(
        geometry, {0, at.state}, [&ones](std::uint64_t cell) __attribute__((always_inline)) {
          ones[cell / Counters::kInWord] |= Counters::one(cell);
          return true;
        });
    return ones;
  }
};

}  // namespace bfstore::layout
