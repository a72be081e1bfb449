// The blocked layout's test with AVX2: the 16 words of a line in two registers, 8 probes at a time.
#pragma once

#if defined(__x86_64__)
#include <bfstore/layout/probes.hpp>

#include <immintrin.h>

namespace bfstore::layout {

#define BFSTORE_AVX2 inline __attribute__((always_inline, target("avx2")))

static constexpr auto kAvx2Powers = powers<8>();

struct Avx2 {
  using Rules = Blocked;

  struct Line {
    __m256i low;
    __m256i high;
  };

  static BFSTORE_AVX2 __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }

  // Eight words: n ones, then zeros. Computed, so that a loop over lookups keeps them in a register: a load would be
  // repeated after the doubt's fence.
  static BFSTORE_AVX2 __m256i ones(std::uint32_t n) noexcept {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_srli_epi32(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), numbers), 31);
  }

  // 1 if all 8 probes find their bit, otherwise 0; h is the first probe's hash. A lane of `ones` is 1, or 0 if its
  // probe does not count.
  static BFSTORE_AVX2 int hit(const Line& line, std::uint32_t h, __m256i ones) noexcept {
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), load(kAvx2Powers.of));
    const __m256i words = _mm256_srli_epi32(hashes, 28);  // permutevar uses the low 3 of these 4 bits
    const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(line.low, words));
    const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(line.high, words));
    // blendv uses the hash's top bit, the fourth one: low or high half of the line.
    const __m256i there = _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(hashes)));
    const __m256i shifts = _mm256_srli_epi32(_mm256_slli_epi32(hashes, 4), 27);
    return _mm256_testc_si256(there, _mm256_sllv_epi32(ones, shifts));
  }

  // One pass finds so many probes.
  static constexpr std::uint32_t kMostOfFew = 8;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_AVX2 bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const auto* halves = static_cast<const __m256i*>(at_word(body, at.word));
    const Line line{load(halves), load(halves + 1)};
    if (doubt()) [[unlikely]]
      return true;
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    if constexpr (kFew) return hit(line, h, ones(probes)) != 0;
    for (; probes > 16; probes -= 8, h *= kAvx2Powers.next) {
      if (hit(line, h, _mm256_set1_epi32(1)) == 0) return false;
    }
    // The last two passes have no branch between them, because no CPU could predict it.
    const int first = hit(line, h, _mm256_set1_epi32(1));
    return (first & hit(line, h * kAvx2Powers.next, ones(probes - 8))) != 0;
  }
};

}  // namespace bfstore::layout
#endif
