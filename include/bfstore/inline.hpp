// Lookups that are inlined into the caller's loop: for engines that are built with bfstore, in C++.
//
//     const bfstore::Lookup lookup = filter.lookup();
//     if (!lookup.contains_digest(digest)) continue;  // no call, no indirection: a multiplication and one cache line
//
// The test of a line is compiled for the instruction set that the including file is compiled for: AVX-512 with
// -mavx512f -mavx512vl (-march=x86-64-v4), AVX2 with -mavx2 (-march=x86-64-v3), NEON on every 64-bit ARM, else scalar.
// Nothing is chosen at run time here, and BFSTORE_FORCE_ISA has no say; Filter's own functions choose for themselves.
// All give the same answers.
//
// A digest is Filter::digest(key), or XXH3_64bits_withSeed(key, bytes, filter.shape().seed) of xxHash, where that is
// inlined too. A filter with Hash::kExternal takes the owner's own.
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

#include <atomic>
#include <cstdint>

namespace bfstore {

// A view of an open Filter: copy it at will; it is good until the handle is closed. Threads: any number. Where lookups
// are many, let it be a local variable of the loop's function: then the compiler keeps it in registers.
class Lookup {
 public:
  // The library's. `harmless`: bits of the live word that change no answer.
  Lookup(const std::uint64_t* words, const layout::Geometry& geometry, const std::atomic<std::uint64_t>* live_word,
         std::uint64_t healthy, std::uint64_t harmless) noexcept
      : words_(words), geometry_(geometry), live_word_(live_word), healthy_(healthy), harmless_(harmless) {}

  // As Filter::contains_digest: false is a certain no; everything in doubt is true.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool contains_digest(std::uint64_t digest) const noexcept {
    const bool maybe =
        geometry_.one_block() ? test<layout::Scalar<layout::Classic>>(digest) : test<BlockedKernel>(digest);
    // The bits first, then the live word: if the bits were lost, so is the word. Without a branch on the answer, which
    // nobody could predict.
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool doubt = (live_word_->load(std::memory_order_relaxed) & ~harmless_) != healthy_;
    return (static_cast<unsigned>(maybe) | static_cast<unsigned>(doubt)) != 0;
  }

  // Asks for the memory that contains_digest(digest) will read, some time before it does.
  BFSTORE_ALWAYS_INLINE void prefetch(std::uint64_t digest) const noexcept {
    geometry_.one_block() ? layout::prefetch<layout::Classic>(words_, geometry_, digest)
                          : layout::prefetch<layout::Blocked>(words_, geometry_, digest);
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

  template <class Kernel>
  BFSTORE_ALWAYS_INLINE bool test(std::uint64_t digest) const noexcept {
    const layout::Located at = Kernel::Rules::locate(geometry_, digest);
    return Kernel::are_few(geometry_) ? Kernel::template test<true>(words_, geometry_, at)
                                      : Kernel::template test<false>(words_, geometry_, at);
  }

  const std::uint64_t* words_;
  layout::Geometry geometry_;
  const std::atomic<std::uint64_t>* live_word_;
  std::uint64_t healthy_;
  std::uint64_t harmless_;
};

}  // namespace bfstore
