// Remainders of many numbers by one divisor: a division for the divisor, and multiplications for the numbers.
#pragma once

#include <cstdint>

#include "hash/wide.hpp"

namespace bfstore::hash {

// The quotient by the reciprocal is too small by 0, 1 or 2.
class Remainder {
 public:
  explicit Remainder(std::uint64_t divisor) noexcept : divisor_(divisor), reciprocal_(UINT64_MAX / divisor) {}

  std::uint64_t operator()(std::uint64_t number) const noexcept {
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(number) * reciprocal_ >> 64);
    std::uint64_t rest = number - quotient * divisor_;
    if (rest >= divisor_) rest -= divisor_;
    return rest >= divisor_ ? rest - divisor_ : rest;
  }

 private:
  std::uint64_t divisor_;
  std::uint64_t reciprocal_;
};

}  // namespace bfstore::hash
