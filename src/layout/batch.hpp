// The loop over many digests, the same for every layout: addresses are computed and prefetched some digests ahead of
// the test, so that many cache misses are under way at once. A layout's Rules give the steps:
//   Probe locate(geometry, digest)           where the digest's probes begin, and what is left to find the others
//   std::uint64_t first_word(probe)          index of the first word that will be read
//   bool test(words, geometry, probe)        all bits set
//   bool set(words, geometry, probe)         sets all bits; true if one changed
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/layout.hpp"

namespace bfstore::layout {

// How far ahead: memory takes about 100 ns and a test about 3, so some tens of lines cover it.
inline constexpr std::size_t kAhead = 64;

template <class Rules, bool kForWriting, class Visit>
void roll(const std::uint64_t* words, const Geometry& geometry, const std::uint64_t* digests, std::size_t count,
          Visit visit) noexcept {
  std::array<typename Rules::Probe, kAhead> ring;
  const auto start = [&](std::size_t i) __attribute__((always_inline)) {  // gcc 12 drops a helper that only prefetches
    ring[i % kAhead] = Rules::locate(geometry, digests[i]);
    __builtin_prefetch(words + Rules::first_word(ring[i % kAhead]), kForWriting ? 1 : 0);
  };
  for (std::size_t i = 0; i < std::min(count, kAhead); ++i) start(i);
  for (std::size_t i = 0; i < count; ++i) {
    visit(i, ring[i % kAhead]);
    if (i + kAhead < count) start(i + kAhead);
  }
}

template <class Rules>
std::size_t contains_batch(const std::uint64_t* words, const Geometry& geometry, const std::uint64_t* digests,
                           std::size_t count, std::uint8_t* answers) noexcept {
  std::size_t maybes = 0;
  roll<Rules, false>(words, geometry, digests, count, [&](std::size_t i, const typename Rules::Probe& probe) {
    const bool maybe = Rules::test(words, geometry, probe);
    answers[i] = maybe ? 1 : 0;
    maybes += maybe ? 1U : 0U;
  });
  return maybes;
}

template <class Rules>
std::size_t add_batch(std::uint64_t* words, const Geometry& geometry, const std::uint64_t* digests,
                      std::size_t count) noexcept {
  std::size_t changed = 0;
  roll<Rules, true>(words, geometry, digests, count, [&](std::size_t, const typename Rules::Probe& probe) {
    changed += Rules::set(words, geometry, probe) ? 1U : 0U;
  });
  return changed;
}

template <class Rules>
bool contains(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  return Rules::test(words, geometry, Rules::locate(geometry, digest));
}

template <class Rules>
bool add(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  return Rules::set(words, geometry, Rules::locate(geometry, digest));
}

// The table of a layout whose functions are the ones above.
template <class Rules>
constexpr Functions scalar_functions() noexcept {
  return {"scalar", contains<Rules>, add<Rules>, contains_batch<Rules>, add_batch<Rules>};
}

}  // namespace bfstore::layout
