// The layout that grows: a body of up to five slices of the blocked layout's lines (FORMAT.md, "Growing"). Finds a
// digest's lines, for every kernel.
//
// An add sets the bits of a key in the newest slice. A lookup asks every slice. So a slice, once it is full, changes no
// more, and the false-positive rates of the slices add up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/layout.hpp"

namespace bfstore::layout {

// Where the slices of a body are, in words from its first one, and their end words. Processes that share a file also
// share the number of its slices, and any of them may raise that at any moment. So no code keeps the number from one
// lookup, or one step of a batch, to the next.
struct Slices {
  struct One {
    std::uint64_t first_word = 0;
    std::uint64_t lines = 0;
  };
  const std::uint64_t* number = nullptr;  // the word with the number of slices
  std::array<One, kMaxSlices> of{};
  std::array<const std::uint64_t*, kMaxSlices> end{};  // nullptr: the body has no end words
  std::array<std::uint64_t, kMaxSlices> expected_end{};

  // The number of slices now. 0 in doubt: the word has a number that no body can have.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE std::uint32_t load() const noexcept {
    const std::uint64_t is = load_num_slices(number);
    return is <= kMaxSlices ? static_cast<std::uint32_t>(is) : 0;
  }
  // True if the end word of the last of so many slices is lost. It stands for all slices before it. Call it after their
  // bits were read.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool lost(std::uint32_t num_slices) const noexcept {
    if (num_slices == 0) return true;
    const std::uint64_t* const word = end[num_slices - 1];
    return word != nullptr && is_end_word_lost(word, expected_end[num_slices - 1]);
  }
};

// The slices that one lookup or add sees, or one step of a batch.
struct SlicesNow {
  const Slices::One* of;
  std::uint32_t number;
  std::uint32_t num_probes;

  // `whole` is the only slice of a body without a table.
  static BFSTORE_ALWAYS_INLINE SlicesNow load(const Geometry& geometry, const Slices::One& whole) noexcept {
    if (geometry.slices == nullptr) return {&whole, 1, geometry.num_probes};
    return {geometry.slices->of.data(), geometry.slices->load(), geometry.num_probes};
  }
  [[nodiscard]] BFSTORE_ALWAYS_INLINE Geometry geometry_of(const Slices::One& slice) const noexcept {
    return {.range = slice.lines, .num_probes = num_probes};
  }
};

// The only slice that one step of a batch sees. It begins where the body does.
struct FirstSlice {
  Geometry geometry;
};

// The lines are numbered, and their bits chosen, as in the blocked layout.
struct Growing {
  static constexpr bool kCounts = false;
  static constexpr bool kGrows = true;

  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t range_in(std::uint64_t body_bytes) noexcept {
    return Blocked::range_in(body_bytes);
  }

  // Each slice has a place of its own.
  template <class GeometryOrSlices>
  static BFSTORE_ALWAYS_INLINE Located locate(const GeometryOrSlices&, std::uint64_t digest) noexcept {
    return {0, digest};
  }
  static BFSTORE_ALWAYS_INLINE Located locate_in(const Geometry& of_slice, const Slices::One& slice,
                                                 std::uint64_t digest) noexcept {
    Located at = Blocked::locate(of_slice, digest);
    at.word += slice.first_word;
    return at;
  }

  static BFSTORE_ALWAYS_INLINE void prefetch(const std::uint64_t* words, const SlicesNow& now,
                                             std::uint64_t digest) noexcept {
    for (std::uint32_t i = 0; i < now.number; ++i)
      __builtin_prefetch(words + locate_in(now.geometry_of(now.of[i]), now.of[i], digest).word);
  }
  static BFSTORE_ALWAYS_INLINE void prefetch(const std::uint64_t* words, const FirstSlice& first,
                                             std::uint64_t digest) noexcept {
    __builtin_prefetch(words + Blocked::locate(first.geometry, digest).word);
  }
  static BFSTORE_ALWAYS_INLINE void prefetch(const std::uint64_t* words, const Geometry& geometry,
                                             std::uint64_t digest) noexcept {
    const Slices::One whole{0, geometry.range};
    prefetch(words, SlicesNow::load(geometry, whole), digest);
  }

  // Asks a step's digests in the slices that there are when it begins. Each key whose add returned before is in one.
  template <class AskAll>
  static BFSTORE_ALWAYS_INLINE std::size_t ask_all(const Geometry& geometry, const Step& step, std::uint8_t* answers,
                                                   const AskAll& ask_all) noexcept {
    const Slices::One whole{0, geometry.range};
    const SlicesNow now = SlicesNow::load(geometry, whole);
    const std::size_t maybes = now.number == 1 ? ask_all(FirstSlice{now.geometry_of(now.of[0])}) : ask_all(now);
    if (geometry.slices == nullptr || !geometry.slices->lost(now.number)) [[likely]]
      return maybes;
    std::fill_n(answers, step.num_now, std::uint8_t{1});
    return step.num_now;
  }

  // The probes in the newest slice, where a key is added.
  template <class Visit>
  static BFSTORE_ALWAYS_INLINE bool each_probe(const Geometry& geometry, const Located& at, Visit visit) noexcept {
    const Slices::One whole{0, geometry.range};
    const SlicesNow now = SlicesNow::load(geometry, whole);
    if (now.number == 0) return false;
    const Slices::One& newest = now.of[now.number - 1];
    const Geometry of_slice = now.geometry_of(newest);
    return Blocked::each_probe(of_slice, locate_in(of_slice, newest, at.state), visit);
  }
};

}  // namespace bfstore::layout
