// The bare form: a body and a trailer of 8 bytes (FORMAT.md, "Bare form"). Bytes to struct and back; no I/O.
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <array>
#include <cstdint>

#include "format/field.hpp"

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

// The shape of the filter that is exactly these bytes, body and trailer; n and p are 0.
Result<Shape> decode_bare(Bytes bytes);

}  // namespace bfstore::format
