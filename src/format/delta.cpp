#include "format/delta.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"
#include "format/state.hpp"
#include "hash/hash.hpp"

namespace bfstore::format {
namespace {

constexpr std::size_t kLeastDeltaHeader = kDeltaIdentityOffset + kLeastEmbeddedHeader + kChecksumBytes;

std::size_t lanes_offset(std::uint64_t identity_bytes) noexcept { return kDeltaIdentityOffset + identity_bytes; }

// The rules of a header whose length is not known to be right.
Error check_delta_start(Bytes first, std::uint64_t file_bytes, const std::string& name) {
  if (first.size() < kDeltaMagic.size() || std::memcmp(first.data(), kDeltaMagic.data(), kDeltaMagic.size()) != 0)
    return base::fail(Code::kMagic, name + ": not a delta. Give a file that bf delta made.");
  if (first.size() < kLeastDeltaHeader) return broken_delta(Code::kTooShort, name, "it ends within its header");
  const auto major = get<std::uint16_t>(first, kDeltaVersionMajorField);
  if (major != kDeltaVersion)
    return base::fail(Code::kVersion, name + ": a delta of version " + std::to_string(major) +
                                          ", which this library does not know. Update it, or send a new file.");
  const auto header_bytes = get<std::uint32_t>(first, kDeltaHeaderBytesField);
  if (header_bytes < kLeastDeltaHeader || header_bytes > kMostDeltaHeader || header_bytes % 8 != 0)
    return broken_delta(Code::kHeaderSize, name, "its header has an impossible length");
  if (header_bytes > first.size()) return broken_delta(Code::kTooShort, name, "it ends within its header");
  const std::size_t checked = header_bytes - kChecksumBytes;
  if (hash::xxh3(first.data(), checked, 0) != base::load<std::uint64_t>(first.data() + checked))
    return broken_delta(Code::kChecksum, name, "its header does not match its checksum");
  if (get<std::uint32_t>(first, kDeltaIncompatField) != 0)
    return base::fail(Code::kFeature, name +
                                          ": has a feature that this library does not know. Update it, or send a new "
                                          "file.");
  const auto codes_bytes = get<std::uint64_t>(first, kDeltaCodesBytesField);
  if (codes_bytes > file_bytes - header_bytes) return broken_delta(Code::kTooShort, name, "it was cut off");
  if (codes_bytes < file_bytes - header_bytes) return broken_delta(Code::kBody, name, "it goes on after its end");
  return {};
}

// Returns the later filter's identity, which must be one of the embedded form.
Result<Identity> identity_of_later(Bytes record, const std::string& name) {
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  const CheckedIdentity checked = check_identity(record, Form::kEmbedded, kAll, false);
  const auto identity = checked.identity();
  if (identity && identity->header_bytes == record.size()) return *identity;
  return broken_delta(checked.problems.empty() ? Code::kHeaderSize : checked.problems.front().code, name,
                      "the identity in it breaks a rule");
}

std::vector<LogPosition> lanes_in(Bytes bytes) {
  std::vector<LogPosition> lanes(bytes.size() / kLaneBytes);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::byte* const lane = bytes.data() + i * kLaneBytes;
    lanes[i] = {.owner = base::load<std::uint64_t>(lane),
                .epoch = base::load<std::uint64_t>(lane + 16),
                .mark = base::load<std::uint64_t>(lane + 8)};
  }
  return lanes;
}

void put_lanes(std::byte* to, const std::vector<LogPosition>& lanes) noexcept {
  for (const LogPosition& lane : lanes) {
    base::store(to, lane.owner);
    base::store(to + 8, lane.mark);
    base::store(to + 16, lane.epoch);
    to += kLaneBytes;
  }
}

}  // namespace

Error broken_delta(Code code, const std::string& name, const std::string& what) {
  return base::fail(code, name + ": a damaged delta: " + what + ". Get it again, or send a new file.");
}

std::uint64_t delta_header_bytes(const DeltaHeader& header) noexcept {
  return lanes_offset(header.after.header_bytes) + header.lanes.size() * kLaneBytes + kChecksumBytes;
}

