#include "format/identity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "format/checksums.hpp"
#include "format/record_table.hpp"
#include "format/sections.hpp"
#include "format/state.hpp"
#include "hash/hash.hpp"
#include "hash/siphash.hpp"
#include "layout/layout.hpp"

namespace bfstore::format {
namespace {

std::uint64_t checksum_of(Bytes record) noexcept {
  return hash::xxh3(record.data(), record.size() - kChecksumBytes, 0);
}

std::uint64_t canary_of(std::uint64_t seed, Hash hash, std::uint64_t num_bits, std::uint32_t num_probes,
                        const Parameters& parameters) noexcept {
  hash::ProbeNumbers numbers{num_bits, num_probes};
  if (parameters.seeds) numbers.seeds = *parameters.seeds;
  return hash::canary(hash, seed, numbers);
}

std::string_view as_text(Bytes bytes) noexcept { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Reads the record's fields before its parameter records. `bytes` has all of them.
ReportedIdentity fields_of(Bytes bytes) noexcept {
  ReportedIdentity reported;
  reported.version_major = get<std::uint16_t>(bytes, kVersionMajorField);
  reported.version_minor = get<std::uint16_t>(bytes, kVersionMinorField);
  reported.header_bytes = get<std::uint32_t>(bytes, kHeaderBytesField);
  reported.compat = get<std::uint32_t>(bytes, kCompatField);
  reported.ro_compat = get<std::uint32_t>(bytes, kRoCompatField);
  reported.incompat = get<std::uint32_t>(bytes, kIncompatField);
  reported.layout = get<std::uint16_t>(bytes, kLayoutField);
  reported.hash = get<std::uint16_t>(bytes, kHashField);
  reported.num_probes = get<std::uint32_t>(bytes, kNumProbesField);
  reported.num_bits = get<std::uint64_t>(bytes, kNumBitsField);
  reported.capacity = get<std::uint64_t>(bytes, kCapacityField);
  reported.fpr = std::bit_cast<double>(get<std::uint64_t>(bytes, kFprField));
  reported.seed = get<std::uint64_t>(bytes, kSeedField);
  reported.body_offset = get<std::uint64_t>(bytes, kBodyOffsetField);
  reported.body_bytes = get<std::uint64_t>(bytes, kBodyBytesField);
  std::memcpy(reported.file_id.data(), bytes.data() + kFileIdField.offset, reported.file_id.size());
  reported.canary = get<std::uint64_t>(bytes, kCanaryField);
  reported.embedded = get<std::uint16_t>(bytes, kFormField) == static_cast<std::uint16_t>(Form::kEmbedded);
  return reported;
}

// Applies the checklist to one record. Each check adds its own problem, and the next ones continue while there are
// bytes to read.
class Checker {
 public:
  Checker(Bytes bytes, Form form, std::uint64_t available_bytes, bool writing)
      : bytes_(bytes), form_(form), available_bytes_(available_bytes), writing_(writing) {}

  CheckedIdentity run() {
    check_length();
    if (!has_magic()) {
      if (problems_.empty())
        broken(Code::kMagic, "not a bfstore file (" + first_bytes() + "). Give the path of a filter.");
      return {std::nullopt, std::move(problems_)};
    }
    if (bytes_.size() < kRecordsOffset) return {std::nullopt, std::move(problems_)};
    id_ = fields_of(bytes_);
    records_bytes_ = get<std::uint32_t>(bytes_, kRecordsBytesField);
    check_version();
    check_form();
    check_header_size();
    if (whole_) check_checksum();
    check_reserved();
    check_features();
    check_kinds();
    check_numbers();
    check_body();
    if (whole_) check_records();
    if (whole_) check_seal();
    check_part();
    if (id_.seeds && id_.seeds->size() != id_.num_probes)
      broken(Code::kRecord, std::string("the seeds are not one for each of k probes.") + base::kRebuild);
    if (id_.growth && id_.seal) broken(Code::kRecord, std::string("a filter that grows is sealed.") + base::kRebuild);
    if (id_.growth && good_bits_ && !can_grow_by(*id_.growth, id_.num_bits, id_.capacity))
      broken(Code::kRecord, "a growth by " + std::to_string(*id_.growth) + " is impossible." + base::kRebuild);
    if (id_.window_ms == 0U)
      broken(Code::kRecord, std::string("a window of 0 milliseconds is impossible.") + base::kRebuild);
    check_canary();
    return {std::move(id_), std::move(problems_)};
  }

 private:
  void broken(Code code, std::string text) { problems_.push_back({code, std::move(text)}); }

  bool minor_known() const noexcept { return id_.version_minor <= kVersionMinor; }
  bool takes_secret() const noexcept { return hash_ != nullptr && hash_->info.takes_secret; }
  StateUse state_use() const noexcept {
    const layout::Row* const row = layout::find(id_.layout);
    return row != nullptr ? StateUse{row->info.epochs != 0, row->info.can.grow} : StateUse{};
  }
  bool gives_positions() const noexcept { return hash_ != nullptr && hash_->info.gives_positions; }

  [[nodiscard]] bool has_magic() const noexcept {
    return bytes_.size() >= kMagic.size() && std::memcmp(bytes_.data(), kMagic.data(), kMagic.size()) == 0;
  }

  // True of what a truncation leaves, too, even if that is less than the magic.
  [[nodiscard]] bool begins_with_magic() const {
    const std::size_t there = std::min(bytes_.size(), kMagic.size());
    return there > 0 && std::memcmp(bytes_.data(), kMagic.data(), there) == 0;
  }

  [[nodiscard]] std::string first_bytes() const {
    return "first bytes '" + base::printable(as_text(bytes_.first(std::min(bytes_.size(), std::size_t{4})))) + "'";
  }

  void check_length() {
    const std::size_t least = form_ == Form::kFile ? kFileHeaderBytes : kLeastEmbeddedHeader;
    if (available_bytes_ >= least && bytes_.size() >= std::min(least, kPageBytes)) return;
    if (available_bytes_ == 0)
      return broken(Code::kTooShort, "not a bfstore file (it is empty). Give the path of a filter.");
    const std::string length = "only " + std::to_string(available_bytes_) + " bytes long";
    if (begins_with_magic()) {
      broken(Code::kTooShort, length + ", shorter than its header: it was truncated." + base::kRebuild);
    } else {
      broken(Code::kTooShort, "not a bfstore file (" + length + ", " + first_bytes() + "). Give the path of a filter.");
    }
  }

  void check_version() {
    if (id_.version_major == kVersionMajor) return;
    const std::string version =
        "format version " + std::to_string(id_.version_major) + "." + std::to_string(id_.version_minor);
    if (id_.version_major < kVersionMajor) {
      broken(
          Code::kVersion,
          version + ", which a bfstore wrote before its first release, and this one reads version 2. Build it again.");
    } else {
      broken(Code::kVersion, version + ", and this bfstore reads version 2. Use a later bfstore.");
    }
  }

  void check_form() {
    const auto form = get<std::uint16_t>(bytes_, kFormField);
    if (form == static_cast<std::uint16_t>(form_)) return;
    if (form == static_cast<std::uint16_t>(Form::kEmbedded)) {
      broken(Code::kForm, "an embedded filter, not a filter file. Open it as a range or a buffer.");
    } else if (form == static_cast<std::uint16_t>(Form::kFile)) {
      broken(Code::kForm, "a filter file, not an embedded filter. Open it by its path.");
    } else {
      broken(Code::kForm, "unknown form " + std::to_string(form) + "." + base::kRebuild);
    }
  }

  void check_header_size() {
    const std::uint32_t size = id_.header_bytes;
    const bool possible = form_ == Form::kFile
                              ? size == kPageBytes
                              : size >= kLeastEmbeddedHeader && size <= kMostEmbeddedHeader && size % 64 == 0;
    whole_ = possible && size <= bytes_.size();
    const bool is_cut = !whole_ && !problems_.empty() && problems_.front().code == Code::kTooShort;
    if (!possible || (!whole_ && !is_cut))
      broken(Code::kHeaderSize, "a header of " + std::to_string(size) + " bytes is impossible here." + base::kRebuild);
  }

  void check_checksum() {
    const Bytes record = bytes_.first(id_.header_bytes);
    if (base::load<std::uint64_t>(record.data() + record.size() - kChecksumBytes) != checksum_of(record)) {
      broken(Code::kChecksum,
             std::string("the header's checksum does not match: the header was damaged or edited.") + base::kRebuild);
    }
  }

  void check_reserved() {
    if (!minor_known()) return;
    bool zero = true;
    for (const Field& field : {kReservedAField, kReservedBField, kReservedCField}) {
      zero = zero && all_zero(bytes_.subspan(field.offset, field.bytes));
    }
    const std::uint64_t used = kRecordsOffset + std::uint64_t{records_bytes_};
    if (whole_ && used + kChecksumBytes <= id_.header_bytes) {
      zero = zero && all_zero(bytes_.subspan(used, id_.header_bytes - kChecksumBytes - used));
    }
    if (form_ == Form::kFile && bytes_.size() >= kFileHeaderBytes)
      zero = zero && reserved_state_is_zero(bytes_, id_.file_id, state_use());
    if (!zero) broken(Code::kReserved, std::string("reserved bytes of the header are not zero.") + base::kRebuild);
  }

  void check_features() {
    if (id_.incompat != 0) {
      broken(Code::kFeature, "needs features that this bfstore does not know (incompat " +
                                 std::to_string(id_.incompat) + "). Use a later bfstore.");
    }
    if ((id_.ro_compat & ~kRoSealed) != 0 && writing_) {
      broken(Code::kFeature, "can only be read by this bfstore (ro_compat " + std::to_string(id_.ro_compat) +
                                 "). Open it for reading, or use a later bfstore.");
    }
  }

  void check_kinds() {
    row_ = layout::find(id_.layout);
    if (row_ == nullptr)
      broken(Code::kLayout, "unknown layout " + std::to_string(id_.layout) + ". Use a later bfstore.");
    hash_ = hash::find(id_.hash);
    if (hash_ == nullptr) broken(Code::kHash, "unknown hash " + std::to_string(id_.hash) + ". Use a later bfstore.");
    if ((takes_secret() || gives_positions()) && id_.seed != 0)
      broken(Code::kHash, std::string(hash_->info.name) + " with a seed is unknown. Use a later bfstore.");
    if (gives_positions() && row_ != nullptr && !layout::takes_positions(*row_)) {
      broken(Code::kHash, std::string(hash_->info.name) + " gives positions, which the layout " + row_->info.name +
                              " does not take. Use a later bfstore.");
    }
  }

  void check_numbers() {
    if (id_.num_probes < 1 || id_.num_probes > kMaxProbes) {
      broken(Code::kProbes, "k is " + std::to_string(id_.num_probes) + ", not from 1 to 64");
    }
    const std::uint64_t unit = row_ != nullptr ? row_->unit_bits : 1;
    const std::uint64_t most = row_ != nullptr ? layout::most_bits(*row_) : kMaxBits;
    good_bits_ = id_.num_bits >= 1 && id_.num_bits <= most && id_.num_bits % unit == 0;
    if (good_bits_ && hash_ != nullptr && !hash_->reaches(id_.num_bits, std::max(id_.num_probes, 1U))) {
      good_bits_ = false;
      broken(hash_->only_probes != 0 && id_.num_probes != hash_->only_probes ? Code::kProbes : Code::kBits,
             "m is " + std::to_string(id_.num_bits) + " and k is " + std::to_string(id_.num_probes) +
                 ", and those of " + hash_->info.name + " are " + hash_->limits());
    } else if (!good_bits_) {
      broken(Code::kBits, "m is " + std::to_string(id_.num_bits) + ", not from 1 to 2^" +
                              std::to_string(std::countr_zero(most)) +
                              (unit > 1 ? " in blocks of " + std::to_string(unit) : ""));
    }
    const bool good_rate = id_.fpr > 0 && id_.fpr <= 1;  // false for NaN
    if (id_.capacity < 1 || id_.capacity > static_cast<std::uint64_t>(INT64_MAX) || !good_rate) {
      broken(Code::kCapacity,
             "n or p is impossible (n " + std::to_string(id_.capacity) + ", p " + std::to_string(id_.fpr) + ")");
    }
  }

  void check_body() {
    if (row_ != nullptr && good_bits_ && id_.body_bytes != layout::body_bytes(*row_, id_.num_bits)) {
      broken(Code::kBody, "a body of " + std::to_string(id_.body_bytes) + " bytes does not fit m");
      return;
    }
    const std::uint64_t unit = form_ == Form::kFile ? kPageBytes : 64;
    const std::uint64_t least = form_ == Form::kFile ? kFileHeaderBytes : id_.header_bytes;
    const auto sections = possible_sections_of(id_);  // without a seal, which has not been read yet
    if (id_.body_offset % unit != 0 || id_.body_offset < least || !sections) {
      broken(Code::kBody, "the body cannot begin at byte " + std::to_string(id_.body_offset));
    } else if (sections->end > available_bytes_) {
      broken(Code::kBody, "the filter ends at byte " + std::to_string(sections->end) + ", but only " +
                              std::to_string(available_bytes_) + " bytes exist: the file was truncated." +
                              base::kRebuild);
    }
  }

  void check_records() {
    const std::uint64_t room = id_.header_bytes - kRecordsOffset - kChecksumBytes;
    if (records_bytes_ % 8 != 0 || records_bytes_ > room) {
      broken(Code::kRecord, "parameter records of " + std::to_string(records_bytes_) + " bytes are impossible");
      return;
    }
    each_record([this](Bytes record, std::uint64_t) { check_known(record); });
    if (!each_record([this](Bytes record, std::uint64_t value_bytes) { check_record(record, value_bytes); })) {
      broken(Code::kRecord, "a parameter record is longer than the rest of the records");
      return;
    }
    for (const RecordRow* const row : record_rows()) check_expected(*row);
  }

  // Calls `look` with each record, and the length of its value. Returns false at a record that is longer than the rest.
  template <class Look>
  bool each_record(const Look& look) {
    Bytes rest = bytes_.subspan(kRecordsOffset, records_bytes_);
    while (!rest.empty()) {
      const std::uint64_t value_bytes = get<std::uint32_t>(rest, kRecordValueBytesField);
      const std::uint64_t whole = base::round_up(kRecordValueOffset + value_bytes, 8);
      if (whole > rest.size()) return false;
      look(rest.first(whole), value_bytes);
      rest = rest.subspan(whole);
    }
    return true;
  }

  // Comes before the rules of all records: a later bfstore, and no repair, is the way out.
  void check_known(Bytes record) {
    const auto type = get<std::uint16_t>(record, kRecordTypeField);
    const bool critical = (get<std::uint16_t>(record, kRecordFlagsField) & kRecordCritical) != 0;
    if (critical && find_record(type) == nullptr) {
      broken(Code::kFeature, "needs a parameter that this bfstore does not know (type " + std::to_string(type) +
                                 "). Use a later bfstore.");
    }
  }

  void check_record(Bytes record, std::uint64_t value_bytes) {
    const auto type = get<std::uint16_t>(record, kRecordTypeField);
    const auto flags = get<std::uint16_t>(record, kRecordFlagsField);
    const bool critical = (flags & kRecordCritical) != 0;
    const bool padded = all_zero(record.subspan(kRecordValueOffset + value_bytes));
    const RecordRow* const row = find_record(type);
    if (minor_known() && ((flags & ~unsigned{kRecordCritical}) != 0 || !padded)) {
      broken(Code::kRecord,
             "a parameter record of type " + std::to_string(type) + " has flags or padding that must be zero");
    } else if (row != nullptr) {
      check_known_record(*row, critical, record.subspan(kRecordValueOffset, value_bytes));
    }
  }

  void check_known_record(const RecordRow& row, bool critical, Bytes value) {
    if (!fits(row, critical, value)) {
      broken(Code::kRecord, row.malformed);
      return;
    }
    found_.push_back(&row);
    if (may_have(row)) {
      row.decode(value, id_);
    } else {
      broken(Code::kRecord, row.unexpected);
    }
  }

  bool found(const RecordRow& row) const noexcept { return std::count(found_.begin(), found_.end(), &row) != 0; }

  bool fits(const RecordRow& row, bool critical, Bytes value) const noexcept {
    if (value.size() < row.least_bytes || value.size() > row.most_bytes || value.size() % row.unit_bytes != 0)
      return false;
    if (critical != row.critical || (found(row) && !row.repeats)) return false;
    return !minor_known() || all_zero(value.subspan(row.reserved.offset, row.reserved.bytes));
  }

  bool may_have(const RecordRow& row) const noexcept {
    const bool in_form = form_ == Form::kFile ? row.in_file : row.in_embedded;
    return in_form && (row.expected == nullptr || row.expected(id_));
  }

  void check_expected(const RecordRow& row) {
    if (row.expected != nullptr && row.expected(id_) && !found(row)) broken(Code::kRecord, row.missing);
  }

  void check_seal() {
    if (!id_.seal) return;
    const Seal& seal = *id_.seal;
    const auto sections = possible_sections_of(id_);
    if (!sections || seal.chunk_bytes != kChunkBytes || seal.num_chunks != num_chunks_of(id_.body_bytes) ||
        seal.checksums_offset != sections->checksums.offset) {
      broken(Code::kRecord, "the number or the place of the sealed body's checksums is impossible");
    } else if (sections->end > available_bytes_) {
      broken(Code::kBody,
             std::string("the checksums end after the file's end: the file was truncated.") + base::kRebuild);
    }
  }

  void check_part() {
    if (!id_.part || row_ == nullptr || !good_bits_) return;
    const auto& [part, capacity] = *id_.part;
    const bool in_range = part.parts >= 2 && part.number < part.parts;
    const bool fits = row_->in_lines && id_.num_bits <= layout::most_bits(*row_) / std::max(part.parts, 1U);
    if (in_range && fits && capacity >= 1 && capacity <= static_cast<std::uint64_t>(INT64_MAX)) return;
    broken(Code::kRecord, "part " + std::to_string(part.number) + " of " + std::to_string(part.parts) +
                              " is impossible." + base::kRebuild);
  }

  void check_canary() {
    if (hash_ == nullptr) return;
    const bool placeable = good_bits_ && id_.num_probes >= 1 && id_.num_probes <= kMaxProbes &&
                           (!hash_->info.takes_seeds || (id_.seeds && id_.seeds->size() == id_.num_probes));
    if (gives_positions() && !placeable) return;
    if (id_.canary != canary_of(id_.seed, hash_->info.hash, id_.num_bits, id_.num_probes, id_)) {
      broken(Code::kCanary,
             "this library's hash function differs from that of the library that made the file. Use that library, or "
             "rebuild the file.");
    }
  }

  Bytes bytes_;
  Form form_;
  std::uint64_t available_bytes_;
  bool writing_;
  ReportedIdentity id_;
  std::uint32_t records_bytes_ = 0;
  std::vector<const RecordRow*> found_;  // the rows of records that keep the rules of their rows
  bool whole_ = false;                   // header_bytes is possible, and all these bytes exist
  const layout::Row* row_ = nullptr;     // of the record's layout
  const hash::Row* hash_ = nullptr;
  bool good_bits_ = false;
  std::vector<Problem> problems_;
};

}  // namespace

std::uint32_t header_bytes_for(Form form, const Parameters& parameters) {
  if (form == Form::kFile) return kPageBytes;
  const std::size_t bytes = kRecordsOffset + records_bytes_of(parameters) + kChecksumBytes;
  return static_cast<std::uint32_t>(base::round_up(bytes, 64));
}

SecretCheck secret_check_of(const Secret& secret, std::uint64_t salt) noexcept {
  std::array<std::byte, 8> bytes{};
  base::store(bytes.data(), salt);
  return {salt, hash::siphash(bytes.data(), bytes.size(), secret)};
}

std::uint64_t body_offset_in_file(std::uint64_t body_bytes) noexcept {
  return body_bytes >= kBigBodyBytes ? kBigBodyBytes : kFileHeaderBytes;
}

std::vector<std::byte> encode_identity(const Identity& identity) {
  std::vector<std::byte> record(identity.header_bytes);
  std::memcpy(record.data(), kMagic.data(), kMagic.size());
  put(record, kVersionMajorField, kVersionMajor);
  put(record, kVersionMinorField, kVersionMinor);
  put(record, kHeaderBytesField, identity.header_bytes);
  put(record, kFormField, static_cast<std::uint16_t>(identity.form));
  put(record, kLayoutField, static_cast<std::uint16_t>(identity.shape.layout));
  put(record, kHashField, static_cast<std::uint16_t>(identity.shape.hash));
  put(record, kNumProbesField, identity.shape.num_probes);
  put(record, kNumBitsField, identity.shape.num_bits);
  put(record, kCapacityField, identity.shape.capacity);
  put(record, kFprField, std::bit_cast<std::uint64_t>(identity.shape.fpr));
  put(record, kSeedField, identity.shape.seed);
  put(record, kBodyOffsetField, identity.body_offset);
  put(record, kBodyBytesField, identity.body_bytes);
  std::memcpy(record.data() + kFileIdField.offset, identity.file_id.data(), identity.file_id.size());
  const Shape& shape = identity.shape;
  put(record, kCanaryField, canary_of(shape.seed, shape.hash, shape.num_bits, shape.num_probes, identity));
  put(record, kRoCompatField, identity.seal ? kRoSealed : 0);
  const std::size_t records_bytes = put_records(std::span(record).subspan(kRecordsOffset), identity);
  put(record, kRecordsBytesField, static_cast<std::uint32_t>(records_bytes));
  base::store(record.data() + record.size() - kChecksumBytes, checksum_of(record));
  return record;
}

std::optional<Identity> CheckedIdentity::identity() const {
  if (!problems.empty() || !reported) return std::nullopt;
  Identity identity{Parameters(*reported)};
  identity.form = reported->embedded ? Form::kEmbedded : Form::kFile;
  identity.shape = {static_cast<Layout>(reported->layout),
                    static_cast<Hash>(reported->hash),
                    reported->num_probes,
                    reported->num_bits,
                    reported->capacity,
                    reported->fpr,
                    reported->seed};
  identity.header_bytes = reported->header_bytes;
  identity.body_offset = reported->body_offset;
  identity.body_bytes = reported->body_bytes;
  identity.file_id = reported->file_id;
  return identity;
}

CheckedIdentity check_identity(Bytes bytes, Form form, std::uint64_t available_bytes, bool writing) {
  return Checker(bytes, form, available_bytes, writing).run();
}

}  // namespace bfstore::format
