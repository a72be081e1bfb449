// A field of a persisted record: its name in FORMAT.md, its offset and its length. A test compares the tables of fields
// with the document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.hpp"

namespace bfstore::format {

using Bytes = std::span<const std::byte>;

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t bytes;
};

template <class Integer>
Integer get(Bytes record, const Field& field) noexcept {
  return base::load<Integer>(record.data() + field.offset);
}

template <class Integer>
void put(std::span<std::byte> record, const Field& field, Integer value) noexcept {
  base::store(record.data() + field.offset, value);
}

// Compares the first byte with zero, and each byte with the one before it. memcmp is vectorized, and a loop that may
// stop is not; opening a file checks 12 KiB.
inline bool all_zero(Bytes bytes) noexcept {
  return bytes.empty() ||
         (bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace bfstore::format
