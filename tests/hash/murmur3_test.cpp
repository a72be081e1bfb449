// MurmurHash3_x86_32: published vectors, and the positions of keys by both conventions of Python programs.
#include "hash/murmur3.hpp"

#include <bit>
#include <set>

#include "hash/positions.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

struct Vector {
  const char* key;
  std::uint32_t seed;
  std::uint32_t hash;
};

// From published collections of test vectors for MurmurHash3. tests/bf/seeded_test.py compares with mmh3 itself.
constexpr Vector kVectors[] = {
    {"", 0, 0},
    {"", 1, 0x514e28b7},
    {"", 0xffffffff, 0x81f16f39},
    {"a", 0x9747b28c, 0x7fa09ea6},
    {"aa", 0x9747b28c, 0x5d211726},
    {"aaa", 0x9747b28c, 0x283e0130},
    {"aaaa", 0x9747b28c, 0x5a97808a},
    {"abcd", 0x9747b28c, 0xf0478627},
    {"foo", 0, 0xf6a5c420},
    {"test", 0, 0xba6bd213},
    {"test", 0x9747b28c, 0x704b81dc},
    {"Hello, world!", 0, 0xc0363e43},
    {"Hello, world!", 0x9747b28c, 0x24884cba},
    {"The quick brown fox jumps over the lazy dog", 0, 0x2e4ff723},
    {"The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd},
};

std::vector<std::uint64_t> positions_of(std::string_view key, Hash hash, std::uint64_t num_bits,
                                        std::vector<std::uint32_t> seeds) {
  const auto count = static_cast<std::uint32_t>(seeds.size());
  const hash::PositionSource position_source(hash, num_bits, count, std::move(seeds));
  hash::Positions positions;
  position_source.find(key, positions);
  return {positions.all().begin(), positions.all().end()};
}

}  // namespace

TEST_CASE("MurmurHash3_x86_32 gives the published numbers, at any address of the key") {
  for (const Vector& vector : kVectors) {
    const std::string key = vector.key;
    CAPTURE(key);
    for (std::size_t at = 0; at < 5; ++at) {
      const std::string room = std::string(at, '?') + key + "?";
      CHECK(hash::murmur3_x86_32(std::string_view(room).substr(at, key.size()), vector.seed) == vector.hash);
    }
  }
  CHECK(hash::murmur3_x86_32({}, 1) == 0x514e28b7);  // a null address
}

TEST_CASE("MurmurHash3_x86_32 depends on every bit of the key, on its length and on the seed") {
  std::set<std::uint32_t> hashes;
  std::size_t made = 0;
  for (const std::size_t length : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 11U, 60U}) {
    std::string key(length, '\x80');
    const auto take = [&](std::uint32_t seed) {
      hashes.insert(hash::murmur3_x86_32(key, seed));
      ++made;
    };
    take(0);
    take(0x12345);  // 1 would cancel with the lengths 2 and 3
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
      key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
      take(0);
      key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  CHECK(hashes.size() == made);
}

// mmh3.hash("foo", 0) is -156908512. C's remainder of it is negative, and Python's is 488.
TEST_CASE("a signed hash is brought into range as Python's % does it, and an unsigned one otherwise") {
  CHECK(positions_of("foo", Hash::kMurmur3, 1000, {0}) == std::vector<std::uint64_t>{488});
  CHECK(positions_of("foo", Hash::kMurmur3Unsigned, 1000, {0}) == std::vector<std::uint64_t>{784});
  CHECK(positions_of("foo", Hash::kMurmur3, 1, {0, 1, 2}) == std::vector<std::uint64_t>{0, 0, 0});
  for (const std::uint64_t power : {std::uint64_t{2}, std::uint64_t{1024}, std::uint64_t{1} << 32}) {
    CHECK(positions_of("foo", Hash::kMurmur3, power, {0}) == positions_of("foo", Hash::kMurmur3Unsigned, power, {0}));
  }
  CHECK(positions_of("foo", Hash::kMurmur3, std::uint64_t{1} << 32, {0}).front() == 0xf6a5c420);
}

TEST_CASE("a key has a position for each seed, in their order, and all below m") {
  for (const Hash hash : {Hash::kMurmur3, Hash::kMurmur3Unsigned}) {
    for (std::uint64_t num_bits = 1; num_bits < 3000; num_bits = num_bits * 3 + 1) {
      for (int i = 0; i < 100; ++i) {
        const std::string key = std::to_string(i);
        const auto all = positions_of(key, hash, num_bits, {41, 7, 0xffffffff, 7});
        REQUIRE(all.size() == 4);
        CHECK(all[1] == all[3]);
        CHECK(all[0] == positions_of(key, hash, num_bits, {41}).front());
        CHECK(all[2] == positions_of(key, hash, num_bits, {0xffffffff}).front());
        for (const std::uint64_t position : all) REQUIRE(position < num_bits);
      }
    }
  }
}

TEST_CASE("the canary of a hash that gives positions is the fold of the positions that FORMAT.md defines") {
  const std::vector<std::uint32_t> seeds{3, 1, 4};
  for (const Hash hash : {Hash::kMurmur3, Hash::kMurmur3Unsigned}) {
    std::uint64_t fold = 0;
    for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
      std::string key;
      for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
      for (const std::uint64_t position : positions_of(key, hash, 99991, seeds)) fold = std::rotl(fold, 9) ^ position;
    }
    CHECK(hash::canary(hash, 0, {99991, 3, seeds}) == fold);
    CHECK(hash::canary(hash, 0, {99990, 3, seeds}) != fold);
  }
}