std::vector<std::byte> encode_delta_header(const DeltaHeader& header) {
  std::vector<std::byte> bytes(delta_header_bytes(header));
  std::memcpy(bytes.data(), kDeltaMagic.data(), kDeltaMagic.size());
  put(bytes, kDeltaVersionMajorField, kDeltaVersion);
  put(bytes, kDeltaHeaderBytesField, static_cast<std::uint32_t>(bytes.size()));
  put(bytes, kDeltaSealedField, std::uint32_t{header.sealed});
  std::memcpy(bytes.data() + kDeltaBeforeField.offset, header.before.data(), header.before.size());
  put(bytes, kDeltaBeforeChecksumField, header.before_checksum);
  put(bytes, kDeltaAfterChecksumField, header.after_checksum);
  put(bytes, kDeltaNumBitsField, header.num_bits);
  put(bytes, kDeltaCodesBytesField, header.codes_bytes);
  put(bytes, kDeltaCodesChecksumField, header.codes_checksum);
  put(bytes, kDeltaKeysAddedField, header.keys_added);
  put(bytes, kDeltaNumLanesField, static_cast<std::uint32_t>(header.lanes.size()));
  put(bytes, kDeltaIdentityBytesField, header.after.header_bytes);
  const std::vector<std::byte> identity = encode_identity(header.after);
  std::memcpy(bytes.data() + kDeltaIdentityOffset, identity.data(), identity.size());
  put_lanes(bytes.data() + lanes_offset(identity.size()), header.lanes);
  const std::size_t checked = bytes.size() - kChecksumBytes;
  base::store(bytes.data() + checked, hash::xxh3(bytes.data(), checked, 0));
  return bytes;
}

Result<DeltaHeader> check_delta_header(Bytes first, std::uint64_t file_bytes, const std::string& name) {
  if (Error error = check_delta_start(first, file_bytes, name); !error.ok()) return error;
  const auto header_bytes = get<std::uint32_t>(first, kDeltaHeaderBytesField);
  const auto sealed = get<std::uint32_t>(first, kDeltaSealedField);
  const std::uint64_t num_lanes = get<std::uint32_t>(first, kDeltaNumLanesField);
  const std::uint64_t identity_bytes = get<std::uint32_t>(first, kDeltaIdentityBytesField);
  const std::uint64_t lanes_bytes = num_lanes * kLaneBytes;
  if (sealed > 1 || num_lanes > kNumLanes ||
      lanes_offset(identity_bytes) + lanes_bytes + kChecksumBytes != header_bytes)
    return broken_delta(Code::kReserved, name, "its header breaks a rule");
  const auto after = identity_of_later(first.subspan(kDeltaIdentityOffset, identity_bytes), name);
  if (!after) return after.error();
  DeltaHeader header;
  header.sealed = sealed == 1;
  std::memcpy(header.before.data(), first.data() + kDeltaBeforeField.offset, header.before.size());
  header.before_checksum = get<std::uint64_t>(first, kDeltaBeforeChecksumField);
  header.after_checksum = get<std::uint64_t>(first, kDeltaAfterChecksumField);
  header.num_bits = get<std::uint64_t>(first, kDeltaNumBitsField);
  header.codes_bytes = get<std::uint64_t>(first, kDeltaCodesBytesField);
  header.codes_checksum = get<std::uint64_t>(first, kDeltaCodesChecksumField);
  header.keys_added = get<std::uint64_t>(first, kDeltaKeysAddedField);
  header.after = *after;
  header.lanes = lanes_in(first.subspan(lanes_offset(identity_bytes), lanes_bytes));
  return header;
}

std::array<std::byte, kCodeHeaderBytes> encode_piece_header(const PieceCode& code) noexcept {
  std::array<std::byte, kCodeHeaderBytes> bytes{};
  put(bytes, kCodePieceField, code.piece);
  put(bytes, kCodeNumBitsField, code.coded.num_bits);
  put(bytes, kCodeRiceBitsField, code.coded.rice_bits);
  put(bytes, kCodeBytesField, code.code_bytes);
  return bytes;
}

PieceCode decode_piece_header(Bytes bytes) noexcept {
  PieceCode code;
  code.piece = get<std::uint32_t>(bytes, kCodePieceField);
  code.coded.num_bits = get<std::uint32_t>(bytes, kCodeNumBitsField);
  code.coded.rice_bits = get<std::uint32_t>(bytes, kCodeRiceBitsField);
  code.code_bytes = get<std::uint32_t>(bytes, kCodeBytesField);
  return code;
}

std::uint64_t next_checksum(std::uint64_t checksum, Bytes piece) noexcept {
  return hash::xxh3(piece.data(), piece.size(), checksum);
}

}  // namespace bfstore::format
