// Remainders of many numbers by one divisor: a division for the divisor, and multiplications for the numbers.
#pragma once

#include <cstdint>

#include "hash/wide.hpp"

namespace bfstore::hash {

// The reciprocal is (2^64 - 1 - e) / divisor with e < divisor. So the quotient by it is less than the exact one by
// number / divisor * (1 + e) / 2^64, which is less than 1: after rounding down it is at most 1 too small.
class Remainder {
 public:
  // A remainder by 0 is the number itself.
  explicit constexpr Remainder(std::uint64_t divisor) noexcept
      : divisor_(divisor), reciprocal_(divisor == 0 ? 0 : UINT64_MAX / divisor) {}

  std::uint64_t operator()(std::uint64_t number) const noexcept {
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(number) * reciprocal_ >> 64);
    const std::uint64_t rest = number - quotient * divisor_;
    std::uint64_t less = 0;  // one instruction subtracts and compares
    return __builtin_sub_overflow(rest, divisor_, &less) ? rest : less;
  }

 private:
  std::uint64_t divisor_;
  std::uint64_t reciprocal_;
};

}  // namespace bfstore::hash
