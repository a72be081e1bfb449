// The table of parameter records: each row's rules are kept. Records that are only in this program's table are written,
// read and refused by their rows alone. This program's table replaces src/format/record_table.cpp.
#include <algorithm>

#include "base/bytes.hpp"
#include "format/checksums.hpp"
#include "format/identity.hpp"
#include "format/record_table.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace bfstore::format {
namespace {

using Value = std::vector<std::byte>;

// The next version would have these values in fields of Parameters.
std::optional<Value> ticket_to_write;
std::vector<Value> tickets_read;
std::optional<Value> stamp_to_write;
std::optional<Value> stamp_read;

constexpr std::uint32_t kStampedProbes = 9;

const RecordRow kTicketRow{
    .type = 40000,
    .name = "ticket",
    .critical = true,
    .repeats = true,
    .least_bytes = 3,
    .most_bytes = 5,
    .reserved = {"reserved", 1, 2},
    .in_file = false,
    .in_embedded = true,
    .expected = nullptr,
    .malformed = "a malformed ticket",
    .unexpected = "a ticket in a file",
    .missing = nullptr,
    .decode = [](Bytes value, Parameters&) { tickets_read.emplace_back(value.begin(), value.end()); },
    .encode = [](const Parameters&) { return ticket_to_write; },
};

const RecordRow kStampRow{
    .type = 40001,
    .name = "stamp",
    .critical = false,
    .repeats = false,
    .least_bytes = 8,
    .most_bytes = 8,
    .reserved = {},
    .in_file = true,
    .in_embedded = false,
    .expected = [](const ReportedIdentity& identity) noexcept { return identity.num_probes == kStampedProbes; },
    .malformed = "a malformed stamp",
    .unexpected = "a stamp, and k is not 9 or there is no file",
    .missing = "k is 9, and there is no stamp",
    .decode = [](Bytes value, Parameters&) { stamp_read.emplace(value.begin(), value.end()); },
    .encode = [](const Parameters&) { return stamp_to_write; },
};

}  // namespace

std::span<const RecordRow* const> record_rows() noexcept {
  static constexpr std::array kRows{&kSecretCheckRow, &kSeedsRow,  &kNoteRow, &kSealRow,
                                    &kPartRow,        &kTicketRow, &kStampRow};
  return kRows;
}

}  // namespace bfstore::format

