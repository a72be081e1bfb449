// The polynomial hashes of tutorials in Java: positions that a program by their published text computed (in Java 17,
// and in Python by the definition of int and UTF-16), and the units of keys that are not UTF-8. tests/bf/java_test.py
// compares with Java itself.
#include <bit>
#include <set>

#include "hash/positions.hpp"
#include "hash/utf16.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

const std::vector<std::uint32_t> kSeeds{5, 7, 11, 13, 31, 37, 61};

std::vector<std::uint64_t> positions_of(std::string_view key, std::uint64_t num_bits,
                                        std::vector<std::uint32_t> seeds = kSeeds) {
  const auto count = static_cast<std::uint32_t>(seeds.size());
  const hash::PositionSource position_source(Hash::kJavaPolynomial, num_bits, count, std::move(seeds));
  hash::Positions positions;
  position_source.find(key, positions);
  return {positions.all().begin(), positions.all().end()};
}

std::u16string units_of(std::string_view key) {
  std::u16string units;
  hash::each_utf16_unit(key, [&](std::uint16_t unit) { units += static_cast<char16_t>(unit); });
  return units;
}

struct Vector {
  const char* key;
  std::array<std::uint64_t, 7> positions;
};

// cap = 2 << 24
constexpr Vector kVectors[] = {
    {"", {0, 0, 0, 0, 0, 0, 0}},
    {"a", {97, 97, 97, 97, 97, 97, 97}},
    {"foo", {3216, 5886, 13674, 18792, 101574, 143856, 386424}},
    {"alice", {77346, 275880, 1577820, 3026826, 25794176, 19639490, 25780090}},
    {"https://example.org/index.html?id=42", {19944230, 31726310, 32215414, 12881062, 29091270, 13033254, 12682918}},
    {"世界", {129978, 169958, 249918, 289898, 649718, 769658, 1249418}},
    {"été 😀 ß", {29104558, 29971740, 32724520, 31034246, 19795620, 15140622, 16987030}},
    {"The quick brown fox jumps over the lazy dog",
     {11524237, 20379899, 28372463, 19318229, 28106067, 5818541, 15953925}},
};

}  // namespace

TEST_CASE("a Java polynomial gives the positions that the tutorials' program gives") {
  for (const Vector& vector : kVectors) {
    CAPTURE(vector.key);
    const std::vector<std::uint64_t> expected(vector.positions.begin(), vector.positions.end());
    CHECK(positions_of(vector.key, 2 << 24) == expected);
    for (std::uint64_t num_bits = 1; num_bits <= std::uint64_t{2} << 24; num_bits *= 2) {
      const auto smaller = positions_of(vector.key, num_bits);
      for (std::size_t i = 0; i < smaller.size(); ++i) REQUIRE(smaller[i] == expected[i] % num_bits);
    }
  }
  CHECK(positions_of("foo", 1024, {5}).front() == 144);  // FORMAT.md
}

// The mask of m = 15 * 2^23 is 0x77fffff: positions 2^26 to 2^26 + 2^25 - 1 exist, and others that lack bit 23.
TEST_CASE("an m that is no power of two masks as the program does, and reaches 2^popcount(m - 1) positions") {
  const hash::Row& row = hash::row_of(Hash::kJavaPolynomial);
  for (const std::uint64_t num_bits : {1U, 2U, 3U, 5U, 1000U, 15U << 12, 15U << 23, 0x7fffffffU}) {
    CAPTURE(num_bits);
    CHECK(row.reaches(num_bits, 7));
    CHECK(row.num_reached(num_bits) == std::uint64_t{1} << std::popcount(num_bits - 1));
    for (const Vector& vector : kVectors) {
      const auto whole = positions_of(vector.key, std::uint64_t{1} << 30);
      const auto masked = positions_of(vector.key, num_bits);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        REQUIRE(masked[i] < num_bits);
        REQUIRE(masked[i] % (1U << 30) == (whole[i] & (num_bits - 1) & ((1U << 30) - 1)));
      }
    }
  }
  CHECK(row.num_reached(15U << 23) == 1U << 26);
  CHECK_FALSE(row.reaches(0x80000000, 7));
  CHECK(row.num_reached(0) == 0);  // not given
  std::set<std::uint64_t> reached;
  for (unsigned i = 0; i < 1U << 16; ++i) reached.insert(positions_of(std::to_string(i), 15 << 4, {31}).front());
  CHECK(reached.size() == row.num_reached(15 << 4));
}

