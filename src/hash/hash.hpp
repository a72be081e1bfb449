// Turns keys into digests or positions, and computes checksums. No other file includes xxhash.h, whose functions are
// inlined: the shared library needs no other library at run time, and a lookup makes no call.
//
// The only table of hashes: a number without a row is an error. The code that turns keys into digests is in hasher.hpp.
#pragma once

#include <bfstore/hashes.hpp>
#include <bfstore/layout/words.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hash/remainder.hpp"

namespace bfstore::hash {

// XXH3-64 with a seed. `data` may be null when `bytes` is 0.
inline std::uint64_t xxh3(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  static constexpr char kEmpty = 0;  // xxHash gets no null pointer
  return XXH3_64bits_withSeed(data == nullptr ? &kEmpty : data, bytes, seed);
}

// The numbers of one filter that decide, with the key, the positions of its bits.
struct ProbeNumbers {
  const std::uint64_t num_bits = 0;
  std::uint32_t num_probes = 0;
  std::span<const std::uint32_t> seeds{};  // one for each probe, if the hash takes them
  const Remainder remainder = Remainder(num_bits);
};

// What is done with the positions of a key's bits: num_probes numbers below num_bits. No hash gives nullptr for one of
// the two alone.
struct Probes {
  void (*positions)(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept = nullptr;
  // True if all of these bits are set. Bit i of the filter is bit i ^ flip of the bytes, as in layout/turn.hpp.
  bool (*are_set)(std::string_view key, const ProbeNumbers& numbers, const std::byte* bytes,
                  std::uint32_t flip) noexcept = nullptr;
};

// Makes both of one loop: each(key, numbers, use) calls use(position) for one after the other, until that returns
// false, and returns whether none did.
template <class Each>
constexpr Probes probes_of(Each) noexcept {
  return {[](std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
            Each()(key, numbers, [&positions](std::uint64_t position) noexcept {
              *positions++ = position;
              return true;
            });
          },
          [](std::string_view key, const ProbeNumbers& numbers, const std::byte* bytes, std::uint32_t flip) noexcept {
            return Each()(key, numbers, [bytes, flip](std::uint64_t position) noexcept {
              return layout::test_bit(bytes, position ^ flip);
            });
          }};
}

// Calls use(next(i)) for the probes i of a key in their order, until one returned false; returns whether none did. All
// of the first four are used before the answers are looked at. A branch on each of them would cost more than the other
// three, because half of the bits of a good filter are set, and no CPU predicts which. Few absent keys come any
// further. For hashes whose next position costs little.
template <class Next, class Use>
bool each_after_four(std::uint32_t num_probes, Next next, Use use) noexcept {
  std::uint32_t i = 0;
  if (num_probes >= 4) {
    unsigned all = use(next(0)) ? 1U : 0U;  // no loop, because compilers do not unroll it
    all &= use(next(1)) ? 1U : 0U;
    all &= use(next(2)) ? 1U : 0U;
    all &= use(next(3)) ? 1U : 0U;
    if (all == 0) return false;
    i = 4;
  }
  for (; i < num_probes; ++i)
    if (!use(next(i))) return false;
  return true;
}

// Where in m bits the positions of one key can be. Rates and estimates depend on it.
enum class Spread {
  kAnywhere,
  kLine,        // in one line of 64 bytes, as in the blocked layout
  kSplitBlock,  // in one block of 32 bytes, one in each of its eight words of 32 bits
};

constexpr std::uint64_t every_bit(std::uint64_t num_bits) noexcept { return num_bits; }

struct Row {
  HashInfo info;  // number, name, what it takes and gives
  // The digest of a public key, with a public secret, for the canary. nullptr if the hash takes no keys.
  std::uint64_t (*known_digest)(const void* data, std::size_t bytes, std::uint64_t seed) noexcept = nullptr;
  Probes probes{};  // nullptr if the hash gives digests
  // The largest m that the hash has positions for.
  std::uint64_t most_bits = kMaxBits;
  bool counts_seeds = true;       // seeds that are not listed are 0, 1, 2, ...; otherwise they must be listed
  bool slices = false;            // m is k slices of one length, and a key has one bit in each
  std::uint64_t unit_bits = 1;    // m is a multiple of this
  std::uint32_t only_probes = 0;  // the only k; 0: any
  // The number of different positions that keys have in m bits. Rates and estimates are those of so many bits.
  std::uint64_t (*num_reached)(std::uint64_t num_bits) noexcept = every_bit;
  Spread spread = Spread::kAnywhere;

  // What m is a multiple of. `num_probes` is not 0.
  [[nodiscard]] std::uint64_t unit(std::uint32_t num_probes) const noexcept { return slices ? num_probes : unit_bits; }
  // True if the hash has positions for this m and k. `num_probes` is not 0.
  [[nodiscard]] bool reaches(std::uint64_t num_bits, std::uint32_t num_probes) const noexcept {
    const bool good_probes = only_probes == 0 || num_probes == only_probes;
    return good_probes && num_bits <= most_bits && num_bits % unit(num_probes) == 0;
  }
  // What reaches() asks for, in words: "an m that is a multiple of k".
  [[nodiscard]] std::string limits() const;
};

// The info of a hash that gives positions, those of another program.
constexpr HashInfo gives_positions(Hash hash, const char* name, bool takes_seeds = false) noexcept {
  return {.hash = hash, .name = name, .takes_keys = true, .takes_seeds = takes_seeds, .gives_positions = true};
}

// Hashes of other programs have their rows in files of their own.
extern const Row kMurmur3Row;
extern const Row kMurmur3UnsignedRow;
extern const Row kJavaPolynomialRow;
extern const Row kJaybirdRow;
extern const Row kPybloomLiveRow;
extern const Row kDcsoRow;
extern const Row kGuavaRow;
extern const Row kGuava32Row;
extern const Row kRedisBloomRow;
extern const Row kBitsAndBloomsRow;
extern const Row kPybloomfilterRow;
extern const Row kLevelDbRow;
extern const Row kRocksDbRow;
extern const Row kParquetRow;
extern const Row kLibbloomRow;
extern const Row kRbloomRow;
extern const Row kJavaBytesRow;

// Returns nullptr if no such hash exists.
const Row* find(std::uint16_t number) noexcept;

// Returns the row of a hash that is known to exist.
const Row& row_of(Hash hash) noexcept;

// A fold of the digests, or of the positions, of fixed keys, one for each path that XXH3 takes by length (FORMAT.md,
// "Hashes"). A library that hashes differently computes another canary and refuses the file. 0 if the hash takes no
// keys. `numbers` is for a hash that gives positions.
std::uint64_t canary(Hash hash, std::uint64_t seed, const ProbeNumbers& numbers = {}) noexcept;

}  // namespace bfstore::hash
