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
  static constexpr std::uint32_t kMostOfFew = 0;

  // The key's bits of one word, once for each word of a line. A shift by 64 or more, or by less than 0, leaves no bit:
  // so only the part with the probe's bit gets it. The masks are as in blocked_avx512.hpp.
  static BFSTORE_LINE __m512i bits_of(const Geometry& geometry, const Located& at) noexcept {
    if constexpr (Rules::kParts == 1) {
      return _mm512_set1_epi64(static_cast<long long>(Rules::bits_of(geometry, at).parts[0]));
    } else {
      const __m512i first = Rules::kParts == 2 ? _mm512_setr_epi64(0, 64, 0, 64, 0, 64, 0, 64)
                                               : _mm512_setr_epi64(0, 64, 128, 192, 0, 64, 128, 192);
      __m512i bits = _mm512_setzero_si512();
      for (std::uint32_t i = 0; i < geometry.num_probes; ++i) {
        const __m512i shifts = _mm512_sub_epi64(_mm512_set1_epi64(Rules::bit_of(at, i)), first);
        bits = _mm512_or_si512(bits, _mm512_maskz_sllv_epi64(0xff, _mm512_set1_epi64(1), shifts));
      }
      return bits;
    }
  }

  template <class Doubt>
  static BFSTORE_LINE unsigned words_with(const std::uint64_t* words, const Geometry& geometry, const Located& at,
                                          Doubt doubt) noexcept {
    const __m512i line = _mm512_load_si512(words + at.word);
    if (doubt()) [[unlikely]]
      return ~0U;
    const __m512i bits = bits_of(geometry, at);
    return Rules::whole_words(_mm512_cmpeq_epi64_mask(_mm512_and_si512(line, bits), bits));
  }

  template <bool kFew, class Doubt>
  static BFSTORE_LINE bool test(const std::uint64_t* words, const Geometry& geometry, const Located& at,
                                Doubt doubt) noexcept {
    return words_with(words, geometry, at, doubt) != 0;
  }
};
#include "layout/window_kernel.inc"

}  // namespace

constexpr Functions kWindowAvx512 = eight::functions("avx512");
constexpr Functions kWindow4Avx512 = four::functions("avx512");
constexpr Functions kWindow2Avx512 = two::functions("avx512");

}  // namespace bfstore::layout
#endif
