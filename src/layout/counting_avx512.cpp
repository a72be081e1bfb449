// The counting layout with AVX-512: 16 probes of a line at a time. Adds and removes change word by word, as everywhere.
// Only the functions are compiled for AVX-512, by attribute: anything else that this file may define later must run on
// every CPU.
#include "layout/counting.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx512f,avx512vl"), no_sanitize("thread")))
#define BFSTORE_LINE inline __attribute__((always_inline, target("avx512f,avx512vl")))

constexpr auto kPowers = powers<16>();
// The top 7 bits of h number a counter: the first 4 its 32-bit word, as in blocked, and the other 3 the counter in the
// word.
constexpr int kWordShift = 28;
constexpr int kCounterShift = Counting::kShift - 2;  // times 4 bits
constexpr int kCounterMask = 7 << 2;

struct CountingAvx512 {
  using Rules = Counting;

  // True if all of the 16 probes that are in `lanes` find a counter that is not 0; h is the first probe's hash.
  static BFSTORE_LINE bool hit_16(__m512i line, std::uint32_t h, unsigned lanes) noexcept {
    constexpr __mmask16 kAll = 0xffff;  // as in blocked_avx512.hpp
    const __m512i hashes = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(h)), _mm512_load_si512(kPowers.of));
    const __m512i words = _mm512_maskz_permutexvar_epi32(kAll, _mm512_maskz_srli_epi32(kAll, hashes, kWordShift), line);
    const __m512i shifts = _mm512_maskz_and_epi32(kAll, _mm512_maskz_srli_epi32(kAll, hashes, kCounterShift),
                                                  _mm512_set1_epi32(kCounterMask));
    const __m512i counters = _mm512_maskz_sllv_epi32(kAll, _mm512_set1_epi32(Counters::kMost), shifts);
    return (_mm512_testn_epi32_mask(words, counters) & lanes) == 0;
  }

  // Like hit_16(), for 8 probes.
  static BFSTORE_LINE bool hit_8(__m256i low, __m256i high, std::uint32_t h, unsigned lanes) noexcept {
    const __m256i powers = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPowers.of));
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), powers);
    const __m256i words = _mm256_permutex2var_epi32(low, _mm256_srli_epi32(hashes, kWordShift), high);
    const __m256i shifts = _mm256_and_si256(_mm256_srli_epi32(hashes, kCounterShift), _mm256_set1_epi32(kCounterMask));
    const __m256i counters = _mm256_sllv_epi32(_mm256_set1_epi32(Counters::kMost), shifts);
    return (_mm256_testn_epi32_mask(words, counters) & lanes) == 0;
  }

  static constexpr std::uint32_t kMostOfFew = 8;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_LINE bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const void* const start = at_word(body, at.word);
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    if constexpr (kFew) {
      const auto* const halves = static_cast<const __m256i*>(start);
      const __m256i low = _mm256_loadu_si256(halves);
      const __m256i high = _mm256_loadu_si256(halves + 1);
      if (doubt()) [[unlikely]]
        return true;
      return hit_8(low, high, h, (1U << probes) - 1);
    }
    const __m512i line = _mm512_loadu_si512(start);
    if (doubt()) [[unlikely]]
      return true;
    for (; probes > 16; probes -= 16, h *= kPowers.next) {
      if (!hit_16(line, h, 0xffff)) return false;
    }
    return hit_16(line, h, (1U << probes) - 1);
  }
};

using Kernel = CountingAvx512;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kCountingAvx512 = functions("avx512");

}  // namespace bfstore::layout
#endif
