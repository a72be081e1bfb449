#include "sizing/sizing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/fail.hpp"

namespace bfstore::sizing {
namespace {

using layout::bits_in;
using layout::body_bytes;
using layout::most_bits;
using layout::whole_bits;

double rate_of(const Row& row, double keys, double bits, double probes) noexcept {
  // Lines with thousands of keys are full, and their sum is long. The answer is 1.
  return keys / bits > 64 ? 1 : row.rate(keys, bits, probes);
}

// Returns the lowest k with the lowest rate among those that can be reached from `probes` without a higher rate on the
// way.
std::uint32_t walk_to_best(const Row& row, double keys, double bits, std::uint32_t probes) noexcept {
  double best_rate = rate_of(row, keys, bits, probes);
  const std::uint32_t begin = probes;
  for (std::uint32_t next = begin + 1; next <= kMaxProbes; ++next) {
    const double rate = rate_of(row, keys, bits, next);
    if (rate >= best_rate) break;
    best_rate = rate;
    probes = next;
  }
  for (std::uint32_t next = begin - 1; probes == next + 1 && next >= 1; --next) {
    const double rate = rate_of(row, keys, bits, next);
    if (rate > best_rate) break;
    best_rate = rate;
    probes = next;
  }
  return probes;
}

// Each rate takes as long as a hundred lookups, and more where loads are high. So the row says where to begin.
std::uint32_t best_probes_of(const Row& row, double keys, double bits) noexcept {
  if (row.best_probes != nullptr && keys / bits <= 64) {
    const layout::Guess guess = row.best_probes(keys, bits);
    return guess.exact ? guess.num_probes : walk_to_best(row, keys, bits, guess.num_probes);
  }
  std::uint32_t best = 1;
  double best_rate = rate_of(row, keys, bits, best);
  for (std::uint32_t probes = 2; probes <= kMaxProbes; ++probes) {
    const double rate = rate_of(row, keys, bits, probes);
    if (rate < best_rate) best = probes;
    best_rate = std::min(rate, best_rate);
  }
  return best;
}

Error out_of_range(const std::string& what) { return base::fail(Code::kInvalid, what); }

// Two numbers of bits. With one, k probes have a rate above p; with the other they do not. The rates are logarithms of
// rate / p.
struct Bracket {
  double low_bits;
  double low;  // above 0
  double high_bits;
  double high;  // 0 or less
};

// The rate of k probes at n keys as it falls to p, from too few bits to enough.
class Descent {
 public:
  Descent(const Row& row, double keys, double fpr, std::uint32_t probes) noexcept
      : row_(row), keys_(keys), fpr_(fpr), probes_(probes) {}

  [[nodiscard]] double excess(double bits) const noexcept {
    return std::log(rate_of(row_, keys_, bits, probes_) / fpr_);
  }

  // Returns the fewest bits that are enough, as a real number, with a relative error of 1e-12 and to the whole bit.
  // `most` bits are enough. `near` is the first guess.
  [[nodiscard]] double least_bits(double near, double most) const noexcept {
    Bracket bracket = bracket_at(std::min(near, most), most);
    int last_moved = 0;
    for (int step = 0; step < 200 && !is_close(bracket); ++step) {
      const double bits = step % 4 == 3 ? (bracket.low_bits + bracket.high_bits) / 2 : met(bracket);
      const double here = excess(bits);
      const int moved = here > 0 ? -1 : 1;
      (moved < 0 ? bracket.low_bits : bracket.high_bits) = bits;
      (moved < 0 ? bracket.low : bracket.high) = here;
      // An end that does not move gets less weight (the Illinois rule). Otherwise it might never move.
      if (moved == last_moved) (moved < 0 ? bracket.high : bracket.low) /= 2;
      last_moved = moved;
    }
    return bracket.high_bits;
  }

 private:
  static bool is_close(const Bracket& bracket) noexcept {
    const bool one_left = std::floor(bracket.low_bits) + 1 >= std::ceil(bracket.high_bits) ||
                          bracket.high_bits > static_cast<double>(kMaxBits);
    return one_left && bracket.high_bits - bracket.low_bits <= 1e-12 * bracket.high_bits;
  }

  [[nodiscard]] Bracket bracket_at(double bits, double most) const noexcept {
    constexpr double kStride = 1.2;
    double here = excess(bits);
    while (here <= 0) {  // ends: at 64 keys per bit the rate is 1
      const double less = excess(bits / kStride);
      if (less > 0) return {bits / kStride, less, bits, here};
      bits /= kStride;
      here = less;
    }
    for (;;) {
      const double next = std::min(bits * kStride, most);
      const double there = excess(next);
      if (there <= 0 || next == most) return {bits, here, next, there};
      bits = next;
      here = there;
    }
  }

