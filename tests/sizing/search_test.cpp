// The sizing room's short ways to m and k, compared with a search through all of them.
#include <cmath>
#include <optional>

#include "sizing/sizing.hpp"
#include "support/support.hpp"

using namespace rooms;
using layout::Row;
using sizing::false_positive_rate;

namespace {

// The rounding error of a rate that is 1, or of rates that are equal.
constexpr double kRounding = 1e-12;

double rate_of(const Row& row, double keys, double bits, double probes) {
  return keys / bits > 64 ? 1 : row.rate(keys, bits, probes);
}

std::uint32_t searched_probes(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits) {
  std::uint32_t best = 1;
  double best_rate = 2;
  for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
    const double rate = false_positive_rate(row, num_keys, num_bits, k);
    if (rate < best_rate) best = k;
    best_rate = std::min(rate, best_rate);
  }
  return best;
}

// Finds the bits a key by bisection, as a real number. Returns nothing if `most` are too few.
std::optional<double> searched_bits_per_key(const Row& row, double keys, double fpr, double probes, double most) {
  double high = std::max(most, static_cast<double>(row.fewest_bits) / keys);
  if (rate_of(row, keys, keys * high, probes) > fpr) return std::nullopt;
  double low = std::min(0.1, static_cast<double>(row.fewest_bits) / keys);
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (rate_of(row, keys, keys * middle, probes) > fpr ? low : high) = middle;
  }
  return high;
}

struct Found {
  std::uint64_t num_bits = 0;  // 0: none
  std::uint32_t num_probes = 0;
};

// Tries each k in turn, with a bisection for each.
Found searched_size(const Row& row, std::uint64_t num_keys, double fpr) {
  const auto keys = static_cast<double>(num_keys);
  std::optional<double> best;
  std::uint32_t best_k = 0;
  for (std::uint32_t k = 1; k <= kMaxProbes && (!best || k <= best_k + 4); ++k) {
    const auto bits = searched_bits_per_key(row, keys, fpr, k, best.value_or(1024));
    if (!bits || (best && *bits >= *best * (1 - 1e-9))) continue;
    best = bits;
    best_k = k;
  }
  if (!best) return {};
  return {layout::whole_bits(row, static_cast<std::uint64_t>(std::ceil(keys * *best))), best_k};
}

// Checks that k is the search's, or that its rate is the same except for rounding. Returns whether k is the same.
bool check_probes(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits) {
  const std::uint32_t k = sizing::best_probes(row, num_keys, num_bits);
  const std::uint32_t searched = searched_probes(row, num_keys, num_bits);
  if (k == searched) return true;
  CAPTURE(row.info.name);
  CAPTURE(num_keys);
  CAPTURE(num_bits);
  CAPTURE(k);
  CAPTURE(searched);
  REQUIRE(false_positive_rate(row, num_keys, num_bits, k) <=
          false_positive_rate(row, num_keys, num_bits, searched) * (1 + kRounding));
  return false;
}

// Checks that m is the search's or less, that k is the search's, and that the promise is kept.
void check_size(const Row& row, std::uint64_t num_keys, double fpr) {
  CAPTURE(row.info.name);
  CAPTURE(num_keys);
  CAPTURE(fpr);
  Options options;
  options.capacity = num_keys;
  options.fpr = fpr;
  const Found searched = searched_size(row, num_keys, fpr);
  const auto size = sizing::solve(row, options, 0);
  REQUIRE(size.ok() == (searched.num_bits != 0 && searched.num_bits <= layout::most_bits(row)));
  if (!size) return;
  REQUIRE(size->num_bits <= searched.num_bits);
  REQUIRE(size->num_probes == searched.num_probes);
  REQUIRE(false_positive_rate(row, num_keys, size->num_bits, size->num_probes) <= fpr * (1 + kRounding));
}

// Returns a number from `least` to `most`, equally often in each power of ten. Each run gets the same numbers.
double somewhere(std::uint64_t number, double least, double most) {
  const double part = static_cast<double>(mix(number) >> 11) * 0x1p-53;
  return least * std::pow(most / least, part);
}

const std::uint64_t kSizes = 2000 / kKeyScale;

const Row& row_of(Layout layout) { return layout::row_of(layout); }

}  // namespace

TEST_CASE("the best k of few keys is the one that a search finds") {
  for (const Layout layout : every_layout()) {
    const bool in_lines = row_of(layout).in_lines;
    for (std::uint64_t n = 1; n <= (in_lines ? 1000 / kKeyScale : 40); ++n) {
      for (std::uint64_t m = 1; m <= (in_lines ? 1 : 60 * n); m += in_lines ? 1 : 1 + n / 4)
        CHECK(check_probes(row_of(layout), n, layout::whole_bits(row_of(layout), m)));
    }
  }
}

