// The blocked layout with AVX2. The functions alone are compiled for it, by attribute: whatever else this file may
// come to define is for every CPU.
#include <bfstore/layout/blocked_avx2.hpp>

#include "layout/tables.hpp"

#if defined(__x86_64__)
namespace bfstore::layout {
namespace {

// The words of a line are read by vector loads while others set bits: each word is read whole, which is all that a
// lookup needs, but it is a race in the words of the standard.
#define BFSTORE_KERNEL __attribute__((target("avx2"), no_sanitize("thread")))

BFSTORE_KERNEL bool contains(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  return avx2::test(words, geometry, Blocked::locate(geometry, digest));
}

// The loops of take_turns() again: code for this instruction set is inlined only into functions that say the same.
template <bool kFew>
BFSTORE_KERNEL std::size_t ask(const std::uint64_t* words, const Geometry geometry, const Step& step,
                               std::uint8_t* answers) noexcept {
  std::size_t maybes = 0;
  const std::size_t both = step.num_now < step.num_later ? step.num_now : step.num_later;
  std::size_t i = 0;
  for (; i < both; ++i) {
    prefetch<Blocked>(words, geometry, step.later[i]);
    answers[i] = avx2::test<kFew>(words, geometry, Blocked::locate(geometry, step.now[i])) ? 1 : 0;
    maybes += answers[i];
  }
  for (std::size_t later = i; later < step.num_later; ++later) prefetch<Blocked>(words, geometry, step.later[later]);
  for (; i < step.num_now; ++i) {
    answers[i] = avx2::test<kFew>(words, geometry, Blocked::locate(geometry, step.now[i])) ? 1 : 0;
    maybes += answers[i];
  }
  return maybes;
}

std::size_t contains_step(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                          std::uint8_t* answers) noexcept {
  return avx2::are_few(geometry) ? ask<true>(words, geometry, step, answers)
                                 : ask<false>(words, geometry, step, answers);
}

}  // namespace

constexpr Lookups kBlockedAvx2{"avx2", contains, contains_step};

}  // namespace bfstore::layout
#endif
