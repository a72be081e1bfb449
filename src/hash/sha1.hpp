// SHA-1 (FIPS 180-4, section 6.1).
#pragma once

#include "hash/message_digest.hpp"

namespace bfstore::hash {

struct Sha1 {
  using Word = std::uint32_t;
  using State = std::array<Word, 5>;
  static constexpr auto kOrder = std::endian::big;
  static constexpr std::size_t kDigestBytes = 20;
  static constexpr State kInitial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  static constexpr void mix(State& state, const MessageBlock<Word>& block) noexcept {
    MessageBlock<Word> w = block;  // the last 16 words of the schedule
    State now = state;
    for (unsigned t = 0; t < 80; ++t) {
      if (t >= 16) w[t % 16] = std::rotl(w[(t - 3) % 16] ^ w[(t - 8) % 16] ^ w[(t - 14) % 16] ^ w[t % 16], 1);
      const auto [a, b, c, d, e] = now;
      const Word sum = std::rotl(a, 5) + function(t / 20, b, c, d) + e + kConstants[t / 20] + w[t % 16];
      now = {sum, a, std::rotl(b, 30), c, d};
    }
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += now[i];
  }

 private:
  static constexpr std::array<Word, 4> kConstants{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

  // Ch, Parity, Maj and Parity of section 4.1.1.
  static constexpr Word function(unsigned round, Word x, Word y, Word z) noexcept {
    if (round == 0) return (x & y) ^ (~x & z);
    if (round == 2) return (x & y) ^ (x & z) ^ (y & z);
    return x ^ y ^ z;
  }
};

}  // namespace bfstore::hash
