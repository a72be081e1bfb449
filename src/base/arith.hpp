// Rounding.
#pragma once

#include <cstdint>

namespace bfstore::base {

// Rounds up to a multiple of `unit`; value + unit must not overflow.
inline constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

// Rounds down to a multiple of `unit`, which is a power of two.
inline constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept {
  return value & ~(unit - 1);
}

}  // namespace bfstore::base
