#include "sizing/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/fail.hpp"

namespace bfstore::sizing {
namespace {

using layout::body_bytes;
using layout::whole_bits;

double rate_of(const Row& row, double keys, double bits, double probes) noexcept {
  // Lines with thousands of keys are full, and their sum is long: the answer is 1.
  return keys / bits > 64 ? 1 : row.rate(keys, bits, probes);
}

// The least bits per key, as a real number, with which k probes reach p at n keys; 0 if none up to `most` do.
double least_bits_per_key(const Row& row, double keys, double fpr, double probes, double most) noexcept {
  const double at_least = static_cast<double>(row.fewest_bits) / keys;
  double high = std::max(most, at_least);
  if (rate_of(row, keys, keys * high, probes) > fpr) return 0;
  double low = std::min(0.1, at_least);
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (rate_of(row, keys, keys * middle, probes) > fpr ? low : high) = middle;
  }
  return high;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

Error out_of_range(const std::string& what) { return base::fail(Code::kInvalid, what); }

// Few bits for few keys, or the smallest m that keeps the promise; each k is tried, since m(k) has one valley only
// roughly when blocks are coarse.
Result<Size> solve_for_rate(const Row& row, std::uint64_t capacity, double fpr) {
  if (fpr < row.least_rate) {
    return base::fail(Code::kSizing, "a false-positive rate of " + number(fpr) + " is below what the " + row.info.name +
                                         " layout reaches (" + number(row.least_rate) + "). Use the classic layout.");
  }
  const double keys = static_cast<double>(capacity);
  Size best;
  double best_bits = 0;
  for (std::uint32_t probes = 1; probes <= kMaxProbes; ++probes) {
    const double most = best_bits > 0 ? best_bits : 1024;
    const double bits = least_bits_per_key(row, keys, fpr, probes, most);
    if (bits > 0 && (best_bits == 0 || bits < best_bits * (1 - 1e-9))) {
      best_bits = bits;
      best.num_probes = probes;
    } else if (best_bits > 0 && probes > best.num_probes + 3) {
      break;
    }
  }
  const double wanted = std::ceil(keys * best_bits);
  if (best_bits == 0 || wanted > static_cast<double>(kMaxBits)) {
    return base::fail(Code::kSizing, "no filter of at most 2^48 bits keeps a false-positive rate of " + number(fpr) +
                                         " at " + std::to_string(capacity) +
                                         " keys. Ask for fewer keys or a higher rate.");
  }
  best.num_bits = whole_bits(row, static_cast<std::uint64_t>(wanted));
  best.capacity = capacity;
  best.fpr = fpr;
  return best;
}

Result<Size> size_of_bits(const Row& row, std::uint64_t capacity, std::uint64_t num_bits, std::uint32_t num_probes) {
  Size size;
  size.num_bits = whole_bits(row, num_bits);
  size.num_probes = num_probes != 0 ? num_probes : best_probes(row, capacity, size.num_bits);
  size.capacity = capacity;
  size.fpr = false_positive_rate(row, capacity, size.num_bits, size.num_probes);
  if (size.fpr <= 0) size.fpr = 0x1p-1022;  // fewer false positives than a double can say
  return size;
}

Result<Size> solve_for_bits_per_key(const Row& row, const Options& options) {
  const double wanted = std::ceil(static_cast<double>(options.capacity) * options.bits_per_key);
  if (!(options.bits_per_key > 0) || !(wanted <= static_cast<double>(kMaxBits))) {
    return out_of_range("bits per key " + number(options.bits_per_key) + " times capacity " +
                        std::to_string(options.capacity) + " is not from 1 to 2^48 bits. Give other numbers.");
  }
  return size_of_bits(row, options.capacity, static_cast<std::uint64_t>(std::max(1.0, wanted)), 0);
}

Result<Size> solve_for_budget(const Row& row, const Options& options, std::uint64_t max_body_bytes) {
  const std::uint64_t unit = body_bytes(row, 1);
  const std::uint64_t bytes = std::min(max_body_bytes / unit * unit, kMaxBits / 8);
  if (bytes == 0) {
    return out_of_range(std::to_string(options.max_bytes) + " bytes are too few for a header and a filter. Give more.");
  }
  return size_of_bits(row, options.capacity, bytes * 8, 0);
}

// The capacity is where half of the bits are set, if none is given: there k is the best for m and n.
Result<Size> solve_for_shape(const Row& row, const Options& options) {
  const double half_full = static_cast<double>(options.num_bits) * std::log(2.0) / options.num_probes;
  const auto capacity =
      options.capacity != 0 ? options.capacity : std::max(std::uint64_t{1}, static_cast<std::uint64_t>(half_full));
  return size_of_bits(row, capacity, options.num_bits, options.num_probes);
}

Error check_ranges(const Options& options) {
  if (std::isnan(options.fpr) || options.fpr < 0 || options.fpr >= 1) {
    return out_of_range("false-positive rate " + number(options.fpr) +
                        " is not between 0 and 1. Give one such as 0.01.");
  }
  if (!std::isfinite(options.bits_per_key) || options.bits_per_key < 0) {
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
  return {};
}

}  // namespace

double false_positive_rate(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits,
                           std::uint32_t num_probes) noexcept {
  if (num_keys == 0 || num_bits == 0) return 0;
  return rate_of(row, static_cast<double>(num_keys), static_cast<double>(num_bits), num_probes);
}

std::uint32_t best_probes(const Row& row, std::uint64_t num_keys, std::uint64_t num_bits) noexcept {
  std::uint32_t best = 1;
  double best_rate = 2;
  for (std::uint32_t probes = 1; probes <= kMaxProbes; ++probes) {
    const double rate = false_positive_rate(row, num_keys, num_bits, probes);
    if (rate < best_rate) {
      best_rate = rate;
      best = probes;
    }
  }
  return best;
}

Result<Size> solve(const Row& row, const Options& options, std::uint64_t max_body_bytes) {
  if (Error error = check_ranges(options); !error.ok()) return error;
  if (options.num_bits != 0) return solve_for_shape(row, options);
  if (options.capacity == 0) {
    return out_of_range("no size was given. Give a capacity, or num_bits and num_probes, or a file to be like.");
  }
  if (options.bits_per_key != 0) return solve_for_bits_per_key(row, options);
  if (options.max_bytes != 0) return solve_for_budget(row, options, max_body_bytes);
  return solve_for_rate(row, options.capacity, options.fpr != 0 ? options.fpr : 0.01);
}

}  // namespace bfstore::sizing
