// The positions of python-bloomfilter, and the message digests that they are made of: the examples of RFC 1321 and FIPS
// 180-4 (csrc.nist.gov, "Cryptographic Standards and Guidelines, Example Values"), digests of every length that
// Python's hashlib computed, and positions that a program by the package's published algorithm computed with hashlib
// and xxhash. tests/bf/jaybird_test.py compares with the package itself.
#include "hash/jaybird.hpp"

#include <bit>
#include <span>

#include "hash/positions.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

template <class Algorithm>
typename hash::MessageDigest<Algorithm>::Digest digest_of(std::string_view message) {
  hash::MessageDigest<Algorithm> digest;
  digest.put(message);
  return digest.finish();
}

template <class Digest>
std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// The messages of the standards' examples.
constexpr std::array kMessages{
    std::string_view(""),
    std::string_view("abc"),
    std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    std::string_view("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
};

// Digests of each message, of a million times "a", and of the digests, one after the other, of the keys of 0 to 300
// bytes whose byte j is (131 j + 17) mod 256.
struct Known {
  std::array<const char*, 4> digests;
  const char* million;
  const char* every_length;
};

template <class Algorithm>
void check(const Known& known) {
  for (std::size_t i = 0; i < kMessages.size(); ++i) CHECK(hex(digest_of<Algorithm>(kMessages[i])) == known.digests[i]);
  CHECK(hex(digest_of<Algorithm>(std::string(1000000, 'a'))) == known.million);
  hash::MessageDigest<Algorithm> all;
  for (std::size_t length = 0; length <= 300; ++length) {
    std::string key;
    for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(131 * j + 17));
    all.put(digest_of<Algorithm>(key));
  }
  CHECK(hex(all.finish()) == known.every_length);
}

struct Vector {
  std::uint64_t num_bits;
  std::uint32_t num_probes;
  const char* key;
  std::array<std::uint64_t, 3> first;  // zeros after the last one
  std::uint64_t last;
  std::uint64_t fold;  // rotated by 9 for each position, as in a canary
};

