// Adds to the blocked layout as the only writer of a line: makes all bits of a key in registers, and reads and writes
// the line once. To set the bits one by one takes as many stores, each of which waits for the one before if both are in
// one word. For AVX2, also in CPUs that have AVX-512: they have fewer units for twice the width.
#pragma once

#include <bfstore/layout/blocked_avx2.hpp>

#if defined(__x86_64__)
namespace bfstore::layout {

// The number of the first bit in each word of a half line.
alignas(32) static constexpr std::uint32_t kFirstBits[8] = {0, 32, 64, 96, 128, 160, 192, 224};

// `Kernel` and its add. The line is written in words, as it is read: to readers each word is old or new.
template <class Kernel>
struct WholeLine : Kernel {
  template <bool kFew>
  static BFSTORE_AVX2 __attribute__((no_sanitize("thread"))) bool add_alone(std::uint64_t* words,
                                                                            const Geometry& geometry,
                                                                            const Located& at) noexcept {
    auto* const halves = reinterpret_cast<__m256i*>(words + at.word);
    const Avx2::Line bits = bits_of<kFew>(static_cast<std::uint32_t>(at.state), geometry.num_probes);
    const Avx2::Line old{_mm256_load_si256(halves), _mm256_load_si256(halves + 1)};
    if ((_mm256_testc_si256(old.low, bits.low) & _mm256_testc_si256(old.high, bits.high)) != 0) return false;
    _mm256_store_si256(halves, _mm256_or_si256(old.low, bits.low));
    _mm256_store_si256(halves + 1, _mm256_or_si256(old.high, bits.high));
    return true;
  }

 private:
  template <bool kFew>
  static BFSTORE_AVX2 Avx2::Line bits_of(std::uint32_t h, std::uint32_t probes) noexcept {
    Avx2::Line bits{_mm256_setzero_si256(), _mm256_setzero_si256()};
    if constexpr (!kFew) {
      for (; probes > 8; probes -= 8, h *= kAvx2Powers.next) set(bits, h, 8);
    }
    set(bits, h, probes);
    return bits;
  }

  // Sets the bits of 1 to 8 probes. A shift by 32 or more, or by less than 0, leaves no bit: so of the words of both
  // halves only the one with the probe's bit gets it.
  static BFSTORE_AVX2 void set(Avx2::Line& bits, std::uint32_t h, std::uint32_t probes) noexcept {
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i in_low = _mm256_load_si256(reinterpret_cast<const __m256i*>(kFirstBits));
    const __m256i in_high = _mm256_add_epi32(in_low, _mm256_set1_epi32(256));
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), Avx2::load(kAvx2Powers.of));
    const __m256i in_line = _mm256_srli_epi32(hashes, Blocked::kShift);
    __m256i lane = _mm256_setzero_si256();
    do {
      const __m256i bit = _mm256_permutevar8x32_epi32(in_line, lane);
      bits.low = _mm256_or_si256(bits.low, _mm256_sllv_epi32(one, _mm256_sub_epi32(bit, in_low)));
      bits.high = _mm256_or_si256(bits.high, _mm256_sllv_epi32(one, _mm256_sub_epi32(bit, in_high)));
      lane = _mm256_add_epi32(lane, one);
    } while (--probes != 0);
  }
};

}  // namespace bfstore::layout
#endif
