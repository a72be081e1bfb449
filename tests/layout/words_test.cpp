// The layout room's smallest parts: single bits, counting them, the geometry and the table of functions.
#include <bit>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "layout/layout.hpp"
#include "support/support.hpp"

using namespace rooms;

TEST_CASE("bit i is bit i % 8, least significant first, of byte i / 8, whatever the machine's byte order") {
  // Here the machine is little-endian; on another one bit_mask() swaps the bytes of the mask, so this holds there too.
  for (std::uint64_t bit = 0; bit < 1024; ++bit) {
    Buffer memory(128);
    CHECK_FALSE(layout::test_bit(memory.words(), bit));
    layout::Shared::set_bit(memory.words(), bit);
    for (std::uint64_t byte = 0; byte < 128; ++byte) {
      const unsigned expected = byte == bit / 8 ? 1U << (bit % 8) : 0;
      REQUIRE(std::to_integer<unsigned>(memory.bytes()[byte]) == expected);
    }
  }
}

template <class How>
void set_each_bit_once() {
  Buffer memory(64);
  for (std::uint64_t step = 0; step < 512; ++step) {
    const std::uint64_t bit = step * 37 % 512;  // each once
    REQUIRE_FALSE(layout::test_bit(memory.words(), bit));
    How::set_bit(memory.words(), bit);
    How::set_bit(memory.words(), bit);
    REQUIRE(layout::test_bit(memory.words(), bit));
    REQUIRE(layout::count_bits(memory.words(), 0, 512) == step + 1);
  }
}

TEST_CASE("setting a bit changes it once and its neighbours never") {
  set_each_bit_once<layout::Shared>();
  set_each_bit_once<layout::Alone>();
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
  const layout::Geometry blocked = layout::row_of(Layout::kBlocked).geometry(5120, 7);
  CHECK(blocked.num_bits == 5120);
  CHECK(blocked.range == 10);
  CHECK(blocked.num_probes == 7);
  CHECK(layout::row_of(Layout::kBlocked).geometry(kMaxBits, 1).range == kMaxBits / 512);
  const layout::Geometry classic = layout::row_of(Layout::kClassic).geometry(5121, 64);
  CHECK(classic.range == 5121);
}

TEST_CASE("every layout has a whole table of functions, and its own") {
  for (const Layout layout : every_layout()) {
    const auto tables = layout::runnable(layout::row_of(layout));
    REQUIRE_FALSE(tables.empty());
    CHECK(std::string(tables.back().isa) == "scalar");
    for (const layout::Functions& table : tables) {
      CHECK((table.contains.one != nullptr));
      CHECK((table.contains.step != nullptr));
      CHECK((table.add.one != nullptr));
      CHECK((table.add.step != nullptr));
      CHECK((table.add_alone.one != nullptr));
      CHECK((table.add_alone.step != nullptr));
      CHECK((table.add.one != table.add_alone.one));
      CHECK((table.add.step != table.add_alone.step));
    }
  }
  const layout::Functions blocked = layout::runnable(layout::row_of(Layout::kBlocked)).back();
  const layout::Functions classic = layout::runnable(layout::row_of(Layout::kClassic)).back();
  CHECK((blocked.contains.one != classic.contains.one));
  CHECK((blocked.add.one != classic.add.one));
}

TEST_CASE("few probes are asked by code that was compiled for their number, and more by code for any number") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    for (const layout::Lookups& lookups : {row.scalar->contains, layout::runnable(row).front().contains}) {
      std::set<layout::Ask> chosen;
      for (std::uint32_t k = 1; k <= layout::kFewProbes; ++k) chosen.insert(lookups.one_for(row.geometry(51200, k)));
      CHECK(chosen.size() == layout::kFewProbes);
      CHECK_FALSE(chosen.contains(lookups.one));
      for (std::uint32_t k = layout::kFewProbes + 1; k <= kMaxProbes; ++k)
        CHECK((lookups.one_for(row.geometry(51200, k)) == lookups.one));
    }
  }
}

TEST_CASE("a layout that has code for any number of probes alone is asked by that") {
  const layout::Ask any = layout::row_of(Layout::kClassic).scalar->contains.one;
  const layout::Lookups lookups{any, nullptr};
  for (const std::uint32_t k : {0U, 1U, 8U, 9U}) CHECK((lookups.one_for({51200, 51200, k}) == any));
}

// Returns the flags that the kernel lists for the first CPU. The kernel leaves out what programs may not use.
std::set<std::string> words_of_the_kernel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST_CASE("the instruction sets of x86-64 are found if the kernel lists them") {
  const std::set<std::string> words = words_of_the_kernel();
  const layout::Row& row = layout::row_of(Layout::kBlocked);
  CHECK((layout::usable(row, "avx2") != nullptr) == words.contains("avx2"));
  CHECK((layout::usable(row, "avx512") != nullptr) == (words.contains("avx512f") && words.contains("avx512vl")));
}

bool has_kernel(Layout layout, const std::string& isa) {
  if (layout::row_of(layout).info.epochs != 0) return isa != "neon";
  return layout == Layout::kBlocked || layout == Layout::kCounting || layout == Layout::kGrowing;
}

TEST_CASE("the best table is chosen, or the one that is asked for, or none") {
  for (const Layout layout : every_layout()) {
    const auto tables = layout::runnable(layout::row_of(layout));
    CHECK((must(layout::choose(layout::row_of(layout), nullptr)).contains.one == tables.front().contains.one));
    CHECK((must(layout::choose(layout::row_of(layout), "scalar")).contains.one == tables.back().contains.one));
    for (const char* isa : {"avx512", "avx2", "neon"}) {
      const auto chosen = layout::choose(layout::row_of(layout), isa);
      const auto blocked = layout::runnable(layout::row_of(Layout::kBlocked));
      const bool runs_here =
          std::any_of(blocked.begin(), blocked.end(), [&](const auto& table) { return std::string(table.isa) == isa; });
      REQUIRE(chosen.ok() == runs_here);
      if (runs_here) CHECK(std::string(chosen->isa) == (has_kernel(layout, isa) ? isa : "scalar"));
      if (!runs_here) CHECK(chosen.error().code == Code::kInvalid);
    }
    for (const char* wrong : {"", "AVX2", "avx", "avx5123", "scalar "}) {
      const auto chosen = layout::choose(layout::row_of(layout), wrong);
      REQUIRE_FALSE(chosen.ok());
      CHECK(chosen.error().code == Code::kInvalid);
      CHECK(chosen.error().message.find("BFSTORE_FORCE_ISA=" + std::string(wrong)) != std::string::npos);
    }
  }
}
