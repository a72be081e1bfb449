// From any two or more of n, p, m, k and bits per key to the rest, in every layout; and what is refused, in which
// words.
#include "sizing/complete.hpp"

#include <cmath>
#include <limits>

#include "support/occupancy.hpp"
#include "support/support.hpp"

using namespace rooms;
using sizing::false_positive_rate;
using sizing::Size;

namespace {

struct Given {
  std::uint64_t n = 0;
  double p = 0;
  std::uint64_t m = 0;
  std::uint32_t k = 0;
  double bits_per_key = 0;
  std::uint64_t max_bytes = 0;
};

Options options_of(const Given& given) {
  Options options;
  options.capacity = given.n;
  options.fpr = given.p;
  options.num_bits = given.m;
  options.num_probes = given.k;
  options.bits_per_key = given.bits_per_key;
  options.max_bytes = given.max_bytes;
  return options;
}

Size completed(const layout::Row& row, const Given& given) {
  return must(sizing::complete(row, options_of(given), given.max_bytes));
}

double rate(const layout::Row& row, std::uint64_t n, std::uint64_t m, std::uint32_t k) {
  return false_positive_rate(row, n, m, k != 0 ? k : sizing::best_probes(row, n, m));
}

void check_every_layout_refuses(const Given& given, Code code, std::initializer_list<const char*> words) {
  for (const Layout layout : every_layout()) {
    CAPTURE(layout);
    check_refused(sizing::complete(layout::row_of(layout), options_of(given), given.max_bytes), code, words);
  }
}

}  // namespace

TEST_CASE("n and p, with k or without: the smallest m that keeps the rate, from one key to 2^43 bits") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    for (const std::uint64_t n :
         {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{300}, std::uint64_t{12'345'678}, std::uint64_t{1} << 30}) {
      for (const double p : {0.5, 0.01, 1e-4}) {
        for (const std::uint32_t k : {0U, 1U, 3U, 7U, 20U}) {
          const Size size = completed(row, {.n = n, .p = p, .k = k});
          CAPTURE(row.info.name);
          CAPTURE(n);
          CAPTURE(p);
          CAPTURE(k);
          CHECK(size.capacity == n);
          if (k != 0) CHECK(size.num_probes == k);
          CHECK(size.num_bits % row.unit_bits == 0);
          CHECK(size.fpr == rate(row, n, size.num_bits, size.num_probes));
          CHECK(size.fpr <= p * (1 + 1e-9));
          const std::uint64_t less = std::max(row.unit_bits, size.num_bits / 100'000);
          // One key has the rate of its own bits alone, and few bits round to whole lines.
          if (size.num_bits > less) CHECK(rate(row, n, size.num_bits - less, k) > p);
        }
      }
    }
  }
}

