// The estimates that the fill of a filter gives: the number of keys within 2 %, and the false-positive rate now, from
// nearly empty to overfull.
#include <cmath>
#include <random>

#include "layout/layout.hpp"
#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kCapacity = 1 << 18;

Options options_of(Layout layout, double bits_per_key) {
  Options options;
  options.layout = layout;
  options.hash = Hash::kExternal;
  options.capacity = kCapacity;
  options.bits_per_key = bits_per_key;
  return options;
}

void check_rate_now(const Filter& filter, std::uint64_t keys, double rate) {
  const double expected = 20000.0 / static_cast<double>(kKeyScale);
  if (expected / rate > 1e8) return;  // too rare to be waited for
  const auto absent = static_cast<std::uint64_t>(expected / rate);
  const auto positives = static_cast<double>(count_maybes(filter, keys, absent));
  CHECK(positives < 1.02 * expected + 3 * std::sqrt(expected));
  CHECK(positives > expected / 1.02 - 3 * std::sqrt(expected));
}

}  // namespace

TEST_CASE("the estimates of keys and of the rate hold from a hundredth of the capacity to three times as much") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const double bits_per_key : {6.0, 10.0, 16.0}) {
      InMemory made = InMemory::make(options_of(layout, bits_per_key));
      std::uint64_t keys = 0;
      for (const double part : {0.01, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0}) {
        const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(kCapacity));
        add_mixed(made.filter, keys, wanted - keys);
        keys = wanted;
        const Fill fill = *made.filter.stats({.fill = true}).fill;
        CAPTURE(layout);
        CAPTURE(bits_per_key);
        CAPTURE(part);
        CHECK(fill.estimated_keys == doctest::Approx(static_cast<double>(keys)).epsilon(0.02));
        check_rate_now(made.filter, keys, fill.estimated_fpr);
      }
    }
  }
}

// 95 of 100 intervals must have the number of keys, and the mean of the estimates must be that number. Many random
// filters are tried at each fill. They are small, so that each estimate is far from exact.
TEST_CASE("the interval of the estimate has the number of keys as often as it says, and the mean has no bias") {
  constexpr std::uint64_t kBits = 512 * 40;
  constexpr std::uint32_t kProbes = 6;
  const auto rounds = std::max<std::uint64_t>(400 / kKeyScale, 100);
  std::mt19937_64 random(20260722);
  for (const Layout layout : every_layout_in_memory()) {
    const layout::Row& row = layout::row_of(layout);
    const layout::Geometry geometry = row.geometry(kBits, kProbes);
    for (const double full : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9}) {
      const auto keys = static_cast<std::uint64_t>(-std::log1p(-full) * static_cast<double>(kBits) / kProbes);
      double sum = 0;
      double squares = 0;
      std::uint64_t inside = 0;
      for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<std::uint64_t> words(kBits * row.info.cell_bits / 64 + 8);
        std::uint64_t* const body = words.data() + (64 - reinterpret_cast<std::uintptr_t>(words.data()) % 64) % 64 / 8;
        for (std::uint64_t i = 0; i < keys; ++i) row.scalar->add.one(body, geometry, random());
        layout::FillCounter counter(row, geometry);
        counter.take(body, kBits * row.info.cell_bits / 64);
        const Fill fill = counter.fill();
        sum += fill.estimated_keys;
        squares += fill.estimated_keys * fill.estimated_keys;
        const auto there = static_cast<double>(keys);
        inside += fill.estimated_keys_low <= there && there <= fill.estimated_keys_high ? 1U : 0U;
      }
      const auto number = static_cast<double>(rounds);
      const double mean = sum / number;
      const double deviation = std::sqrt(std::max(squares / number - mean * mean, 1e-9));
      CAPTURE(layout);
      CAPTURE(full);
      CAPTURE(keys);
      CHECK(std::abs(mean - static_cast<double>(keys)) < 4 * deviation / std::sqrt(number) + 0.1);
      const double missed = 4 * std::sqrt(0.95 * 0.05 / number);
      CHECK(static_cast<double>(inside) / number > 0.95 - missed);
      CHECK(static_cast<double>(inside) / number < 0.95 + missed + (full < 0.05 ? 0.05 : 0));  // whole keys
    }
  }
}

