// The false-positive rate at capacity, measured on 40,000 false positives and compared with the theory: for every
// layout and for 8 to 20 bits a key. The theory is written out here and in occupancy.hpp; src/sizing is compared with
// it, too.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <bfstore/layout/probes.hpp>

#include "support/occupancy.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

const std::uint64_t kPositives = 40000 / kKeyScale;
constexpr std::array kBitsPerKey{8.0, 10.0, 12.0, 16.0, 20.0};

// Enough keys that filters of the same shape do not differ: blocks of one filter differ by as much as their mean rate,
// and there are tens of thousands of them.
constexpr std::uint64_t kKeys = 1 << 20;

double theory_of(const Shape& shape) {
  const double bits_per_key = static_cast<double>(shape.num_bits) / static_cast<double>(kKeys);
  if (shape.layout == Layout::kBlocked) return ExactBlocks(shape.num_probes).rate(bits_per_key);
  if (shape.layout == Layout::kCounting) return ExactBlocks(shape.num_probes, 128).rate(bits_per_key);
  REQUIRE(shape.layout == Layout::kClassic);  // another layout has a theory of its own
  return std::pow(-std::expm1(-(shape.num_probes / bits_per_key)), shape.num_probes);
}

void check_positives(std::uint64_t positives, double expected) {
  const double error = std::sqrt(expected);
  CAPTURE(expected);
  CHECK(static_cast<double>(positives) < 1.02 * expected + 3 * error);
  CHECK(static_cast<double>(positives) > expected / 1.02 - 3 * error);
}

// layout/window_test.cpp measures those with epochs, and layout/growing_test.cpp the one that grows, which are those of
// a file, and static_layout_test.cpp the one that is built.
std::vector<Layout> whose_keys_stay() {
  std::vector<Layout> all;
  for (const LayoutInfo& info : layouts()) {
    if (info.can.add && !info.can.expire && !info.can.grow) all.push_back(info.layout);
  }
  return all;
}

void measure(Layout layout) {
  for (const double bits_per_key : kBitsPerKey) {
    CAPTURE(layout);
    CAPTURE(bits_per_key);
    Options options;
    options.layout = layout;
    options.hash = Hash::kExternal;
    options.capacity = kKeys;
    options.bits_per_key = bits_per_key;
    InMemory made = InMemory::make(options);
    add_mixed(made.filter, 0, kKeys);
    const double theory = theory_of(made.filter.shape());
    CHECK(made.filter.shape().fpr == doctest::Approx(theory).epsilon(0.003));
    const auto absent = static_cast<std::uint64_t>(static_cast<double>(kPositives) / theory);
    check_positives(count_maybes(made.filter, kKeys, absent), static_cast<double>(absent) * theory);
  }
}

// Some neighboring lines of a blocked filter that is too large for this machine. The digests that lead to them share
// nearly all high bits. In the larger filters these reach into the half that the probes come from.
class Neighbours {
 public:
  static constexpr std::uint64_t kLines = 1 << 12;

  Neighbours(unsigned line_bits, std::uint32_t num_probes) noexcept
      : line_bits_(line_bits), geometry_{kLineBits << line_bits, std::uint64_t{1} << line_bits, num_probes} {}

  void add(std::uint64_t counter) noexcept {
    layout::Blocked::each_probe(geometry_, located(counter), [this](std::uint64_t bit) {
      words_[bit / 64] |= std::uint64_t{1} << bit % 64;
      return true;
    });
  }

  [[nodiscard]] bool contains(std::uint64_t counter) const noexcept {
    return layout::Blocked::each_probe(geometry_, located(counter),
                                       [this](std::uint64_t bit) { return (words_[bit / 64] >> bit % 64 & 1U) != 0; });
  }

 private:
  [[nodiscard]] layout::Located located(std::uint64_t counter) const noexcept {
    const std::uint64_t first = 0x5a5a5a5a5a5a5a5a >> (64 - line_bits_) & ~(kLines - 1);
    const std::uint64_t line = first + mix(2 * counter) % kLines;
    layout::Located at =
        layout::Blocked::locate(geometry_, line << (64 - line_bits_) | mix(2 * counter + 1) >> line_bits_);
    at.word -= first * (kLineBits / 64);
    return at;
  }

  unsigned line_bits_;
  layout::Geometry geometry_;
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kLines * kLineBits / 64);
};

}  // namespace

