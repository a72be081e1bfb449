// Bits that BloomFilter of Guava 33.4.8 sets for one key, by both strategies, with 9,600 bits and 7 probes.
#include "known_positions.hpp"

using namespace positions_test;

namespace {

struct Vector {
  const char* key;
  std::vector<std::uint64_t> bits;
};

const Vector kStrategy32[] = {
    {"", {0}},
    {"a", {2205, 2941, 3950, 5607, 6343, 8403, 9139}},
    {"foo", {1986, 3865, 3988, 5744, 5867, 7623, 7746}},
    {"1234567", {519, 1683, 2314, 2945, 8547, 8857, 9488}},
    {"12345678", {6103, 7738, 7743, 7889, 9378, 9524, 9529}},
    {"123456789", {1402, 2403, 3680, 4681, 5208, 6209, 9474}},
    {"123456789abcdef", {236, 4085, 4589, 4784, 5288, 9137, 9332}},
    {"0123456789abcdef", {796, 1035, 1228, 1467, 2144, 2383, 9480}},
    {"0123456789abcdefg", {19, 1125, 3821, 4927, 4966, 6923, 7623}},
    {"世界", {61, 1778, 3481, 4401, 7038, 8374, 8741}},
    {"The quick brown fox jumps over the lazy dog", {2328, 3741, 4302, 5715, 6710, 7128, 8541}},
};

const Vector kStrategy64[] = {
    {"", {0}},
    {"a", {1047, 2929, 4811, 4901, 6793, 6883, 8765}},
    {"foo", {2059, 2564, 3069, 3574, 4079, 4584, 5089}},
    {"1234567", {1696, 3958, 4428, 4898, 7627, 8097, 8567}},
    {"12345678", {1308, 1779, 2250, 2721, 4984, 5455, 5926}},
    {"123456789", {1961, 2616, 4782, 5437, 8258, 8740, 9395}},
    {"123456789abcdef", {283, 2041, 2058, 3816, 5574, 5591, 8108}},
    {"0123456789abcdef", {911, 2793, 2983, 4675, 4865, 6747, 8629}},
    {"0123456789abcdefg", {460, 1942, 3166, 4648, 6130, 7354, 8836}},
    {"世界", {242, 1020, 2326, 3104, 5188, 5674, 7758}},
    {"The quick brown fox jumps over the lazy dog", {449, 2255, 2540, 4346, 6152, 7958, 8243}},
};

}  // namespace

TEST_CASE("keys have the bits of Guava") {
  for (const Vector& vector : kStrategy64) CHECK(bits_of(Hash::kGuava, vector.key, 9600, 7) == vector.bits);
  for (const Vector& vector : kStrategy32) CHECK(bits_of(Hash::kGuava32, vector.key, 9600, 7) == vector.bits);
}

TEST_CASE("the positions of Guava's strategies stay below m") {
  const auto check = [](Hash hash, std::uint64_t num_bits) {
    for (int i = 0; i < 100; ++i) {
      for (const std::uint64_t position : positions_of(hash, std::to_string(i), num_bits, 64))
        REQUIRE(position < num_bits);
    }
  };
  for (const std::uint64_t num_bits : {64U, 128U, 9600U, 0x80000000U}) {
    check(Hash::kGuava, num_bits);
    check(Hash::kGuava32, num_bits);
  }
  const std::uint64_t most = hash::row_of(Hash::kGuava).most_bits;
  CHECK(most == 64 * std::uint64_t{0x7fffffff});
  check(Hash::kGuava, most);
}

TEST_CASE("Guava's keys of any length") {
  // The empty key has one bit. All others differ.
  check_edges(Hash::kGuava, 9600, 64);
  check_edges(Hash::kGuava32, 9600, 64);
}

TEST_CASE("m of Guava is a multiple of 64, and of the older strategy an int") {
  for (const Hash hash : {Hash::kGuava, Hash::kGuava32}) {
    CHECK(hash::row_of(hash).reaches(128, 7));
    CHECK_FALSE(hash::row_of(hash).reaches(127, 7));
  }
  CHECK(hash::row_of(Hash::kGuava32).reaches(std::uint64_t{1} << 31, 7));
  CHECK_FALSE(hash::row_of(Hash::kGuava32).reaches((std::uint64_t{1} << 31) + 64, 7));
}
