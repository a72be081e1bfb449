// Where the parts of a filter are, and how long the whole is (FORMAT.md, "A file", "Sealed files", "Embedded form").
// Nothing else adds an offset to a length. Numbers only; no I/O.
#pragma once

#include <cstdint>
#include <optional>

#include "format/identity.hpp"

namespace bfstore::format {

// Offsets from the start of the identity record.
struct Sections {
  std::uint64_t identity_checksum = 0;  // the record's last bytes
  std::uint64_t body_end = 0;
  std::uint64_t checksums = 0;  // of a sealed file; else where they would be
  std::uint64_t end_word = 0;
  std::uint64_t end = 0;  // a file or buffer is at least as long
};

// Of an identity that was checked, or is about to be written.
Sections sections_of(const Identity& identity) noexcept;

// Of any identity: nothing if no file can be as long.
std::optional<Sections> possible_sections_of(const Identity& identity) noexcept;

}  // namespace bfstore::format