  // Returns where the straight line through both ends has the rate p.
  static double met(const Bracket& bracket) noexcept {
    const double part = bracket.low / (bracket.low - bracket.high);
    const double bits = bracket.low_bits + part * (bracket.high_bits - bracket.low_bits);
    const bool inside = bits > bracket.low_bits && bits < bracket.high_bits;
    return inside ? bits : (bracket.low_bits + bracket.high_bits) / 2;
  }

  const Row& row_;
  double keys_;
  double fpr_;
  std::uint32_t probes_;
};

struct Bits {
  double bits = 0;  // 0: no number of bits is enough
  std::uint32_t num_probes = 0;
};

// Returns the fewest bits with which any k keeps p at n keys. With them no other k has a lower rate. So the search goes
// from one k to a k that has a lower rate, and therefore needs fewer bits, until no such k exists.
Bits fewest_bits(const Row& row, double keys, double fpr) noexcept {
  const double most = std::max(1024 * keys, static_cast<double>(row.fewest_bits));
  const double classic = std::log2(1 / fpr);  // Bloom's k; and the bits, times 1 / ln 2
  auto probes = static_cast<std::uint32_t>(std::clamp(std::round(classic), 1.0, static_cast<double>(kMaxProbes)));
  if (Descent(row, keys, fpr, probes).excess(most) > 0) ++probes;  // where k alone decides the rate
  if (Descent(row, keys, fpr, probes).excess(most) > 0) probes = best_probes_of(row, keys, most);
  if (Descent(row, keys, fpr, probes).excess(most) > 0) return {};
  double bits = Descent(row, keys, fpr, probes).least_bits(keys * classic / std::log(2.0), most);
  for (std::uint32_t tries = 0; tries < kMaxProbes; ++tries) {
    const std::uint32_t better = best_probes_of(row, keys, bits);
    if (better == probes || Descent(row, keys, fpr, better).excess(bits) > 0) break;
    probes = better;
    bits = Descent(row, keys, fpr, probes).least_bits(bits, bits);
  }
  return {bits, probes};
}

// Recent results: a program asks how long a buffer has to be and then makes the filter, or makes thousands of filters
// of few sizes. A thread that finds it in use computes without it, and so does a child that was forked at that moment.
class Remembered {
 public:
  Bits fewest_bits(const Row& row, std::uint64_t keys, double fpr) noexcept {
    Entry& entry = entries_[(keys * 0x9e3779b97f4a7c15 ^ std::bit_cast<std::uint64_t>(fpr)) * 0x9e3779b97f4a7c15 >> 58];
    if (busy_.test_and_set(std::memory_order_acquire)) return sizing::fewest_bits(row, static_cast<double>(keys), fpr);
    const Entry found = entry;
    busy_.clear(std::memory_order_release);
    if (found.row == &row && found.keys == keys && found.fpr == fpr) return found.bits;
    const Entry made{&row, keys, fpr, sizing::fewest_bits(row, static_cast<double>(keys), fpr)};
    if (busy_.test_and_set(std::memory_order_acquire)) return made.bits;
    entry = made;
    busy_.clear(std::memory_order_release);
    return made.bits;
  }

