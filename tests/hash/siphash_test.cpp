// SipHash-2-4: the 64 vectors of the reference implementation, and that the secret and every byte count.
#include "hash/siphash.hpp"

#include <bit>
#include <numeric>
#include <set>

#include "hash/hash.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

// vectors_sip64 of https://github.com/veorq/SipHash as numbers: the secret is 00 01 .. 0f, the n-th input 00 01 .. n-1.
// The one of 15 bytes is in the paper's appendix, too. golden_test.py computes all of them with tests/format/reader.py.
constexpr std::array<std::uint64_t, 64> kVectors{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7,
    0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0,
    0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
    0xa129ca6149be45e5, 0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8, 0xb8ad50c6f649af94,
    0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad, 0xde4daaaca71dc9a5, 0xa6a2506687956571,
    0xad87a3535c49ef28, 0x32d892fad841c342, 0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238,
    0x15e034d40fa197ae, 0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c,
    0x0e3ea96b5304a7d0, 0xad0c42d6fc585992, 0x187306c89bc215a9, 0xd4a60abcf3792b95, 0xf935451de4f21df2,
    0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb, 0xe612a3cb9ecba951, 0xc766e62cfcadaf96,
    0xee64435a9752fe72, 0xa192d576b245165a, 0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f, 0x7fa8220ba3b2ecea,
    0x245731c13ca42499, 0xb78dbfaf3a8d83bd, 0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
    0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57, 0x958a324ceb064572};

Secret counting_secret() {
  Secret secret{};
  std::iota(secret.begin(), secret.end(), std::uint8_t{0});
  return secret;
}

std::string counting(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::iota(text.begin(), text.end(), '\0');
  return text;
}

}  // namespace

TEST_CASE("SipHash-2-4 gives the 64 published vectors, at any address of the input") {
  for (std::size_t bytes = 0; bytes < kVectors.size(); ++bytes) {
    CAPTURE(bytes);
    for (std::size_t at = 0; at < 9; ++at) {
      const std::string room = std::string(at, '?') + counting(bytes) + "?";
      CHECK(hash::siphash(room.data() + at, bytes, counting_secret()) == kVectors.at(bytes));
    }
  }
  CHECK(kVectors.at(15) == 0xa129ca6149be45e5);  // the paper's
}

// tests/format/reader.py, another implementation, computed the digests. Byte i of an input is i modulo 251.
TEST_CASE("the digests of inputs that are longer than the published ones are another implementation's, too") {
  constexpr std::pair<std::size_t, std::uint64_t> kLong[] = {
      {127, 0x9e7db1ba81dc7e3a}, {128, 0xdeb79e256c8736ae}, {129, 0x10498d0645502cf8}, {255, 0xae31f72d619ceecf},
      {256, 0x5b2189a0c1d87844}, {257, 0xec3ad487a1bae050}, {1000, 0x2858b3e457999452}};
  for (const auto& [length, expected] : kLong) {
    std::string key;
    for (std::size_t i = 0; i < length; ++i) key += static_cast<char>(static_cast<unsigned char>(i % 251));
    CHECK(hash::siphash(key.data(), length, counting_secret()) == expected);
  }
}

TEST_CASE("SipHash of no bytes needs no address") {
  CHECK(hash::siphash(nullptr, 0, counting_secret()) == kVectors.front());
}

TEST_CASE("SipHash depends on every bit of secret and input, and on the length") {
  std::set<std::uint64_t> digests;
  std::size_t made = 0;
  for (const std::size_t bytes : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 300U}) {
    std::string text(bytes, '\0');
    Secret secret{};
    const auto take = [&] {
      digests.insert(hash::siphash(text.data(), text.size(), secret));
      ++made;
    };
    take();
    for (std::size_t bit = 0; bit < bytes * 8; ++bit) {
      const auto mask = static_cast<char>(1 << (bit % 8));
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ mask);
      take();
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ mask);
    }
    for (std::size_t bit = 0; bit < 128; ++bit) {
      const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
      secret.at(bit / 8) ^= mask;
      take();
      secret.at(bit / 8) ^= mask;
    }
  }
  CHECK(digests.size() == made);
}

TEST_CASE("the canary of SipHash is the same fold as XXH3's, under a public secret, whatever the seed is") {
  std::uint64_t fold = 0;
  for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
    std::string key;
    for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
    fold = std::rotl(fold, 9) ^ hash::siphash(key.data(), length, counting_secret());
  }
  CHECK(hash::canary(Hash::kSipHash, 0) == fold);
  CHECK(hash::canary(Hash::kSipHash, 7) == fold);
}
