// Computes the bits that a digest probes (FORMAT.md, "Layouts"). The scalar code here defines the answer of every
// kernel.
//
// It is in include/ because callers may inline it; inline.hpp has what they use.
#pragma once

#include <bfstore/layout/words.hpp>
#include <bfstore/options.hpp>

#include <cstdint>

namespace bfstore::layout {

// The static layout's body is divided into shards of one size.
struct Shards {
  std::uint32_t bits = 0;       // of a digest, its highest, that number its shard
  std::uint32_t bytes = 0;      // of a shard
  std::uint32_t slots[3] = {};  // of its layers; 0: a shard is too small for any key
};

struct Slices;  // src/layout/growing.hpp

// A filter's values for its layout.
struct Geometry {
  std::uint64_t num_bits = 0;  // m
  // A digest is mapped to 0..range-1: lines for blocked and counting, bits for classic. A part has the range of the
  // whole. If the hash gives positions, this is the number of those that keys can have.
  std::uint64_t range = 0;
  std::uint32_t num_probes = 0;  // k
  // Where keys expire: the epoch word of the file's live page (words.hpp). Functions of such a layout need it; a body
  // without one has no functions.
  const std::uint64_t* epoch = nullptr;
  Shards shards{};  // of the static layout
  // Where a body grows by slices: how many it has, and where. Without it the body has one slice, and does not grow.
  const Slices* slices = nullptr;
};

// A filter's values for lookups.
struct Target {
  const std::uint64_t* words = nullptr;  // of a part: where the whole filter's first word would be
  Geometry geometry;
  Sentinel sentinel;
  // The kernel that was chosen when the filter was opened: 1 is maybe or doubt, 0 is no. The type is a whole register,
  // which the C ABI returns as it is.
  std::int32_t (*ask)(const Target& target, std::uint64_t digest) noexcept = nullptr;
  // The test is the blocked layout's, which callers may inline. Otherwise they call `ask`.
  bool inlined = false;
  // The kernel that `ask` calls if it must look at the sentinel before the bits are read, too.
  std::int32_t (*kernel)(const Target& target, std::uint64_t digest) noexcept = nullptr;
  // In a part, `ask` calls `of_part` only for the part's own digests (the next two fields). Other digests have no
  // memory.
  std::int32_t (*of_part)(const Target& target, std::uint64_t digest) noexcept = nullptr;
  std::uint64_t first_digest = 0;
  std::uint64_t more_digests = ~std::uint64_t{0};  // how many follow the first one

  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool has(std::uint64_t digest) const noexcept {
    return digest - first_digest <= more_digests;
  }
};

// Calls `ask`. Apart, and cold: a call in a loop takes registers from an inlined test beside it.
[[gnu::cold]] bool ask_kernel(const Target& target, std::uint64_t digest) noexcept;

// The place where a digest's probes begin.
struct Located {
  std::uint64_t word;   // the first word to read; blocked: the line's first word
  std::uint64_t state;  // the layout computes the other probes from it
};

__extension__ using Product = unsigned __int128;

// Blocked: one 64-byte line per key.
struct Blocked {
  static constexpr bool kCounts = false;  // a cell is a bit
  static constexpr std::uint32_t kNext = 0x9e3779b9;
  static constexpr unsigned kShift = 23;  // 32 bits of h, of which the top 9 number a bit of the line

  // The range of a body of that many bytes.
  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t range_in(std::uint64_t body_bytes) noexcept {
    return body_bytes * 8 / kLineBits;
  }

  // The digest's high bits choose the line, and h is its low half. So in a filter of half as many lines each line has
  // the bits of two neighbors of this one.
  static BFSTORE_ALWAYS_INLINE Located locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    const auto line = static_cast<std::uint64_t>((static_cast<Product>(digest) * geometry.range) >> 64);
    return {line * (kLineBits / 64), digest};
  }

  // Calls `visit(bit)` for each probe until it returns false. Returns false if it did.
  template <class Visit>
  static BFSTORE_ALWAYS_INLINE bool each_probe(const Geometry& geometry, const Located& at, Visit visit) noexcept {
    auto h = static_cast<std::uint32_t>(at.state);
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i) {
      h *= kNext;
      if (!visit(at.word * 64 + (h >> kShift))) return false;
    }
    return true;
  }
};

// Classic: k probes anywhere in m bits.
struct Classic {
  static constexpr bool kCounts = false;
  static constexpr std::uint64_t kNext = 0xf1357aea2e62a9c5;

  static BFSTORE_ALWAYS_INLINE constexpr std::uint64_t range_in(std::uint64_t body_bytes) noexcept {
    return body_bytes * 8;
  }

