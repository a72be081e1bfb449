// The layouts whose keys expire, with AVX2: the eight parts of a line in two registers. Only the functions are compiled
// for AVX2, by attribute: anything else that this file may define later must run on every CPU.
#include "layout/table.hpp"
#include "layout/window.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx2"), no_sanitize("thread")))
#define BFSTORE_LINE inline __attribute__((always_inline, target("avx2")))

template <std::uint32_t kNumEpochs>
struct WindowKernel {
  using Rules = Window<kNumEpochs>;
  static constexpr std::uint32_t kMostOfFew = 8;

  // The two halves of each half, and the two halves, change places.
  static BFSTORE_LINE __m256i swap_near(__m256i parts) noexcept { return _mm256_shuffle_epi32(parts, 0x4e); }
  static BFSTORE_LINE __m256i swap_far(__m256i parts) noexcept { return _mm256_permute4x64_epi64(parts, 0x4e); }

  // In each lane the bit of one probe in part `part` of a word, or no bit: a shift by 64 or more, or by less than 0,
  // leaves none. `ones` is 0 in the lanes of probes that do not count.
  static BFSTORE_LINE __m256i bits_in(std::uint32_t part, __m256i ones, __m256i numbers) noexcept {
    return _mm256_sllv_epi64(ones, _mm256_sub_epi64(numbers, _mm256_set1_epi64x(64 * part)));
  }
  // A one in each lane i with first + i < probes.
  static BFSTORE_LINE __m256i ones_of(std::uint32_t probes, std::uint32_t first) noexcept {
    const __m256i lanes = _mm256_setr_epi64x(first, first + 1, first + 2, first + 3);
    return _mm256_srli_epi64(_mm256_cmpgt_epi64(_mm256_set1_epi64x(probes), lanes), 63);
  }
  // The key's bits in part `part` of a word, for the probes from `first` on: four lanes, whose union it is.
  static BFSTORE_LINE __m256i probes_in(std::uint32_t part, std::uint32_t probes, std::uint32_t first,
                                        __m256i numbers) noexcept {
    const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(numbers));
    const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(numbers, 1));
    return _mm256_or_si256(bits_in(part, ones_of(probes, first), low), bits_in(part, ones_of(probes, first + 4), high));
  }

  // The key's bits of one word, once for each word of half a line. A step of the union brings lanes of two parts
  // together, as long as there are several.
  template <bool kFew>
  static BFSTORE_LINE __m256i key_of(const Geometry& geometry, const Located& at) noexcept {
    __m256i parts[Rules::kParts]{};
    const __m256i h = _mm256_set1_epi32(static_cast<int>(at.state));
    std::uint32_t first = 0;
    do {
      const auto* const powers = reinterpret_cast<const __m256i*>(kWindowPowers.of + first);
      const __m256i numbers = _mm256_srli_epi32(_mm256_mullo_epi32(h, _mm256_load_si256(powers)), Rules::kShift);
      for (std::uint32_t part = 0; part < Rules::kParts; ++part) {
        parts[part] = _mm256_or_si256(parts[part], probes_in(part, geometry.num_probes, first, numbers));
      }
      first += 8;
    } while (!kFew && first < geometry.num_probes);
    if constexpr (Rules::kParts == 1) {
      const __m256i pairs = _mm256_or_si256(parts[0], swap_near(parts[0]));
      return _mm256_or_si256(pairs, swap_far(pairs));
    } else if constexpr (Rules::kParts == 2) {
      const __m256i pairs = near_union(parts[0], parts[1]);
      return _mm256_or_si256(pairs, swap_far(pairs));
    } else {
      const __m256i low = near_union(parts[0], parts[1]);
      const __m256i high = near_union(parts[2], parts[3]);
      return _mm256_or_si256(_mm256_blend_epi32(low, high, 0xf0), swap_far(_mm256_blend_epi32(high, low, 0xf0)));
    }
  }

  static BFSTORE_LINE typename Rules::Bits bits_of(__m256i key) noexcept {
    typename Rules::Bits bits;
    if constexpr (Rules::kParts == 4) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(bits.parts), key);
    } else if constexpr (Rules::kParts == 2) {
      _mm_store_si128(reinterpret_cast<__m128i*>(bits.parts), _mm256_castsi256_si128(key));
    } else {
      bits.parts[0] = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(key)));
    }
    return bits;
  }

  // The parts, of four, that have all of the bits.
  static BFSTORE_LINE unsigned parts_with(__m256i half, __m256i bits) noexcept {
    const __m256i all = _mm256_cmpeq_epi64(_mm256_and_si256(half, bits), bits);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(all)));
  }

  template <class Doubt>
  static BFSTORE_LINE unsigned words_with(const std::uint64_t* words, const Located& at, __m256i key,
                                          Doubt doubt) noexcept {
    const auto* const halves = reinterpret_cast<const __m256i*>(words + at.word);
    const __m256i low = _mm256_load_si256(halves);
    const __m256i high = _mm256_load_si256(halves + 1);
    if (doubt()) [[unlikely]]
      return ~0U;
    return Rules::whole_words(parts_with(low, key) | parts_with(high, key) << 4);
  }

 private:
  // Even lanes: the union of two neighbours of `even`. Odd lanes: that of `odd`.
  static BFSTORE_LINE __m256i near_union(__m256i even, __m256i odd) noexcept {
    return _mm256_or_si256(_mm256_blend_epi32(even, odd, 0xcc), swap_near(_mm256_blend_epi32(odd, even, 0xcc)));
  }
};
#include "layout/window_kernel.inc"

}  // namespace

constexpr Functions kWindowAvx2 = eight::functions("avx2");
constexpr Functions kWindow4Avx2 = four::functions("avx2");
constexpr Functions kWindow2Avx2 = two::functions("avx2");

}  // namespace bfstore::layout
#endif
