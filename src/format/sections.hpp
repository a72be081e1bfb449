// The places of a filter's sections, and its length (FORMAT.md, "A file", "Sealed files", "Embedded form"). No other
// code adds an offset to a length. Numbers only; no I/O.
#pragma once

#include <cstdint>
#include <optional>

#include "format/identity.hpp"

namespace bfstore::format {

// A range with one meaning. Its offset counts from the start of the identity record.
struct Section {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + bytes; }
};

struct Sections {
  Section header;             // identity; in a file also the state slots and the live page
  Section identity_checksum;  // the record's last bytes
  Section body;
  Section checksums;  // empty if the file is not sealed
  Section end_word;
  Section behind_header;  // from the body to the end; allocated, and rewritten, as a whole
  std::uint64_t end = 0;  // a file or buffer is at least this long
};

// Of a body that grows: `body` is its first slice, and the end word and the end are those of the last one.
Sections sections_of(const Identity& identity, std::uint32_t num_slices = 1) noexcept;

// A slice of a body that grows (FORMAT.md, "Growing"): its lines, and the end word behind them.
struct Slice {
  Section body;
  Section end_word;
};

// Slice 0 is the body and the end word of the sections above. A body that does not grow has no other.
Slice slice_of(const Identity& identity, std::uint32_t number) noexcept;

// The number of slices that the body can have.
std::uint32_t most_slices(const Identity& identity) noexcept;

// How many times as many bits, and keys, as the first slice so many slices have together.
std::uint64_t times_as_many(std::uint32_t growth, std::uint32_t num_slices) noexcept;

// True if each slice of a body whose first one has that many bits has its place, and all have at most kMaxBits.
bool can_grow_by(std::uint32_t growth, std::uint64_t num_bits, std::uint64_t capacity) noexcept;

// What the tools and the statistics say of such a body.
Growing growing_of(std::uint64_t num_bits, std::uint64_t capacity, std::uint32_t growth,
                   std::uint32_t num_slices) noexcept;

inline constexpr std::uint32_t kLeastGrowth = 2;
inline constexpr std::uint32_t kMostGrowth = 16;

// The part of the body that the checksum with this number covers.
Section chunk_of(const Identity& identity, std::uint64_t number) noexcept;

// The sections that unchecked bytes report. Empty if no file can be that long.
std::optional<Sections> possible_sections_of(const ReportedIdentity& reported) noexcept;

}  // namespace bfstore::format
