// The positions of keys in filters of other programs: numbers that the independent reader of FORMAT.md computed, which
// finds the keys of those programs' own files (tests/data/foreign), and RocksDB's hash by the header of RocksDB 7.8.
#include <bit>

#include "hash/positions.hpp"
#include "hash/remainder.hpp"
#include "hash/xxph3.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

const std::vector<std::uint32_t> kSeeds{0, 1, 0xffffffff};

std::vector<std::uint64_t> positions_of(std::string_view key, Hash hash, std::uint64_t num_bits, std::uint32_t count,
                                        const std::vector<std::uint32_t>& seeds = {}) {
  const hash::PositionSource position_source(hash, num_bits, count, seeds);
  hash::Positions positions;
  position_source.find(key, positions);
  return {positions.all().begin(), positions.all().end()};
}

std::vector<std::uint32_t> seeds_of(Hash hash) {
  return hash_of(hash)->takes_seeds ? kSeeds : std::vector<std::uint32_t>();
}

struct Vector {
  Hash hash;
  const char* key;
  std::uint64_t num_bits;
  std::vector<std::uint64_t> positions;
};

const Vector kVectors[] = {
    {Hash::kPybloomfilter, "", 9991, {0, 4361, 7161}},
    {Hash::kPybloomfilter, "a", 9991, {701, 1382, 3946}},
    {Hash::kPybloomfilter, "foo", 9991, {5080, 3106, 7078}},
    {Hash::kPybloomfilter, "é 世界 😀", 9991, {1910, 5117, 3229}},
    {Hash::kPybloomfilter, "The quick brown fox jumps over the lazy dog", 9991, {2136, 8430, 6474}},
    {Hash::kLevelDb, "", 9992, {7964, 8819, 5698}},
    {Hash::kLevelDb, "a", 9992, {1072, 3943, 6814}},
    {Hash::kLevelDb, "foo", 9992, {7628, 5361, 7070}},
    {Hash::kLevelDb, "é 世界 😀", 9992, {9074, 9179, 9284}},
    {Hash::kLevelDb, "The quick brown fox jumps over the lazy dog", 9992, {8647, 282, 5885}},
    {Hash::kRocksDb, "", 19968, {1190, 1145, 1493}},
    {Hash::kRocksDb, "a", 19968, {7441, 7457, 7429}},
    {Hash::kRocksDb, "foo", 19968, {11850, 12165, 11850}},
    {Hash::kRocksDb, "é 世界 😀", 19968, {17551, 17911, 17905}},
    {Hash::kRocksDb, "The quick brown fox jumps over the lazy dog", 19968, {19188, 19349, 19283}},
    {Hash::kParquet, "", 9984, {9245, 9248, 9305, 9340, 9358, 9398, 9437, 9470}},
    {Hash::kParquet, "a", 9984, {8210, 8241, 8257, 8300, 8337, 8376, 8411, 8447}},
    {Hash::kParquet, "foo", 9984, {1811, 1843, 1872, 1913, 1950, 1965, 1990, 2033}},
    {Hash::kParquet, "é 世界 😀", 9984, {7192, 7217, 7259, 7280, 7314, 7350, 7389, 7403}},
    {Hash::kParquet, "The quick brown fox jumps over the lazy dog", 9984, {272, 312, 345, 382, 399, 440, 451, 491}},
    {Hash::kLibbloom, "", 9991, {4982, 2583, 184}},
    {Hash::kLibbloom, "a", 9991, {6808, 5705, 4602}},
    {Hash::kLibbloom, "foo", 9991, {158, 3970, 7782}},
    {Hash::kLibbloom, "é 世界 😀", 9991, {1785, 8961, 6146}},
    {Hash::kLibbloom, "The quick brown fox jumps over the lazy dog", 9991, {9430, 9249, 9068}},
    {Hash::kRbloom, "", 9992, {6223, 3841, 6341}},
    {Hash::kRbloom, "a", 9992, {8522, 6110, 3753}},
    {Hash::kRbloom, "foo", 9992, {6407, 4914, 7487}},
    {Hash::kRbloom, "é 世界 😀", 9992, {7380, 6849, 9252}},
    {Hash::kRbloom, "The quick brown fox jumps over the lazy dog", 9992, {1741, 8181, 627}},
    {Hash::kJavaBytes, "", 9992, {3080, 3081, 3082, 3083, 3084, 3085, 3086, 3087}},
    {Hash::kJavaBytes, "a", 9992, {2480, 4177, 4274, 9731, 9164, 3005, 3326, 8655}},
    {Hash::kJavaBytes, "foo", 9992, {3288, 3657, 98, 3971, 1572, 3213, 1206, 639}},
    {Hash::kJavaBytes, "é 世界 😀", 9992, {6784, 2529, 1938, 7051, 1660, 2069, 2142, 2679}},
    {Hash::kJavaBytes,
     "The quick brown fox jumps over the lazy dog",
     9992,
     {4904, 9873, 7618, 8851, 268, 4397, 6422, 4071}},
};

