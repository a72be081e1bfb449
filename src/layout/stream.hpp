// Stores that go past the caches, where the CPU has them: what they write is read long after.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bfstore::layout {

// Copies words. Both addresses are multiples of 16, and the number of words is a multiple of 2.
inline void stream(std::uint64_t* to, const std::uint64_t* from, std::size_t num_words) noexcept {
#ifdef __SSE2__
  for (std::size_t i = 0; i < num_words; i += 2)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
  std::copy_n(from, num_words, to);
#endif
}

// After it, other threads that are told so see what was streamed.
inline void end_of_stream() noexcept {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace bfstore::layout
