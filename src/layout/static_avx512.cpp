// The static layout with AVX-512: masks read no byte behind the columns. Only the functions are compiled for AVX-512,
// by attribute: anything else that this file may define later must run on every CPU.
#include <algorithm>

#include "layout/ribbon.hpp"
#include "layout/table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bfstore::layout {
namespace {

#define BFSTORE_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
#define BFSTORE_LANES inline __attribute__((always_inline, target("avx512f,avx512vl,avx512bw,avx512dq")))

struct Kernel {
  static constexpr std::uint32_t kLanes = 16;  // of half a register: most filters have fewer columns

  static BFSTORE_LANES std::uint64_t bytes_read(std::uint32_t columns) noexcept { return columns * 6; }

  // The bits of up to 16 columns that count in part `part` of the row.
  static BFSTORE_LANES __m256i bits(const RibbonPlace& place, std::uint32_t columns, std::uint32_t first,
                                    __mmask16 lanes, std::uint32_t part) noexcept {
    const std::byte* const at = place.granules + std::size_t{columns * part + first} * 2;
    return _mm256_and_si256(_mm256_maskz_loadu_epi16(lanes, at),
                            _mm256_set1_epi16(static_cast<short>(place.row >> 16 * part)));
  }

  // Bit i of the result is the sum of column first + i.
  static BFSTORE_LANES std::uint32_t sums(const RibbonPlace& place, std::uint32_t columns,
                                          std::uint32_t first) noexcept {
    const std::uint32_t left = columns - first;
    const auto lanes = static_cast<__mmask16>(left < kLanes ? (1U << left) - 1 : 0xffff);
    constexpr int kXor3 = 0x96;
    __m256i all =
        _mm256_ternarylogic_epi64(bits(place, columns, first, lanes, 0), bits(place, columns, first, lanes, 1),
                                  bits(place, columns, first, lanes, 2), kXor3);
    all = _mm256_xor_si256(all, _mm256_srli_epi16(all, 8));
    all = _mm256_xor_si256(all, _mm256_srli_epi16(all, 4));
    all = _mm256_xor_si256(all, _mm256_srli_epi16(all, 2));
    all = _mm256_xor_si256(all, _mm256_srli_epi16(all, 1));
    return _mm256_test_epi16_mask(all, _mm256_set1_epi16(1));
  }

  static BFSTORE_LANES bool has(const RibbonPlace& place, std::uint32_t columns) noexcept {
    std::uint32_t found = sums(place, columns, 0);
    if (columns > kLanes) found |= sums(place, columns, kLanes) << kLanes;
    return found == place.fingerprint;
  }
};
#include "layout/static_functions.inc"

}  // namespace

constexpr Functions kStaticAvx512 = functions("avx512");

}  // namespace bfstore::layout
#endif
