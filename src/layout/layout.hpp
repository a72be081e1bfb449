// From a digest to bits. Never sees keys, files or hash functions.
//
// Every layout fills tables of functions, one for each instruction set that it has a kernel for; the scalar code of a
// layout defines the answer, and every kernel agrees with it bit for bit. A table is chosen once, when a filter is
// opened. What callers may inline of this room is in include/bfstore/layout/.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/layout/probes.hpp>
#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bfstore::layout {

// `words` is the body, 8-byte aligned, for blocked 64-byte aligned.

// Digests of which some are asked or added now, and others, of which it is their turn later, are prefetched, one by one
// in turns, so that cache misses are always under way (roll.hpp).
struct Step {
  const std::uint64_t* now;
  std::size_t num_now;
  const std::uint64_t* later;
  std::size_t num_later;
};

struct Lookups {
  decltype(Target::ask) one;
  // Of the bits alone: answers[i] = 1 if now[i] may be present, else 0; returns how many may.
  std::size_t (*step)(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                      std::uint8_t* answers) noexcept;
};

// True, or counted, if a bit was missing: then the digest was certainly not there.
struct Adds {
  bool (*one)(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept;
  std::size_t (*step)(std::uint64_t* words, const Geometry& geometry, const Step& step) noexcept;
};

struct Functions {
  const char* isa;
  Lookups contains;
  Adds add;        // beside any number of others who add
  Adds add_alone;  // by the only one who does
};

// The best functions that this CPU has for the layout; or, if `forced` is not null, those of the instruction set of
// this name, which is an error if there is no such set or the CPU lacks it. A layout that has no kernel for the set
// uses its scalar one.
Result<Functions> choose(Layout layout, const char* forced);

// Everything that this CPU runs, the best first and scalar last.
std::vector<Functions> runnable(Layout layout);

Geometry geometry_of(Layout layout, std::uint64_t num_bits, std::uint32_t num_probes) noexcept;

// Reads the bits from `first_bit` on, `num_bits` of them, a multiple of 64 or up to the end of the body.
std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept;

}  // namespace bfstore::layout
