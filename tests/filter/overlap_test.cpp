// Estimates from the bits of two filters: the numbers of keys of their sets, with intervals that are right in as many
// pairs of filters as they say.
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "layout/layout.hpp"
#include "layout/overlap.hpp"
#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kBits = 512 * 20;
constexpr std::uint32_t kProbes = 6;

// The fill of each of two filters, and the share of the smaller set that is in both.
struct Pair {
  double fill_a;
  double fill_b;
  double shared;
};

constexpr Pair kPairs[] = {{0.05, 0.05, 0.5}, {0.3, 0.3, 0.1},  {0.3, 0.3, 0.5}, {0.3, 0.3, 1},   {0.5, 0.1, 0.5},
                           {0.2, 0.6, 0.9},   {0.5, 0.5, 0.05}, {0.5, 0.5, 0.5}, {0.7, 0.7, 0.6}, {0.8, 0.8, 0.9}};

std::uint64_t keys_at(double fill, double probes) {
  return static_cast<std::uint64_t>(-std::log1p(-fill) * static_cast<double>(kBits) / probes);
}

// Sets the bits of a key in a body.
using AddKey = void (*)(const layout::Row& row, std::uint64_t* words, const layout::Geometry& geometry,
                        std::uint64_t digest);

void add_digest(const layout::Row& row, std::uint64_t* words, const layout::Geometry& geometry, std::uint64_t digest) {
  row.scalar->add_alone.one(words, geometry, digest);
}

void set_bit(std::uint64_t* words, std::uint64_t bit) {
  reinterpret_cast<std::uint8_t*>(words)[bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
}

// As a hash that has all probes of a key in one line.
void add_in_line(const layout::Row&, std::uint64_t* words, const layout::Geometry&, std::uint64_t digest) {
  std::minstd_rand places(static_cast<std::uint32_t>(digest));
  const std::uint64_t line = (digest >> 32) % (kBits / kLineBits);
  for (std::uint32_t i = 0; i < kProbes; ++i) set_bit(words, line * kLineBits + places() / 8 % kLineBits);
}

// As Parquet: one bit in each word of a block.
void add_in_block(const layout::Row&, std::uint64_t* words, const layout::Geometry&, std::uint64_t digest) {
  std::minstd_rand places(static_cast<std::uint32_t>(digest));
  const std::uint64_t block = (digest >> 32) % (kBits / 256);
  for (std::uint32_t word = 0; word < 8; ++word) set_bit(words, block * 256 + word * 32 + places() / 8 % 32);
}

// One kind of bodies, and how full they may be for the intervals to be right.
struct Kind {
  std::string name;
  const layout::Row& row;
  std::uint32_t probes = kProbes;
  AddKey add = add_digest;
  double most_fill = 1;
};

// Every layout, and the classic one with the hashes whose probes of a key are together. In words of 32 bits the
// formulas of the variance, which are of many bins, are right up to two thirds.
std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  for (const Layout layout : every_layout_in_memory())
    kinds.push_back({layout_of(layout)->name, layout::row_of(layout)});
  kinds.push_back({"classic in lines", layout::kClassicInLinesRow, kProbes, add_in_line});
  kinds.push_back({"split blocks", layout::kSplitBlocksRow, 8, add_in_block, 0.5});
  return kinds;
}

// Two bodies with random keys.
class Bodies {
 public:
  explicit Bodies(const Kind& kind)
      : kind_(kind),
        row_(kind.row),
        geometry_(row_.geometry(kBits, kind.probes)),
        a_(layout::body_bytes(row_, kBits)),
        b_(layout::body_bytes(row_, kBits)) {}

  void fill(std::mt19937_64& random, std::uint64_t only_a, std::uint64_t only_b, std::uint64_t both) {
    std::fill(a_.bytes().begin(), a_.bytes().end(), std::byte{0});
    std::fill(b_.bytes().begin(), b_.bytes().end(), std::byte{0});
    for (std::uint64_t i = 0; i < only_a + both; ++i) {
      const std::uint64_t digest = random();
      kind_.add(row_, a_.words(), geometry_, digest);
      if (i < both) kind_.add(row_, b_.words(), geometry_, digest);
    }
    for (std::uint64_t i = 0; i < only_b; ++i) kind_.add(row_, b_.words(), geometry_, random());
  }

  [[nodiscard]] double probes() const { return kind_.probes; }

