// Parameter records, the parts of an identity that not every filter has (FORMAT.md, "Parameter records"). Converts
// bytes to a struct and back; no I/O.
//
// All differences between the records are in the rows of the table (record_table.hpp). identity.cpp writes and checks
// an identity through these rows. A record without a row belongs to a later version.
#pragma once

#include <bfstore/inspect.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/field.hpp"

namespace bfstore::format {

inline constexpr Field kRecordTypeField{"type", 0, 2};
inline constexpr Field kRecordFlagsField{"flags", 2, 2};
inline constexpr Field kRecordValueBytesField{"value_bytes", 4, 4};
inline constexpr std::array kRecordFields{kRecordTypeField, kRecordFlagsField, kRecordValueBytesField};
inline constexpr std::size_t kRecordValueOffset = 8;
inline constexpr std::uint16_t kRecordCritical = 1;  // bit 0 of flags

// Persisted.
inline constexpr std::uint16_t kRecordNote = 1;
inline constexpr std::uint16_t kRecordSecretCheck = 2;
inline constexpr std::uint16_t kRecordSeal = 3;
inline constexpr std::uint16_t kRecordPart = 4;
inline constexpr std::uint16_t kRecordSeeds = 5;
inline constexpr std::uint16_t kRecordWindow = 6;
inline constexpr std::uint16_t kRecordGrowth = 7;

inline constexpr std::size_t kWindowBytes = 8;  // milliseconds

// The fields of a growth's value.
inline constexpr Field kGrowthFactorField{"factor", 0, 4};
inline constexpr Field kGrowthReservedField{"reserved", 4, 4};
inline constexpr std::size_t kGrowthBytes = 8;

// The fields of a secret check's value.
inline constexpr Field kSecretCheckSaltField{"salt", 0, 8};
inline constexpr Field kSecretCheckTagField{"tag", 8, 8};
inline constexpr std::size_t kSecretCheckBytes = 16;

// The fields of a part's value.
inline constexpr Field kPartNumberField{"part", 0, 4};
inline constexpr Field kPartPartsField{"num_parts", 4, 4};
inline constexpr Field kPartCapacityField{"whole_capacity", 8, 8};
inline constexpr std::array kPartFields{kPartNumberField, kPartPartsField, kPartCapacityField};
inline constexpr std::size_t kPartBytes = 16;

// The fields of a seal's value.
inline constexpr Field kSealChunkBytesField{"chunk_bytes", 0, 4};
inline constexpr Field kSealReservedField{"reserved", 4, 4};
inline constexpr Field kSealNumChunksField{"num_chunks", 8, 8};
inline constexpr Field kSealOffsetField{"checksums_offset", 16, 8};
inline constexpr Field kSealChecksumField{"checksums_checksum", 24, 8};
inline constexpr Field kSealKeysAddedField{"keys_added", 32, 8};
inline constexpr std::array kSealFields{kSealChunkBytesField, kSealNumChunksField, kSealOffsetField, kSealChecksumField,
                                        kSealKeysAddedField};
inline constexpr std::size_t kSealBytes = 40;

struct RecordRow {
  std::uint16_t type;  // persisted
  const char* name;

  bool critical;              // a reader that has no row for the record refuses the filter
  bool repeats;               // the record may occur more than once; no version writes it twice
  std::uint32_t least_bytes;  // of the value
  std::uint32_t most_bytes;
  std::uint32_t unit_bytes = 1;  // the value's length is a multiple of this
  Field reserved;                // of the value
  bool in_file;                  // the forms that may have it
  bool in_embedded;
  // The record must be present if this is true, and absent if it is false. nullptr: both are good.
  bool (*expected)(const ReportedIdentity& identity) noexcept;

  // The messages of a reader. `malformed`: the record is critical or not, repeated, of a length or with reserved bytes
  // other than this row allows. `unexpected`: the filter may not have it. `missing`: the filter lacks it.
  const char* malformed;
  const char* unexpected;
  const char* missing;

  // Reads a value. The caller has checked that it keeps every rule above.
  void (*decode)(Bytes value, Parameters& into);
  // Returns the value, or nothing if the filter does not have the record.
  std::optional<std::vector<std::byte>> (*encode)(const Parameters& from);
};

extern const RecordRow kNoteRow;
extern const RecordRow kSecretCheckRow;
extern const RecordRow kSealRow;
extern const RecordRow kPartRow;
extern const RecordRow kSeedsRow;
extern const RecordRow kWindowRow;
extern const RecordRow kGrowthRow;

// Returns nullptr if this version does not know the record.
const RecordRow* find_record(std::uint16_t type) noexcept;

// The length of all records together.
std::size_t records_bytes_of(const Parameters& parameters);

// Writes the records to the beginning of `records`, which is all zero, and returns their length.
std::size_t put_records(std::span<std::byte> records, const Parameters& parameters);

}  // namespace bfstore::format
