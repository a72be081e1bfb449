// Turns digests into bits. This code never sees keys, files or hash functions.
//
// The only table of layouts: everything in which layouts differ is in their rows, and a number without a row is an
// error. Each layout fills a table of functions for each instruction set that it has a kernel for. The scalar code of a
// layout defines the answer, and every kernel agrees with it bit for bit. A filter chooses its table once, when it is
// opened. The code that callers may inline is in include/bfstore/layout/.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/layout/probes.hpp>
#include <bfstore/layouts.hpp>
#include <bfstore/options.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bfstore::layout {

// Everywhere here `words` is the body: 8-byte aligned, and 64-byte aligned if the layout has its probes in lines.

// One step of the loop in roll.hpp: the digests that are asked or added now, and later ones that are prefetched one by
// one meanwhile, so that cache misses are always under way.
struct Step {
  const std::uint64_t* now;
  std::size_t num_now;
  const std::uint64_t* later;
  std::size_t num_later;
};

using Ask = decltype(Target::ask);
inline constexpr std::size_t kFewProbes = 8;

// The function that is compiled for the geometry's number of probes, if there is one. Otherwise the one for any number.
template <class Function>
Function best_of(const std::array<Function, kFewProbes>& few, Function any, const Geometry& geometry) noexcept {
  const std::size_t k = geometry.num_probes;
  return k >= 1 && k <= kFewProbes && few[k - 1] != nullptr ? few[k - 1] : any;
}

struct Lookups {
  Ask one;  // for any number of probes
  // Looks only at the bits: answers[i] = 1 if now[i] may be present, otherwise 0. Returns the number that may be
  // present.
  std::size_t (*step)(const std::uint64_t* words, const Geometry& geometry, const Step& step,
                      std::uint8_t* answers) noexcept;
  // few[k - 1] is compiled for k probes: its masks are constants, and it has no branch on k. A CPU has as many lookups
  // under way as fit into its window of instructions, so each instruction counts while lookups miss the caches.
  // nullptr: no such function.
  std::array<Ask, kFewProbes> few{};

  // The best function for this geometry.
  [[nodiscard]] Ask one_for(const Geometry& geometry) const noexcept { return best_of(few, one, geometry); }
};