struct Hashed {
  std::size_t length;
  std::uint64_t hash;
};

// Of the key whose byte j is j mod 251.
constexpr Hashed kXxph3[] = {
    {0, 0x5342c3010fe1dd04},    {1, 0x7198d737cfe7f386},    {2, 0x391ee7c983900289},    {3, 0xc0360a11b4791b98},
    {4, 0xf28e842dedde83ae},    {5, 0x134c7febefadcbd2},    {8, 0x223c9d9c7f17db6e},    {9, 0x93557756b5dae4dd},
    {16, 0x4bfe2ff1655e8360},   {17, 0x6dff1ac96eef2848},   {32, 0x05e0c55fd9add145},   {33, 0x836364faed762c18},
    {64, 0x85a0b1306d97b7f5},   {65, 0x761d1aecf631ff50},   {96, 0xea1eec322790bfdb},   {97, 0xa178f7429a14e134},
    {128, 0x7aa5db2c8097080b},  {129, 0xa06d81743056cebc},  {143, 0xba49c015f1ee5b8b},  {144, 0x9ae3190c27ffbe3b},
    {240, 0xd1253a6dec8c35fc},  {241, 0xb78df6016a18c222},  {256, 0x52599ee0e79bdb61},  {1000, 0xcce7a757646f2372},
    {1024, 0xd36464396df76d32}, {1025, 0xe95a3a592ded01af}, {2048, 0x0ffdb6ab9a3ad773}, {5000, 0x426405d33128d678}};

std::string key_of_length(std::size_t length) {
  std::string key;
  for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
  return key;
}

constexpr Hash kHashes[] = {Hash::kPybloomfilter, Hash::kLevelDb, Hash::kRocksDb,  Hash::kParquet,
                            Hash::kLibbloom,      Hash::kRbloom,  Hash::kJavaBytes};

// An m and a k that the hash reaches.
hash::ProbeNumbers numbers_of(const hash::Row& row) {
  return {std::uint64_t{39} * 512 * 7, row.only_probes != 0 ? row.only_probes : 3, kSeeds};
}

}  // namespace

TEST_CASE("keys have the positions of the programs") {
  for (const Vector& vector : kVectors) {
    CAPTURE(vector.key);
    CAPTURE(hash_of(vector.hash)->name);
    const auto count = static_cast<std::uint32_t>(vector.positions.size());
    for (std::size_t at = 0; at < 5; ++at) {  // at any address
      const std::string room = std::string(at, '?') + vector.key + "?";
      const std::string_view key = std::string_view(room).substr(at, std::string_view(vector.key).size());
      CHECK(positions_of(key, vector.hash, vector.num_bits, count, seeds_of(vector.hash)) == vector.positions);
    }
    if (*vector.key == 0)  // a null address
      CHECK(positions_of({}, vector.hash, vector.num_bits, count, seeds_of(vector.hash)) == vector.positions);
  }
}

