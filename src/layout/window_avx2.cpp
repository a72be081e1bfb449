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
  static constexpr std::uint32_t kMostOfFew = 0;

  // The key's bits of one word, once for each word of half a line. A shift by 64 or more, or by less than 0, leaves no
  // bit: so only the part with the probe's bit gets it.
  static BFSTORE_LINE __m256i bits_of(const Geometry& geometry, const Located& at) noexcept {
    if constexpr (Rules::kParts == 1) {
      return _mm256_set1_epi64x(static_cast<long long>(Rules::bits_of(geometry, at).parts[0]));
    } else {
      const __m256i first = Rules::kParts == 2 ? _mm256_setr_epi64x(0, 64, 0, 64) : _mm256_setr_epi64x(0, 64, 128, 192);
      __m256i bits = _mm256_setzero_si256();
      for (std::uint32_t i = 0; i < geometry.num_probes; ++i) {
        const __m256i bit = _mm256_set1_epi64x(Rules::bit_of(at, i));
        bits = _mm256_or_si256(bits, _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_sub_epi64(bit, first)));
      }
      return bits;
    }
  }

  // The parts, of four, that have all of the bits.
  static BFSTORE_LINE unsigned parts_with(__m256i half, __m256i bits) noexcept {
    const __m256i all = _mm256_cmpeq_epi64(_mm256_and_si256(half, bits), bits);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(all)));
  }

  template <class Doubt>
  static BFSTORE_LINE unsigned words_with(const std::uint64_t* words, const Geometry& geometry, const Located& at,
                                          Doubt doubt) noexcept {
    const auto* const halves = reinterpret_cast<const __m256i*>(words + at.word);
    const __m256i low = _mm256_load_si256(halves);
    const __m256i high = _mm256_load_si256(halves + 1);
    if (doubt()) [[unlikely]]
      return ~0U;
    const __m256i bits = bits_of(geometry, at);
    return Rules::whole_words(parts_with(low, bits) | parts_with(high, bits) << 4);
  }

  template <bool kFew, class Doubt>
  static BFSTORE_LINE bool test(const std::uint64_t* words, const Geometry& geometry, const Located& at,
                                Doubt doubt) noexcept {
    return words_with(words, geometry, at, doubt) != 0;
  }
};
#include "layout/window_kernel.inc"

}  // namespace

constexpr Functions kWindowAvx2 = eight::functions("avx2");
constexpr Functions kWindow4Avx2 = four::functions("avx2");
constexpr Functions kWindow2Avx2 = two::functions("avx2");

}  // namespace bfstore::layout
#endif
