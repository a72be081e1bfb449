// Rounding.
#pragma once

#include <cstdint>

namespace bfstore::base {

// The next multiple of `unit`; value + unit must not overflow.
inline constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

// `unit` is a power of two.
inline constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept {
  return value & ~(unit - 1);
}

}  // namespace bfstore::base
