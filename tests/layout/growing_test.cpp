// The layout that grows: in each slice a key has the bits that it has in a blocked body of that size; a lookup asks
// every slice that is counted, and no other; an add sets bits in the last one alone; a number of slices that no body
// has, and a lost end word, are doubt; rates and estimates are what is measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/bytes.hpp"
#include "layout/growing.hpp"
#include "layout/layout.hpp"
#include "support/support.hpp"

using namespace rooms;
using layout::Functions;
using layout::Row;
using layout::row_of;
using layout::Slices;

namespace {

constexpr std::uint64_t kGap = 64;  // words between two slices, with an end word in the first of them
constexpr std::array<std::uint64_t, kMaxSlices> kLines{3, 6, 12, 24, 48};
constexpr std::uint64_t kLineWords = kLineBits / 64;

std::uint64_t words_of_all(const std::array<std::uint64_t, kMaxSlices>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0}) * kLineWords + kMaxSlices * kGap;
}

// A body whose slices have these lines, and its table of slices.
struct Body {
  Body(const Functions& functions, std::uint32_t k, const std::array<std::uint64_t, kMaxSlices>& lines = kLines)
      : table(functions),
        memory(words_of_all(lines) * 8),
        geometry(row_of(Layout::kGrowing).geometry(lines[0] * kLineBits, k)) {
    slices.number = &number;
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < kMaxSlices; ++i) {
      slices.of[i] = {at, lines[i]};
      at += lines[i] * kLineWords;
      slices.end[i] = memory.words() + at;
      slices.expected_end[i] = memory.words()[at] = 1000 + i;
      at += kGap;
    }
    geometry.slices = &slices;
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  void have(std::uint64_t num_slices) { number = base::little_endian(num_slices); }
  bool add(std::uint64_t digest) { return table.add.one_for(geometry)(memory.words(), geometry, digest); }
  bool add_alone(std::uint64_t digest) { return table.add_alone.one_for(geometry)(memory.words(), geometry, digest); }
  [[nodiscard]] layout::Target target() {
    static const std::uint64_t front = 1;
    static const std::uint64_t end = 2;
    return {memory.words(), geometry, {&front, &end, base::little_endian(3)}, nullptr};
  }
  // Asks in each of the three ways, which agree.
  bool contains(std::uint64_t digest) {
    const bool maybe = table.contains.one(target(), digest) != 0;
    REQUIRE((table.contains.one_for(geometry)(target(), digest) != 0) == maybe);
    std::uint8_t answer = 9;
    REQUIRE(table.contains.step(memory.words(), geometry, {&digest, 1, &digest, 1}, &answer) == (maybe ? 1 : 0));
    REQUIRE(answer == (maybe ? 1 : 0));
    return maybe;
  }
  // The words of a slice.
  [[nodiscard]] std::vector<std::uint64_t> slice(std::uint32_t i) {
    const std::uint64_t* const first = memory.words() + slices.of[i].first_word;
    return {first, first + slices.of[i].lines * kLineWords};
  }

  Functions table;
  Buffer memory;
  std::uint64_t number = base::little_endian(1);
  Slices slices;
  layout::Geometry geometry;
};

// The words of a blocked body with these keys.
std::vector<std::uint64_t> blocked(std::uint64_t lines, std::uint32_t k, const std::vector<std::uint64_t>& digests) {
  const Row& row = row_of(Layout::kBlocked);
  Buffer memory(lines * kLineBits / 8);
  const layout::Geometry geometry = row.geometry(lines * kLineBits, k);
  for (const std::uint64_t digest : digests) row.scalar->add.one(memory.words(), geometry, digest);
  return {memory.words(), memory.words() + lines * kLineWords};
}

std::vector<std::uint64_t> random_digests(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> digests(count);
  std::ranges::generate(digests, random);
  return digests;
}

}  // namespace

TEST_CASE("each slice has the bits of a blocked body, with every kernel, and for one writer, too") {
  for (const Functions& table : runnable(row_of(Layout::kGrowing))) {
    CAPTURE(table.isa);
    for (const std::uint32_t k : {1U, 8U, 9U, 17U, 64U}) {
      for (const bool alone : {false, true}) {
        Body body(table, k);
        for (std::uint32_t i = 0; i < kMaxSlices; ++i) {
          body.have(i + 1);
          // All keys of a slice that no slice before has: so many that the next slice gets some, too.
          std::vector<std::uint64_t> expected;
          for (const std::uint64_t digest : random_digests(4, 10 * k + i)) {
            if (!body.contains(digest)) expected.push_back(digest);
            CHECK((alone ? body.add_alone(digest) : body.add(digest)) ==
                  (!expected.empty() && expected.back() == digest));
            REQUIRE(body.contains(digest));
          }
          REQUIRE(body.slice(i) == blocked(kLines[i], k, expected));
        }
      }
    }
  }
}

