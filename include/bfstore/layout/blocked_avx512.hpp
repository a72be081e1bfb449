// The blocked layout's test with AVX-512: the 16 words of a line in one register, 16 probes at a time.
#pragma once

#if defined(__x86_64__)
#include <bfstore/layout/probes.hpp>

#include <immintrin.h>

namespace bfstore::layout {

#define BFSTORE_AVX512 inline __attribute__((always_inline, target("avx512f,avx512vl")))

// In the struct it would be a weak symbol.
static constexpr auto kAvx512Powers = powers<16>();

struct Avx512 {
  using Rules = Blocked;

  // Tells whether all of the 16 probes that are in `lanes` find their bit; h is the first probe's hash. The intrinsics
  // have masks of all lanes, because gcc 12 warns of an uninitialized variable in its own header for those without a
  // mask. The code is the same.
  static BFSTORE_AVX512 bool hit_16(__m512i line, std::uint32_t h, unsigned lanes) noexcept {
    constexpr __mmask16 kAll = 0xffff;
    const __m512i hashes =
        _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(h)), _mm512_load_si512(kAvx512Powers.of));
    const __m512i numbers = _mm512_maskz_srli_epi32(kAll, hashes, 28);
    const __m512i words = _mm512_maskz_permutexvar_epi32(kAll, numbers, line);
    // A rotation by the bit's number in its line is one by that number modulo 32, which is the bit's number in its
    // word.
    const __m512i shifts = _mm512_maskz_srli_epi32(kAll, hashes, Blocked::kShift);
    const __m512i bits = _mm512_maskz_rolv_epi32(kAll, _mm512_set1_epi32(1), shifts);
    return (_mm512_testn_epi32_mask(words, bits) & lanes) == 0;
  }

  // The test with 8 lanes finds so many probes.
  static constexpr std::uint32_t kMostOfFew = 8;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_AVX512 bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const void* start = at_word(body, at.word);
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    if constexpr (kFew) {
      // Half as wide: CPUs have two units for that width and one for the whole width. The permutation itself loads the
      // line's second half.
      const auto* halves = static_cast<const __m256i*>(start);
      const __m256i powers = _mm256_load_si256(reinterpret_cast<const __m256i*>(kAvx512Powers.of));
      const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), powers);
      const __m256i words = _mm256_permutex2var_epi32(_mm256_loadu_si256(halves), _mm256_srli_epi32(hashes, 28),
                                                      _mm256_loadu_si256(halves + 1));
      if (doubt()) [[unlikely]]
        return true;
      // A lane is 1, or 0 if its probe does not count. Computed, so that a loop over lookups keeps it in a register: a
      // load would be repeated after the doubt's fence.
      const __m256i ones = _mm256_maskz_set1_epi32(static_cast<__mmask8>((1U << probes) - 1), 1);
      return _mm256_testc_si256(words, _mm256_rolv_epi32(ones, _mm256_srli_epi32(hashes, Blocked::kShift))) != 0;
    }
    const __m512i line = _mm512_loadu_si512(start);
    if (doubt()) [[unlikely]]
      return true;
    for (; probes > 16; probes -= 16, h *= kAvx512Powers.next) {
      if (!hit_16(line, h, 0xffff)) return false;
    }
    return hit_16(line, h, (1U << probes) - 1);
  }
};

}  // namespace bfstore::layout
#endif
