// The promise: at n keys the rate is the requested p, or less. Measured for p from 0.1 to 1e-5, for many keys and for
// few.
#include <cmath>

#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

Options asked(Layout layout, std::uint64_t n, double p) {
  Options options;
  options.layout = layout;
  options.hash = Hash::kExternal;
  options.capacity = n;
  options.fpr = p;
  return options;
}

// Returns how many false positives to wait for: fewer for a low p, at which they are rare.
std::uint64_t positives_for(double p) { return (p >= 1e-3 ? 40000 : p >= 1e-4 ? 10000 : 2000) / kKeyScale; }

void check_promise(Layout layout) {
  const std::uint64_t n = 1 << 20;
  for (const double p : {0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5}) {
    CAPTURE(layout);
    CAPTURE(p);
    InMemory made = InMemory::make(asked(layout, n, p));
    CHECK(made.filter.shape().capacity == n);
    CHECK(made.filter.shape().fpr == p);
    add_mixed(made.filter, 0, n);
    const double expected = static_cast<double>(positives_for(p));
    const auto absent = static_cast<std::uint64_t>(expected / p);
    const auto positives = static_cast<double>(count_maybes(made.filter, n, absent));
    CHECK(positives < expected + 3 * std::sqrt(expected));
    CHECK(positives > 0.97 * expected - 3 * std::sqrt(expected));  // and no bits are wasted
  }
}

// Checks the mean of the false positives over many small filters with other keys each, and its standard error.
void check_small(Layout layout, std::uint64_t n, double p) {
  const std::uint64_t filters = 400 / kKeyScale;
  const auto absent = static_cast<std::uint64_t>(5 / p);
  const Shape shape = InMemory::make(asked(layout, n, p)).filter.shape();
  Options same_size;  // computed once, because sizing takes longer than everything else here
  same_size.layout = layout;
  same_size.hash = Hash::kExternal;
  same_size.num_bits = shape.num_bits;
  same_size.num_probes = shape.num_probes;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < filters; ++i) {
    InMemory made = InMemory::make(same_size);
    const std::uint64_t own = i << 32;
    add_mixed(made.filter, own, n);
    REQUIRE(count_maybes(made.filter, own, n) == n);
    const auto positives = static_cast<double>(count_maybes(made.filter, own + n, absent));
    sum += positives;
    squares += positives * positives;
  }
  const auto count = static_cast<double>(filters);
  const double mean = sum / count;
  const double error = std::sqrt(std::max(5.0, squares / count - mean * mean) / count);
  CAPTURE(layout);
  CAPTURE(n);
  CAPTURE(p);
  CHECK(mean < 5 + 3 * error);
}

}  // namespace

TEST_CASE("in every layout: the promised p is met at n, from 0.1 to 1e-5") {
  for (const Layout layout : every_layout_in_memory()) check_promise(layout);
}

TEST_CASE("filters for a few keys keep the promise too") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::uint64_t n : {1U, 2U, 3U, 10U, 40U, 100U, 300U, 1000U}) {
      for (const double p : {0.5, 0.1, 0.01, 0.001}) check_small(layout, n, p);
    }
  }
}
