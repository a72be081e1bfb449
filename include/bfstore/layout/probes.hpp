// Which bits a digest probes (FORMAT.md, "Layouts"). The scalar code here defines the answer of every kernel.
//
// In include/ because callers may inline it; see inline.hpp for what they use.
#pragma once

#include <bfstore/layout/words.hpp>
#include <bfstore/options.hpp>

#include <cstdint>

namespace bfstore::layout {

// What a layout needs to know of a filter.
struct Geometry {
  std::uint64_t num_bits = 0;    // m
  std::uint64_t range = 0;       // what a digest is brought into: lines for blocked, bits for classic
  std::uint32_t num_probes = 0;  // k
};

// What a lookup needs to know of it.
struct Target {
  const std::uint64_t* words = nullptr;
  Geometry geometry;
  Sentinel sentinel;
  // The kernel that was chosen when the filter was opened: 1 is maybe, doubt is too, 0 is no. A whole register, which
  // the C ABI hands on as it is.
  std::int32_t (*ask)(const Target& target, std::uint64_t digest) noexcept = nullptr;
  // The test is that of the blocked layout, which callers may inline; else they call.
  bool inlined = false;
  // Where `ask` has to look at the sentinel before the bits are read, too: the kernel that it asks then.
  std::int32_t (*kernel)(const Target& target, std::uint64_t digest) noexcept = nullptr;
};

// Where a digest leads.
struct Located {
  std::uint64_t word;   // the first one to be read; blocked: of the line
  std::uint64_t state;  // from which the layout goes on to the other probes
};

__extension__ using Product = unsigned __int128;

// Blocked: one 64-byte line a key.
struct Blocked {
  static constexpr std::uint32_t kNext = 0x9e3779b9;
  static constexpr unsigned kShift = 23;  // 32 bits of h, of which the top 9 number a bit of the line

  // The line depends on the digest's high bits, and h is its low half: so a filter of half as many lines has, in each
  // of them, the bits of two neighbours of this one.
  static BFSTORE_ALWAYS_INLINE Located locate(const Geometry& geometry, std::uint64_t digest) noexcept {
    const auto line = static_cast<std::uint64_t>((static_cast<Product>(digest) * geometry.range) >> 64);
    return {line * (kLineBits / 64), digest};
  }

  // Ends early when `visit(bit)` returns false, and says whether it did not.
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
  static constexpr std::uint64_t kNext = 0xf1357aea2e62a9c5;

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

// Asks for the memory in which a digest's first probe lies. Always inlined, for gcc 12 takes a function that only
// prefetches for one without effect, and drops it.
template <class Rules>
BFSTORE_ALWAYS_INLINE void prefetch(const std::uint64_t* words, const Geometry& geometry,
                                    std::uint64_t digest) noexcept {
  __builtin_prefetch(words + Rules::locate(geometry, digest).word);
}

// Where word number `word` of a body begins: words that are aligned, or bytes at any address.
BFSTORE_ALWAYS_INLINE const void* at_word(const std::uint64_t* words, std::uint64_t word) noexcept {
  return words + word;
}
BFSTORE_ALWAYS_INLINE const void* at_word(const std::byte* body, std::uint64_t word) noexcept {
  return body + word * sizeof(std::uint64_t);
}

// A kernel tests whether all probes of a digest find their bit, or the answer is in doubt: `doubt()` is asked after the
// bits were read. It is one of these structs, of which every member is always inlined. Where few probes can be tested
// with less, are_few() tells when, and then test<true>() does it.
//
// Kernels for which a line is one load branch on the doubt right after it, and not on anything in the line. So the
// doubt costs nothing that has to wait for the line: what waits fills the CPU's scheduler, and that decides how many
// lookups are under way at once.
template <class Layouts>
struct Scalar {
  using Rules = Layouts;
  static BFSTORE_ALWAYS_INLINE bool are_few(const Geometry&) noexcept { return false; }

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_ALWAYS_INLINE bool test(const Body* body, const Geometry& geometry, const Located& at,
                                         Doubt doubt) noexcept {
    const unsigned all = Rules::each_probe(
        geometry, at, [body](std::uint64_t bit) __attribute__((always_inline)) { return test_bit(body, bit); });
    return (all | static_cast<unsigned>(doubt())) != 0;
  }
};

// What a kernel asks for.
struct Doubt {
  const Sentinel& sentinel;
  BFSTORE_ALWAYS_INLINE bool operator()() const noexcept { return in_doubt(sentinel); }
};

// Where that is asked elsewhere.
struct NoDoubt {
  BFSTORE_ALWAYS_INLINE bool operator()() const noexcept { return false; }
};

// kNext of the blocked layout to the powers 1 to kLanes: what makes the hashes of so many probes at once of h; and to
// kLanes once more: the way to the next ones.
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
