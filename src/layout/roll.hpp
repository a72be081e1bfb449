// The loop over many digests. While some are looked up or added, later ones are prefetched, so that many cache misses
// are under way at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "layout/layout.hpp"

namespace bfstore::layout {

// The number of digests between a prefetch and its lookup: enough for CPUs that keep many misses under way, and
// harmless to others. In every run bfbench times the loop that only reads lines at 16 to 256 ahead (the table's "@").
// On two shared cores of a virtual Xeon, with 100 million keys, 64 to 256 differ only by noise.
inline constexpr std::size_t kAhead = 128;

// Digests of one step. A check once for each step is frequent enough.
inline constexpr std::size_t kStep = 64;

// Digests of one step if they are not computed yet. Fewer, because a prefetch waits until the digests of its step are
// computed.
inline constexpr std::size_t kHashedStep = 16;

// `visit(step, first)` asks or adds a step's digests, of which the first has the number `first`. It ends the loop by
// returning false.
template <class Visit>
void roll(const std::uint64_t* digests, std::size_t count, Visit visit) noexcept {
  std::size_t later = std::min(count, kAhead);
  if (later > 0 && !visit(Step{nullptr, 0, digests, later}, 0)) return;
  for (std::size_t first = 0; first < count; first += kStep) {
    const std::size_t num_later = std::min(kStep, count - later);
    const Step step{digests + first, std::min(kStep, count - first), digests + later, num_later};
    if (!visit(step, first)) return;
    later += num_later;
  }
}

// Like roll(), for digests that are not computed yet, or that other threads may change: digest_at(i) returns digest i,
// and is called once for each.
template <std::size_t kPerStep = kHashedStep, class DigestAt, class Visit>
void roll_hashed(DigestAt digest_at, std::size_t count, Visit visit) noexcept {
  constexpr std::size_t kRing = kAhead + kPerStep;  // a step's digests, and those that are computed meanwhile
  std::array<std::uint64_t, kRing> ring;
  std::size_t later = 0;
  const auto compute = [&](std::size_t most) __attribute__((always_inline)) {
    std::uint64_t* const to = &ring[later % kRing];
    const std::size_t size = std::min(most, count - later);
    for (std::size_t i = 0; i < size; ++i) to[i] = digest_at(later + i);
    later += size;
    return Step{nullptr, 0, to, size};
  };
  while (later < std::min(count, kAhead)) {
    if (!visit(compute(kPerStep), 0)) return;
  }
  for (std::size_t first = 0; first < count; first += kPerStep) {
    Step step = compute(kPerStep);
    step.now = &ring[first % kRing];
    step.num_now = std::min(kPerStep, count - first);
    if (!visit(step, first)) return;
  }
}

}  // namespace bfstore::layout
