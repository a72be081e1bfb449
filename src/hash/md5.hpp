// MD5 (RFC 1321), with the names of its section 3.
#pragma once

#include "hash/message_digest.hpp"

namespace bfstore::hash {

struct Md5 {
  using Word = std::uint32_t;
  using State = std::array<Word, 4>;
  static constexpr auto kOrder = std::endian::little;
  static constexpr std::size_t kDigestBytes = 16;
  static constexpr State kInitial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

  static constexpr void mix(State& state, const MessageBlock<Word>& x) noexcept {
    State now = state;
    for (unsigned i = 0; i < 64; ++i) {
      const auto [a, b, c, d] = now;
      const Word sum = a + function(i / 16, b, c, d) + x[word_of(i)] + kSines[i];
      now = {d, b + std::rotl(sum, kTurns[i / 16][i % 4]), b, c};
    }
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += now[i];
  }

 private:
  // F, G, H and I.
  static constexpr Word function(unsigned round, Word x, Word y, Word z) noexcept {
    if (round == 0) return (x & y) | (~x & z);
    if (round == 1) return (x & z) | (y & ~z);
    if (round == 2) return x ^ y ^ z;
    return y ^ (x | ~z);
  }
  static constexpr unsigned word_of(unsigned i) noexcept {
    constexpr std::array<unsigned, 4> kFactors{1, 5, 3, 7}, kFirst{0, 1, 5, 0};
    return (kFactors[i / 16] * i + kFirst[i / 16]) % 16;
  }

  static constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  // T of section 3.4: 2^32 times the absolute value of the sine of 1, 2, ..., cut off.
  // clang-format off
  static constexpr std::array<Word, 64> kSines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
  // clang-format on
};

}  // namespace bfstore::hash
