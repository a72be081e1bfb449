// The bytes of a delta around its coded bits (FORMAT.md, "Deltas"). Converts bytes to structs and back; no I/O.
#pragma once

#include <bfstore/marks.hpp>

#include <array>
#include <string>
#include <vector>

#include "format/gaps.hpp"
#include "format/identity.hpp"

namespace bfstore::format {

inline constexpr std::uint16_t kDeltaVersion = 1;
inline constexpr std::array<std::uint8_t, 8> kDeltaMagic{0x89, 'B', 'F', 'D', 0x0d, 0x0a, 0x1a, 0x0a};

inline constexpr Field kDeltaMagicField{"magic", 0, 8};
inline constexpr Field kDeltaVersionMajorField{"version_major", 8, 2};
inline constexpr Field kDeltaVersionMinorField{"version_minor", 10, 2};
inline constexpr Field kDeltaHeaderBytesField{"header_bytes", 12, 4};
inline constexpr Field kDeltaIncompatField{"incompat", 16, 4};
inline constexpr Field kDeltaSealedField{"sealed", 20, 4};
inline constexpr Field kDeltaBeforeField{"before_file_id", 24, 16};
inline constexpr Field kDeltaBeforeChecksumField{"before_checksum", 40, 8};
inline constexpr Field kDeltaAfterChecksumField{"after_checksum", 48, 8};
inline constexpr Field kDeltaNumBitsField{"num_new_bits", 56, 8};
inline constexpr Field kDeltaCodesBytesField{"codes_bytes", 64, 8};
inline constexpr Field kDeltaCodesChecksumField{"codes_checksum", 72, 8};
inline constexpr Field kDeltaKeysAddedField{"keys_added", 80, 8};
inline constexpr Field kDeltaNumLanesField{"num_lanes", 88, 4};
inline constexpr Field kDeltaIdentityBytesField{"identity_bytes", 92, 4};
inline constexpr std::array kDeltaFields{kDeltaMagicField,       kDeltaVersionMajorField,   kDeltaVersionMinorField,
                                         kDeltaHeaderBytesField, kDeltaIncompatField,       kDeltaSealedField,
                                         kDeltaBeforeField,      kDeltaBeforeChecksumField, kDeltaAfterChecksumField,
                                         kDeltaNumBitsField,     kDeltaCodesBytesField,     kDeltaCodesChecksumField,
                                         kDeltaKeysAddedField,   kDeltaNumLanesField,       kDeltaIdentityBytesField};

inline constexpr std::size_t kDeltaIdentityOffset = 96;  // the identity, the lanes, and the header's checksum follow
inline constexpr std::size_t kMostDeltaHeader = 8192;    // longer than any header, so a reader has one buffer for all

inline constexpr Field kCodePieceField{"piece", 0, 4};
inline constexpr Field kCodeNumBitsField{"num_bits", 4, 4};
inline constexpr Field kCodeRiceBitsField{"rice_bits", 8, 4};
inline constexpr Field kCodeBytesField{"code_bytes", 12, 4};
inline constexpr std::array kCodeFields{kCodePieceField, kCodeNumBitsField, kCodeRiceBitsField, kCodeBytesField};
inline constexpr std::size_t kCodeHeaderBytes = 16;

struct DeltaHeader {
  bool sealed = false;  // the later file is
  FileId before{};      // file_id of the earlier file
  std::uint64_t before_checksum = 0;
  std::uint64_t after_checksum = 0;
  std::uint64_t num_bits = 0;
  std::uint64_t codes_bytes = 0;
  std::uint64_t codes_checksum = 0;
  std::uint64_t keys_added = 0;
  Identity after;  // the later filter's, in the embedded form: it is short, and has no seal
  std::vector<LogPosition> lanes;
};

// Encodes the header. Its length depends on `after` and `lanes` alone.
std::vector<std::byte> encode_delta_header(const DeltaHeader& header);

// Checks the header, and returns it. `first` has kMostDeltaHeader bytes, or all that the file has. No number in it is
// believed before its checksum is right. `name` is for messages.
Result<DeltaHeader> check_delta_header(Bytes first, std::uint64_t file_bytes, const std::string& name);

// The length that such a header has.
std::uint64_t delta_header_bytes(const DeltaHeader& header) noexcept;

// The bits of a piece, and the piece's number.
struct PieceCode {
  std::uint32_t piece = 0;
  CodedBits coded;  // without its code
  std::uint32_t code_bytes = 0;
};
std::array<std::byte, kCodeHeaderBytes> encode_piece_header(const PieceCode& code) noexcept;
PieceCode decode_piece_header(Bytes bytes) noexcept;

// The checksum of a body, or of all codes: each piece of kDeltaPieceBytes in turn changes it. It begins with 0.
std::uint64_t next_checksum(std::uint64_t checksum, Bytes piece) noexcept;

// The number of pieces of a body.
constexpr std::uint64_t num_delta_pieces(std::uint64_t body_bytes) noexcept {
  return body_bytes / kDeltaPieceBytes + (body_bytes % kDeltaPieceBytes != 0 ? 1 : 0);
}

// The error of a delta that breaks a rule of the format.
Error broken_delta(Code code, const std::string& name, const std::string& what);

}  // namespace bfstore::format