 private:
  struct Entry {
    const Row* row = nullptr;
    std::uint64_t keys = 0;
    double fpr = 0;
    Bits bits;
  };
  std::atomic_flag busy_;
  std::array<Entry, 64> entries_{};
};

constinit Remembered remembered;

// Returns the fewest bits with which k probes keep p at n keys.
Bits fewest_bits_of(const Row& row, double keys, double fpr, std::uint32_t probes) noexcept {
  const Descent descent(row, keys, fpr, probes);
  double most = std::max(1024 * keys, static_cast<double>(row.fewest_bits));
  while (descent.excess(most) > 0) {  // few probes need many bits
    if (most > static_cast<double>(kMaxBits)) return {};
    most *= 1024;
  }
  return {descent.least_bits(keys * probes / std::log(2.0), most), probes};
}

}  // namespace

Error check_reach(const Row& row, std::uint64_t capacity, double fpr) {
  if (fpr >= row.least_rate) return {};
  // An absent key is maybe, in every layout, if its digest of 64 bits is that of one of the keys.
  const bool reached_by_none = fpr < static_cast<double>(capacity) * 0x1p-64;
  return base::fail(Code::kSizing, "a false-positive rate of " + number(fpr) + " is below what the " + row.info.name +
                                       " layout reaches (" + number(row.least_rate) + "). " +
                                       (row.info.can.expire || reached_by_none ? "Ask for a higher rate."
                                                                               : "Use the classic layout."));
}

// The searches go down until the rate is above `fpr`. No size has a rate above 1, or any rate without a key.
Result<Size> solve_for_rate(const Row& row, std::uint64_t capacity, double fpr, std::uint32_t num_probes) {
  if (Error error = check_reach(row, capacity, fpr); !error.ok()) return error;
  if (capacity == 0 || fpr >= 1) return Size{whole_bits(row, row.fewest_bits), std::max(num_probes, 1U), capacity, fpr};
  const Bits fewest = num_probes == 0 ? remembered.fewest_bits(row, capacity, fpr)
                                      : fewest_bits_of(row, static_cast<double>(capacity), fpr, num_probes);
  const double wanted = std::ceil(fewest.bits);
  if (fewest.num_probes == 0 || wanted > static_cast<double>(most_bits(row))) {
    return base::fail(Code::kSizing,
                      "no filter of at most 2^48 bits, with digests of 64 bits, keeps a false-positive rate of " +
                          number(fpr) + " at " + std::to_string(capacity) +
                          " keys. Ask for fewer keys or a higher rate.");
  }
  Size size;
  size.num_bits = whole_bits(row, static_cast<std::uint64_t>(wanted));
  size.num_probes = fewest.num_probes;
  size.capacity = capacity;
  size.fpr = fpr;
  return size;
}

namespace {

Result<Size> size_of_bits(const Row& row, const Options& options, std::uint64_t capacity, std::uint64_t num_bits,
                          std::uint32_t num_probes) {
  Size size;
  size.num_bits = whole_bits(row, num_bits);
  size.num_probes = num_probes != 0 ? num_probes : best_probes(row, capacity, size.num_bits);
  size.capacity = capacity;
  if (options.bare) return size;  // the bare form keeps no rate
  size.fpr =
      options.stated_fpr != 0 ? options.stated_fpr : false_positive_rate(row, capacity, size.num_bits, size.num_probes);
  return size;
}

Result<Size> solve_for_bits_per_key(const Row& row, const Options& options, std::uint32_t only_probes) {
  const double wanted =
      std::ceil(static_cast<double>(options.capacity) * options.bits_per_key / static_cast<double>(row.info.cell_bits));
  if (!(options.bits_per_key > 0) || !(wanted <= static_cast<double>(most_bits(row)))) {
    return out_of_range("bits per key " + number(options.bits_per_key) + " times capacity " +
                        std::to_string(options.capacity) + " is not from 1 to 2^48 bits. Give other numbers.");
  }
  return size_of_bits(row, options, options.capacity, static_cast<std::uint64_t>(std::max(1.0, wanted)), only_probes);
}

Result<Size> solve_for_budget(const Row& row, const Options& options, std::uint64_t max_body_bytes,
                              std::uint32_t only_probes) {
  const std::uint64_t unit = body_bytes(row, 1);
  const std::uint64_t bytes = std::min(max_body_bytes / unit * unit, kMaxBits / 8);
  if (bytes == 0) {
    return out_of_range(std::to_string(options.max_bytes) + " bytes are too few for a header and a filter. Give more.");
  }
  return size_of_bits(row, options, options.capacity, bits_in(row, bytes), only_probes);
}

double fpr_or_usual(const Options& options) noexcept {
  constexpr double kUsual = 0.01;
  return options.fpr != 0 ? options.fpr : kUsual;
}

// Computes what most tutorials compute, in their order: both numbers are cut off.
Result<Size> solve_as_tutorials_do(const Row& row, const Options& options) {
  const auto keys = static_cast<double>(options.capacity);
  const double bits = std::trunc(-(keys * std::log(options.fpr)) / std::pow(std::log(2.0), 2));
  const double probes = std::trunc(bits / keys * std::log(2.0));
  if (bits >= 1 && bits <= static_cast<double>(kMaxBits) && probes >= 1 && probes <= kMaxProbes) {
    return size_of_bits(row, options, options.capacity, static_cast<std::uint64_t>(bits),
                        static_cast<std::uint32_t>(probes));
  }
  return base::fail(Code::kSizing, "the tutorials' sizing gives " + number(bits) + " bits and " + number(probes) +
                                       " probes, which no filter can have. Leave it out.");
}

// Computes in the order of python-bloomfilter's BloomFilter.__init__, so that each number is rounded as there: log(x,
// 2) of Python is a quotient of logarithms. The rate stays as it was asked for: the program's file has it, and copies
// of the program's filter are made from it.
Result<Size> solve_as_python_bloomfilter_does(std::uint64_t capacity, double fpr) {
  const double ln2 = std::log(2.0);
  const double probes = std::ceil(std::log(1.0 / fpr) / ln2);
  const double slice_bits =
      std::ceil((static_cast<double>(capacity) * std::abs(std::log(fpr))) / (probes * std::pow(ln2, 2)));
  if (probes >= 1 && probes <= kMaxProbes && slice_bits * probes <= static_cast<double>(kMaxBits)) {
    const auto num_probes = static_cast<std::uint32_t>(probes);
    return Size{static_cast<std::uint64_t>(slice_bits) * num_probes, num_probes, capacity, fpr};
  }
  return base::fail(Code::kSizing, "python-bloomfilter's sizing gives " + number(probes) + " slices of " +
                                       number(slice_bits) + " bits, which no filter can have. Use another hash.");
}

// Keeps the rate as it was asked for, because the program's file has it.
Result<Size> size_of_program(const char* program, const Options& options, double bits, double probes) {
  if (probes >= 1 && probes <= kMaxProbes && bits >= 1 && bits <= static_cast<double>(kMaxBits)) {
    return Size{static_cast<std::uint64_t>(bits), static_cast<std::uint32_t>(probes), options.capacity,
                fpr_or_usual(options)};
  }
  return base::fail(Code::kSizing, std::string(program) + "'s sizing gives " + number(bits) + " bits and " +
                                       number(probes) + " probes, which no filter can have. Use another hash.");
}

// Computes in the order of pybloomfiltermmap3's BloomFilter._create.
Result<Size> solve_as_pybloomfilter_does(const Options& options) {
  const double fpr = fpr_or_usual(options);
  const double probes = std::max(std::floor(std::log2(1 / fpr)), 1.0);
  const double bits_per_probe = std::ceil(static_cast<double>(options.capacity) * std::abs(std::log(fpr)) /
                                          (probes * std::pow(std::log(2.0), 2)));
  const double bits = std::max(std::ceil(probes * bits_per_probe / 8.0) * 8, 128.0);
  return size_of_program("pybloomfiltermmap3", options, bits, probes);
}

// Computes in the order of libbloom's bloom_init2, with the digits of ln 2 that it has.
Result<Size> solve_as_libbloom_does(const Options& options) {
  const double bits_per_key = libbloom_bits_per_key(fpr_or_usual(options));
  const long double bits = std::trunc(static_cast<long double>(options.capacity) * bits_per_key);
  return size_of_program("libbloom", options, static_cast<double>(bits), std::ceil(0.693147180559945 * bits_per_key));
}

// If no capacity is given, it is where half of the bits are set: there k is the best for m and n.
Result<Size> solve_for_shape(const Row& row, const Options& options) {
  const double half_full = static_cast<double>(options.num_bits) * std::log(2.0) / options.num_probes;
  const auto capacity =
      options.capacity != 0 ? options.capacity : std::max(std::uint64_t{1}, static_cast<std::uint64_t>(half_full));
  return size_of_bits(row, options, capacity, options.num_bits, options.num_probes);
}

}  // namespace

bool is_given(double number) noexcept { return number != 0 || std::signbit(number); }

Error check_ranges(const Options& options) {
  if (std::isnan(options.fpr) || std::signbit(options.fpr) || options.fpr >= 1) {
    return out_of_range("false-positive rate " + number(options.fpr) +
                        " is not between 0 and 1. Give one such as 0.01.");
  }
  if (!(options.stated_fpr >= 0 && options.stated_fpr <= 1) || (options.stated_fpr != 0 && options.num_bits == 0)) {
    return out_of_range("stated_fpr " + number(options.stated_fpr) +
                        " is not between 0 and 1, or was given without num_bits. Give both.");
  }
  if (!std::isfinite(options.bits_per_key) || std::signbit(options.bits_per_key)) {
    return out_of_range("bits per key " + number(options.bits_per_key) +
                        " is not a positive number. Give one such as 12.");
  }
  if (options.num_bits > kMaxBits) {
    return out_of_range("num_bits " + std::to_string(options.num_bits) + " is more than 2^48. Give fewer bits.");
  }
  if (options.num_probes > kMaxProbes) {
    return out_of_range("num_probes " + std::to_string(options.num_probes) +
                        " is not from 1 to 64. Give such a number.");
  }
  if (options.capacity > static_cast<std::uint64_t>(INT64_MAX)) {
    return out_of_range("capacity " + std::to_string(options.capacity) + " is more than 2^63 - 1. Give fewer keys.");
  }
  return {};
}

namespace {

Error check_ways(const Options& options) {
  if ((options.num_bits != 0) != (options.num_probes != 0)) {
    return out_of_range("only one of num_bits and num_probes was given. Give both or neither.");
  }
  const int ways =
      (options.fpr != 0) + (options.bits_per_key != 0) + (options.max_bytes != 0) + (options.num_bits != 0);
  if (ways > 1) {
    return out_of_range(
        "the size was given in two ways. Give a false-positive rate, or bits per key, or max_bytes, or num_bits with "
        "num_probes.");
  }
  if (options.tutorial_sizing && (options.capacity == 0 || options.fpr == 0))
    return out_of_range("the tutorials' sizing is for a capacity and a false-positive rate. Give both.");
  return {};
}

}  // namespace

double false_positive_rate(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits,
                           std::uint32_t num_probes) noexcept {
  if (num_keys == 0 || num_bits == 0) return 0;
  return rate_of(row, static_cast<double>(num_keys), static_cast<double>(num_bits), num_probes);
}

std::uint32_t best_probes(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits) noexcept {
  if (num_keys == 0 || num_bits == 0) return 1;  // no rate
  return best_probes_of(row, static_cast<double>(num_keys), static_cast<double>(num_bits));
}

// The rate, also that of the best k, grows with the keys. So doubling and halving finds the largest number of keys. The
// doubling ends, because the rate of 64 keys per bit is 1.
std::uint64_t most_keys(const Row& row, std::uint64_t num_bits, std::uint32_t num_probes, double fpr) noexcept {
  const auto keeps = [&](std::uint64_t keys) {
    const std::uint32_t probes = num_probes != 0 ? num_probes : best_probes(row, keys, num_bits);
    return false_positive_rate(row, keys, num_bits, probes) <= fpr;
  };
  std::uint64_t enough = 0;
  std::uint64_t too_many = num_bits / 64 + 1;
  while (keeps(too_many)) {
    enough = too_many;
    too_many *= 2;
  }
  while (too_many - enough > 1) {
    const std::uint64_t keys = enough + (too_many - enough) / 2;
    (keeps(keys) ? enough : too_many) = keys;
  }
  return enough;
}

Result<Size> solve(const Row& row, const Options& options, std::uint64_t max_body_bytes, Program program,
                   std::uint32_t only_probes) {
  if (Error error = check_ranges(options); !error.ok()) return error;
  if (options.num_bits > most_bits(row)) {
    return out_of_range("num_bits " + std::to_string(options.num_bits) + " is more than 2^" +
                        std::to_string(std::countr_zero(most_bits(row))) + ". Give fewer bits.");
  }
  if (Error error = check_ways(options); !error.ok()) return error;
  if (options.tutorial_sizing && program == Program::kTutorials) return solve_as_tutorials_do(row, options);
  if (options.num_bits != 0) return solve_for_shape(row, options);
  if (options.capacity == 0) {
    return out_of_range(
        "no size was given, or a capacity of 0. Give a capacity, or num_bits and num_probes, or a file to be like.");
  }
  if (options.bits_per_key != 0) return solve_for_bits_per_key(row, options, only_probes);
  if (options.max_bytes != 0) return solve_for_budget(row, options, max_body_bytes, only_probes);
  switch (program) {
    case Program::kPythonBloomfilter:
      return solve_as_python_bloomfilter_does(options.capacity, fpr_or_usual(options));
    case Program::kPybloomfilter:
      return solve_as_pybloomfilter_does(options);
    case Program::kLibbloom:
      return solve_as_libbloom_does(options);
    case Program::kTutorials:
      break;
  }
  return solve_for_rate(row, options.capacity, fpr_or_usual(options), only_probes);
}

double libbloom_bits_per_key(double fpr) noexcept {
  constexpr double kSquareOfLn2 = 0.480453013918201;
  return -std::log(fpr) / kSquareOfLn2;
}

std::string number(double value) {
  if (value == 0) return "0";  // -0.0, too
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace bfstore::sizing
