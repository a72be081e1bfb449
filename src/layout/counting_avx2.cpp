// The counting layout with AVX2: 8 probes of a line at a time. Adds and removes change word by word, as everywhere.
// Only the functions are compiled for AVX2, by attribute: anything else that this file may define later must run on
// every CPU.
#include "layout/counting.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx2"), no_sanitize("thread")))
#define BFSTORE_LINE inline __attribute__((always_inline, target("avx2")))

constexpr auto kPowers = powers<8>();
// The eight words from kLanes + 8 - n: n words of all ones, then zeros.
alignas(64) constexpr std::int32_t kLanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

struct CountingAvx2 {
  using Rules = Counting;

  struct Line {
    __m256i low;
    __m256i high;
  };

  static BFSTORE_LINE __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }

  // Returns 1 if all of the 8 probes that are in `lanes` find a counter that is not 0, otherwise 0; h is the first
  // probe's hash.
  static BFSTORE_LINE int hit(const Line& line, std::uint32_t h, __m256i lanes) noexcept {
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), load(kPowers.of));
    const __m256i words = _mm256_srli_epi32(hashes, 28);  // permutevar uses the low 3 of these 4 bits
    const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(line.low, words));
    const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(line.high, words));
    // blendv uses the hash's top bit, the fourth one: low or high half of the line.
    const __m256i there = _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(hashes)));
    // The next 3 bits number the counter in its word.
    const __m256i shifts = _mm256_slli_epi32(_mm256_srli_epi32(_mm256_slli_epi32(hashes, 4), 29), 2);
    const __m256i counters = _mm256_sllv_epi32(_mm256_set1_epi32(Counters::kMost), shifts);
    const __m256i empty = _mm256_cmpeq_epi32(_mm256_and_si256(there, counters), _mm256_setzero_si256());
    return _mm256_testz_si256(empty, lanes);
  }

  static constexpr std::uint32_t kMostOfFew = 8;

  template <bool kFew, class Body, class Doubt>
  static BFSTORE_LINE bool test(const Body* body, const Geometry& geometry, const Located& at, Doubt doubt) noexcept {
    const auto* const halves = static_cast<const __m256i*>(at_word(body, at.word));
    const Line line{load(halves), load(halves + 1)};
    if (doubt()) [[unlikely]]
      return true;
    auto h = static_cast<std::uint32_t>(at.state);
    std::uint32_t probes = geometry.num_probes;
    if constexpr (kFew) return hit(line, h, load(kLanes + 8 - probes)) != 0;
    for (; probes > 8; probes -= 8, h *= kPowers.next) {
      if (hit(line, h, load(kLanes)) == 0) return false;
    }
    return hit(line, h, load(kLanes + 8 - probes)) != 0;
  }
};

using Kernel = CountingAvx2;
#include "layout/functions.inc"

}  // namespace

constexpr Functions kCountingAvx2 = functions("avx2");

}  // namespace bfstore::layout
#endif
