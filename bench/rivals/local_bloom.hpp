// RocksDB's FastLocalBloom, written again for machines with AVX2, from the description of that filter. Debian builds
// librocksdb for machines without AVX2, so its own code tests one probe after the other. rival_rocksdb.cpp asks the
// library's own reader millions of questions, too, and the answers must agree.
//
// The filter: 64-byte lines. Of a hash's 64 bits, the low half chooses the line (times the number of lines, shifted
// down by 32). The high half is h, and each of k probes is bit h >> 23 of the line, then h *= 0x9e3779b9.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace bench {

struct LocalBloom {
  static constexpr std::uint32_t kPhi = 0x9e3779b9;

  std::byte* body = nullptr;
  std::uint32_t num_lines = 0;
  std::uint32_t num_probes = 0;

  std::byte* line(std::uint64_t hash) const noexcept { return body + (((hash & 0xffffffff) * num_lines) >> 32) * 64; }

  static void add(std::byte* line, std::uint64_t hash, std::uint32_t num_probes) noexcept {
    auto h = static_cast<std::uint32_t>(hash >> 32);
    for (std::uint32_t i = 0; i < num_probes; ++i, h *= kPhi)
      line[h >> 26] |= std::byte{1} << static_cast<int>((h >> 23) & 7);
  }

  // Tests eight probes at once, and the next eight only if all of these find their bit, as in RocksDB.
  static bool test(const std::byte* line, std::uint64_t hash, std::uint32_t num_probes) noexcept {
    const __m256i steps = powers_of_phi();
    const auto* halves = reinterpret_cast<const __m256i*>(line);
    const __m256i low = _mm256_load_si256(halves);
    const __m256i high = _mm256_load_si256(halves + 1);
    auto h = static_cast<std::uint32_t>(hash >> 32);
    for (auto left = static_cast<int>(num_probes);; left -= 8, h *= kPhi8) {
      const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), steps);
      const __m256i word = _mm256_srli_epi32(hashes, 28);
      const __m256i words = _mm256_castps_si256(
          _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word)),
                           _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word)), _mm256_castsi256_ps(hashes)));
      const __m256i place = _mm256_srli_epi32(_mm256_slli_epi32(hashes, 4), 27);
      const __m256i asked = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      const __m256i bits = _mm256_sllv_epi32(_mm256_srli_epi32(asked, 31), place);
      // No branch on the answer if these probes are the last.
      if (left <= 8) return _mm256_testc_si256(words, bits) != 0;
      if (_mm256_testc_si256(words, bits) == 0) return false;
    }
  }

 private:
  static constexpr std::uint32_t power_of_phi(int exponent) noexcept {
    std::uint32_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= kPhi;
    return power;
  }
  static __m256i powers_of_phi() noexcept {
    constexpr auto power = [](int exponent) { return static_cast<int>(power_of_phi(exponent)); };
    return _mm256_setr_epi32(power(0), power(1), power(2), power(3), power(4), power(5), power(6), power(7));
  }
  static const std::uint32_t kPhi8;
};

inline constexpr std::uint32_t LocalBloom::kPhi8 = LocalBloom::power_of_phi(8);

}  // namespace bench