TEST_CASE("every other hash reaches every bit") {
  for (const HashInfo& info : hashes()) {
    if (info.hash == Hash::kJavaPolynomial) continue;
    for (const std::uint64_t num_bits : {1U, 3U, 15U << 12})
      CHECK(hash::row_of(info.hash).num_reached(num_bits) == num_bits);
  }
}

// "hash code".hashCode() and others of java.lang.String, which is the polynomial with seed 31.
TEST_CASE("with seed 31 the polynomial is Java's hashCode, and a negative seed is that int") {
  CHECK(positions_of("hello", 1 << 30, {31}).front() == 99162322);
  CHECK(positions_of("The quick brown fox", 1 << 30, {31}).front() == 408147619);
  CHECK(positions_of("ab", 1 << 30, {0xffffffff}).front() == ((1ULL << 30) - 97 + 98) % (1ULL << 30));
}

TEST_CASE("UTF-8 becomes UTF-16 as Java and Python decode it") {
  CHECK(units_of("") == u"");
  CHECK(units_of(std::string_view("a\0b", 3)) == std::u16string(u"a\0b", 3));
  CHECK(units_of("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf") == u"\x7f\x80\x7ff\x800\xffff");
  CHECK(units_of("\xed\x9f\xbf\xee\x80\x80") == u"\xd7ff\xe000");
  CHECK(units_of("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") == u"\xd800\xdc00\xdbff\xdfff");
}

// Unicode 15, section 3.9, tables 3-8 to 3-11.
TEST_CASE("bytes that are not UTF-8 are U+FFFD, one for each maximal subpart") {
  CHECK(units_of("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41") == u"\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\x41");
  CHECK(units_of("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41") == u"\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\xfffd\x41");
  CHECK(units_of("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42") == u"\xfffd\xfffd\xfffd\xfffd\xfffd\x41\xfffd\xfffd\x42");
  CHECK(units_of("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41") == u"\xfffd\xfffd\xfffd\xfffd\x41");
  CHECK(units_of("\xe1\x80") == u"\xfffd");
  CHECK(units_of("\xf1\x80\x80") == u"\xfffd");
  CHECK(units_of("\xc2") == u"\xfffd");
  CHECK(units_of("\xc2\xc2\xa9") == u"\xfffd\xa9");
}

TEST_CASE("every key of one, two and three bytes has positions below m, and the same ones again") {
  for (unsigned number = 0; number < 1U << 24; number += number < 1U << 16 ? 1 : 4093) {
    const std::array bytes{static_cast<char>(number & 255), static_cast<char>(number >> 8 & 255),
                           static_cast<char>(number >> 16)};
    const std::string key(bytes.data(), number < 256 ? 1 : number < 65536 ? 2 : 3);
    const auto all = positions_of(key, 64, {31});
    REQUIRE(all.front() < 64);
    REQUIRE(all == positions_of(key + "", 64, {31}));
  }
}

TEST_CASE("the canary of Java polynomials is the fold of the positions that FORMAT.md defines") {
  std::uint64_t fold = 0;
  for (const std::size_t length : {0U, 3U, 8U, 16U, 100U, 240U, 1000U}) {
    std::string key;
    for (std::size_t j = 0; j < length; ++j) key += static_cast<char>(static_cast<unsigned char>(j % 251));
    for (const std::uint64_t position : positions_of(key, 65536)) fold = std::rotl(fold, 9) ^ position;
  }
  CHECK(hash::canary(Hash::kJavaPolynomial, 0, {65536, 7, kSeeds}) == fold);
  CHECK(hash::canary(Hash::kJavaPolynomial, 0, {32768, 7, kSeeds}) != fold);
}
