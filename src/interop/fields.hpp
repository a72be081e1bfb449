// The numbers of a header, one after the other.
#pragma once

#include <bfstore/options.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/fail.hpp"

namespace bfstore::interop {

template <class Integer>
Integer swapped(Integer value) noexcept {
  std::byte bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  std::reverse(std::begin(bytes), std::end(bytes));
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Reads numbers. The caller has checked that they are there.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) noexcept : next_(bytes.data()) {}

  template <class Integer>
  Integer little() noexcept {
    const auto value = base::load<Integer>(next_);
    next_ += sizeof value;
    return value;
  }
  template <class Integer>
  Integer big() noexcept {
    return swapped(little<Integer>());
  }
  double little_double() noexcept { return std::bit_cast<double>(little<std::uint64_t>()); }

 private:
  const std::byte* next_;
};

// Writes numbers.
class FieldsWriter {
 public:
  template <class Integer>
  FieldsWriter& little(Integer value) {
    std::byte bytes[sizeof value];
    base::store(bytes, value);
    for (const std::byte byte : bytes) bytes_.push_back(byte);
    return *this;
  }
  template <class Integer>
  FieldsWriter& big(Integer value) {
    return little(swapped(value));
  }
  FieldsWriter& little_double(double value) { return little(std::bit_cast<std::uint64_t>(value)); }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// "is not a file that Guava wrote: m is 0."
inline Error not_of(Code code, const std::string& whose, const std::string& what) {
  return base::fail(code, "is not " + whose + ": " + what + ".");
}

// Checks m, k and n of a header. n may be 0 if the format does not say it.
inline Error check_numbers(const std::string& whose, std::uint64_t num_bits, std::uint64_t num_probes,
                           std::uint64_t capacity) {
  if (num_probes < 1 || num_probes > kMaxProbes)
    return not_of(Code::kProbes, whose, "k is " + std::to_string(num_probes) + ", not from 1 to 64");
  if (num_bits < 1 || num_bits > kMaxBits)
    return not_of(Code::kBits, whose, "m is " + std::to_string(num_bits) + ", not from 1 to 2^48");
  if (capacity > static_cast<std::uint64_t>(INT64_MAX))
    return not_of(Code::kCapacity, whose, "n is " + std::to_string(capacity) + ", not from 1 to 2^63 - 1");
  return {};
}

inline Error ends_in_header(std::uint64_t bytes) {
  return base::fail(Code::kTooShort, "ends after " + std::to_string(bytes) + " bytes, within its header.");
}

}  // namespace bfstore::interop
