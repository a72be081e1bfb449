// The identity record, which describes a filter and is written once (FORMAT.md, "Identity"). Converts bytes to a struct
// and back; no I/O.
//
// Reading: bytes -> ReportedIdentity (the values in the bytes, unchecked) and the rules that they break -> Identity, if
// they break none. Writing: Identity -> bytes.
#pragma once

#include <bfstore/inspect.hpp>

#include <array>
#include <optional>
#include <vector>

#include "format/field.hpp"
#include "format/live_word.hpp"

namespace bfstore::format {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHeaderPages = 4;
inline constexpr std::size_t kFileHeaderBytes = kHeaderPages * kPageBytes;  // identity, slots, live page
inline constexpr std::uint64_t kBigBodyBytes = std::uint64_t{2} << 20;      // a body of this size or more also begins
                                                                            // there
inline constexpr std::uint16_t kVersionMajor = 2;
inline constexpr std::uint16_t kVersionMinor = 0;
inline constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'B', 'F', 'S', 0x0d, 0x0a, 0x1a, 0x0a};

inline constexpr Field kMagicField{"magic", 0, 8};
inline constexpr Field kVersionMajorField{"version_major", 8, 2};
inline constexpr Field kVersionMinorField{"version_minor", 10, 2};
inline constexpr Field kHeaderBytesField{"header_bytes", 12, 4};
inline constexpr Field kCompatField{"compat", 16, 4};
inline constexpr Field kRoCompatField{"ro_compat", 20, 4};
inline constexpr Field kIncompatField{"incompat", 24, 4};
inline constexpr Field kFormField{"form", 28, 2};
inline constexpr Field kReservedAField{"reserved_a", 30, 2};
inline constexpr Field kLayoutField{"layout", 32, 2};
inline constexpr Field kHashField{"hash", 34, 2};
inline constexpr Field kNumProbesField{"num_probes", 36, 4};
inline constexpr Field kNumBitsField{"num_bits", 40, 8};
inline constexpr Field kCapacityField{"capacity", 48, 8};
inline constexpr Field kFprField{"fpr", 56, 8};
inline constexpr Field kSeedField{"seed", 64, 8};
inline constexpr Field kBodyOffsetField{"body_offset", 72, 8};
inline constexpr Field kBodyBytesField{"body_bytes", 80, 8};
inline constexpr Field kFileIdField{"file_id", 88, 16};
inline constexpr Field kCanaryField{"canary", 104, 8};
inline constexpr Field kRecordsBytesField{"records_bytes", 112, 4};
inline constexpr Field kReservedBField{"reserved_b", 116, 4};
inline constexpr Field kReservedCField{"reserved_c", 120, 8};

inline constexpr std::array kIdentityFields{
    kMagicField,    kVersionMajorField, kVersionMinorField, kHeaderBytesField, kCompatField,     kRoCompatField,
    kIncompatField, kFormField,         kReservedAField,    kLayoutField,      kHashField,       kNumProbesField,
    kNumBitsField,  kCapacityField,     kFprField,          kSeedField,        kBodyOffsetField, kBodyBytesField,
    kFileIdField,   kCanaryField,       kRecordsBytesField, kReservedBField,   kReservedCField};

inline constexpr std::size_t kRecordsOffset = 128;
inline constexpr std::size_t kChecksumBytes = 8;  // the record's last bytes
inline constexpr std::size_t kEndWordBytes = 8;   // the last bytes of a file, and of an embedded filter
inline constexpr std::size_t kLeastEmbeddedHeader = 192;
inline constexpr std::size_t kMostEmbeddedHeader = 65536;

inline constexpr std::uint32_t kRoSealed = 1;  // bit 0 of ro_compat

enum class Form : std::uint16_t { kFile = 1, kEmbedded = 2 };  // persisted

// A checked description of a filter: of one that was planned, or whose bytes keep every rule of the checklist. So no
// open filter has a number that the checklist refuses.
struct Identity : Parameters {
  Form form = Form::kFile;
  Shape shape{};
  std::uint32_t header_bytes = 0;
  std::uint64_t body_offset = 0;
  std::uint64_t body_bytes = 0;
  FileId file_id{};
};

// The record's length in bytes.
std::uint32_t header_bytes_for(Form form, const Parameters& parameters);

// Computes the check that a file keeps of its secret.
SecretCheck secret_check_of(const Secret& secret, std::uint64_t salt) noexcept;

// The offset at which a body of that many bytes begins in a file.
std::uint64_t body_offset_in_file(std::uint64_t body_bytes) noexcept;

// Encodes the record: header_bytes long, with canary and checksum.
std::vector<std::byte> encode_identity(const Identity& identity);

struct CheckedIdentity {
  std::optional<ReportedIdentity> reported;  // if the bytes are long enough and begin with the magic
  std::vector<Problem> problems;             // in the checklist's order; empty for a good record

  // Empty if there are problems.
  [[nodiscard]] std::optional<Identity> identity() const;
};

// Applies the reader's checklist to a record. `bytes` has at least the header, or all bytes that exist.
// `available_bytes` is the length of the file or buffer from the record's start. `writing` refuses unknown ro_compat
// bits.
CheckedIdentity check_identity(Bytes bytes, Form form, std::uint64_t available_bytes, bool writing);

}  // namespace bfstore::format