// One or more vectors for each digest with each length of words, at the bounds of slices and of k.
constexpr Vector kJaybird[] = {
    {1U, 1, "foo", {0, 0, 0}, 0, 0x0000000000000000},
    {999U, 1, "", {868, 0, 0}, 868, 0x0000000000000364},
    {2000U, 2, "The quick brown fox jumps over the lazy dog", {310, 1658, 0}, 1658, 0x0000000000026a7a},
    {7000U, 7, "été 世界", {178, 1498, 2939}, 6314, 0x2c3bf7df09d72aaa},
    {262136U,
     8,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {27927, 44285, 72701},
     232418,
     0x9c2298507040fd42},
    {131072U, 4, "foo", {28844, 65213, 90237}, 130777, 0x00000386983504d9},
    {8589934588U, 4, "", {1997686204, 4291047604, 6027007248}, 7488882580, 0x03bb6ff2e5256794},
    {4294967296U,
     2,
     "The quick brown fox jumps over the lazy dog",
     {1106964350, 3025219272, 0},
     3025219272,
     0x00000083418fd2c8},
    {9000U, 9, "été 世界", {278, 1491, 2584}, 8629, 0x07bea3c8c096a55e},
    {20000U,
     10,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {320, 3871, 5429},
     18700,
     0x2e19c33ba1c68890},
    {200000U, 5, "foo", {20510, 67922, 84862}, 194634, 0x000509afb985b04a},
    {3300U, 11, "", {100, 473, 823}, 3237, 0xe5833ee813977f99},
    {524272U, 16, "The quick brown fox jumps over the lazy dog", {14956, 43070, 73103}, 497483, 0xb7e191305ba03c62},
    {6000000U, 6, "été 世界", {651760, 1342589, 2149300}, 5801514, 0x3f78c17cc5f7d42b},
    {80000000U,
     8,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {441522, 18837048, 20186080},
     75594395,
     0x2c9aa48faeb7153f},
    {6442450944U, 3, "foo", {1320626227, 4260277587, 5235975981}, 5235975981, 0x00013b264580012d},
    {4398046511104U, 4, "", {99405117836, 2020899710381, 3270269173864}, 4077622569948, 0xbe77e0a6e48a7bdc},
    {85U, 17, "The quick brown fox jumps over the lazy dog", {2, 7, 14}, 84, 0x8ec6431aa964b7c0},
    {786408U, 24, "été 世界", {30150, 62011, 75889}, 759031, 0xe5b838a54935bf87},
    {899991U,
     9,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {91058, 192421, 226382},
     808001,
     0x3214ee721b40214e},
    {12582912U, 12, "foo", {170228, 1155904, 2278636}, 12323068, 0xd6b7204a026de590},
    {10737418240U, 5, "", {895121388, 2500266429, 5106434002}, 10546841240, 0x510b84b22188529b},
    {105553116266496U,
     6,
     "The quick brown fox jumps over the lazy dog",
     {15653174418908, 29330009530355, 49737256240825},
     97133612988022,
     0x35877f340bf5a4ed},
    {25000U, 25, "été 世界", {820, 1388, 2233}, 24202, 0xaa1b8d28d4e9c43d},
    {425984U,
     13,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {2700, 48377, 88199},
     419340,
     0x12cec56e5cd45ffa},
    {30064771072U, 7, "foo", {316475624, 8574065023, 12041972157}, 27734779703, 0x4690049ca51681b8},
    {2541U, 33, "", {25, 108, 214}, 2496, 0x373477d7ecbe3a36},
    {4928U, 64, "The quick brown fox jumps over the lazy dog", {54, 119, 202}, 4851, 0xa6eea62cfd93b305},
    {850000U, 17, "été 世界", {12788, 91761, 119205}, 805968, 0x9eb97e19b343f5d3},
    {3200000U,
     64,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {380, 92697, 141847},
     3193036,
     0x23bb9add1bb955c7},
    {19327352832U, 9, "foo", {316475624, 4279097727, 5599521213}, 17663239660, 0x2a6693b9830f09c4},
    {281474976710656U, 64, "", {2889631379624, 7594643671383, 10441577036699}, 280576410826030, 0x4098c9d4ad18ecc0},
    {281474976710648U,
     8,
     "The quick brown fox jumps over the lazy dog",
     {14758873201966, 39029758992037, 74542665198158},
     263375635799840,
     0x4695c84a598b1dc3},
};