  // Compares in pieces of that many lines.
  [[nodiscard]] Comparison compare(std::uint64_t lines = kBits / kLineBits) {
    const auto overlap = std::make_unique<layout::Overlap>();
    for (std::uint64_t word = 0; word < a_.bytes().size() / 8; word += lines * 8)
      row_.take_both(*overlap, geometry_, a_.words() + word, b_.words() + word, lines * 8);
    Comparison made;
    made.set_bits_a = overlap->set().a;
    made.set_bits_b = overlap->set().b;
    made.a_in_b = overlap->a_in_b();
    made.b_in_a = overlap->b_in_a();
    overlap->estimate(kind_.probes, made);
    return made;
  }

 private:
  const Kind& kind_;
  const layout::Row& row_;
  layout::Geometry geometry_;
  Buffer a_;
  Buffer b_;
};

// The outcomes of the estimates of one number.
class Trial {
 public:
  void take(const Interval& found, double truth) {
    ++rounds_;
    sum_ += found.estimate - truth;
    squares_ += (found.estimate - truth) * (found.estimate - truth);
    inside_ += found.low <= truth && truth <= found.high ? 1 : 0;
  }
  [[nodiscard]] double inside() const { return inside_ / rounds_; }
  [[nodiscard]] double bias() const { return sum_ / rounds_; }
  // Returns the standard deviation of the mean of all rounds.
  [[nodiscard]] double deviation() const { return std::sqrt(squares_ / rounds_ / rounds_); }
  [[nodiscard]] double rounds() const { return rounds_; }

 private:
  double rounds_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double inside_ = 0;
};

double rounds_of_pairs() { return static_cast<double>(std::max<std::uint64_t>(1000 / kKeyScale, 100)); }

std::map<std::string, Trial> try_pair(Bodies& bodies, std::mt19937_64& random, const Pair& pair) {
  const std::uint64_t in_a = keys_at(pair.fill_a, bodies.probes());
  const std::uint64_t in_b = keys_at(pair.fill_b, bodies.probes());
  const auto both = static_cast<std::uint64_t>(pair.shared * static_cast<double>(std::min(in_a, in_b)));
  const auto either = static_cast<double>(in_a + in_b - both);
  std::map<std::string, Trial> trials;
  for (double round = 0; round < rounds_of_pairs(); ++round) {
    bodies.fill(random, in_a - both, in_b - both, both);
    const Comparison made = bodies.compare();
    trials["a"].take(made.keys_a, static_cast<double>(in_a));
    trials["b"].take(made.keys_b, static_cast<double>(in_b));
    trials["either"].take(made.keys_either, either);
    trials["both"].take(made.keys_both, static_cast<double>(both));
    trials["Jaccard"].take(made.jaccard, static_cast<double>(both) / either);
  }
  return trials;
}

}  // namespace

TEST_CASE("the intervals of all numbers of keys, and of Jaccard, are right in 95 of 100 pairs, without bias") {
  std::mt19937_64 random(20261123);
  for (const Kind& kind : every_kind()) {
    CAPTURE(kind.name);
    Bodies bodies(kind);
    std::map<std::string, double> inside;
    double pairs = 0;
    for (const Pair& pair : kPairs) {
      if (std::max(pair.fill_a, pair.fill_b) > kind.most_fill) continue;
      ++pairs;
      CAPTURE(pair.fill_a);
      CAPTURE(pair.fill_b);
      CAPTURE(pair.shared);
      for (const auto& [its_name, trial] : try_pair(bodies, random, pair)) {
        const std::string& name = its_name;  // clang 14 captures no part of a pair
        CAPTURE(name);
        inside[name] += trial.inside();
        const bool one_set = name == "Jaccard" && pair.shared == 1;  // the bits are equal, and the ratio is 1
        const double missed = 4 * std::sqrt(0.95 * 0.05 / trial.rounds());
        CHECK(trial.inside() > 0.95 - missed);
        if (!one_set) CHECK(trial.inside() < 0.95 + missed + (pair.fill_a < 0.1 ? 0.02 : 0));  // few, whole keys
        CHECK(std::abs(trial.bias()) < 4 * trial.deviation() + (name == "Jaccard" ? 1e-4 : 0.1));
      }
    }
    for (const auto& [its_name, sum] : inside) {
      const std::string& name = its_name;
      const double share = sum / pairs;
      CAPTURE(name);
      // One part in a hundred is the formulas' own error, and the rest is chance.
      const double off = 0.01 + 4 * std::sqrt(0.95 * 0.05 / (pairs * rounds_of_pairs()));
      CHECK(share > 0.95 - off);
      CHECK(share < 0.95 + off);
    }
  }
}

