// The bare form: a body and a trailer of 8 bytes (FORMAT.md, "Bare form"). Bytes to struct and back; no I/O.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <array>
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

// What a trailer and the length before it say.
struct BareShape {
  const layout::Row* row = nullptr;
  const hash::Row* hash = nullptr;
  std::uint32_t num_probes = 0;
  std::uint64_t body_bytes = 0;
};

// Whether a bare filter of the layout can have such a body.
bool fits_bare(const layout::Row& row, std::uint64_t body_bytes) noexcept;

// Of the filter that is exactly these bytes, body and trailer: kOk, or the code of the first rule that is broken. Needs
// no words and no memory: a lookup without a handle begins with it.
Code read_bare(Bytes bytes, BareShape& shape) noexcept;

// The same as a shape, of which n and p are 0, or an error with words.
Result<Shape> decode_bare(Bytes bytes);

}  // namespace bfstore::format