namespace {

using format::Form;
using format::Identity;
using format::RecordRow;
using format::Value;

constexpr std::array<std::uint16_t, 2> kMinorVersions{0, 1};  // known, later

struct Raw {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  Value value;
  std::byte padding{};
};

Value bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A filter that has every record which its form may have, and room for more. Its hash takes a secret, not seeds.
Identity with_all_records(Form form) {
  constexpr std::uint64_t kBits = 512;
  Identity identity;
  identity.form = form;
  identity.note = "a note";
  identity.secret_check = SecretCheck{1, 2};
  identity.shape = {Layout::kBlocked, Hash::kSipHash, 5, kBits, 100, 0.01, 0};
  identity.header_bytes = 4096;
  identity.body_bytes = kBits / 8;
  identity.body_offset = form == Form::kFile ? format::body_offset_in_file(identity.body_bytes) : 4096;
  format::ticket_to_write.reset();
  format::stamp_to_write.reset();
  if (form == Form::kFile) {
    identity.shape.num_probes = format::kStampedProbes;
    identity.seal = Seal{65536, 1, 0, 4, 5};
    identity.seal->checksums_offset = format::sections_of(identity).checksums.offset;
    format::stamp_to_write = bytes_of("stamped!");
  } else {
    format::ticket_to_write = Value{std::byte{7}, {}, {}};  // the rest is reserved
  }
  return identity;
}

// Returns such an identity of a hash that takes seeds: it has no secret check.
Identity with_seeds(std::uint32_t num_seeds) {
  Identity identity = with_all_records(Form::kEmbedded);
  identity.shape.layout = Layout::kClassic;
  identity.shape.hash = Hash::kMurmur3;
  identity.shape.num_probes = num_seeds;
  identity.secret_check.reset();
  identity.seeds.emplace(num_seeds, 42);
  return identity;
}

Identity with_record(const RecordRow& row) {
  if (&row == &format::kSeedsRow) return with_seeds(5);
  if (&row == &format::kPartRow) {
    Identity part = with_all_records(Form::kEmbedded);
    part.part = PartOfWhole{{1, 3}, 250};
    return part;
  }
  return with_all_records(row.in_file ? Form::kFile : Form::kEmbedded);
}

Raw raw_of(const RecordRow& row, const Identity& identity) {
  return {row.type, static_cast<std::uint16_t>(row.critical ? 1 : 0), *row.encode(identity)};
}

std::vector<std::byte> bytes_of(const Raw& raw) {
  std::vector<std::byte> bytes(8);
  base::store(bytes.data(), raw.type);
  base::store(bytes.data() + 2, raw.flags);
  base::store(bytes.data() + 4, static_cast<std::uint32_t>(raw.value.size()));
  bytes.insert(bytes.end(), raw.value.begin(), raw.value.end());
  bytes.resize((bytes.size() + 7) / 8 * 8, raw.padding);
  return bytes;
}

// Returns the problems of the identity with these records instead of its own.
std::vector<Problem> problems_with(const Identity& identity, const std::vector<Raw>& raws, std::uint16_t minor = 0) {
  auto header = format::encode_identity(identity);
  std::fill(header.begin() + format::kRecordsOffset, header.end(), std::byte{0});
  std::size_t at = format::kRecordsOffset;
  for (const Raw& raw : raws) {
    const auto bytes = bytes_of(raw);
    REQUIRE(at + bytes.size() + format::kChecksumBytes <= header.size());
    std::copy(bytes.begin(), bytes.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
    at += bytes.size();
  }
  format::put(header, format::kRecordsBytesField, static_cast<std::uint32_t>(at - format::kRecordsOffset));
  format::put(header, format::kVersionMinorField, minor);
  const std::size_t end = header.size() - format::kChecksumBytes;
  base::store(header.data() + end, hash::xxh3(header.data(), end, 0));
  format::tickets_read.clear();
  format::stamp_read.reset();
  return format::check_identity(header, identity.form, std::uint64_t{1} << 20, true).problems;
}

// One record of a good filter, and its other records, which stay as they are.
struct Subject {
  explicit Subject(const RecordRow& its_row) : row(its_row), identity(with_record(its_row)) {
    for (const RecordRow* const other : format::record_rows()) {
      if (other != &row && other->encode(identity)) others.push_back(raw_of(*other, identity));
    }
    good = raw_of(row, identity);
  }
  [[nodiscard]] std::vector<Problem> with(const std::vector<Raw>& records, std::uint16_t minor = 0) const {
    std::vector<Raw> all = others;
    all.insert(all.end(), records.begin(), records.end());
    return problems_with(identity, all, minor);
  }

  const RecordRow& row;
  Identity identity;
  std::vector<Raw> others;
  Raw good;
};

void check_refused(const std::vector<Problem>& problems, const std::string& text) {
  REQUIRE_FALSE(problems.empty());
  CHECK(problems.front().code == Code::kRecord);
  CHECK(problems.front().text == text);
}

void check_unknown(const std::vector<Problem>& problems) {
  REQUIRE_FALSE(problems.empty());
  CHECK(problems.front().code == Code::kFeature);
  CHECK(problems.front().text == "needs a parameter that this bfstore does not know (type 6). Use a later bfstore.");
}

// Calls `look` with each record of the table, good as it is.
template <class Look>
void each_record(const Look& look) {
  CHECK(format::record_rows().size() == 7);
  for (const RecordRow* const row : format::record_rows()) {
    CAPTURE(row->name);
    const Subject subject(*row);
    REQUIRE(subject.with({subject.good}).empty());
    look(subject);
  }
}

}  // namespace

TEST_CASE("no two records have one number or one name") {
  for (const RecordRow* const row : format::record_rows()) {
    const auto is_same = [&](const RecordRow* other) {
      return other->type == row->type || std::string_view(other->name) == row->name;
    };
    CHECK(std::count_if(format::record_rows().begin(), format::record_rows().end(), is_same) == 1);
    CHECK(format::find_record(row->type) == row);
  }
  CHECK(format::find_record(6) == nullptr);
}

TEST_CASE("a value that is shorter or longer than its row allows is refused, and at its limits it is not") {
  each_record([](const Subject& subject) {
    for (const std::uint32_t bytes : {subject.row.least_bytes, subject.row.most_bytes}) {
      Subject at_limit = subject;
      if (subject.identity.seeds) at_limit.identity = with_seeds(bytes / 4);  // one for each probe
      Raw raw = raw_of(subject.row, at_limit.identity);
      raw.value.resize(bytes);
      CHECK(at_limit.with({raw}).empty());
    }
    Raw raw = subject.good;
    raw.value.resize(subject.row.most_bytes + 1);
    check_refused(subject.with({raw}), subject.row.malformed);
    if (subject.row.least_bytes == 0) return;
    raw.value.resize(subject.row.least_bytes - 1);
    check_refused(subject.with({raw}), subject.row.malformed);
  });
}

TEST_CASE("a record that is there twice is refused unless its row says that it repeats") {
  each_record([](const Subject& subject) {
    const auto problems = subject.with({subject.good, subject.good});
    if (!subject.row.repeats) return check_refused(problems, subject.row.malformed);
    CHECK(problems.empty());
    CHECK(format::tickets_read == std::vector<Value>{subject.good.value, subject.good.value});
  });
}

TEST_CASE("a record that is critical and should not be, or is not and should be, is refused in every minor version") {
  each_record([](const Subject& subject) {
    Raw raw = subject.good;
    raw.flags ^= 1;
    for (const std::uint16_t minor : kMinorVersions) check_refused(subject.with({raw}, minor), subject.row.malformed);
  });
}

TEST_CASE("reserved bits of a record are refused in a known minor version, and ignored in a later one") {
  int reserved_in_values = 0;
  each_record([&](const Subject& subject) {
    Raw flagged = subject.good;
    flagged.flags |= 2;
    Raw padded = subject.good;
    padded.padding = std::byte{1};
    const bool has_padding = padded.value.size() % 8 != 0;
    const std::string text =
        "a parameter record of type " + std::to_string(subject.row.type) + " has flags or padding that must be zero";
    check_refused(subject.with({flagged}), text);
    if (has_padding) check_refused(subject.with({padded}), text);
    CHECK(subject.with({flagged}, 1).empty());
    CHECK(subject.with({padded}, 1).empty());
    for (std::size_t i = 0; i < subject.row.reserved.bytes; ++i, ++reserved_in_values) {
      Raw raw = subject.good;
      raw.value[subject.row.reserved.offset + i] = std::byte{1};
      check_refused(subject.with({raw}), subject.row.malformed);
      CHECK(subject.with({raw}, 1).empty());
    }
  });
  CHECK(reserved_in_values == 4 + 2);  // of the seal and of the ticket
}

TEST_CASE("a record in a form that may not have it is refused") {
  int refused = 0;
  each_record([&](const Subject& subject) {
    for (const Form form : {Form::kFile, Form::kEmbedded}) {
      if (form == Form::kFile ? subject.row.in_file : subject.row.in_embedded) continue;
      Identity other = with_all_records(form);
      std::vector<Raw> raws{subject.good};
      for (const RecordRow* const row : format::record_rows()) {
        if (row->encode(other)) raws.push_back(raw_of(*row, other));
      }
      const auto problems = problems_with(other, raws);
      REQUIRE(problems.size() == 1);
      check_refused(problems, subject.row.unexpected);
      ++refused;
    }
  });
  CHECK(refused == 3);  // seal, ticket, stamp
}

TEST_CASE("a filter without a record that it must have is refused, and so is one with a record that it may not have") {
  int missed = 0;
  each_record([&](const Subject& subject) {
    const auto problems = subject.with({});
    if (subject.row.expected == nullptr) {
      CHECK(problems.empty());
      return;
    }
    check_refused(problems, subject.row.missing);
    ++missed;
  });
  CHECK(missed == 4);  // secret check, seeds, seal, stamp
  Subject stamped(*format::find_record(40001));
  stamped.identity.shape.num_probes = 8;
  check_refused(stamped.with({stamped.good}), stamped.row.unexpected);
  CHECK(stamped.with({}).empty());
}

TEST_CASE("a record without a row is skipped, or refused if it is critical, in every minor version") {
  for (const std::uint16_t minor : kMinorVersions) {
    const Identity identity = with_all_records(Form::kEmbedded);
    std::vector<Raw> raws{{6, 0, bytes_of("later")}};
    raws.push_back(raw_of(format::kSecretCheckRow, identity));
    CHECK(problems_with(identity, raws, minor).empty());
    raws.front().flags = 1;
    check_unknown(problems_with(identity, raws, minor));
    raws.insert(raws.begin(), {format::kNoteRow.type, 1, bytes_of("a malformed note")});
    check_unknown(problems_with(identity, raws, minor));
  }
}

TEST_CASE("made-up records are written and come back as they were, and an embedded header is long enough for them") {
  Identity identity = with_all_records(Form::kEmbedded);
  identity.note = std::string(9, 'n');
  format::ticket_to_write = bytes_of("12345");
  (*format::ticket_to_write)[1] = (*format::ticket_to_write)[2] = std::byte{0};
  identity.header_bytes = format::header_bytes_for(Form::kEmbedded, identity);
  CHECK(identity.header_bytes == 192 + 64);  // 128, 24 for the secret check, 24 for the note, 16 for the ticket, 8
  identity.body_offset = identity.header_bytes;
  const auto record = format::encode_identity(identity);
  format::tickets_read.clear();
  const auto checked = format::check_identity(record, Form::kEmbedded, 4096, true);
  REQUIRE(checked.identity().has_value());
  CHECK(Parameters(*checked.identity()) == Parameters(identity));
  CHECK(format::tickets_read == std::vector<Value>{*format::ticket_to_write});
  CHECK_FALSE(format::stamp_read.has_value());
  const Identity file = with_all_records(Form::kFile);
  const auto header = format::encode_identity(file);
  REQUIRE(format::check_identity(header, Form::kFile, std::uint64_t{1} << 20, false).identity().has_value());
  CHECK(format::stamp_read == format::stamp_to_write);
}

TEST_CASE("all records of this version, each as long as it may be, fit in the header of a file") {
  std::size_t bytes = format::kRecordsOffset + format::kChecksumBytes;
  for (const RecordRow* const row : {&format::kSecretCheckRow, &format::kNoteRow, &format::kSealRow})
    bytes += 8 + (row->most_bytes + 7) / 8 * 8;
  CHECK(bytes <= format::kPageBytes);
}
