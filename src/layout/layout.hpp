// From a digest to bits. Never sees keys, files or hash functions.
//
// THE table of layouts: everything that differs from one layout to another is in its row, and a number without a row is
// an error. Every layout fills tables of functions, one for each instruction set that it has a kernel for; the scalar
// code of a layout defines the answer, and every kernel agrees with it bit for bit. A table is chosen once, when a
// filter is opened. What callers may inline of this room is in include/bfstore/layout/.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/layout/probes.hpp>
#include <bfstore/layouts.hpp>
#include <bfstore/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bfstore::layout {

// `words` is the body, 8-byte aligned, where probes lie in lines 64-byte aligned.

// Digests of which some are asked or added now, and others, of which it is their turn later, are prefetched, one by one
// in turns, so that cache misses are always under way (roll.hpp).
struct Step {
  const std::uint64_t* now;
  std::size_t num_now;
  const std::uint64_t* later;
  std::size_t num_later;
};

using Ask = decltype(Target::ask);
inline constexpr std::size_t kFewProbes = 8;

struct Lookups {
  Ask one;  // of any number of probes
  // Of the bits alone: answers[i] = 1 if now[i] may be present, else 0; returns how many may.
  std::size_t (*step)(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                      std::uint8_t* answers) noexcept;
  // few[k - 1] is compiled for k probes: the masks are constants, and no branch asks for k. A CPU has as many lookups
  // under way at once as its window of instructions holds, so while they miss the caches, each instruction counts.
  // nullptr: none.
  std::array<Ask, kFewProbes> few{};

  // The best one for this geometry.
  [[nodiscard]] Ask one_for(const Geometry& geometry) const noexcept {
    const std::size_t k = geometry.num_probes;
    return k >= 1 && k <= kFewProbes && few[k - 1] != nullptr ? few[k - 1] : one;
  }
};

// True, or counted, if a bit was missing: then the digest was certainly not there.
struct Adds {
  bool (*one)(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept;
  std::size_t (*step)(std::uint64_t* words, const Geometry& geometry, const Step& step) noexcept;
};

// Of a body at any address, which no other thread changes meanwhile: the bare form in a caller's buffer.
struct Unaligned {
  // 1 is maybe, 0 is no.
  std::int32_t (*contains)(const std::byte* body, const Geometry& geometry, std::uint64_t digest) noexcept = nullptr;
  void (*add)(std::byte* body, const Geometry& geometry, const std::uint64_t* digests,
              std::size_t count) noexcept = nullptr;
};

struct Functions {
  const char* isa;
  Lookups contains;
  Adds add;               // beside any number of others who add; nullptr where the layout can not
  Adds add_alone;         // by the only one who does; nullptr where the layout can not
  Unaligned unaligned{};  // nullptr where the layout has no bare form
};

// What the bits say so far, piece by piece.
struct Tally {
  std::uint64_t set_bits = 0;
  std::uint64_t bits_taken = 0;
  std::array<std::uint64_t, kLineBits + 1> lines_with{};  // how many lines have so many bits set
};

// The instruction sets for which a layout may have a kernel besides the scalar one; the order is the table's in
// layout.cpp.
enum class Isa : unsigned { kAvx512, kAvx2, kNeon };
inline constexpr std::size_t kNumIsas = 3;
using Kernels = std::array<const Functions*, kNumIsas>;  // nullptr: none

// A number of probes, from 1 to 64, and whether it is exactly the best one.
struct Guess {
  std::uint32_t num_probes;
  bool exact;
};

struct Row {
  LayoutInfo info;  // number, name, capabilities

  // All probes of a key lie in one line, which the digest's high bits choose: a large batch can be divided by lines.
  bool in_lines;
  // Callers inline its test (Target::inlined).
  bool inlined;

  std::uint64_t unit_bits;    // m is a multiple of this ...
  std::uint64_t body_unit;    // ... and the body's bits of this
  std::uint64_t fewest_bits;  // of a filter that can keep any promise
  double least_rate;          // below this rate the digest's bits are too few

  Geometry (*geometry)(std::uint64_t num_bits, std::uint32_t num_probes) noexcept;
  // The false-positive rate of m bits and k probes with n keys in them; n and m are at least 1.
  double (*rate)(double keys, double bits, double probes) noexcept;
  // The k with the lowest rate, or one near it. nullptr: nothing is known.
  Guess (*best_probes)(double keys, double bits) noexcept = nullptr;
  // The mean part of the bits that is set then.
  double (*expected_fill)(double keys, double bits, double probes) noexcept;
  // Counts the next piece of the body, in order; a whole number of lines except for the last.
  void (*take)(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept;
  Fill (*fill)(const Tally& tally, const Geometry& geometry) noexcept;

  const Functions* scalar;
  Kernels kernels;
};

// nullptr if there is no such layout.
const Row* find(std::uint16_t number) noexcept;

// Of a number that was found before.
const Row& row_of(Layout layout) noexcept;

// Bytes of the body that holds m bits.
std::uint64_t body_bytes(const Row& row, std::uint64_t num_bits) noexcept;

// m rounded up to what the layout can have.
std::uint64_t whole_bits(const Row& row, std::uint64_t num_bits) noexcept;

// As choose() does, but nullptr where that is an error.
const Functions* usable(const Row& row, const char* forced) noexcept;

// The best functions that this CPU has for the layout; or, if `forced` is not null, those of the instruction set of
// this name, which is an error if there is no such set or the CPU lacks it. A layout that has no kernel for the set
// uses its scalar one.
Result<Functions> choose(const Row& row, const char* forced);

// Everything that this CPU runs, the best first and scalar last.
std::vector<Functions> runnable(const Row& row);

// Reads the bits from `first_bit` on, `num_bits` of them, a multiple of 64 or up to the end of the body.
std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept;

// What the words say. They may be shared with writers.
class FillCounter {
 public:
  FillCounter(const Row& row, const Geometry& geometry) noexcept : row_(row), geometry_(geometry) {}
  void take(const std::uint64_t* words, std::uint64_t num_words) noexcept {
    row_.take(tally_, geometry_, words, num_words);
  }
  [[nodiscard]] Fill fill() const noexcept { return row_.fill(tally_, geometry_); }

 private:
  const Row& row_;
  Geometry geometry_;
  Tally tally_;
};

}  // namespace bfstore::layout
