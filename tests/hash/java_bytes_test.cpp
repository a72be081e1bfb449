// The positions of ByteBufferBloomFilter in Java: keys of ASCII, which have a path of their own, beside the class by
// its description.
#include <algorithm>

#include "hash/utf16.hpp"
#include "known_positions.hpp"

using namespace positions_test;

namespace {

constexpr std::uint32_t kSeeds[] = {33, 53, 79, 97, 113, 137, 163, 181};

Numbers expected(std::string_view key, std::uint64_t num_bytes) {
  Numbers positions;
  for (std::size_t i = 0; i < std::size(kSeeds); ++i) {
    std::uint32_t h = 5381;
    hash::each_utf16_unit(key, [&](std::uint16_t unit) { h = kSeeds[i] * h + unit; });
    positions.push_back(8 * (((h ^ h >> 16) & 0x7fffffff) % num_bytes) + i);
  }
  return positions;
}

void check(std::string_view key) {
  for (const std::uint64_t num_bytes : {std::uint64_t{1}, std::uint64_t{1237}, std::uint64_t{INT32_MAX}})
    CHECK(positions_of(Hash::kJavaBytes, key, 8 * num_bytes, 8) == expected(key, num_bytes));
}

}  // namespace

TEST_CASE("keys of ASCII of each length have the positions of the class, for the least and the greatest characters") {
  for (std::size_t length = 0; length <= 40; ++length) {
    std::string key(length, '\x7f');
    check(key);
    check(std::string(length, '\0'));
    for (std::size_t i = 0; i < length; ++i) key[i] = static_cast<char>(mixed(i, 1)[0] % 128);
    check(key);
    check(std::string_view("\xff" + key + "\xff").substr(1, length));  // other bytes around it
  }
}

TEST_CASE("one byte that is not ASCII, anywhere in a key, makes its units those of UTF-8") {
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string key(length, 'k');
      key[at] = '\xe9';  // no UTF-8
      check(key);
    }
  }
}
