// Numbers of RedisBloom's MurmurHash64A, and the bits that its filters set for one key: with 11,072 bits and 8 probes,
// and with 16,384 bits and 7 probes, as its first versions rounded m.
#include "hash/murmur2_64.hpp"
#include "known_positions.hpp"

using namespace positions_test;

namespace {

struct Vector {
  const char* key;
  std::vector<std::uint64_t> bits;
};

const Vector kToday[] = {
    {"", {700, 3423, 4213, 4746, 6936, 8259, 9582, 10449}},
    {"a", {1290, 2190, 3355, 4255, 7276, 8176, 9341, 10241}},
    {"foo", {1871, 2385, 4755, 5269, 7639, 10009, 10523, 10573}},
    {"1234567", {1557, 1578, 1599, 6956, 8833, 8854, 10731, 10752}},
    {"12345678", {368, 1692, 2380, 5560, 6248, 7572, 8260, 10752}},
    {"123456789", {409, 724, 2895, 5066, 5381, 7139, 7552, 9310}},
    {"123456789abcdef", {111, 315, 2568, 2772, 4821, 5025, 8930, 9134}},
    {"0123456789abcdef", {431, 1007, 3695, 4271, 7535, 8239, 8815, 10799}},
    {"0123456789abcdefg", {2214, 2915, 3369, 6056, 6757, 9444, 9898, 10599}},
    {"世界", {6405, 7753, 8593, 9101, 9433, 9941, 10273, 10781}},
    {"The quick brown fox jumps over the lazy dog", {6844, 7122, 7400, 7678, 7956, 8234, 8512, 8790}},
};

const Vector kRounded[] = {
    {"", {1304, 1347, 1390, 6794, 6837, 12241, 12284}},
    {"a", {1358, 4447, 5386, 7536, 8475, 11564, 14653}},
    {"foo", {4815, 5715, 6615, 12557, 13457, 14357, 15257}},
    {"1234567", {9473, 9686, 9899, 10112, 10325, 10538, 10751}},
    {"12345678", {452, 552, 652, 752, 852, 952, 1052}},
    {"123456789", {1113, 2570, 5603, 7060, 8517, 11550, 13007}},
    {"123456789abcdef", {840, 3170, 5537, 7867, 10197, 12527, 14894}},
    {"0123456789abcdef", {3567, 5231, 7919, 9583, 11247, 13935, 15599}},
    {"0123456789abcdefg", {1955, 3112, 5926, 8740, 9897, 12711, 15525}},
    {"世界", {849, 1889, 5205, 8521, 9561, 12877, 13917}},
    {"The quick brown fox jumps over the lazy dog", {768, 2514, 4394, 8020, 11646, 13526, 15272}},
};

struct HashVector {
  const char* key;
  std::uint64_t hash;
};

constexpr HashVector kHashes[] = {
    {"", 0x1ab11ea5a7b2c56e},
    {"a", 0x4292cee227b9150a},
    {"foo", 0x822b4f99b121f10d},
    {"1234567", 0xe4cf1c6d15db29ff},
    {"12345678", 0x700bea34339441c4},
    {"123456789", 0xb791da69f9d395e3},
    {"123456789abcdef", 0x9991a1a11e76b0ef},
    {"0123456789abcdef", 0x73397e4fb095abef},
    {"0123456789abcdefg", 0x4d3e0b66ada9c7a3},
    {"世界", 0xdfc6154e76a40761},
    {"The quick brown fox jumps over the lazy dog", 0xc7a616a28f4a74d6},
};

constexpr std::uint64_t kSeed = 0xc6a4a7935bd1e995;

}  // namespace

TEST_CASE("MurmurHash64A gives the numbers of RedisBloom, at any address of the key") {
  for (const HashVector& vector : kHashes) {
    const std::string key = vector.key;
    CAPTURE(key);
    for (std::size_t at = 0; at < 9; ++at) {
      const std::string room = std::string(at, '?') + key + "?";
      CHECK(hash::murmur2_64a(std::string_view(room).substr(at, key.size()), kSeed) == vector.hash);
    }
  }
  CHECK(hash::murmur2_64a({}, kSeed) == hash::murmur2_64a("", kSeed));  // a null address
}

TEST_CASE("keys have the bits of RedisBloom") {
  for (const Vector& vector : kToday) CHECK(bits_of(Hash::kRedisBloom, vector.key, 11072, 8) == vector.bits);
  for (const Vector& vector : kRounded) CHECK(bits_of(Hash::kRedisBloom, vector.key, 16384, 7) == vector.bits);
  check_edges(Hash::kRedisBloom, 11072, 64);
}
