// The layout room's smallest things: single bits, counting them, the geometry and the table of functions.
#include "layout/words.hpp"

#include <bit>

#include "layout/layout.hpp"
#include "support.hpp"

using namespace rooms;

TEST_CASE("bit i is bit i % 8, least significant first, of byte i / 8, whatever the machine's byte order") {
  // Here the machine is little-endian; on another one bit_mask() swaps the bytes of the mask, so this holds there too.
  for (std::uint64_t bit = 0; bit < 1024; ++bit) {
    Buffer memory(128);
    CHECK_FALSE(layout::test_bit(memory.words(), bit));
    REQUIRE(layout::set_bit(memory.words(), bit));
    for (std::uint64_t byte = 0; byte < 128; ++byte) {
      const unsigned expected = byte == bit / 8 ? 1U << (bit % 8) : 0;
      REQUIRE(std::to_integer<unsigned>(memory.bytes()[byte]) == expected);
    }
  }
}

TEST_CASE("setting a bit changes it once and its neighbours never") {
  Buffer memory(64);
  for (std::uint64_t step = 0; step < 512; ++step) {
    const std::uint64_t bit = step * 37 % 512;  // each once
    REQUIRE_FALSE(layout::test_bit(memory.words(), bit));
    REQUIRE(layout::set_bit(memory.words(), bit));
    REQUIRE_FALSE(layout::set_bit(memory.words(), bit));
    REQUIRE(layout::test_bit(memory.words(), bit));
    REQUIRE(layout::count_bits(memory.words(), 0, 512) == step + 1);
  }
}

TEST_CASE("count_bits counts the words of its range and no other") {
  Buffer memory(512);
  for (std::uint64_t i = 0; i < 64; ++i) memory.words()[i] = mix(i);
  for (std::uint64_t first = 0; first < 64; ++first) {
    std::uint64_t expected = 0;
    CHECK(layout::count_bits(memory.words(), first * 64, 0) == 0);
    for (std::uint64_t last = first; last < 64; ++last) {
      expected += static_cast<std::uint64_t>(std::popcount(memory.words()[last]));
      REQUIRE(layout::count_bits(memory.words(), first * 64, (last - first + 1) * 64) == expected);
    }
  }
  CHECK(layout::count_bits(memory.words(), 0, 1) == layout::count_bits(memory.words(), 0, 64));
}

TEST_CASE("the geometry brings digests into lines for blocked and into bits for classic") {
  const layout::Geometry blocked = layout::geometry_of(Layout::kBlocked, 5120, 7);
  CHECK(blocked.num_bits == 5120);
  CHECK(blocked.range == 10);
  CHECK(blocked.num_probes == 7);
  CHECK_FALSE(blocked.one_block());
  CHECK(layout::geometry_of(Layout::kBlocked, kMaxBits, 1).range == kMaxBits / 512);
  const layout::Geometry classic = layout::geometry_of(Layout::kClassic, 5121, 64);
  CHECK(classic.range == 5121);
  CHECK(classic.one_block());
}

TEST_CASE("every layout has a whole table of functions, and its own") {
  for (const Layout layout : kBothLayouts) {
    const layout::Functions& table = layout::functions_for(layout);
    CHECK(table.isa != nullptr);
    CHECK((table.contains != nullptr));
    CHECK((table.add != nullptr));
    CHECK((table.contains_batch != nullptr));
    CHECK((table.add_batch != nullptr));
  }
  CHECK(std::string(layout::kBlockedScalar.isa) == "scalar");
  CHECK(std::string(layout::kClassicScalar.isa) == "scalar");
  CHECK((layout::kBlockedScalar.contains != layout::kClassicScalar.contains));
  CHECK((layout::functions_for(Layout::kBlocked).add != layout::functions_for(Layout::kClassic).add));
}
