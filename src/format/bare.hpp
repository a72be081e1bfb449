// The bare form: a body and a trailer of 8 bytes (FORMAT.md, "Bare form"). Converts bytes to a struct and back; no I/O.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/field.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"

namespace bfstore::format {

inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr std::uint8_t kTrailerMarker = 0xbf;

inline constexpr Field kTrailerMarkerField{"marker", 0, 1};
inline constexpr Field kTrailerLayoutField{"layout", 1, 1};
inline constexpr Field kTrailerHashField{"hash", 2, 1};
inline constexpr Field kTrailerNumProbesField{"num_probes", 3, 1};
inline constexpr Field kTrailerCheckField{"check", 4, 4};
inline constexpr std::array kTrailerFields{kTrailerMarkerField, kTrailerLayoutField, kTrailerHashField,
                                           kTrailerNumProbesField, kTrailerCheckField};

std::array<std::byte, kTrailerBytes> encode_trailer(const Shape& shape, std::uint64_t body_bytes) noexcept;

// The facts in a trailer and in the length of the body before it.
struct BareShape {
  const layout::Row* row = nullptr;
  const hash::Row* hash = nullptr;
  std::uint32_t num_probes = 0;
  std::uint64_t body_bytes = 0;
};

inline constexpr std::size_t kTrailerNumbers = 256;  // the numbers of layouts, and of hashes, that fit a trailer

struct BareHash {
  const hash::Row* row = nullptr;
  std::uint64_t canary = 0;  // with seed 0
};

// The layouts and hashes that a bare filter can have, by their numbers. nullptr: unknown, or not for bare filters.
struct BareKinds {
  std::array<const layout::Row*, kTrailerNumbers> layouts{};
  std::array<BareHash, kTrailerNumbers> hashes{};
};

// Finds the kinds that this library knows. Computed once, because a canary takes longer than a hundred lookups.
BareKinds find_bare_kinds() noexcept;
inline const BareKinds& bare_kinds() noexcept {
  static const BareKinds kKinds = find_bare_kinds();
  return kKinds;
}

// Covers the four bytes before the check, and the length. They are stored as 16 bytes at once: XXH3 reads them as two
// words that overlap, and a load of bytes from two stores waits until both are in the cache, which would be half of a
// lookup's time.
inline std::uint32_t trailer_check(Bytes trailer, std::uint64_t canary, std::uint64_t body_bytes) noexcept {
  using Words [[gnu::vector_size(16)]] = std::uint64_t;
  const std::uint64_t first = base::load<std::uint32_t>(trailer.data());
  const Words covered{base::little_endian(first | body_bytes << 32), base::little_endian(body_bytes >> 32)};
  static_assert(kTrailerCheckField.offset == sizeof(std::uint32_t));
  return static_cast<std::uint32_t>(hash::xxh3(&covered, kTrailerCheckField.offset + sizeof body_bytes, canary));
}

// Avoids a division for a power of two: it takes as long as half of a lookup.
inline bool is_multiple(std::uint64_t value, std::uint64_t unit) noexcept {
  const bool power_of_two = (unit & (unit - 1)) == 0;
  return power_of_two ? (value & (unit - 1)) == 0 : value % unit == 0;
}

// One word of body, and the trailer.
inline constexpr std::uint64_t kLeastBareBytes = 8 + kTrailerBytes;
inline constexpr std::uint64_t kMostBareBytes = kMaxBits / 8 + kTrailerBytes;

// True if a bare filter of the layout can have a body of that many bytes.
inline bool fits_bare(const layout::Row& row, std::uint64_t body_bytes) noexcept {
  return body_bytes != 0 && body_bytes <= kMaxBits / 8 && is_multiple(body_bytes * 8, row.body_unit);
}

// Reads the 8 bytes of a trailer, after a body of that many bytes. Returns kOk, or the code of the first broken rule.
// Makes no message and allocates nothing.
inline Code read_trailer(Bytes trailer, std::uint64_t body_bytes, BareShape& shape) noexcept {
  shape.body_bytes = body_bytes;
  if (get<std::uint8_t>(trailer, kTrailerMarkerField) != kTrailerMarker) return Code::kMagic;
  const BareKinds& kinds = bare_kinds();
  shape.row = kinds.layouts[get<std::uint8_t>(trailer, kTrailerLayoutField)];
  if (shape.row == nullptr) return Code::kLayout;
  const BareHash& hash = kinds.hashes[get<std::uint8_t>(trailer, kTrailerHashField)];
  shape.hash = hash.row;
  if (shape.hash == nullptr) return Code::kHash;
  shape.num_probes = get<std::uint8_t>(trailer, kTrailerNumProbesField);
  if (shape.num_probes < 1 || shape.num_probes > kMaxProbes) return Code::kProbes;
  if (!fits_bare(*shape.row, shape.body_bytes)) return Code::kBits;
  const bool checked =
      get<std::uint32_t>(trailer, kTrailerCheckField) == trailer_check(trailer, hash.canary, shape.body_bytes);
  return checked ? Code::kOk : Code::kChecksum;
}

// Reads a filter that is exactly these bytes, body and trailer. Returns as read_trailer().
inline Code read_bare(Bytes bytes, BareShape& shape) noexcept {
  if (bytes.size() < kLeastBareBytes) return Code::kTooShort;
  if (bytes.size() > kMostBareBytes) return Code::kBits;  // checked before the end is read
  return read_trailer(bytes.last(kTrailerBytes), bytes.size() - kTrailerBytes, shape);
}

// Reads the same bytes into a Shape with n and p of 0. An error has a message.
Result<Shape> decode_bare(Bytes bytes);

}  // namespace bfstore::format