TEST_CASE("disjoint sets seldom seem to have common keys, and fifty common keys of hundreds are noticed") {
  std::mt19937_64 random(20261124);
  const std::uint64_t rounds = std::max<std::uint64_t>(400 / kKeyScale, 100);
  for (const Kind& kind : every_kind()) {
    CAPTURE(kind.name);
    Bodies bodies(kind);
    for (const auto& [in_both, least, most] :
         {std::tuple(std::uint64_t{0}, 0.0, 0.02), std::tuple(std::uint64_t{50}, 0.95, 1.0)}) {
      const std::uint64_t both = in_both;
      std::uint64_t times_told = 0;
      for (std::uint64_t round = 0; round < rounds; ++round) {
        bodies.fill(random, 700, 600, both);
        const Comparison made = bodies.compare();
        times_told += made.some_in_both ? 1U : 0U;
        CHECK(made.keys_both.low >= 0);
        CHECK(made.keys_both.estimate <= made.keys_both.high);
        CHECK(made.keys_both.high <= made.keys_b.high + 1e-9);
      }
      CAPTURE(both);
      const double told = static_cast<double>(times_told) / static_cast<double>(rounds);
      CHECK(told >= least);
      CHECK(told <= most);
    }
  }
}

TEST_CASE("pieces of any number of lines are the same, and bits after m are not counted") {
  std::mt19937_64 random(1);
  for (const Kind& kind : every_kind()) {
    CAPTURE(kind.name);
    Bodies bodies(kind);
    bodies.fill(random, 300, 200, 100);
    const Comparison whole = bodies.compare();
    for (const std::uint64_t lines : {1U, 4U, 10U}) {
      const Comparison made = bodies.compare(lines);
      CHECK(made.set_bits_a == whole.set_bits_a);
      CHECK(made.keys_both.estimate == doctest::Approx(whole.keys_both.estimate));
      CHECK(made.keys_both.high == doctest::Approx(whole.keys_both.high));
    }
  }
  const std::uint64_t ones = ~std::uint64_t{0};
  layout::Overlap overlap;
  const layout::Row& classic = layout::row_of(Layout::kClassic);
  classic.take_both(overlap, classic.geometry(61, 3), &ones, &ones, 1);
  CHECK(overlap.set().either == 61);
}

TEST_CASE("empty filters, equal ones and full ones have estimates and bounds that are true") {
  std::mt19937_64 random(2);
  for (const Kind& kind : every_kind()) {
    CAPTURE(kind.name);
    Bodies bodies(kind);
    const Comparison empty = bodies.compare();
    CHECK(empty.keys_either.high == 0);
    CHECK(empty.jaccard.estimate == 1);
    CHECK_FALSE(empty.some_in_both);
    bodies.fill(random, 0, 0, 500);
    const Comparison equal = bodies.compare();
    CHECK(equal.jaccard.low == doctest::Approx(1));
    CHECK(equal.keys_both.low == doctest::Approx(equal.keys_a.low));
    CHECK(equal.keys_both.high == doctest::Approx(equal.keys_a.high));
    CHECK(equal.some_in_both);
    bodies.fill(random, 60000, 60000, 0);
    const Comparison full = bodies.compare();
    CHECK(std::isinf(full.keys_either.high));
    CHECK(full.keys_both.low == 0);
    CHECK(full.jaccard.low == 0);
    CHECK(full.jaccard.high == 1);
    CHECK_FALSE(full.some_in_both);
  }
}

TEST_CASE("counting: a key that was added twice counts once, and its higher counters make the filters differ") {
  const layout::Row& row = layout::row_of(Layout::kCounting);
  const layout::Geometry geometry = row.geometry(kBits, kProbes);
  Buffer once(layout::body_bytes(row, kBits));
  Buffer twice(layout::body_bytes(row, kBits));
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t digest = random();
    row.scalar->add_alone.one(once.words(), geometry, digest);
    for (int add = 0; add < 2; ++add) row.scalar->add_alone.one(twice.words(), geometry, digest);
  }
  const auto overlap = std::make_unique<layout::Overlap>();
  row.take_both(*overlap, geometry, once.words(), twice.words(), once.bytes().size() / 8);
  CHECK(overlap->set().a == overlap->set().b);
  CHECK(overlap->a_in_b());
  CHECK_FALSE(overlap->b_in_a());
  Comparison made;
  overlap->estimate(kProbes, made);
  CHECK(made.keys_b.estimate == made.keys_a.estimate);
  CHECK(made.keys_both.estimate == doctest::Approx(200).epsilon(0.05));
}
