// Bits of a delta, coded and set again: every body that has more bits than another one comes back, and no other code is
// taken. Without files.
#include <doctest/doctest.h>

#include <random>

#include "format/gaps.hpp"

using namespace bfstore::format;

namespace {

using Piece = std::vector<std::byte>;

Piece random_piece(std::size_t bytes, double fill, std::mt19937_64& random) {
  Piece piece(bytes);
  std::bernoulli_distribution set(fill);
  for (std::byte& byte : piece) {
    for (unsigned bit = 0; bit < 8; ++bit) byte |= std::byte{set(random)} << bit;
  }
  return piece;
}

Piece united(Piece one, const Piece& other) {
  for (std::size_t i = 0; i < one.size(); ++i) one[i] |= other[i];
  return one;
}

void check_comes_back(const Piece& before, const Piece& after) {
  GapCoder coder;
  const auto coded = coder.code(before, after);
  REQUIRE(coded.has_value());
  CHECK(coded->code.size() <= before.size());
  Piece made = before;
  CHECK(set_coded(made, *coded));
  CHECK(made == after);
}

// Returns whether that is a code for `bytes` bytes of zeros.
bool takes(std::size_t bytes, std::uint32_t num_bits, std::uint32_t rice_bits, const std::vector<unsigned>& code) {
  Piece piece(bytes);
  Piece coded;
  for (const unsigned byte : code) coded.push_back(static_cast<std::byte>(byte));
  return set_coded(piece, {num_bits, rice_bits, coded});
}

}  // namespace

TEST_CASE("new bits come back, whatever the length of the piece, the bits before, and the number of new ones") {
  std::mt19937_64 random(1);
  for (const std::size_t bytes : {8U, 16U, 64U, 4096U, 65528U}) {
    for (const double fill : {0.0, 0.01, 0.5, 0.99, 1.0}) {
      const Piece before = random_piece(bytes, fill, random);
      for (const double more : {0.0, 0.0001, 0.01, 0.3, 0.999, 1.0})
        check_comes_back(before, united(before, random_piece(bytes, more, random)));
    }
  }
}

TEST_CASE("a new bit comes back at every place of a piece, alone and next to another one") {
  constexpr std::size_t kBits = 256;
  for (std::size_t bit = 0; bit < kBits; ++bit) {
    for (const std::byte around : {std::byte{0}, std::byte{0x55}}) {
      const Piece before(kBits / 8, around);
      Piece after = before;
      after[bit / 8] |= std::byte{1} << bit % 8;
      check_comes_back(before, after);
      after[(bit + 1) % kBits / 8] |= std::byte{1} << (bit + 1) % 8;
      check_comes_back(before, after);
    }
  }
}

TEST_CASE("a longest piece has one new bit at its end, or all of its bits are new") {
  const Piece before(kDeltaPieceBytes);
  Piece after = before;
  after.back() = std::byte{0x80};
  check_comes_back(before, after);
  check_comes_back(before, Piece(kDeltaPieceBytes, std::byte{0xff}));
}

TEST_CASE("pieces without a new bit have no code, and pieces that lack a bit none at all") {
  Piece before(64);
  before[63] = std::byte{0x40};
  GapCoder coder;
  CHECK(coder.code(before, before)->num_bits == 0);
  CHECK(coder.code(before, before)->code.empty());
  CHECK_FALSE(coder.code(before, Piece(64)).has_value());
  Piece other(64, std::byte{0xff});
  other[63] = std::byte{0xbf};
  CHECK_FALSE(coder.code(before, other).has_value());
  check_comes_back(before, Piece(64, std::byte{0xff}));  // after a refusal
}

TEST_CASE("the example of the document has the code that the document has") {
  Piece before(64);
  before[0] = std::byte{1};
  CHECK(takes(64, 1, 2, {0x0d}));
  Piece made = before;
  const Piece code{std::byte{0x0d}};
  CHECK(set_coded(made, {1, 2, code}));
  CHECK(made[0] == std::byte{1});
  CHECK(made[1] == std::byte{1});
}

TEST_CASE("a code that ends early, goes on, or leads out of its piece is refused") {
  CHECK(takes(8, 1, 0, {0x00}));
  CHECK(takes(8, 8, 0, {0x00}));
  CHECK_FALSE(takes(8, 1, 0, {}));            // no bit
  CHECK_FALSE(takes(8, 9, 0, {0x00}));        // the ninth gap is missing
  CHECK_FALSE(takes(8, 1, 0, {0xff}));        // no zero ends the ones
  CHECK_FALSE(takes(8, 1, 8, {0x00}));        // the low bits are cut off
  CHECK_FALSE(takes(8, 1, 0, {0x00, 0x00}));  // a byte too many
  CHECK_FALSE(takes(8, 1, 0, {0x02}));        // the filling is not zero
  CHECK_FALSE(takes(8, 1, 22, {0x00, 0x00, 0x00}));
  CHECK(takes(8, 1, 6, {0x7e}));        // gap 63, the last place
  CHECK_FALSE(takes(8, 1, 6, {0x01}));  // gap 64
  CHECK(takes(16, 1, 6, {0x01}));
  CHECK_FALSE(takes(8, 65, 0, std::vector<unsigned>(9, 0)));  // more bits than the piece has
  CHECK_FALSE(takes(0, 1, 0, {0x00}));
}

TEST_CASE("any bytes are a code for other bits or for none, and never for bits outside their piece") {
  std::mt19937_64 random(7);
  std::uint64_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> guarded = random_piece(8 + 64 + 8, 0.5, random);
    const auto around = guarded;
    const std::vector<std::byte> code = random_piece(random() % 40, 0.5, random);
    const auto num_bits = static_cast<std::uint32_t>(random() % 60);
    const bool good =
        set_coded(std::span(guarded).subspan(8, 64), {num_bits, static_cast<std::uint32_t>(random() % 12), code});
    taken += good ? 1 : 0;
    CHECK(std::equal(around.begin(), around.begin() + 8, guarded.begin()));
    CHECK(std::equal(around.end() - 8, around.end(), guarded.end() - 8));
    for (std::size_t at = 8; at < 72; ++at) CHECK((around[at] & ~guarded[at]) == std::byte{0});
  }
  CHECK(taken > 0);
}
