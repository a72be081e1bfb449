// The blocked layout's test with AVX-512: the 16 words of a line in one register, 16 probes at a time.
#pragma once

#if defined(__x86_64__)
#include <bfstore/layout/probes.hpp>

#include <immintrin.h>

namespace bfstore::layout {

#define BFSTORE_AVX512 inline __attribute__((always_inline, target("avx512f,avx512vl")))

// Outside the struct, where it would be a weak symbol.
static constexpr auto kAvx512Powers = powers<16>();

struct Avx512 {
  using Rules = Blocked;

  // Which of 16 probes, of which h is the first one's hash, miss their bit. With a mask of all lanes, since the forms
  // without one make gcc 12 warn of its own header's uninitialized variable; the code is the same.
  static BFSTORE_AVX512 __mmask16 missing_of_16(const void* line, std::uint32_t h) noexcept {
    constexpr __mmask16 kAll = 0xffff;
    const __m512i hashes =
        _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(h)), _mm512_load_si512(kAvx512Powers.of));
    const __m512i numbers = _mm512_maskz_srli_epi32(kAll, hashes, 28);
    const __m512i words = _mm512_maskz_permutexvar_epi32(kAll, numbers, _mm512_load_si512(line));
    // Rotating by the number of the bit in its line is rotating by that modulo 32, the number in its word.
    const __m512i shifts = _mm512_maskz_srli_epi32(kAll, hashes, Blocked::kShift);
    return _mm512_testn_epi32_mask(words, _mm512_maskz_rolv_epi32(kAll, _mm512_set1_epi32(1), shifts));
  }

  // The same of 8 probes: half as wide, for which CPUs have two units where they have one for the whole width.
  static BFSTORE_AVX512 __mmask8 missing_of_8(const void* line, std::uint32_t h) noexcept {
    const auto* halves = static_cast<const __m256i*>(line);
    const __m256i powers = _mm256_load_si256(reinterpret_cast<const __m256i*>(kAvx512Powers.of));
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), powers);
    const __m256i words = _mm256_permutex2var_epi32(_mm256_load_si256(halves), _mm256_srli_epi32(hashes, 28),
                                                    _mm256_load_si256(halves + 1));
    const __m256i shifts = _mm256_srli_epi32(hashes, Blocked::kShift);
    return _mm256_testn_epi32_mask(words, _mm256_rolv_epi32(_mm256_set1_epi32(1), shifts));
  }

  // Whether there are so few probes that the test is done with 8 lanes.
  static BFSTORE_ALWAYS_INLINE bool are_few(const Geometry& geometry) noexcept { return geometry.num_probes <= 8; }

  template <bool kFew>
  static BFSTORE_AVX512 bool test(const std::uint64_t* words, const Geometry& geometry, const Located& at) noexcept {
    const std::uint64_t* line = words + at.first_bit / 64;
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    if constexpr (kFew) return (missing_of_8(line, h) & ((1U << probes) - 1)) == 0;
    for (; probes > 16; probes -= 16, h *= kAvx512Powers.next) {
      if (missing_of_16(line, h) != 0) return false;
    }
    return (missing_of_16(line, h) & ((1U << probes) - 1)) == 0;
  }
};

}  // namespace bfstore::layout
#endif
