// See complete.hpp.
#include "sizing/complete.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/arith.hpp"
#include "base/fail.hpp"

namespace bfstore::sizing {
namespace {

using base::fail;
using layout::body_bytes;
using layout::whole_bits;

// The bits of the body for one of the m cells.
double bits_of_cell(const Row& row) noexcept {
  return static_cast<double>(body_bytes(row, row.body_unit) * 8) / static_cast<double>(row.body_unit);
}

// "capacity and fpr"
std::string given_names(const Options& options) {
  std::string names;
  const auto name = [&](bool given, const char* what) {
    if (given) names += (names.empty() ? "" : " and ") + std::string(what);
  };
  name(options.capacity != 0, "capacity");
  name(options.fpr != 0, "fpr");
  name(options.bits_per_key != 0, "bits_per_key");
  name(options.max_bytes != 0, "max_bytes");
  name(options.num_bits != 0, "num_bits");
  name(options.num_probes != 0, "num_probes");
  return names;
}

// `probes` is the k that was given, or the only one of the hash; 0 if any will do. Too few numbers leave a filter open.
// Too many may contradict each other.
Error check_given(const Options& options, std::uint32_t probes) {
  if (options.num_bits != 0 && options.max_bytes != 0)
    return fail(Code::kInvalid, "num_bits and max_bytes were given, and each gives m. Leave one of them out.");
  const bool size = options.num_bits != 0 || options.max_bytes != 0;
  const int given = (options.capacity != 0) + (options.fpr != 0) + (options.bits_per_key != 0) + size + (probes != 0);
  if (given == 0 || (given == 1 && options.capacity == 0)) {
    const std::string names = given_names(options);
    return fail(Code::kInvalid, (names.empty() ? "nothing" : "only " + names) +
                                    " was given. Give two of capacity, fpr, bits_per_key, num_probes, and one of "
                                    "num_bits and max_bytes.");
  }
  if (options.capacity != 0 && size && options.bits_per_key != 0) {
    return fail(Code::kInvalid, std::string("capacity and bits_per_key and ") +
                                    (options.num_bits != 0 ? "num_bits" : "max_bytes") +
                                    " were given, and two of them give the third. Leave one of them out.");
  }
  return {};
}

// The number of bits that is given, in a size that the layout can have; 0 if none is.
Result<std::uint64_t> given_bits(const Row& row, const Options& options, std::uint64_t max_body_bytes) {
  if (options.num_bits != 0) return whole_bits(row, options.num_bits);
  if (options.max_bytes == 0) return std::uint64_t{0};
  const std::uint64_t bytes = std::min(base::round_down(max_body_bytes, row.body_unit / 8), kMaxBits / 8);
  const double bits = static_cast<double>(bytes) * 8 / bits_of_cell(row);  // exact: both are whole, and below 2^53
  if (bits >= 1) return static_cast<std::uint64_t>(bits);
  return fail(Code::kInvalid,
              std::to_string(options.max_bytes) + " bytes are too few for a header and a filter. Give more.");
}

Result<std::uint64_t> bits_of_ratio(const Row& row, std::uint64_t keys, double bits_per_key) {
  const double wanted = std::max(1.0, std::ceil(static_cast<double>(keys) * bits_per_key / bits_of_cell(row)));
  if (wanted * bits_of_cell(row) <= static_cast<double>(kMaxBits))
    return whole_bits(row, static_cast<std::uint64_t>(wanted));
  return fail(Code::kInvalid, number(bits_per_key) + " bits for each of " + std::to_string(keys) +
                                  " keys are more than 2^48 bits. Give other numbers.");
}

Result<std::uint64_t> keys_of_ratio(const Row& row, std::uint64_t bits, double bits_per_key) {
  const double keys = std::floor(static_cast<double>(bits) * bits_of_cell(row) / bits_per_key);
  if (keys >= 1 && keys < 0x1p63) return static_cast<std::uint64_t>(keys);
  return fail(Code::kInvalid, std::to_string(bits) + " bits with " + number(bits_per_key) +
                                  " bits for each key are not from 1 to 2^63 keys. Give other numbers.");
}

// What to change, if so many keys need more bits.
std::string way_out(const Row& row, const Options& options, std::uint32_t probes, std::uint64_t keys) {
  const auto enough = solve_for_rate(row, keys, options.fpr, probes);
  const std::string bits = enough ? std::to_string(enough->num_bits) + " bits, or " : "";
  return "For " + number(options.fpr) + " give " + bits + "fewer keys.";
}

Result<Size> of_keys_and_bits(const Row& row, const Options& options, std::uint32_t probes, std::uint64_t keys,
                              std::uint64_t bits) {
  Size size{bits, probes != 0 ? probes : best_probes(row, keys, bits), keys, 0};
  size.fpr = false_positive_rate(row, keys, bits, size.num_probes);
  if (options.fpr == 0 || size.fpr <= options.fpr) return size;
  return fail(Code::kSizing, std::to_string(keys) + " keys in " + std::to_string(bits) + " bits (" + row.info.name +
                                 ") have a false-positive rate of " + number(size.fpr) +
                                 (probes != 0 ? " with " + std::to_string(probes) + (probes == 1 ? " probe" : " probes")
                                              : " at best") +
                                 ". " + way_out(row, options, probes, keys));
}

Result<Size> of_bits(const Row& row, const Options& options, std::uint32_t probes, std::uint64_t bits) {
  if (options.fpr == 0) {  // as in solve(): where half of the bits that were asked for are set
    const std::uint64_t asked = options.num_bits != 0 ? options.num_bits : bits;
    const double half_full = static_cast<double>(asked) * std::log(2.0) / probes;
    return of_keys_and_bits(row, options, probes, std::max(std::uint64_t{1}, static_cast<std::uint64_t>(half_full)),
                            bits);
  }
  const std::uint64_t keys = most_keys(row, bits, probes, options.fpr);
  if (keys != 0) return of_keys_and_bits(row, options, probes, keys, bits);
  return fail(Code::kSizing, std::to_string(bits) + " bits of the " + row.info.name +
                                 " layout have no room for one key at a false-positive rate of " + number(options.fpr) +
                                 ". Give more bits or a higher rate.");
}

// A k that only the hash gives leaves p as it is without a k.
Result<Size> of_keys(const Row& row, const Options& options, std::uint32_t probes, std::uint64_t keys) {
  const bool half_full = options.fpr == 0 && options.num_probes != 0;
  if (half_full) {
    const auto bits = bits_of_ratio(row, keys, options.num_probes / std::log(2.0) * bits_of_cell(row));
    if (!bits) return bits.error();
    return of_keys_and_bits(row, options, probes, keys, *bits);
  }
  auto size = solve_for_rate(row, keys, options.fpr != 0 ? options.fpr : 0.01, probes);
  if (size) size->fpr = false_positive_rate(row, keys, size->num_bits, size->num_probes);
  return size;
}

}  // namespace

Result<Size> complete(const Row& row, const Options& options, std::uint64_t max_body_bytes, std::uint32_t only_probes) {
  const std::uint32_t probes = options.num_probes != 0 ? options.num_probes : only_probes;
  if (Error error = check_ranges(options); !error.ok()) return error;
  if (Error error = check_given(options, probes); !error.ok()) return error;
  if (Error error = check_reach(row, options.capacity, options.fpr != 0 ? options.fpr : 1); !error.ok()) return error;
  auto bits = given_bits(row, options, max_body_bytes);
  if (!bits) return bits.error();
  const bool ratio = options.bits_per_key != 0;
  std::uint64_t keys = options.capacity;
  if (keys == 0 && *bits == 0) keys = kAnyKeys;
  if (keys == 0 && ratio) {
    const auto found = keys_of_ratio(row, *bits, options.bits_per_key);
    if (!found) return found.error();
    keys = *found;
  }
  if (*bits == 0 && ratio) bits = bits_of_ratio(row, keys, options.bits_per_key);
  if (!bits) return bits.error();
  if (*bits == 0) return of_keys(row, options, probes, keys);
  return keys == 0 ? of_bits(row, options, probes, *bits) : of_keys_and_bits(row, options, probes, keys, *bits);
}

}  // namespace bfstore::sizing
