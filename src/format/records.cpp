// The rows of the table of parameter records, and the code that writes the records.
#include "format/records.hpp"

#include <cstring>

#include "base/arith.hpp"
#include "format/identity.hpp"
#include "format/record_table.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"

namespace bfstore::format {
namespace {

using Value = std::vector<std::byte>;

// --- note ------------------------------------------------------------------------------------------------------------

void decode_note(Bytes value, Parameters& into) {
  into.note.emplace(reinterpret_cast<const char*>(value.data()), value.size());
}

std::optional<Value> encode_note(const Parameters& from) {
  if (!from.note || from.note->empty()) return std::nullopt;
  const Bytes bytes = std::as_bytes(std::span(*from.note));
  return Value(bytes.begin(), bytes.end());
}

// --- secret check ----------------------------------------------------------------------------------------------------

constexpr const char* kSecretCheckRefused =
    "a secret check is repeated, not 16 bytes long, not marked critical, or of another hash";

bool has_secret(const ReportedIdentity& identity) noexcept {
  const hash::Row* const row = hash::find(identity.hash);
  return row != nullptr && row->info.takes_secret;
}

void decode_secret_check(Bytes value, Parameters& into) {
  into.secret_check = {get<std::uint64_t>(value, kSecretCheckSaltField),
                       get<std::uint64_t>(value, kSecretCheckTagField)};
}

std::optional<Value> encode_secret_check(const Parameters& from) {
  if (!from.secret_check) return std::nullopt;
  Value value(kSecretCheckBytes);
  put(value, kSecretCheckSaltField, from.secret_check->salt);
  put(value, kSecretCheckTagField, from.secret_check->tag);
  return value;
}

// --- seeds -----------------------------------------------------------------------------------------------------------

constexpr std::uint32_t kSeedBytes = 4;

constexpr const char* kSeedsRefused =
    "a list of seeds is repeated, not 4 to 256 bytes long in steps of 4, not marked critical, or of another hash";

bool has_seeds(const ReportedIdentity& identity) noexcept {
  const hash::Row* const row = hash::find(identity.hash);
  return row != nullptr && row->info.takes_seeds;
}

void decode_seeds(Bytes value, Parameters& into) {
  into.seeds.emplace();
  for (std::size_t at = 0; at < value.size(); at += kSeedBytes)
    into.seeds->push_back(base::load<std::uint32_t>(value.data() + at));
}

std::optional<Value> encode_seeds(const Parameters& from) {
  if (!from.seeds) return std::nullopt;
  Value value(from.seeds->size() * kSeedBytes);
  for (std::size_t i = 0; i < from.seeds->size(); ++i) base::store(value.data() + i * kSeedBytes, (*from.seeds)[i]);
  return value;
}

// --- window ----------------------------------------------------------------------------------------------------------

bool has_window(const ReportedIdentity& identity) noexcept {
  const layout::Row* const row = layout::find(identity.layout);
  return row != nullptr && row->info.epochs != 0;
}

void decode_window(Bytes value, Parameters& into) { into.window_ms = base::load<std::uint64_t>(value.data()); }

std::optional<Value> encode_window(const Parameters& from) {
  if (!from.window_ms) return std::nullopt;
  Value value(kWindowBytes);
  base::store(value.data(), *from.window_ms);
  return value;
}

// --- growth ----------------------------------------------------------------------------------------------------------

bool grows(const ReportedIdentity& identity) noexcept {
  const layout::Row* const row = layout::find(identity.layout);
  return row != nullptr && row->info.can.grow;
}

void decode_growth(Bytes value, Parameters& into) { into.growth = get<std::uint32_t>(value, kGrowthFactorField); }

std::optional<Value> encode_growth(const Parameters& from) {
  if (!from.growth) return std::nullopt;
  Value value(kGrowthBytes);
  put(value, kGrowthFactorField, *from.growth);
  return value;
}

// --- part ------------------------------------------------------------------------------------------------------------

void decode_part(Bytes value, Parameters& into) {
  into.part = {{get<std::uint32_t>(value, kPartNumberField), get<std::uint32_t>(value, kPartPartsField)},
               get<std::uint64_t>(value, kPartCapacityField)};
}

std::optional<Value> encode_part(const Parameters& from) {
  if (!from.part) return std::nullopt;
  Value value(kPartBytes);
  put(value, kPartNumberField, from.part->part.number);
  put(value, kPartPartsField, from.part->part.parts);
  put(value, kPartCapacityField, from.part->capacity);
  return value;
}

// --- seal ------------------------------------------------------------------------------------------------------------

bool is_sealed(const ReportedIdentity& identity) noexcept { return (identity.ro_compat & kRoSealed) != 0; }

void decode_seal(Bytes value, Parameters& into) {
  into.seal = {get<std::uint32_t>(value, kSealChunkBytesField), get<std::uint64_t>(value, kSealNumChunksField),
               get<std::uint64_t>(value, kSealOffsetField), get<std::uint64_t>(value, kSealChecksumField),
               get<std::uint64_t>(value, kSealKeysAddedField)};
}

std::optional<Value> encode_seal(const Parameters& from) {
  if (!from.seal) return std::nullopt;
  Value value(kSealBytes);
  put(value, kSealChunkBytesField, from.seal->chunk_bytes);
  put(value, kSealNumChunksField, from.seal->num_chunks);
  put(value, kSealOffsetField, from.seal->checksums_offset);
  put(value, kSealChecksumField, from.seal->checksum);
  put(value, kSealKeysAddedField, from.seal->keys_added);
  return value;
}

constexpr const char* kSealedAndNot = "the header says sealed and has no seal, or has a seal and does not say sealed";

std::size_t whole_bytes(std::size_t value_bytes) noexcept {
  return base::round_up(kRecordValueOffset + value_bytes, 8);
}

}  // namespace

const RecordRow kNoteRow{
    .type = kRecordNote,
    .name = "note",
    .critical = false,
    .repeats = false,
    .least_bytes = 0,
    .most_bytes = kMaxNoteBytes,
    .reserved = {},
    .in_file = true,
    .in_embedded = true,
    .expected = nullptr,
    .malformed = "a note is repeated, longer than 1024 bytes, or marked critical",
    .unexpected = nullptr,
    .missing = nullptr,
    .decode = decode_note,
    .encode = encode_note,
};

const RecordRow kSecretCheckRow{
    .type = kRecordSecretCheck,
    .name = "secret-check",
    .critical = true,
    .repeats = false,
    .least_bytes = kSecretCheckBytes,
    .most_bytes = kSecretCheckBytes,
    .reserved = {},
    .in_file = true,
    .in_embedded = true,
    .expected = has_secret,
    .malformed = kSecretCheckRefused,
    .unexpected = kSecretCheckRefused,
    .missing = "the hash is siphash, and the secret check is missing. Rebuild it.",
    .decode = decode_secret_check,
    .encode = encode_secret_check,
};

const RecordRow kSeedsRow{
    .type = kRecordSeeds,
    .name = "seeds",
    .critical = true,
    .repeats = false,
    .least_bytes = kSeedBytes,
    .most_bytes = kMaxProbes * kSeedBytes,
    .unit_bytes = kSeedBytes,
    .reserved = {},
    .in_file = true,
    .in_embedded = true,
    .expected = has_seeds,
    .malformed = kSeedsRefused,
    .unexpected = kSeedsRefused,
    .missing = "the hash takes a list of seeds, and the list is missing. Rebuild it.",
    .decode = decode_seeds,
    .encode = encode_seeds,
};

const RecordRow kWindowRow{
    .type = kRecordWindow,
    .name = "window",
    .critical = true,
    .repeats = false,
    .least_bytes = kWindowBytes,
    .most_bytes = kWindowBytes,
    .reserved = {},
    .in_file = true,
    .in_embedded = true,
    .expected = has_window,
    .malformed = "the length of a window is repeated, not 8 bytes long, or not marked critical",
    .unexpected = "the keys of the layout do not expire, and the length of a window is there. Rebuild it.",
    .missing = "the keys of the layout expire, and the length of the window is missing. Rebuild it.",
    .decode = decode_window,
    .encode = encode_window,
};

const RecordRow kGrowthRow{
    .type = kRecordGrowth,
    .name = "growth",
    .critical = true,
    .repeats = false,
    .least_bytes = kGrowthBytes,
    .most_bytes = kGrowthBytes,
    .reserved = kGrowthReservedField,
    .in_file = true,
    .in_embedded = false,
    .expected = grows,
    .malformed = "a growth is repeated, not 8 bytes long, or not marked critical, or its reserved bytes are not zero",
    .unexpected = "a growth is there, and the filter cannot grow. Rebuild it.",
    .missing = "the layout grows, and the growth is missing. Rebuild it.",
    .decode = decode_growth,
    .encode = encode_growth,
};

const RecordRow kPartRow{
    .type = kRecordPart,
    .name = "part",
    .critical = true,
    .repeats = false,
    .least_bytes = kPartBytes,
    .most_bytes = kPartBytes,
    .reserved = {},
    .in_file = true,
    .in_embedded = true,
    .expected = nullptr,
    .malformed = "the number of a part is repeated, not 16 bytes long, or not marked critical",
    .unexpected = nullptr,
    .missing = nullptr,
    .decode = decode_part,
    .encode = encode_part,
};

const RecordRow kSealRow{
    .type = kRecordSeal,
    .name = "seal",
    .critical = false,
    .repeats = false,
    .least_bytes = kSealBytes,
    .most_bytes = kSealBytes,
    .reserved = kSealReservedField,
    .in_file = true,
    .in_embedded = false,
    .expected = is_sealed,
    .malformed = "a seal is repeated, not 40 bytes long, or marked critical",
    .unexpected = kSealedAndNot,
    .missing = kSealedAndNot,
    .decode = decode_seal,
    .encode = encode_seal,
};

const RecordRow* find_record(std::uint16_t type) noexcept {
  for (const RecordRow* const row : record_rows()) {
    if (row->type == type) return row;
  }
  return nullptr;
}

std::size_t records_bytes_of(const Parameters& parameters) {
  std::size_t bytes = 0;
  for (const RecordRow* const row : record_rows()) {
    if (const auto value = row->encode(parameters)) bytes += whole_bytes(value->size());
  }
  return bytes;
}

std::size_t put_records(std::span<std::byte> records, const Parameters& parameters) {
  std::size_t at = 0;
  for (const RecordRow* const row : record_rows()) {
    const auto value = row->encode(parameters);
    if (!value) continue;
    const std::span<std::byte> record = records.subspan(at, whole_bytes(value->size()));
    put(record, kRecordTypeField, row->type);
    put(record, kRecordFlagsField, row->critical ? kRecordCritical : std::uint16_t{0});
    put(record, kRecordValueBytesField, static_cast<std::uint32_t>(value->size()));
    std::memcpy(record.data() + kRecordValueOffset, value->data(), value->size());
    at += record.size();
  }
  return at;
}

}  // namespace bfstore::format
