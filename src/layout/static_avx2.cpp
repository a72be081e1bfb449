// The static layout with AVX2: the columns of a granule in one register. Only the functions are compiled for AVX2, by
// attribute: anything else that this file may define later must run on every CPU.
#include "layout/ribbon.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx2")))
#define BFSTORE_VECTORS inline __attribute__((always_inline, target("avx2")))

struct Kernel {
  // The bits of 16 columns that count in part `part` of the row. Reads up to 32 bytes from there, which the shard's
  // tail has.
  static BFSTORE_VECTORS __m256i counted(const RibbonPlace& place, std::uint32_t columns, unsigned part) noexcept {
    const auto* const at = reinterpret_cast<const __m256i*>(place.granules + std::size_t{columns} * 2 * part);
    return _mm256_and_si256(_mm256_loadu_si256(at), _mm256_set1_epi16(static_cast<short>(place.row >> 16 * part)));
  }

  // Bit i of the result is the sum of the bits of lane i.
  static BFSTORE_VECTORS std::uint32_t sums(__m256i lanes) noexcept {
    lanes = _mm256_xor_si256(lanes, _mm256_srli_epi16(lanes, 8));
    lanes = _mm256_xor_si256(lanes, _mm256_srli_epi16(lanes, 4));
    lanes = _mm256_xor_si256(lanes, _mm256_srli_epi16(lanes, 2));
    lanes = _mm256_xor_si256(lanes, _mm256_srli_epi16(lanes, 1));
    const __m256i signs = _mm256_slli_epi16(lanes, 15);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(signs), _mm256_extracti128_si256(signs, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
  }

  static BFSTORE_VECTORS bool has(const RibbonPlace& place, std::uint32_t columns) noexcept {
    if (columns > 16) return has_sums(place, columns);
    const __m256i both = _mm256_xor_si256(counted(place, columns, 0), counted(place, columns, 1));
    const std::uint32_t found = sums(_mm256_xor_si256(both, counted(place, columns, 2)));
    return ((found ^ place.fingerprint) & ((1U << columns) - 1)) == 0;
  }
};
#include "layout/static_functions.inc"

}  // namespace

constexpr Functions kStaticAvx2 = functions("avx2");

}  // namespace bfstore::layout
#endif