// Adds or removes. An add returns true, or counts the digest, if a cell was empty: the digest was certainly absent. A
// remove returns true, or counts the digest, if it was not certainly absent; otherwise nothing changed.
using Change = bool (*)(std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept;

struct Changes {
  Change one;  // for any number of probes
  std::size_t (*step)(std::uint64_t* words, const Geometry& geometry, const Step& step) noexcept;
  std::array<Change, kFewProbes> few{};  // as in Lookups

  [[nodiscard]] Change one_for(const Geometry& geometry) const noexcept { return best_of(few, one, geometry); }
};

// Removes and counts, for a layout that counts. Such a layout never looks before it adds, since each add counts.
struct Counts {
  Changes remove{};
  Changes remove_alone{};
  // The largest number of times that the digest was added; 15 means 15 or more.
  unsigned (*count)(const std::uint64_t* words, const Geometry& geometry, std::uint64_t digest) noexcept = nullptr;
};

// Functions for a body at any address, which no other thread changes during the call: the bare form in a caller's
// buffer.
struct Unaligned {
  // 1 is maybe, 0 is no. All arguments are in registers, so a caller that ends with this call needs no stack frame.
  std::int32_t (*contains)(const std::byte* body, std::uint64_t body_bytes, std::uint32_t num_probes,
                           std::uint64_t digest) noexcept = nullptr;
  void (*add)(std::byte* body, const Geometry& geometry, const std::uint64_t* digests,
              std::size_t count) noexcept = nullptr;
};

// Functions for hashes that give the positions of a key's bits instead of a digest. An add returns true if a bit was
// missing. A lookup gets the words as bytes, like the bits of other programs, which are at any address.
struct ByPosition {
  using Positions = std::span<const std::uint64_t>;
  bool (*add)(std::uint64_t* words, Positions positions) noexcept = nullptr;
  bool (*add_alone)(std::uint64_t* words, Positions positions) noexcept = nullptr;
};

struct Functions {
  const char* isa;
  Lookups contains;
  Changes add;               // concurrently with other writers; nullptr where the layout cannot
  Changes add_alone;         // as the only writer; nullptr where the layout cannot
  Unaligned unaligned{};     // nullptr where the layout has no bare form
  Counts counts{};           // nullptr where the layout removes no keys
  ByPosition by_position{};  // nullptr where the layout takes digests alone
};

class Overlap;  // overlap.hpp

// Counts of a body's bits, piece by piece.
struct Tally {
  std::uint64_t set_bits = 0;
  std::uint64_t bits_taken = 0;
  std::array<std::uint64_t, kLineBits + 1> lines_with{};  // [i]: the number of lines with i bits set
  double block_rates = 0;                                 // split blocks: the sum of their rates
  std::uint64_t keys = 0;                                 // if the body has their number
  std::uint64_t shards_in_doubt = 0;                      // that say "maybe" to every key; their keys are not in `keys`
  std::array<std::uint64_t, 16> counters_at{};            // [i]: the number of counters that are i; for i above 0
  // Where keys expire: for each word of a line, the number of lines in which it has i bits set, for i up to its length.
  std::array<std::uint64_t, kLineBits + kMaxEpochs> epoch_words_with{};
  // Where a body has slices: of each slice whose lines were all counted. `lines_with` counts those of the next one.
  struct OfSlice {
    std::uint64_t lines = 0;
    double throws = 0;
    double variance = 0;
    double rate = 0;  // the mean of the lines' rates
  };
  std::array<OfSlice, kMaxSlices> slices{};
  std::uint32_t num_slices = 0;
};

// The instruction sets for which a layout may have a kernel besides the scalar one, in the order of the table in
// layout.cpp.
enum class Isa : unsigned { kAvx512, kAvx2, kNeon };
inline constexpr std::size_t kNumIsas = 3;
using Kernels = std::array<const Functions*, kNumIsas>;  // nullptr: no kernel

// A number of probes, from 1 to 64, and whether it is exactly the best one.
struct Guess {
  std::uint32_t num_probes;
  bool exact;
};

// Sets the estimated number of keys, and its interval.
void set_estimate(Fill& fill, double keys, double variance) noexcept;

// A part of a body.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Of a layout with all probes of a key in one line.
constexpr double one_place(std::uint64_t, std::uint64_t, double) noexcept { return 1; }

struct Row {
  LayoutInfo info;  // number, name, capabilities

  // All probes of a key are in one line, which the digest's high bits choose. So a large batch can be divided by lines.
  bool in_lines;
  // Callers inline the layout's test (Target::inlined).
  bool inlined;
  // A bit that is set stays set, and a body changes in no other way.
  bool bits_stay = false;

  // If cells are not bits (LayoutInfo::cell_bits), the numbers of bits here and below count cells; only body_unit
  // counts bits.
  std::uint64_t unit_bits;    // m is a multiple of this ...
  std::uint64_t body_unit;    // ... and the body's bits are a multiple of this
  std::uint64_t fewest_bits;  // of a filter that can keep any promise
  double least_rate;          // below this rate the digest's bits are too few

  Geometry (*geometry)(std::uint64_t num_bits, std::uint32_t num_probes) noexcept;
  // The false-positive rate of m bits and k probes with n keys in them; n and m are at least 1.
  double (*rate)(double keys, double bits, double probes) noexcept;
  // The k with the lowest rate, or one near it. nullptr: no such formula is known.
  Guess (*best_probes)(double keys, double bits) noexcept = nullptr;
  // The expected share of set bits for these numbers.
  double (*expected_fill)(double keys, double bits, double probes) noexcept;
  // The expected number of places of `place_bytes`, lines or pages, that a lookup of a present key reads.
  double (*places_read)(std::uint64_t body_bytes, std::uint64_t place_bytes, double probes) noexcept = one_place;
  // Returns the word of a filter that has the keys of two filters, from their words.
  std::uint64_t (*unite)(std::uint64_t one, std::uint64_t other) noexcept = united_bits;
  // Where keys expire: clears the bits of all keys that were added in this epoch, or whole turns of the epochs' words
  // before it, in some whole lines. Writes no word that has none. nullptr: keys do not expire.
  void (*clear)(std::uint64_t* words, std::uint64_t num_words, std::uint64_t epoch) noexcept = nullptr;
  // For a layout that is built once from all of its keys: the number of a digest's highest bits that say in which part
  // of the body it is ...
  unsigned (*part_bits)(const Geometry& geometry) noexcept = nullptr;
  // ... and a function that writes a part. `words` is the whole body, and the part's words are 0. The digests are all
  // of the part's, and ascend without duplicates. nullptr: keys are added to the layout one by one.
  Error (*build)(std::uint64_t* words, const Geometry& geometry, std::uint64_t part,
                 std::span<const std::uint64_t> digests) = nullptr;
  // The range that must be ones so that every key whose bits are in a damaged range is "maybe". Both begin at pages.
  // nullptr: the damaged range itself.
  ByteRange (*range_of_ones)(const Geometry& geometry, const ByteRange& damaged) noexcept = nullptr;
  // Counts the next piece of the body, in order. A piece is a whole number of lines, except for the last one.
  void (*take)(Tally& tally, const Geometry& geometry, const std::uint64_t* words, std::uint64_t num_words) noexcept;
  Fill (*fill)(const Tally& tally, const Geometry& geometry) noexcept;
  // Counts the next piece of two bodies of one size in the same way. nullptr: the sets of keys cannot be compared.
  void (*take_both)(Overlap& overlap, const Geometry& geometry, const std::uint64_t* a, const std::uint64_t* b,
                    std::uint64_t num_words) noexcept = nullptr;

  const Functions* scalar;
  Kernels kernels;

  // A body without a header says all that a lookup needs.
  [[nodiscard]] bool has_bare_form() const noexcept { return scalar->unaligned.contains != nullptr; }
};

// The classic layout where all probes of a key are in one line, and where they are in one block of 256 bits, one in
// each word of 32. They differ from it in rates and estimates alone, and no file names them.
extern const Row kClassicInLinesRow;
extern const Row kSplitBlocksRow;

// Returns nullptr if no such layout exists.
const Row* find(std::uint16_t number) noexcept;

// Returns the row of a layout that is known to exist.
const Row& row_of(Layout layout) noexcept;

// True if a filter with this layout can have a hash that gives positions.
inline bool takes_positions(const Row& row) noexcept { return row.scalar->by_position.add != nullptr; }

// Bytes of the body that holds m bits.
std::uint64_t body_bytes(const Row& row, std::uint64_t num_bits) noexcept;

// The m that fills a body of that many bytes, as in the bare form.
constexpr std::uint64_t bits_in(const Row& row, std::uint64_t body_bytes) noexcept {
  return body_bytes * 8 >> std::countr_zero(row.info.cell_bits);  // a division takes as long as half of a lookup
}

// The largest m. All layouts have the same longest body.
constexpr std::uint64_t most_bits(const Row& row) noexcept { return kMaxBits / row.info.cell_bits; }

// m rounded up to a size that the layout can have.
std::uint64_t whole_bits(const Row& row, std::uint64_t num_bits) noexcept;

// Like choose(), but returns nullptr where choose() returns an error.
const Functions* usable(const Row& row, const char* forced) noexcept;

// Returns the best functions for the layout that this CPU can run or, if `forced` is not null, those of the instruction
// set of that name. It is an error if no such set exists or the CPU lacks it. A layout that has no kernel for the set
// uses its scalar one.
Result<Functions> choose(const Row& row, const char* forced);

// All functions that this CPU can run, the best first and scalar last.
std::vector<Functions> runnable(const Row& row);

// Counts the set bits among the `num_bits` bits from `first_bit`. `num_bits` is a multiple of 64, or reaches the end of
// the body.
std::uint64_t count_bits(const std::uint64_t* words, std::uint64_t first_bit, std::uint64_t num_bits) noexcept;

// Counts the bits of a body's words. Writers may change the words meanwhile.
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