TEST_CASE("in every layout: the measured rate at capacity is the theory's at 8, 10, 12, 16 and 20 bits a key") {
  for (const Layout layout : whose_keys_stay()) measure(layout);
}

TEST_CASE("blocked: the measured rate in neighboring lines of filters of 2^32, 2^36 and 2^39 lines is the theory's") {
  for (const unsigned line_bits : {32U, 36U, 39U}) {
    for (const auto& shape : {std::pair{10U, 6U}, std::pair{16U, 9U}, std::pair{24U, 12U}}) {
      const auto bits_per_key =
          shape.first;  // no structured binding: CAPTURE is a lambda, and clang 14 has none of these
      const auto num_probes = shape.second;
      CAPTURE(line_bits);
      CAPTURE(bits_per_key);
      Neighbours lines(line_bits, num_probes);
      const std::uint64_t keys = Neighbours::kLines * kLineBits / bits_per_key;
      for (std::uint64_t i = 0; i < keys; ++i) lines.add(i);
      const double theory = ExactBlocks(num_probes).rate(bits_per_key);
      const auto absent = static_cast<std::uint64_t>(static_cast<double>(kPositives) / 20 / theory);
      std::uint64_t positives = 0;
      for (std::uint64_t i = 0; i < absent; ++i) positives += lines.contains(keys + i) ? 1U : 0U;
      check_positives(positives, static_cast<double>(absent) * theory);
    }
  }
}

TEST_CASE(
    "counting: after ten turnovers of all keys the measured rate is the theory's, and the counters those of the keys") {
  constexpr std::uint64_t kTurned = kKeys / 16;
  Options options;
  options.layout = Layout::kCounting;
  options.hash = Hash::kExternal;
  options.capacity = kTurned;
  options.fpr = 0.01;
  InMemory made = InMemory::make(options);
  add_mixed(made.filter, 0, kTurned);
  std::uint64_t turns = 0;
  for (; turns < 10; ++turns) {
    std::vector<std::uint64_t> old(kTurned);
    for (std::uint64_t i = 0; i < kTurned; ++i) old[i] = mix(turns * kTurned + i);
    add_mixed(made.filter, (turns + 1) * kTurned, kTurned);
    REQUIRE(made.filter.remove_keys(Keys::digests(old)).keys() == kTurned);
  }
  InMemory fresh = InMemory::make(options);
  add_mixed(fresh.filter, turns * kTurned, kTurned);
  CHECK(std::ranges::equal(body_of(made), body_of(fresh)));
  const Shape shape = made.filter.shape();
  const double theory =
      ExactBlocks(shape.num_probes, 128).rate(static_cast<double>(shape.num_bits) / static_cast<double>(kTurned));
  CHECK(theory <= 0.01 * 1.003);
  const auto absent = static_cast<std::uint64_t>(static_cast<double>(kPositives) / theory);
  check_positives(count_maybes(made.filter, (turns + 1) * kTurned, absent), static_cast<double>(absent) * theory);
}

TEST_CASE("the measured rate of keys that are hashed is the theory's, like that of digests") {
  constexpr std::uint64_t kPiece = 1 << 12;
  for (const Layout layout : whose_keys_stay()) {
    Options options;
    options.layout = layout;
    options.capacity = kKeys;
    options.bits_per_key = 10;
    options.seed = 1;
    InMemory made = InMemory::make(options);
    std::vector<std::uint64_t> keys(kPiece);  // ascending numbers, as keys often are
    std::vector<std::uint8_t> answers(kPiece);
    const auto piece_from = [&](std::uint64_t first) {
      for (std::uint64_t i = 0; i < kPiece; ++i) keys[i] = first + i;
      return Keys::fixed(keys.data(), 8, kPiece);
    };
    for (std::uint64_t i = 0; i < kKeys; i += kPiece) REQUIRE(made.filter.add_keys(piece_from(i)).ok());
    const double theory = theory_of(made.filter.shape());
    std::uint64_t positives = 0;
    std::uint64_t absent = 0;
    for (; static_cast<double>(absent) * theory < static_cast<double>(kPositives); absent += kPiece) {
      positives += made.filter.contains_keys(piece_from(kKeys + absent), answers).keys();
    }
    check_positives(positives, static_cast<double>(absent) * theory);
  }
}
