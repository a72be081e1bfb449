// Lookups that are inlined into the caller's loop: for C++ engines that are built together with bfstore.
//
//     const bfstore::Lookup lookup = filter.lookup();
//     if (!lookup.contains_digest(digest)) continue;  // no call, no indirection: a multiplication and one cache line
//
// The test of a line is compiled for the instruction set of the including file: AVX-512 with -mavx512f -mavx512vl
// (-march=x86-64-v4), AVX2 with -mavx2 (-march=x86-64-v3), NEON on every 64-bit ARM, otherwise scalar. Nothing is
// chosen at run time here, and BFSTORE_FORCE_ISA has no effect. Filter's own functions choose for themselves. All give
// the same answers.
//
// A digest is Filter::digest(key), or XXH3_64bits_withSeed(key, bytes, filter.shape().seed) of xxHash, if the caller
// inlines that, too. A filter with Hash::kExternal takes the caller's own digests, and one with Hash::kSipHash only
// Filter::digest(key). Where a hash gives positions, there are no digests, and every digest is "maybe".
//
// In a filter of another layout than blocked, a lookup calls the kernel that was chosen when the filter was opened.
// Then Filter::contains_digest, which only calls, is 1 ns faster.
//
// Nothing here becomes a function that the linker keeps for the whole program. So files that are compiled for different
// CPUs may include it.
//
// Link the static library, or use the project as a Meson subproject.
#pragma once

#include <bfstore/filter.hpp>
#include <bfstore/layout/probes.hpp>

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <bfstore/layout/blocked_avx512.hpp>
#elif defined(__AVX2__)
#include <bfstore/layout/blocked_avx2.hpp>
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#include <bfstore/layout/blocked_neon.hpp>
#endif

#include <cstdint>

namespace bfstore {

// A view of an open Filter. It is cheap to copy, and valid until the handle is closed. Threads: any number. In a loop
// of many lookups make it a local variable of the loop's function, so that the compiler keeps it in registers.
class Lookup {
 public:
  // For Filter::lookup(), and for tests.
  BFSTORE_ALWAYS_INLINE explicit Lookup(const layout::Target& target) noexcept
      : target_(&target),
        words_(target.words),
        geometry_{target.geometry.num_bits, target.geometry.range, target.inlined ? target.geometry.num_probes : 0},
        sentinel_{target.sentinel.front, target.sentinel.end, target.sentinel.expected} {}

  // Answers as Filter::contains_digest: false is a certain no, and every doubt is true.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool contains_digest(std::uint64_t digest) const noexcept {
    if constexpr (BlockedKernel::kMostOfFew != 0) {
      if (geometry_.num_probes - 1 < BlockedKernel::kMostOfFew) [[likely]]
        return test<true>(digest);
    }
    if (geometry_.num_probes != 0) [[likely]]
      return test<false>(digest);
    return layout::ask_kernel(*target_, digest);
  }

  // Calls the kernel that was chosen when the filter was opened: for code that is compiled for older CPUs than it runs
  // on. 1 is maybe.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE std::int32_t call(std::uint64_t digest) const noexcept {
    return target_->ask(*target_, digest);
  }

  // Prefetches the line that contains_digest(digest) will read; call it some time before. Does nothing if the layout
  // does not put a key in one line.
  BFSTORE_ALWAYS_INLINE void prefetch(std::uint64_t digest) const noexcept {
    if (geometry_.num_probes != 0) layout::prefetch<layout::Blocked>(words_, geometry_, digest);
  }

 private:
#if defined(__AVX512F__) && defined(__AVX512VL__)
  using BlockedKernel = layout::Avx512;
#elif defined(__AVX2__)
  using BlockedKernel = layout::Avx2;
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  using BlockedKernel = layout::Neon;
#else
  using BlockedKernel = layout::Scalar<layout::Blocked>;
#endif

  template <bool kFew>
  BFSTORE_ALWAYS_INLINE bool test(std::uint64_t digest) const noexcept {
    const layout::Located at = layout::Blocked::locate(geometry_, digest);
    return BlockedKernel::template test<kFew>(words_, geometry_, at, layout::Doubt{sentinel_});
  }

  // Copies of what the test needs, field by field. No call takes the address of this object. Otherwise the compiler
  // would keep all of it in memory, and load it anew for each lookup.
  const layout::Target* target_;  // the handle's own
  const std::uint64_t* words_;
  layout::Geometry geometry_;  // no probes: the test is not inlined
  layout::Sentinel sentinel_;
};

// If a function of the library returned it, it would have an address.
BFSTORE_ALWAYS_INLINE Lookup Filter::lookup() const noexcept { return Lookup(*target_); }

}  // namespace bfstore
