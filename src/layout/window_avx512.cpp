// The layouts whose keys expire, with AVX-512: the eight parts of a line in one register. Only the functions are
// compiled for AVX-512, by attribute: anything else that this file may define later must run on every CPU.
#include "layout/table.hpp"
#include "layout/window.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx512f,avx512vl"), no_sanitize("thread")))
#define BFSTORE_LINE inline __attribute__((always_inline, target("avx512f,avx512vl")))

template <std::uint32_t kNumEpochs>
struct WindowKernel {
  using Rules = Window<kNumEpochs>;
  static constexpr std::uint32_t kMostOfFew = 8;

  // Neighbours, neighbouring pairs, and halves change places. The masks are as in blocked_avx512.hpp.
  static BFSTORE_LINE __m512i swap_near(__m512i parts) noexcept {
    return _mm512_maskz_shuffle_epi32(0xffff, parts, _MM_PERM_BADC);
  }
  static BFSTORE_LINE __m512i swap_pairs(__m512i parts) noexcept {
    return _mm512_maskz_shuffle_i64x2(0xff, parts, parts, 0xb1);
  }
  static BFSTORE_LINE __m512i swap_far(__m512i parts) noexcept {
    return _mm512_maskz_shuffle_i64x2(0xff, parts, parts, 0x4e);
  }
  // Each lane: the union of itself and another, where `first` is its own part's, and otherwise `second` is.
  static BFSTORE_LINE __m512i near_union(__m512i even, __m512i odd) noexcept {
    return _mm512_or_si512(_mm512_mask_blend_epi64(0xaa, even, odd),
                           swap_near(_mm512_mask_blend_epi64(0xaa, odd, even)));
  }
  static BFSTORE_LINE __m512i pairs_union(__m512i low, __m512i high) noexcept {
    return _mm512_or_si512(_mm512_mask_blend_epi64(0xcc, low, high),
                           swap_pairs(_mm512_mask_blend_epi64(0xcc, high, low)));
  }

  // The key's bits of one word, once for each word of a line. A step of the union brings lanes of two parts together,
  // as long as there are several. A shift by 64 or more, or by less than 0, leaves no bit.
  template <bool kFew>
  static BFSTORE_LINE __m512i key_of(const Geometry& geometry, const Located& at) noexcept {
    __m512i parts[Rules::kParts]{};
    const __m256i h = _mm256_set1_epi32(static_cast<int>(at.state));
    std::uint32_t first = 0;
    do {
      const auto* const powers = reinterpret_cast<const __m256i*>(kWindowPowers.of + first);
      const __m256i hashes = _mm256_mullo_epi32(h, _mm256_load_si256(powers));
      const __m512i numbers = _mm512_maskz_cvtepu32_epi64(0xff, _mm256_srli_epi32(hashes, Rules::kShift));
      const std::uint32_t left = geometry.num_probes - first;
      const auto count = static_cast<__mmask8>(left < 8 ? (1U << left) - 1 : 0xff);
      for (std::uint32_t part = 0; part < Rules::kParts; ++part) {
        const __m512i shifts = _mm512_sub_epi64(numbers, _mm512_set1_epi64(64 * part));
        parts[part] = _mm512_or_si512(parts[part], _mm512_maskz_sllv_epi64(count, _mm512_set1_epi64(1), shifts));
      }
      first += 8;
    } while (!kFew && first < geometry.num_probes);
    if constexpr (Rules::kParts == 1) {
      const __m512i pairs = _mm512_or_si512(parts[0], swap_near(parts[0]));
      const __m512i halves = _mm512_or_si512(pairs, swap_pairs(pairs));
      return _mm512_or_si512(halves, swap_far(halves));
    } else if constexpr (Rules::kParts == 2) {
      const __m512i pairs = near_union(parts[0], parts[1]);
      const __m512i halves = _mm512_or_si512(pairs, swap_pairs(pairs));
      return _mm512_or_si512(halves, swap_far(halves));
    } else {
      const __m512i halves = pairs_union(near_union(parts[0], parts[1]), near_union(parts[2], parts[3]));
      return _mm512_or_si512(halves, swap_far(halves));
    }
  }

  static BFSTORE_LINE typename Rules::Bits bits_of(__m512i key) noexcept {
    typename Rules::Bits bits;
    if constexpr (Rules::kParts == 4) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(bits.parts), _mm512_maskz_extracti64x4_epi64(0xff, key, 0));
    } else if constexpr (Rules::kParts == 2) {
      _mm_store_si128(reinterpret_cast<__m128i*>(bits.parts),
                      _mm256_castsi256_si128(_mm512_maskz_extracti64x4_epi64(0xff, key, 0)));
    } else {
      bits.parts[0] = static_cast<std::uint64_t>(
          _mm_cvtsi128_si64(_mm256_castsi256_si128(_mm512_maskz_extracti64x4_epi64(0xff, key, 0))));
    }
    return bits;
  }

  template <class Doubt>
  static BFSTORE_LINE unsigned words_with(const std::uint64_t* words, const Located& at, __m512i key,
                                          Doubt doubt) noexcept {
    const __m512i line = _mm512_load_si512(words + at.word);
    if (doubt()) [[unlikely]]
      return ~0U;
    return Rules::whole_words(_mm512_cmpeq_epi64_mask(_mm512_and_si512(line, key), key));
  }
};
#include "layout/window_kernel.inc"

}  // namespace

constexpr Functions kWindowAvx512 = eight::functions("avx512");
constexpr Functions kWindow4Avx512 = four::functions("avx512");
constexpr Functions kWindow2Avx512 = two::functions("avx512");

}  // namespace bfstore::layout
#endif