TEST_CASE("the best k is the one that a search finds, from 1 to 10^13 keys at 0.02 to 700 bits each") {
  for (const Layout layout : every_layout()) {
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < kSizes; ++i) {
      const double keys = std::ceil(somewhere(2 * i, 1, 1e13));
      const double bits = std::ceil(keys * somewhere(2 * i + 1, 0.02, 700));
      if (bits > static_cast<double>(layout::most_bits(row_of(layout)))) continue;
      const std::uint64_t num_bits = layout::whole_bits(row_of(layout), static_cast<std::uint64_t>(bits));
      if (check_probes(row_of(layout), static_cast<std::uint64_t>(keys), num_bits)) ++same;
    }
    CAPTURE(layout);
    CHECK(same > kSizes * 8 / 10);  // where all bits are set, and where one key has 600 of them, rounding decides
  }
}

// The table of the blocked layout: a mistake in it shows only here.
TEST_CASE("the best k changes where a search says, to a ten-thousandth of the load") {
  const Row& row = row_of(Layout::kBlocked);
  constexpr std::uint64_t kLines = 1 << 20;
  for (std::uint32_t k = 1; k <= 19; ++k) {
    // Finds where k + 1 becomes better, with fewer keys.
    double low = 6.5 * kLines;
    double high = 400.0 * kLines;
    while (high - low > 1) {
      const double keys = std::floor((low + high) / 2);
      const bool next = row.rate(keys, kLines * 512.0, k + 1) < row.rate(keys, kLines * 512.0, k);
      (next ? low : high) = keys;
    }
    for (const double near : {0.998, 0.99985, 0.99995, 1.0, 1.00005, 1.00015, 1.002}) {
      const auto keys = static_cast<std::uint64_t>(high * near);
      CAPTURE(k);
      CAPTURE(near);
      CHECK(check_probes(row, keys, kLines * 512));
      if (near < 0.999) CHECK(sizing::best_probes(row, keys, kLines * 512) == k + 1);
      if (near > 1.001) CHECK(sizing::best_probes(row, keys, kLines * 512) == k);
    }
  }
}

TEST_CASE("the size for few keys and a rate is what a search finds, or smaller") {
  for (const Layout layout : every_layout()) {
    for (std::uint64_t n = 1; n <= 40; n += kKeyScale) {
      for (const double p : {0.99, 0.5, 0.1, 0.01, 1e-3, 1e-6}) check_size(row_of(layout), n, p);
    }
  }
}

TEST_CASE(
    "the size for a rate is what a search finds, or smaller, from 1 to 10^12 keys and from the least rate to 0.99") {
  for (const Layout layout : every_layout()) {
    const std::uint64_t sizes = row_of(layout).in_lines ? kSizes / 10 : kSizes;
    for (std::uint64_t i = 0; i < sizes; ++i) {
      check_size(row_of(layout), static_cast<std::uint64_t>(somewhere(2 * i, 1, 1e12)),
                 somewhere(2 * i + 1, std::max(1e-8, row_of(layout).least_rate), 0.99));
    }
  }
}

TEST_CASE("a remembered size is used only for the same keys, rate and layout") {
  std::uint64_t checked = 0;
  std::vector<std::pair<std::uint64_t, double>> asked;
  for (std::uint64_t i = 0; i < 300; ++i) asked.emplace_back(20 + i % 30, i % 4 < 2 ? 0.01 : 0.02);
  std::vector<std::array<std::uint64_t, 2>> first;
  for (int round = 0; round < 3; ++round) {  // many of them in the same places
    for (std::size_t i = 0; i < asked.size(); ++i) {
      for (const Layout layout : every_layout()) {
        Options options;
        options.capacity = asked[i].first;
        options.fpr = asked[i].second;
        const sizing::Size size = must(sizing::solve(row_of(layout), options, 0));
        const std::array<std::uint64_t, 2> now{size.num_bits, size.num_probes};
        if (round == 0) {
          const Found searched = i < 60 ? searched_size(row_of(layout), options.capacity, options.fpr) : Found{};
          if (i < 60) REQUIRE(now == std::array<std::uint64_t, 2>{searched.num_bits, searched.num_probes});
          first.push_back(now);
        } else {
          REQUIRE(now == first[checked++ % first.size()]);
        }
      }
    }
  }
  CHECK(checked == 2 * first.size());
}

TEST_CASE("a rate that no k reaches is refused where a search finds none") {
  for (const Layout layout : every_layout()) {
    for (const std::uint64_t n : {std::uint64_t{1} << 44, std::uint64_t{1} << 47, std::uint64_t{1} << 55}) {
      for (const double p : {0.3, 1e-2, 1e-7}) check_size(row_of(layout), n, p);
    }
  }
}