  static BFSTORE_ALWAYS_INLINE Located locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    const std::uint64_t x = digest | 1;  // a multiplicative generator needs an odd state
    return {bit_of(geometry, x) / 64, x};
  }

  template <class Visit>
  static BFSTORE_ALWAYS_INLINE bool each_probe(const Geometry& geometry, const Located& at, Visit visit) noexcept {
    std::uint64_t x = at.state;
    for (std::uint32_t i = 0; i < geometry.num_probes; ++i, x *= kNext) {
      if (!visit(bit_of(geometry, x))) return false;
    }
    return true;
  }

 private:
  static BFSTORE_ALWAYS_INLINE std::uint64_t bit_of(const Geometry& geometry, std::uint64_t x) noexcept {
    return static_cast<std::uint64_t>((static_cast<Product>(x) * geometry.range) >> 64);
  }
};

// Tells whether a cell of a body is set, whatever a cell is.
template <class Rules, class Body>
BFSTORE_ALWAYS_INLINE bool test_cell(const Body* body, std::uint64_t cell) noexcept {
  if constexpr (!Rules::kCounts) {
    return test_bit(body, cell);
  } else if constexpr (sizeof(Body) == 1) {
    return (static_cast<unsigned>(body[cell / 2]) >> (cell % 2 * Counters::kBits) & Counters::kMost) != 0;
  } else {
    return Counters::at(little_endian(load_word(body, cell * Counters::kBits)), cell) != 0;
  }
}

// Prefetches the memory of a digest's first probe, or what else the layout's rules say. Always inlined, because gcc 12
// drops a function that only prefetches as one without effect. `View`: the geometry, or what a step sees of it.
template <class Rules, class View>
BFSTORE_ALWAYS_INLINE void prefetch(const std::uint64_t* words, const View& geometry, std::uint64_t digest) noexcept {
  if constexpr (requires { Rules::prefetch(words, geometry, digest); }) {
    Rules::prefetch(words, geometry, digest);
  } else {
    __builtin_prefetch(words + Rules::locate(geometry, digest).word);
  }
}

// Returns the address of word number `word` of a body: in aligned words, or in bytes at any address.
BFSTORE_ALWAYS_INLINE const void* at_word(const std::uint64_t* words, std::uint64_t word) noexcept {
  return words + word;
}
BFSTORE_ALWAYS_INLINE const void* at_word(const std::byte* body, std::uint64_t word) noexcept {
  return body + word * sizeof(std::uint64_t);
}

// A kernel tests whether all probes of a digest find their bit, or the answer is in doubt; it calls `doubt()` after it
// has read the bits. It is one of these structs, of which every member is always inlined. If a cheaper test is enough
// for few probes, kMostOfFew is the number for which it is, and test<true>() is that test.
//
// Kernels that read a line with one load branch on the doubt right after it, and not on anything in the line. So no
// instruction of the doubt waits for the line: waiting instructions fill the CPU's scheduler, which limits how many
// lookups are under way at once.
template <class Layouts>
struct Scalar {
  using Rules = Layouts;
  static constexpr std::uint32_t kMostOfFew = 0;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_ALWAYS_INLINE bool test(const Body* body, const Geometry& geometry, const Located& at,
                                         Doubt doubt) noexcept {
    const unsigned all = Rules::each_probe(
        geometry,
        at, [body](std::uint64_t cell) __attribute__((always_inline)) { return test_cell<Rules>(body, cell); });
    return (all | static_cast<unsigned>(doubt())) != 0;
  }
};

// Looks at the sentinel, for a kernel.
struct Doubt {
  const Sentinel& sentinel;
  BFSTORE_ALWAYS_INLINE bool operator()() const noexcept { return in_doubt(sentinel); }
};

// Never in doubt: for kernels whose caller looks at the sentinel.
struct NoDoubt {
  BFSTORE_ALWAYS_INLINE bool operator()() const noexcept { return false; }
};

// The powers 1 to kLanes of the blocked layout's kNext. They make the hashes of kLanes probes at once from h. kNext to
// the power kLanes leads to the next hashes.
template <std::size_t kLanes>
struct Powers {
  alignas(64) std::uint32_t of[kLanes];
  std::uint32_t next;
};

template <std::size_t kLanes>
consteval Powers<kLanes> powers() noexcept {
  Powers<kLanes> powers{};
  std::uint32_t power = 1;
  for (std::uint32_t& one : powers.of) one = power *= Blocked::kNext;
  powers.next = power;
  return powers;
}

}  // namespace bfstore::layout
