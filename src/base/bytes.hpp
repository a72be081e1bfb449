// Little-endian loads and stores at any address, the only conversion between structs and bytes; and zeroing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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

// Returns the bytes, of which there are at most 7, as the lowest ones of a word. Loads that overlap need no loop, whose
// end no CPU could predict for keys of different lengths.
inline std::uint64_t load_rest(const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t kHalf = sizeof(std::uint32_t);
  if (bytes >= kHalf) {
    const std::uint64_t last = load<std::uint32_t>(from + bytes - kHalf);
    return load<std::uint32_t>(from) | last << 8 * (bytes - kHalf);
  }
  const auto byte_at = [from](std::size_t i) { return std::to_integer<std::uint64_t>(from[i]) << 8 * i; };
  return bytes == 0 ? 0 : byte_at(0) | byte_at(bytes / 2) | byte_at(bytes - 1);
}

// Zeros the bytes. Does not write to pages that are zero already: pages of a fresh, large allocation take no memory
// until a program writes to them.
inline void clear(std::span<std::byte> bytes) noexcept {
  constexpr std::size_t kPage = 4096;
  while (!bytes.empty()) {
    const auto page = bytes.first(bytes.size() < kPage ? bytes.size() : kPage);
    const bool is_zero = page[0] == std::byte{0} && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0;
    if (!is_zero) std::memset(page.data(), 0, page.size());
    bytes = bytes.subspan(page.size());
  }
}

}  // namespace bfstore::base