TEST_CASE("the fill is counted bit by bit, or counter by counter") {
  for (const Layout layout : every_layout_in_memory()) {
    const auto cell_bits = static_cast<unsigned>(layout::row_of(layout).info.cell_bits);
    for (const std::uint64_t bits : {512U, 5120U, 99840U}) {
      Options options;
      options.layout = layout;
      options.num_bits = bits;
      options.num_probes = 5;
      InMemory made = InMemory::make(options);
      const Fill empty = *made.filter.stats({.fill = true}).fill;
      CHECK(empty.set_bits == 0);
      CHECK(empty.fill_ratio == 0);
      CHECK(empty.estimated_keys == 0);
      CHECK(empty.estimated_fpr == 0);
      CHECK_FALSE(made.filter.stats().fill.has_value());
      add_mixed(made.filter, 0, bits / 8);
      std::uint64_t set = 0;
      for (const std::byte byte : body_of(made)) {
        for (unsigned bit = 0; bit < 8; bit += cell_bits)
          set += (std::to_integer<unsigned>(byte) >> bit & ((1U << cell_bits) - 1)) != 0 ? 1U : 0U;
      }
      const Fill fill = *made.filter.stats({.fill = true}).fill;
      CHECK(fill.set_bits == set);
      CHECK(fill.fill_ratio == doctest::Approx(static_cast<double>(set) / static_cast<double>(bits)));
    }
  }
}

TEST_CASE("blocked: the rate now is the mean over blocks, not the rate of the mean fill") {
  Options options;
  options.num_bits = 1024;
  options.num_probes = 4;
  InMemory made = InMemory::make(options);
  const auto body = body_of(made);
  std::fill(body.begin(), body.begin() + 64, std::byte{0xff});  // one block full, one empty
  const Fill fill = *made.filter.stats({.fill = true}).fill;
  CHECK(fill.fill_ratio == 0.5);
  CHECK(fill.estimated_fpr == 0.5);
  // A full line counts as one that lacks half a bit; the logarithm of so few empty bits is too great by 1 in the mean.
  CHECK(fill.estimated_keys == doctest::Approx(128 * (std::log(1024.0) - 1)).epsilon(0.001));
}

TEST_CASE("a full filter is said to be full: rate 1, and estimated keys that are finite") {
  for (const Layout layout : every_layout_in_memory()) {
    Options options;
    options.layout = layout;
    options.num_bits = 5120;
    options.num_probes = 4;
    InMemory made = InMemory::make(options);
    const auto body = body_of(made);
    std::fill(body.begin(), body.end(), std::byte{0xff});
    const Fill fill = *made.filter.stats({.fill = true}).fill;
    CHECK(fill.set_bits == 5120);
    CHECK(fill.fill_ratio == 1);
    CHECK(fill.estimated_fpr == 1);
    CHECK(std::isfinite(fill.estimated_keys));
    CHECK(fill.estimated_keys > 5120.0 / 4);
  }
}

TEST_CASE("the inspector counts a file in pieces to the same numbers as its open handle") {
  const TemporaryDirectory directory;
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::uint64_t bytes : {64U, 1U << 20, (1U << 20) + 64, (3U << 20) + 192}) {
      Options options;
      options.layout = layout;
      options.num_bits = layout::bits_in(layout::row_of(layout), bytes);
      options.num_probes = 3;
      const std::string path = directory.file(std::to_string(bytes) + layout_of(layout)->name);
      Filter filter = must(Filter::create(path, options));
      add_mixed(filter, 0, bytes / 2);
      const Fill open = *filter.stats({.fill = true}).fill;
      const Report report = must(inspect(path));
      REQUIRE(report.fill.has_value());
      CHECK(open.set_bits > 0);
      CHECK(report.fill->set_bits == open.set_bits);
      CHECK(report.fill->fill_ratio == open.fill_ratio);
      CHECK(report.fill->estimated_keys == doctest::Approx(open.estimated_keys));
      CHECK(report.fill->estimated_fpr == doctest::Approx(open.estimated_fpr));
      CHECK_FALSE(must(inspect(path, false)).fill.has_value());
    }
  }
}

TEST_CASE("bits after m, which no key sets, are not counted") {
  Options options;
  options.num_bits = 61;
  options.num_probes = 3;
  options.layout = Layout::kClassic;
  InMemory made = InMemory::make(options);
  // The last 8 of 64 bits, of which 5 are in m; after them is the end word.
  made.buffer.bytes()[made.buffer.bytes().size() - 9] = std::byte{0xff};
  CHECK(made.filter.stats({.fill = true}).fill->set_bits == 5);
}
