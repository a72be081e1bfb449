// Little-endian loads and stores at any address: the only way in which structs meet bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bfstore::base {

template <class Integer>
constexpr Integer little_endian(Integer value) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(Integer) == 1) {
    return value;
  } else if constexpr (sizeof(Integer) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(Integer) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

template <class Integer>
Integer load(const std::byte* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof value);
  return little_endian(value);
}

template <class Integer>
void store(std::byte* to, Integer value) noexcept {
  value = little_endian(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace bfstore::base