TEST_CASE("RocksDB's hash is that of its header for each path by length") {
  for (const Hashed& one : kXxph3) {
    CAPTURE(one.length);
    CHECK(hash::Xxph3::of(key_of_length(one.length)) == one.hash);
  }
}

TEST_CASE("positions are below m, and differ with every bit of the key") {
  for (const Hash hash : kHashes) {
    const hash::Row& row = hash::row_of(hash);
    const hash::ProbeNumbers numbers = numbers_of(row);
    CAPTURE(row.info.name);
    for (const std::size_t length : {1U, 3U, 4U, 5U, 8U, 15U, 16U, 17U, 40U, 130U, 250U, 1100U}) {
      std::string key(length, 'a');
      const auto before = positions_of(key, hash, numbers.num_bits, numbers.num_probes, seeds_of(hash));
      for (const std::uint64_t position : before) REQUIRE(position < numbers.num_bits);
      for (std::size_t bit = 0; bit < length * 8; ++bit) {
        if (bit % 8 == 7) continue;  // the key of java-bytes stays UTF-8
        key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
        REQUIRE(positions_of(key, hash, numbers.num_bits, numbers.num_probes, seeds_of(hash)) != before);
        key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
      }
    }
  }
}

TEST_CASE("a hash of another program reaches the m and k of that program, and no others") {
  const auto reaches = [](Hash hash, std::uint64_t num_bits, std::uint32_t num_probes) {
    return hash::row_of(hash).reaches(num_bits, num_probes);
  };
  CHECK(reaches(Hash::kLevelDb, std::uint64_t{1} << 32, 30));
  CHECK_FALSE(reaches(Hash::kLevelDb, (std::uint64_t{1} << 32) + 8, 30));
  CHECK_FALSE(reaches(Hash::kLevelDb, 1001, 6));
  CHECK(reaches(Hash::kRocksDb, (std::uint64_t{1} << 35) - 512, 6));
  CHECK_FALSE(reaches(Hash::kRocksDb, std::uint64_t{1} << 35, 6));
  CHECK_FALSE(reaches(Hash::kRocksDb, 256, 6));
  CHECK(reaches(Hash::kParquet, (std::uint64_t{1} << 34) - 256, 8));
  CHECK_FALSE(reaches(Hash::kParquet, std::uint64_t{1} << 34, 8));
  CHECK_FALSE(reaches(Hash::kParquet, 256, 7));
  CHECK_FALSE(reaches(Hash::kParquet, 128, 8));
  CHECK(reaches(Hash::kJavaBytes, std::uint64_t{8} * INT32_MAX, 8));
  CHECK_FALSE(reaches(Hash::kJavaBytes, std::uint64_t{8} * INT32_MAX + 8, 8));
  CHECK_FALSE(reaches(Hash::kJavaBytes, 1001, 8));
  CHECK_FALSE(reaches(Hash::kJavaBytes, 1000, 7));
  CHECK(reaches(Hash::kLibbloom, std::uint64_t{1} << 38, 64));
  CHECK_FALSE(reaches(Hash::kLibbloom, (std::uint64_t{1} << 38) + 1, 1));
  CHECK_FALSE(reaches(Hash::kRbloom, 1001, 6));
  CHECK(reaches(Hash::kPybloomfilter, 1001, 6));
}

TEST_CASE("the canary of these hashes is the fold of the positions that FORMAT.md defines") {
  for (const Hash hash : kHashes) {
    const hash::Row& row = hash::row_of(hash);
    const hash::ProbeNumbers numbers = numbers_of(row);
    CAPTURE(row.info.name);
    std::uint64_t fold = 0;
    for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
      for (const std::uint64_t position :
           positions_of(key_of_length(length), hash, numbers.num_bits, numbers.num_probes, seeds_of(hash)))
        fold = std::rotl(fold, 9) ^ position;
    }
    CHECK(hash::canary(hash, 0, numbers) == fold);
    const hash::ProbeNumbers fewer{numbers.num_bits - 512, numbers.num_probes, numbers.seeds};
    CHECK(hash::canary(hash, 0, fewer) != fold);
  }
}
