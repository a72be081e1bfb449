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

Sections sections_of(const Identity& identity) noexcept;

// The part of the body that the checksum with this number covers.
Section chunk_of(const Identity& identity, std::uint64_t number) noexcept;

// The sections that unchecked bytes report. Empty if no file can be that long.
std::optional<Sections> possible_sections_of(const ReportedIdentity& reported) noexcept;

}  // namespace bfstore::format
