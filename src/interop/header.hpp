// Shared by the rows: the numbers in the headers of other programs, and the refusal of those that no filter has.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "interop/interop.hpp"

namespace bfstore::interop {

template <class Integer>
Integer swapped(Integer value) noexcept {
  std::byte bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  std::reverse(std::begin(bytes), std::end(bytes));
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Reads the numbers of a header, one after the other. The caller has checked that they are there.
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

// Writes them.
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

// A number at a place of its own, as the structs of other programs have it.
inline double double_at(const std::byte* from) noexcept {
  return std::bit_cast<double>(base::load<std::uint64_t>(from));
}
inline void put_double(std::byte* to, double number) noexcept { base::store(to, std::bit_cast<std::uint64_t>(number)); }

// True if these bytes begin with the text, or are the beginning of it.
inline bool begins_with(std::span<const std::byte> bytes, std::string_view text) noexcept {
  const std::size_t common = std::min(bytes.size(), text.size());
  return std::equal(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(common), bytes.begin(),
                    [](char wanted, std::byte got) { return static_cast<std::byte>(wanted) == got; });
}
inline void put_text(std::byte* to, std::string_view text) noexcept {
  std::transform(text.begin(), text.end(), to, [](char byte) { return static_cast<std::byte>(byte); });
}

// The format's numbers of bits and probes, and what it calls itself in messages.
struct Limits {
  const char* kind;  // "a file of libbloom"
  std::uint64_t most_bits = kMaxBits;
  std::uint64_t unit_bits = 1;
  std::uint64_t most_probes = kMaxProbes;
};

inline Error not_of_kind(Code code, const Limits& limits, const std::string& what) {
  return base::fail(code, std::string("is not ") + limits.kind + ": " + what + ".");
}

inline Error ends_within(const Limits& limits, std::uint64_t bytes) {
  return base::fail(Code::kTooShort,
                    "ends after " + std::to_string(bytes) + " bytes, within what " + limits.kind + " has.");
}

inline Error check_numbers(const Limits& limits, std::uint64_t num_bits, std::uint64_t num_probes) {
  if (num_probes < 1 || num_probes > limits.most_probes) {
    return not_of_kind(Code::kProbes, limits,
                       "k is " + std::to_string(num_probes) + ", not from 1 to " + std::to_string(limits.most_probes));
  }
  if (num_bits >= 1 && num_bits <= limits.most_bits && num_bits % limits.unit_bits == 0) return {};
  const std::string most = limits.most_bits == kMaxBits ? "2^48" : std::to_string(limits.most_bits);
  std::string what = "m is " + std::to_string(num_bits) + ", not from 1 to " + most;
  if (limits.unit_bits != 1) what += ", or no multiple of " + std::to_string(limits.unit_bits);
  return not_of_kind(Code::kBits, limits, what);
}

inline Error check_capacity(const Limits& limits, std::uint64_t capacity) {
  if (capacity >= 1 && capacity <= static_cast<std::uint64_t>(INT64_MAX)) return {};
  return not_of_kind(Code::kCapacity, limits, "n is " + std::to_string(capacity) + ", not from 1 to 2^63 - 1");
}

inline Error check_promise(const Limits& limits, std::uint64_t capacity, double fpr) {
  if (Error error = check_capacity(limits, capacity); !error.ok()) return error;
  if (fpr > 0 && fpr < 1) return {};
  return not_of_kind(Code::kCapacity, limits, "p is not between 0 and 1");  // NaN, too
}

// The facts of a file that is one filter.
inline Result<std::vector<Told>> only(Told told) { return std::vector<Told>{std::move(told)}; }

}  // namespace bfstore::interop
