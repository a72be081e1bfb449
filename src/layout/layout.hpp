// From a digest to bits. Never sees keys, files or hash functions.
//
// Every layout fills one table of functions; the scalar code of a layout defines the answer, and every kernel for an
// instruction set must agree with it bit for bit. The table is chosen once, when a filter is opened.
#pragma once

#include <bfstore/options.hpp>

#include <cstddef>
#include <cstdint>

namespace bfstore::layout {

// What a layout needs to know of a filter.
struct Geometry {
  std::uint64_t num_bits = 0;    // m
  std::uint64_t range = 0;       // what a digest is brought into: lines for blocked, bits for classic
  std::uint32_t num_probes = 0;  // k

  // A key's probes lie anywhere, not in 512 bits of it.
  [[nodiscard]] bool one_block() const noexcept { return range == num_bits; }
};

// `words` is the body, 8-byte aligned, for blocked 64-byte aligned. Adding sets bits atomically, beside any number of
// other writers and readers.
struct Functions {
  const char* isa;
  bool (*contains)(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept;
  // True if a bit changed: then the digest was certainly not there.
  bool (*add)(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept;
  // answers[i] = 1 if digests[i] may be there, else 0; returns how many may.
  std::size_t (*contains_batch)(const std::uint64_t* words, const Geometry& geometry, const std::uint64_t* digests,
                                std::size_t count, std::uint8_t* answers) noexcept;
  // Returns how many digests changed a bit.
  std::size_t (*add_batch)(std::uint64_t* words, const Geometry& geometry, const std::uint64_t* digests,
                           std::size_t count) noexcept;
};

// Each layout's scalar table.
extern const Functions kBlockedScalar;
extern const Functions kClassicScalar;

// The best table that this CPU has for the layout.
const Functions& functions_for(Layout layout) noexcept;

Geometry geometry_of(Layout layout, std::uint64_t num_bits, std::uint32_t num_probes) noexcept;

// Reads the bits from `first_bit` on, `num_bits` of them, a multiple of 64 or up to the end of the body.
std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept;

}  // namespace bfstore::layout