TEST_CASE("a lookup asks all slices that are counted, and no other") {
  for (const Functions& table : runnable(row_of(Layout::kGrowing))) {
    CAPTURE(table.isa);
    Body body(table, 8);
    std::vector<std::uint64_t> in_slices;
    for (std::uint32_t i = 0; i < kMaxSlices; ++i) {
      body.have(i + 1);
      in_slices.push_back(0x0123456789abcdef * (2 * i + 1));
      REQUIRE(body.add(in_slices.back()));
    }
    for (std::uint32_t number = 1; number <= kMaxSlices; ++number) {
      body.have(number);
      for (std::uint32_t i = 0; i < kMaxSlices; ++i) REQUIRE(body.contains(in_slices[i]) == (i < number));
    }
  }
}

TEST_CASE("a key that an older slice has is not added again") {
  for (const Functions& table : runnable(row_of(Layout::kGrowing))) {
    Body body(table, 8);
    REQUIRE(body.add(77));
    body.have(2);
    const std::vector<std::uint64_t> before = body.slice(1);
    CHECK(!body.add(77));
    CHECK(!body.add_alone(77));
    CHECK(body.slice(1) == before);
  }
}

TEST_CASE("a number of slices that no body has, and the lost end word of the last slice, are doubt") {
  for (const Functions& table : runnable(row_of(Layout::kGrowing))) {
    CAPTURE(table.isa);
    Body body(table, 8);
    REQUIRE(!body.contains(5));
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{kMaxSlices + 1}, UINT64_MAX}) {
      body.have(number);
      CHECK(body.contains(5));
      CHECK(!body.add(5));  // nor does it set a bit anywhere
    }
    body.have(1);
    CHECK(!body.contains(5));
    for (std::uint32_t number = 1; number <= kMaxSlices; ++number) {
      body.have(number);
      for (std::uint32_t lost = 0; lost < kMaxSlices; ++lost) {
        std::uint64_t& word = body.memory.words()[body.slices.end[lost] - body.memory.words()];
        const std::uint64_t was = std::exchange(word, 0);
        CHECK(body.contains(5) == (lost == number - 1));
        word = was;
      }
      CHECK(!body.contains(5));
    }
  }
}

TEST_CASE("a body without a table has one slice") {
  for (const Functions& table : runnable(row_of(Layout::kGrowing))) {
    Body body(table, 8);
    body.geometry.slices = nullptr;
    body.have(0);
    CHECK(!body.contains(5));
    CHECK(body.add(5));
    CHECK(body.contains(5));
    CHECK(body.slice(0) == blocked(kLines[0], 8, {5}));
  }
}

TEST_CASE("rates and estimates are what is measured, with each number of slices") {
  constexpr std::array<std::uint64_t, kMaxSlices> kMany{40, 80, 160, 320, 640};
  constexpr std::uint32_t kProbes = 8;
  constexpr double kKeysInLine = 37;  // 13.8 bits a key
  Body body(runnable(row_of(Layout::kGrowing)).front(), kProbes, kMany);
  const Row& row = row_of(Layout::kGrowing);
  const double promised = row.rate(kKeysInLine * 40, 40 * 512, kProbes);
  CHECK(promised > 0.008);
  CHECK(promised < 0.0105);
  const std::vector<std::uint64_t> absent = random_digests(200000, 99);
  double keys = 0;
  for (std::uint32_t i = 0; i < kMaxSlices; ++i) {
    body.have(i + 1);
    const auto more = static_cast<std::size_t>(kKeysInLine * static_cast<double>(kMany[i]));
    for (const std::uint64_t digest : random_digests(more, i)) keys += body.add(digest) ? 1 : 0;
    const auto found = std::ranges::count_if(absent, [&](std::uint64_t digest) { return body.contains(digest); });
    const double measured = static_cast<double>(found) / static_cast<double>(absent.size());
    layout::FillCounter counter(row, body.geometry);
    for (std::uint32_t slice = 0; slice <= i; ++slice)
      counter.take(body.memory.words() + body.slices.of[slice].first_word, kMany[slice] * kLineWords);
    const Fill fill = counter.fill();
    CAPTURE(i);
    CHECK(measured == doctest::Approx(promised * (i + 1) / kMaxSlices).epsilon(0.1));
    CHECK(fill.estimated_fpr == doctest::Approx(measured).epsilon(0.1));
    CHECK(fill.estimated_keys == doctest::Approx(keys).epsilon(0.01));
    CHECK(fill.estimated_keys_low < fill.estimated_keys);
    CHECK(fill.fill_ratio == doctest::Approx(row.expected_fill(kKeysInLine * 40, 40 * 512, kProbes)).epsilon(0.01));
  }
}
