// A layout's table of scalar functions, from its rules (probes.hpp), and the loop of a step.
#pragma once

#include "layout/layout.hpp"

namespace bfstore::layout {

// `visit(digest, i)` for each of the digests of which it is the turn now, the others being prefetched meanwhile.
template <class Rules, class Visit>
BFSTORE_ALWAYS_INLINE void take_turns(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                                      Visit visit) noexcept {
  const std::size_t both = step.num_now < step.num_later ? step.num_now : step.num_later;
  for (std::size_t i = 0; i < both; ++i) {
    prefetch<Rules>(words, geometry, step.later[i]);
    visit(step.now[i], i);
  }
  for (std::size_t i = both; i < step.num_later; ++i) prefetch<Rules>(words, geometry, step.later[i]);
  for (std::size_t i = both; i < step.num_now; ++i) visit(step.now[i], i);
}

template <class Rules>
bool contains(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  return test<Rules>(words, geometry, Rules::locate(geometry, digest));
}

template <class Rules>
std::size_t contains_step(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                          std::uint8_t* answers) noexcept {
  const Geometry same = geometry;  // as far as the compiler knows, writing an answer may change the caller's
  std::size_t maybes = 0;
  take_turns<Rules>(words, same, step, [&](std::uint64_t digest, std::size_t i) {
    const bool maybe = contains<Rules>(words, same, digest);
    answers[i] = maybe ? 1 : 0;
    maybes += maybe ? 1U : 0U;
  });
  return maybes;
}

template <class Rules, class How>
bool add(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept {
  bool changed = false;
  Rules::each_probe(geometry, Rules::locate(geometry, digest), [&](std::uint64_t bit) {
    changed |= How::set_bit(words, bit);
    return true;
  });
  return changed;
}

template <class Rules, class How>
std::size_t add_step(std::uint64_t* words, const Geometry& geometry, const Step& step) noexcept {
  const Geometry same = geometry;
  std::size_t changed = 0;
  take_turns<Rules>(words, same, step, [&](std::uint64_t digest, std::size_t) {
    changed += add<Rules, How>(words, same, digest) ? 1U : 0U;
  });
  return changed;
}

template <class Rules>
constexpr Functions scalar_functions() noexcept {
  return {{"scalar", contains<Rules>, contains_step<Rules>},
          {add<Rules, Shared>, add_step<Rules, Shared>},
          {add<Rules, Alone>, add_step<Rules, Alone>}};
}

}  // namespace bfstore::layout