TEST_CASE("m and p, with k or without: the most keys that keep the rate, up to 2^40 bits") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    for (const std::uint64_t m : {std::uint64_t{512}, std::uint64_t{51'200}, std::uint64_t{1} << 40}) {
      for (const double p : {0.9, 0.5, 0.05}) {
        for (const std::uint32_t k : {0U, 1U, 6U}) {
          const Size size = completed(row, {.p = p, .m = m, .k = k});
          CAPTURE(row.info.name);
          CAPTURE(m);
          CAPTURE(p);
          CAPTURE(k);
          CHECK(size.num_bits == m);
          if (k != 0) CHECK(size.num_probes == k);
          CHECK(size.fpr == rate(row, size.capacity, m, size.num_probes));
          CHECK(size.fpr <= p);
          CHECK(rate(row, size.capacity + size.capacity / 100'000 + 1, m, k) > p);
        }
      }
    }
  }
}

TEST_CASE("n and m: the best k and its rate; with k that one; with p only if the rate is kept") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    const Size best = completed(row, {.n = 51'200, .m = 512'000});
    CHECK(best.num_probes == sizing::best_probes(row, 51'200, best.num_bits));
    CHECK(best.fpr == rate(row, 51'200, best.num_bits, 0));
    const Size one = completed(row, {.n = 51'200, .m = 512'000, .k = 1});
    CHECK(one.num_probes == 1);
    CHECK(one.fpr > best.fpr);
    CHECK(completed(row, {.n = 51'200, .p = best.fpr, .m = 512'000}).num_probes == best.num_probes);
    const double less = best.fpr * 0.999;
    const auto enough = sizing::solve_for_rate(row, 51'200, less);
    REQUIRE(enough.ok());
    const std::string bits = " give " + std::to_string(enough->num_bits) + " bits, or fewer keys.";
    check_refused(sizing::complete(row, options_of({.n = 51'200, .p = less, .m = 512'000}), 0), Code::kSizing,
                  {"51200 keys in 512000 bits", row.info.name, "at best", bits.c_str()});
    CHECK(completed(row, {.n = 51'200, .p = less, .m = enough->num_bits}).fpr <= less);
    check_refused(sizing::complete(row, options_of({.n = 51'200, .p = best.fpr, .m = 512'000, .k = 1}), 0),
                  Code::kSizing, {"with 1 probe. For "});
  }
}

TEST_CASE("bits per key stands for n or for m, and is bits of the body") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    CAPTURE(row.info.name);
    const Size by_keys = completed(row, {.n = 51'200, .bits_per_key = 20});
    CHECK(layout::body_bytes(row, by_keys.num_bits) == 128'000);
    const Size by_bits = completed(row, {.m = by_keys.num_bits, .bits_per_key = 20});
    CHECK(by_bits.capacity == 51'200);
    CHECK(by_bits.fpr == by_keys.fpr);
    const Size by_bytes = completed(row, {.bits_per_key = 20, .max_bytes = 128'000});
    CHECK(by_bytes.num_bits == by_keys.num_bits);
    CHECK(by_bytes.capacity == 51'200);
  }
}

TEST_CASE("ratios alone are computed for a million keys, and lead to each other") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    CAPTURE(row.info.name);
    const Size size = completed(row, {.p = 0.01, .k = 5});
    CHECK(size.capacity == sizing::kAnyKeys);
    const double bits_per_key = static_cast<double>(layout::body_bytes(row, size.num_bits) * 8) / 1e6;
    const Size back = completed(row, {.k = 5, .bits_per_key = bits_per_key});
    CHECK(back.num_bits - size.num_bits < 64);  // a body has whole words
    CHECK(back.fpr <= size.fpr);
    CHECK(back.fpr == doctest::Approx(size.fpr).epsilon(1e-4));
    CHECK(completed(row, {.p = 0.01, .bits_per_key = bits_per_key}).fpr <= size.fpr);
    check_refused(sizing::complete(row, options_of({.p = 0.001, .bits_per_key = bits_per_key}), 0), Code::kSizing,
                  {"1000000 keys"});
  }
}

TEST_CASE("k with n or with m: half of the bits are set") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    for (const Given& given : {Given{.n = 1'000'000, .k = 7}, Given{.m = 10'240'000, .k = 7}}) {
      const Size size = completed(row, given);
      CHECK(size.num_probes == 7);
      const auto keys = static_cast<double>(size.capacity);
      CHECK(keys * 7 / static_cast<double>(size.num_bits) == doctest::Approx(std::log(2.0)).epsilon(1e-3));
      CHECK(size.fpr == rate(row, size.capacity, size.num_bits, 7));
    }
  }
}

// If m is large: k = (m/n) ln 2 and m = -n ln p / (ln 2)^2, exactly if that k is whole (p = 2^-k).
TEST_CASE("classic: in large filters n and p lead to Bloom's m and k, and back") {
  const layout::Row& row = layout::row_of(Layout::kClassic);
  for (const std::uint64_t n : {std::uint64_t{1} << 20, std::uint64_t{1} << 30, std::uint64_t{1} << 36}) {
    for (const std::uint32_t k : {1U, 4U, 7U, 10U}) {
      const double p = std::pow(0.5, k);
      const double bloom = static_cast<double>(n) * -std::log(p) / (std::log(2.0) * std::log(2.0));
      const Size size = completed(row, {.n = n, .p = p});
      CAPTURE(n);
      CAPTURE(k);
      CHECK(size.num_probes == k);
      CHECK(static_cast<double>(size.num_bits) == doctest::Approx(bloom).epsilon(1e-4));
      const Size back = completed(row, {.p = p, .m = size.num_bits});
      CHECK(static_cast<double>(back.capacity) == doctest::Approx(static_cast<double>(n)).epsilon(1e-4));
    }
  }
}

// Bose et al. 2008: there Bloom's formula is below the truth. A plan that took it would break its promise.
TEST_CASE("classic: in tiny filters the planned rate is the exact one or above it, where Bloom's formula is below") {
  const layout::Row& row = layout::row_of(Layout::kClassic);
  for (const std::uint64_t m : {8U, 20U, 64U, 124U}) {
    for (const std::uint32_t k : {2U, 4U, 8U}) {
      const std::uint64_t n = m / k;
      const Size size = completed(row, {.n = n, .m = m, .k = k});
      const double exact = exact_classic(n, m, k);
      const double bloom = std::pow(-std::expm1(-static_cast<double>(k * n) / static_cast<double>(m)), k);
      CAPTURE(m);
      CAPTURE(k);
      CHECK(size.fpr > exact * (1 - 2e-6));
      CHECK(size.fpr < exact * 1.15);
      CHECK(bloom < exact);
    }
  }
}

TEST_CASE("too few numbers, and numbers that contradict each other, are refused by name") {
  check_every_layout_refuses({}, Code::kInvalid, {"nothing was given", "Give two of"});
  check_every_layout_refuses({.p = 0.01}, Code::kInvalid, {"only fpr"});
  check_every_layout_refuses({.k = 7}, Code::kInvalid, {"only num_probes"});
  check_every_layout_refuses({.m = 512}, Code::kInvalid, {"only num_bits"});
  check_every_layout_refuses({.max_bytes = 512}, Code::kInvalid, {"only max_bytes"});
  check_every_layout_refuses({.bits_per_key = 10}, Code::kInvalid, {"only bits_per_key"});
  check_every_layout_refuses({.m = 512, .max_bytes = 512}, Code::kInvalid, {"num_bits and max_bytes", "each gives m"});
  check_every_layout_refuses({.n = 9, .m = 512, .bits_per_key = 10}, Code::kInvalid,
                             {"capacity and bits_per_key and num_bits", "two of them give the third"});
  check_every_layout_refuses({.n = 9, .bits_per_key = 10, .max_bytes = 512}, Code::kInvalid,
                             {"capacity and bits_per_key and max_bytes"});
}

TEST_CASE("numbers out of range, and numbers that no filter can have, are refused by name") {
  check_every_layout_refuses({.n = 9, .p = 1}, Code::kInvalid, {"false-positive rate 1"});
  check_every_layout_refuses({.n = 9, .k = 65}, Code::kInvalid, {"num_probes 65"});
  check_every_layout_refuses({.n = 9, .m = kMaxBits + 1}, Code::kInvalid, {"num_bits 281474976710657"});
  check_every_layout_refuses({.n = 9, .bits_per_key = std::numeric_limits<double>::infinity()}, Code::kInvalid,
                             {"bits per key"});
  check_every_layout_refuses({.n = std::uint64_t{1} << 47, .k = 7}, Code::kInvalid, {"more than 2^48 bits"});
  check_every_layout_refuses({.n = std::uint64_t{1} << 47, .bits_per_key = 7}, Code::kInvalid, {"2^48 bits"});
  check_every_layout_refuses({.m = 512, .bits_per_key = 1e9}, Code::kInvalid, {"from 1 to 2^63 keys"});
  check_every_layout_refuses({.n = std::uint64_t{1} << 47, .p = 0.01}, Code::kSizing, {"2^48 bits"});
  check_every_layout_refuses({.n = 10, .max_bytes = 1}, Code::kInvalid, {"1 bytes are too few"});
  check_every_layout_refuses({.p = 1e-7, .m = 512, .k = 1}, Code::kSizing, {"no room for one key"});
  check_refused(sizing::complete(layout::row_of(Layout::kBlocked), options_of({.p = 1e-9, .m = 1 << 30}), 0),
                Code::kSizing, {"1e-09", "blocked", "classic"});
}

TEST_CASE("n alone has the rate of a filter that is made with n alone") {
  for (const Layout layout : every_layout()) {
    const layout::Row& row = layout::row_of(layout);
    Options options;
    options.capacity = 5000;
    CHECK(completed(row, {.n = 5000}).num_bits == must(sizing::solve(row, options, 0)).num_bits);
  }
}
