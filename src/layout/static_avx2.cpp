// The static layout with AVX2: the columns of a granule in one register. Only the functions are compiled for AVX2, by
// attribute: anything else that this file may define later must run on every CPU.
#include <algorithm>

#include "layout/ribbon.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx2")))
#define BFSTORE_VECTORS inline __attribute__((always_inline, target("avx2")))

struct Kernel {
  // The bytes from the first granule on that a lookup reads. The shard's tail has those behind its last granule.
  static BFSTORE_VECTORS std::uint64_t bytes_read(std::uint32_t columns) noexcept {
    return columns > 16 ? columns * 6 : columns * 4 + (columns > 8 ? 32 : 16);
  }

  // The bits of 8 or 16 columns that count in part `part` of the row.
  static BFSTORE_VECTORS __m128i eight(const RibbonPlace& place, std::uint32_t columns, unsigned part) noexcept {
    const auto* const at = reinterpret_cast<const __m128i*>(place.granules + std::size_t{columns} * 2 * part);
    return _mm_and_si128(_mm_loadu_si128(at), _mm_set1_epi16(static_cast<short>(place.row >> 16 * part)));
  }
  static BFSTORE_VECTORS __m256i sixteen(const RibbonPlace& place, std::uint32_t columns, unsigned part) noexcept {
    const auto* const at = reinterpret_cast<const __m256i*>(place.granules + std::size_t{columns} * 2 * part);
    return _mm256_and_si256(_mm256_loadu_si256(at), _mm256_set1_epi16(static_cast<short>(place.row >> 16 * part)));
  }

  // Bit i of the result is the sum of the bits of lane i.
  static BFSTORE_VECTORS std::uint32_t sums(__m128i lanes) noexcept {
    lanes = _mm_xor_si128(lanes, _mm_srli_epi16(lanes, 8));
    lanes = _mm_xor_si128(lanes, _mm_srli_epi16(lanes, 4));
    lanes = _mm_xor_si128(lanes, _mm_srli_epi16(lanes, 2));
    lanes = _mm_xor_si128(lanes, _mm_srli_epi16(lanes, 1));
    const __m128i signs = _mm_slli_epi16(lanes, 15);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(signs, signs)));
  }

  static BFSTORE_VECTORS bool has(const RibbonPlace& place, std::uint32_t columns) noexcept {
    std::uint32_t found;
    if (columns <= 8) {
      found = sums(
          _mm_xor_si128(_mm_xor_si128(eight(place, columns, 0), eight(place, columns, 1)), eight(place, columns, 2)));
    } else if (columns <= 16) {
      const __m256i all = _mm256_xor_si256(_mm256_xor_si256(sixteen(place, columns, 0), sixteen(place, columns, 1)),
                                           sixteen(place, columns, 2));
      found = sums(_mm256_castsi256_si128(all)) & 0xff;
      found |= sums(_mm256_extracti128_si256(all, 1)) << 8;
    } else {
      return has_sums(place, columns);
    }
    return ((found ^ place.fingerprint) & ((1U << columns) - 1)) == 0;
  }
};
#include "layout/static_functions.inc"

}  // namespace

constexpr Functions kStaticAvx2 = functions("avx2");

}  // namespace bfstore::layout
#endif