constexpr Vector kPybloomLive[] = {
    {1U, 1, "foo", {0, 0, 0}, 0, 0x0000000000000000},
    {999U, 1, "", {788, 0, 0}, 788, 0x0000000000000314},
    {2000U, 2, "The quick brown fox jumps over the lazy dog", {936, 1810, 0}, 1810, 0x0000000000075712},
    {7000U, 7, "été 世界", {96, 1432, 2393}, 6643, 0x18b395e254f4d5f3},
    {262136U,
     8,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {30678, 61141, 73673},
     260381,
     0x96a4ee37a2ad8acd},
    {131072U, 4, "foo", {31267, 33623, 67801}, 108995, 0x000003d3174c1bc3},
    {8589934588U, 4, "", {1557668428, 2761475522, 6377104616}, 7135163860, 0x02e45188eb8825d4},
    {4294967296U,
     2,
     "The quick brown fox jumps over the lazy dog",
     {184208096, 3853766739, 0},
     3853766739,
     0x0000001510261053},
    {9000U, 9, "été 世界", {278, 1491, 2584}, 8629, 0x07bea3c8c096a55e},
    {20000U,
     10,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {320, 3871, 5429},
     18700,
     0x2e19c33ba1c68890},
    {200000U, 5, "foo", {20510, 67922, 84862}, 194634, 0x000509afb985b04a},
    {3300U, 11, "", {100, 473, 823}, 3237, 0xe5833ee813977f99},
    {524272U, 16, "The quick brown fox jumps over the lazy dog", {14956, 43070, 73103}, 497483, 0xb7e191305ba03c62},
    {6000000U, 6, "été 世界", {651760, 1342589, 2149300}, 5801514, 0x3f78c17cc5f7d42b},
    {80000000U,
     8,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {441522, 18837048, 20186080},
     75594395,
     0x2c9aa48faeb7153f},
    {6442450944U, 3, "foo", {1320626227, 4260277587, 5235975981}, 5235975981, 0x00013b264580012d},
    {4398046511104U, 4, "", {99405117836, 2020899710381, 3270269173864}, 4077622569948, 0xbe77e0a6e48a7bdc},
    {85U, 17, "The quick brown fox jumps over the lazy dog", {2, 7, 14}, 84, 0x8ec6431aa964b7c0},
    {786408U, 24, "été 世界", {30150, 62011, 75889}, 759031, 0xe5b838a54935bf87},
    {899991U,
     9,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {91058, 192421, 226382},
     808001,
     0x3214ee721b40214e},
    {12582912U, 12, "foo", {170228, 1155904, 2278636}, 12323068, 0xd6b7204a026de590},
    {10737418240U, 5, "", {895121388, 2500266429, 5106434002}, 10546841240, 0x510b84b22188529b},
    {105553116266496U,
     6,
     "The quick brown fox jumps over the lazy dog",
     {15653174418908, 29330009530355, 49737256240825},
     97133612988022,
     0x35877f340bf5a4ed},
    {25000U, 25, "été 世界", {820, 1388, 2233}, 24202, 0xaa1b8d28d4e9c43d},
    {425984U,
     13,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {2700, 48377, 88199},
     419340,
     0x12cec56e5cd45ffa},
    {30064771072U, 7, "foo", {316475624, 8574065023, 12041972157}, 27734779703, 0x4690049ca51681b8},
    {2541U, 33, "", {25, 108, 214}, 2496, 0x373477d7ecbe3a36},
    {4928U, 64, "The quick brown fox jumps over the lazy dog", {54, 119, 202}, 4851, 0xa6eea62cfd93b305},
    {850000U, 17, "été 世界", {12788, 91761, 119205}, 805968, 0x9eb97e19b343f5d3},
    {3200000U,
     64,
     "https://example.org/index.html?id=42&https://example.org/index.html?id=42&https://example.org/"
     "index.html?id=42&https://example.org/index.html?id=42&https://example.org/index.html?id=42&",
     {380, 92697, 141847},
     3193036,
     0x23bb9add1bb955c7},
    {19327352832U, 9, "foo", {316475624, 4279097727, 5599521213}, 17663239660, 0x2a6693b9830f09c4},
    {281474976710656U, 64, "", {2889631379624, 7594643671383, 10441577036699}, 280576410826030, 0x4098c9d4ad18ecc0},
    {281474976710648U,
     8,
     "The quick brown fox jumps over the lazy dog",
     {14758873201966, 39029758992037, 74542665198158},
     263375635799840,
     0x4695c84a598b1dc3},
};

std::vector<std::uint64_t> positions_of(std::string_view key, Hash hash, std::uint64_t num_bits, std::uint32_t count) {
  const hash::PositionSource position_source(hash, num_bits, count, {});
  hash::Positions positions;
  position_source.find(key, positions);
  return {positions.all().begin(), positions.all().end()};
}

std::uint64_t folded(std::uint64_t fold, const std::vector<std::uint64_t>& positions) {
  for (const std::uint64_t position : positions) fold = std::rotl(fold, 9) ^ position;
  return fold;
}

void check(Hash hash, std::span<const Vector> vectors) {
  for (const Vector& vector : vectors) {
    CAPTURE(vector.num_bits);
    CAPTURE(vector.num_probes);
    const auto positions = positions_of(vector.key, hash, vector.num_bits, vector.num_probes);
    REQUIRE(positions.size() == vector.num_probes);
    for (std::size_t i = 0; i < 3 && i < positions.size(); ++i) CHECK(positions[i] == vector.first[i]);
    CHECK(positions.back() == vector.last);
    CHECK(folded(0, positions) == vector.fold);
  }
}

}  // namespace

TEST_CASE("MD5 gives the published digests, and those of hashlib for keys of every length") {
  check<hash::Md5>({{"d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72",
                     "8215ef0796a20bcaaae116d3876c664a", "03dd8807a93175fb062dfb55dc7d359c"},
                    "7707d6ae4e027c70eea2a935c2296f21",
                    "fe3df05984055d836ccc2e336bfcb17b"});
}

