// Lookups that are inlined into the caller's loop: for engines that are built with bfstore, in C++.
//
//     const bfstore::Lookup lookup = filter.lookup();
//     if (!lookup.contains_digest(digest)) continue;  // no call, no indirection: a multiplication and one cache line
//
// The test of a line is compiled for the instruction set that the including file is compiled for: AVX-512 with
// -mavx512f -mavx512vl (-march=x86-64-v4), AVX2 with -mavx2 (-march=x86-64-v3), NEON on every 64-bit ARM, else
// scalar. Nothing is chosen at run time here, and BFSTORE_FORCE_ISA has no say; Filter's own functions choose for
// themselves. All give the same answers.
//
// A digest is Filter::digest(key), or XXH3_64bits_withSeed(key, bytes, filter.shape().seed) of xxHash, where that is
// inlined too. A filter with Hash::kExternal takes the owner's own, and one with Hash::kSipHash Filter::digest(key)
// alone.
//
// A filter of another layout than blocked is asked by a call, of the kernel that was chosen when it was opened.
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

// A view of an open Filter: copy it at will; it is good until the handle is closed. Threads: any number. Where lookups
// are many, let it be a local variable of the loop's function: then the compiler keeps it in registers.
class Lookup {
 public:
  explicit Lookup(const layout::Target& target) noexcept : target_(target) {}  // the library's

  // As Filter::contains_digest: false is a certain no; everything in doubt is true.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE bool contains_digest(std::uint64_t digest) const noexcept {
    return target_.inlined ? test<BlockedKernel>(digest) : call(digest) != 0;
  }

  // The same for code that is compiled for less than the CPUs it runs on: a call of the kernel that was chosen when the
  // filter was opened. 1 is maybe.
  [[nodiscard]] BFSTORE_ALWAYS_INLINE std::int32_t call(std::uint64_t digest) const noexcept {
    return target_.ask(target_, digest);
  }

  // Asks for the line that contains_digest(digest) will read, some time before it does. Nothing where a key is not in
  // one line.
  BFSTORE_ALWAYS_INLINE void prefetch(std::uint64_t digest) const noexcept {
    if (target_.inlined) layout::prefetch<layout::Blocked>(target_.words, target_.geometry, digest);
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
    const layout::Located at = Kernel::Rules::locate(target_.geometry, digest);
    const layout::Doubt doubt{target_.sentinel};
    return Kernel::are_few(target_.geometry) ? Kernel::template test<true>(target_.words, target_.geometry, at, doubt)
                                             : Kernel::template test<false>(target_.words, target_.geometry, at, doubt);
  }

  layout::Target target_;
};

}  // namespace bfstore
