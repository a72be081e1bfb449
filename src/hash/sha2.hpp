// SHA-256, SHA-384 and SHA-512 (FIPS 180-4, sections 6.2, 6.4 and 6.5).
#pragma once

#include "hash/message_digest.hpp"

namespace bfstore::hash {

// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (section 4.2.3). Those of SHA-256
// are the first 32 bits of 64 of them (section 4.2.2).
// clang-format off
inline constexpr std::array<std::uint64_t, 80> kSha2Constants{
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};
// clang-format on

// The numbers of bits by which words of one length are rotated and shifted (sections 4.1.2 and 4.1.3), and the number
// of rounds.
struct Sha2Turns {
  std::array<int, 3> big_0, big_1, small_0, small_1;  // the last number of small_0 and small_1 is a shift
  unsigned rounds;
};

template <class WordType, Sha2Turns kTurns>
struct Sha2 {
  using Word = WordType;
  using State = std::array<Word, 8>;
  static constexpr auto kOrder = std::endian::big;

  static constexpr void mix(State& state, const MessageBlock<Word>& block) noexcept {
    MessageBlock<Word> w = block;  // the last 16 words of the schedule
    State now = state;
    for (unsigned t = 0; t < kTurns.rounds; ++t) {
      if (t >= 16)
        w[t % 16] += small(w[(t - 2) % 16], kTurns.small_1) + w[(t - 7) % 16] + small(w[(t - 15) % 16], kTurns.small_0);
      const auto [a, b, c, d, e, f, g, h] = now;
      const Word t1 = h + big(e, kTurns.big_1) + ((e & f) ^ (~e & g)) + constant(t) + w[t % 16];
      const Word t2 = big(a, kTurns.big_0) + ((a & b) ^ (a & c) ^ (b & c));
      now = {t1 + t2, a, b, c, d + t1, e, f, g};
    }
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += now[i];
  }

 protected:
  // The words of SHA-256 are the first halves of SHA-512's, in both tables of numbers.
  static constexpr Word first_bits(std::uint64_t number) noexcept {
    return static_cast<Word>(number >> (64 - 8 * sizeof(Word)));
  }

 private:
  static constexpr Word constant(unsigned t) noexcept { return first_bits(kSha2Constants[t]); }
  static constexpr Word big(Word x, const std::array<int, 3>& turns) noexcept {
    return std::rotr(x, turns[0]) ^ std::rotr(x, turns[1]) ^ std::rotr(x, turns[2]);
  }
  static constexpr Word small(Word x, const std::array<int, 3>& turns) noexcept {
    return std::rotr(x, turns[0]) ^ std::rotr(x, turns[1]) ^ x >> turns[2];
  }
};

using Sha2Of32 = Sha2<std::uint32_t, Sha2Turns{{2, 13, 22}, {6, 11, 25}, {7, 18, 3}, {17, 19, 10}, 64}>;
using Sha2Of64 = Sha2<std::uint64_t, Sha2Turns{{28, 34, 39}, {14, 18, 41}, {1, 8, 7}, {19, 61, 6}, 80}>;

// The initial words are the fractional parts of the square roots of the first 8 primes, and of the next 8
// (section 5.3).
struct Sha512 : Sha2Of64 {
  static constexpr std::size_t kDigestBytes = 64;
  static constexpr State kInitial{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
};

struct Sha384 : Sha2Of64 {
  static constexpr std::size_t kDigestBytes = 48;
  static constexpr State kInitial{0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
                                  0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};
};

struct Sha256 : Sha2Of32 {
  static constexpr std::size_t kDigestBytes = 32;
  static constexpr State kInitial = [] {
    State words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = first_bits(Sha512::kInitial[i]);
    return words;
  }();
};

}  // namespace bfstore::hash