TEST_CASE("SHA-1 gives the published digests, and those of hashlib for keys of every length") {
  check<hash::Sha1>({{"da39a3ee5e6b4b0d3255bfef95601890afd80709", "a9993e364706816aba3e25717850c26c9cd0d89d",
                      "84983e441c3bd26ebaae4aa1f95129e5e54670f1", "a49b2446a02c645bf419f995b67091253a04a259"},
                     "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
                     "9d22e1320c329f658772214144754a3974426b70"});
}

TEST_CASE("SHA-256 gives the published digests, and those of hashlib for keys of every length") {
  check<hash::Sha256>({{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
                       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                       "2fb86049774e995a47e483f0597c133888cd311483dc60ca594aa71fc4f37f02"});
}

TEST_CASE("SHA-384 gives the published digests, and those of hashlib for keys of every length") {
  check<hash::Sha384>(
      {{"38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        "3391fdddfc8dc7393707a65b1b4709397cf8b1d162af05abfe8f450de5f36bc6b0455a8520bc4e6f5fe95b1fe3c8452b",
        "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"},
       "9d0e1809716474cb086e834e310a4a1ced149e9c00f248527972cec5704c2a5b07b8b3dc38ecc4ebae97ddd87f3d8985",
       "555dd6e670d3bf534b6ad89b1feb4bc4c81c07e3df45f82e2069a481fecc89f1aa25497c2064f17ac3a8dbe15679f34b"});
}

TEST_CASE("SHA-512 gives the published digests, and those of hashlib for keys of every length") {
  check<hash::Sha512>({{"cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec"
                        "2f63b931bd47417a81a538327af927da3e",
                        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feeb"
                        "bd454d4423643ce80e2a9ac94fa54ca49f",
                        "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c33596fd15c13b1b07f9aa1d3bea57789c"
                        "a031ad85c7a71dd70354ec631238ca3445",
                        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b543"
                        "3ac7d329eeb6dd26545e96e55b874be909"},
                       "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31"
                       "beb009c5c2c49aa2e4eadb217ad8cc09b",
                       "1861ea891296734e4f836e5f9a37ab7af3a838cdcd9b1d3ea8ab65c8a3cdd67813c403a5358c6f3d551465ef4f9f5f8"
                       "6b770d53409e20f3229b355d3eb838e85"});
}

TEST_CASE("the positions of both hashes are those of the published algorithm, for each digest and length of words") {
  check(Hash::kJaybird, kJaybird);
  check(Hash::kPybloomLive, kPybloomLive);
}

TEST_CASE("the two hashes differ exactly where the words of all slices have at most 128 bits") {
  for (const std::uint64_t slice : {999U, 32767U, 32768U, 2147483647U, 2147483648U}) {
    for (std::uint32_t k = 1; k <= 64; ++k) {
      const std::uint64_t word_bits = slice < 32768 ? 16 : slice < 2147483648 ? 32 : 64;
      const bool equal = positions_of("a key", Hash::kJaybird, k * slice, k) ==
                         positions_of("a key", Hash::kPybloomLive, k * slice, k);
      REQUIRE(equal == (k * word_bits > 128));
    }
  }
}

TEST_CASE("a key has one position in each slice") {
  for (const std::uint64_t slice : {1U, 2U, 77U, 65537U}) {
    for (std::uint32_t k = 1; k <= 64; ++k) {
      const auto all = positions_of("somewhere", Hash::kJaybird, k * slice, k);
      for (std::size_t i = 0; i < k; ++i) REQUIRE(all[i] / slice == i);
    }
  }
}

TEST_CASE("the canary of python-bloomfilter's hashes is the fold of the positions that FORMAT.md defines") {
  for (const Hash hash : {Hash::kJaybird, Hash::kPybloomLive}) {
    std::uint64_t fold = 0;
    for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
      std::string key;
      for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
      fold = folded(fold, positions_of(key, hash, 7000, 7));
    }
    CHECK(hash::canary(hash, 0, {7000, 7}) == fold);
    CHECK(hash::canary(hash, 0, {7000, 5}) != fold);
    CHECK(hash::canary(hash, 0, {6993, 7}) != fold);
  }
}
