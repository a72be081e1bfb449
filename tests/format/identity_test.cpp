// The format room's identity record: bytes and back, notes of every length, every flipped bit refused.
#include "format/identity.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/bytes.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "sizing/sizing.hpp"
#include "support/support.hpp"

using namespace rooms;
using format::CheckedIdentity;
using format::Form;
using format::Identity;

namespace {

constexpr std::array kForms{Form::kFile, Form::kEmbedded};

std::uint32_t header_with_note(Form form, std::size_t note_bytes) {
  Parameters parameters;
  if (note_bytes != 0) parameters.note = std::string(note_bytes, 'n');
  return format::header_bytes_for(form, parameters);
}

// Returns a good identity with numbers that `i` decides.
Identity identity_of(std::uint64_t i, Form form, std::size_t note_bytes) {
  Identity identity;
  identity.form = form;
  identity.header_bytes = header_with_note(form, note_bytes);
  Shape& shape = identity.shape;
  shape.layout = static_cast<Layout>(1 + i % 2);
  shape.hash = static_cast<Hash>(1 + i / 2 % 2);
  shape.num_probes = static_cast<std::uint32_t>(1 + mix(i) % 64);
  const layout::Row& row = layout::row_of(shape.layout);
  shape.num_bits = layout::whole_bits(row, 1 + mix(i + 1) % kMaxBits);
  shape.capacity = 1 + mix(i + 2) % static_cast<std::uint64_t>(INT64_MAX);
  shape.fpr = std::ldexp(1 + static_cast<double>(mix(i + 3) % 1000) / 1000, -1 - static_cast<int>(i % 1000));
  shape.seed = mix(i + 4);
  identity.body_bytes = layout::body_bytes(row, shape.num_bits);
  identity.body_offset =
      form == Form::kFile ? format::body_offset_in_file(identity.body_bytes) : identity.header_bytes + 64 * (i % 5);
  for (std::size_t j = 0; j < 16; ++j) identity.file_id[j] = static_cast<std::uint8_t>(mix(i + 5 + j));
  if (note_bytes == 0) return identity;
  identity.note.emplace();
  for (std::size_t j = 0; j < note_bytes; ++j)
    *identity.note += static_cast<char>(static_cast<unsigned char>(mix(i * j + j)));
  return identity;
}

std::uint64_t end_of(const Identity& identity) {
  const std::uint64_t body_end = identity.body_offset + identity.body_bytes;
  return (identity.form == Form::kEmbedded ? body_end : (body_end + 4095) / 4096 * 4096) + 8;
}

CheckedIdentity check(std::span<const std::byte> record, Form form, const Identity& identity) {
  return format::check_identity(record, form, std::max<std::uint64_t>(end_of(identity), format::kFileHeaderBytes),
                                true);
}

bool same(const Identity& a, const Identity& b) {
  const auto shape = [](const Shape& s) {
    return std::make_tuple(s.layout, s.hash, s.num_probes, s.num_bits, s.capacity, std::bit_cast<std::uint64_t>(s.fpr),
                           s.seed);
  };
  const auto others = [](const Identity& id) {
    return std::make_tuple(Parameters(id), id.form, id.header_bytes, id.body_offset, id.body_bytes, id.file_id);
  };
  return shape(a.shape) == shape(b.shape) && others(a) == others(b);
}

// Puts the right checksum under a record that was edited.
void seal(std::vector<std::byte>& record) {
  const std::size_t end = record.size() - format::kChecksumBytes;
  base::store(record.data() + end, hash::xxh3(record.data(), end, 0));
}

}  // namespace

TEST_CASE("an identity comes back from its bytes as it was") {
  for (const Form form : kForms) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Identity identity = identity_of(i, form, i % 40);
      const auto record = format::encode_identity(identity);
      REQUIRE(record.size() == identity.header_bytes);
      const CheckedIdentity checked = check(record, form, identity);
      if (!checked.problems.empty()) FAIL(checked.problems.front().text);
      REQUIRE(same(*checked.identity(), identity));
      REQUIRE(format::encode_identity(*checked.identity()) == record);
    }
  }
}

TEST_CASE("notes of every length from 0 to 1024 come back as they were") {
  for (const Form form : kForms) {
    for (std::size_t length = 0; length <= kMaxNoteBytes; ++length) {
      const Identity identity = identity_of(length, form, length);
      const auto record = format::encode_identity(identity);
      const CheckedIdentity checked = check(record, form, identity);
      CAPTURE(length);
      REQUIRE(checked.problems.empty());
      REQUIRE(checked.identity()->note == identity.note);
      REQUIRE(checked.identity()->note.has_value() == (length != 0));
    }
  }
}

TEST_CASE("a header is one page in a file, and in an embedded filter as short as its note allows") {
  for (std::size_t length = 0; length <= kMaxNoteBytes; ++length) {
    REQUIRE(header_with_note(Form::kFile, length) == 4096);
    const std::size_t record = length == 0 ? 0 : 8 + (length + 7) / 8 * 8;
    const std::size_t needed = 128 + record + 8;
    const std::size_t header = header_with_note(Form::kEmbedded, length);
    REQUIRE(header % 64 == 0);
    REQUIRE(header >= needed);
    REQUIRE(header - needed < 64);
    REQUIRE(header >= format::kLeastEmbeddedHeader);
  }
}

TEST_CASE("a body of 2 MiB or more begins at 2 MiB, a smaller one after the header") {
  const std::uint64_t mebibyte = 1 << 20;
  for (const std::uint64_t bytes : {std::uint64_t{8}, mebibyte, 2 * mebibyte - 8}) {
    CHECK(format::body_offset_in_file(bytes) == 16384);
  }
  for (const std::uint64_t bytes : {2 * mebibyte, 2 * mebibyte + 8, 1000 * mebibyte}) {
    CHECK(format::body_offset_in_file(bytes) == 2 * mebibyte);
  }
}

TEST_CASE("every flipped bit of a record is refused") {
  for (const Form form : kForms) {
    for (const std::size_t note_bytes : {std::size_t{0}, std::size_t{13}}) {
      const Identity identity = identity_of(7 + note_bytes, form, note_bytes);
      auto record = format::encode_identity(identity);
      REQUIRE(check(record, form, identity).problems.empty());
      for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
        const auto mask = static_cast<std::byte>(1 << (bit % 8));
        record[bit / 8] ^= mask;
        const CheckedIdentity checked = check(record, form, identity);
        REQUIRE_FALSE(checked.problems.empty());
        REQUIRE_FALSE(checked.identity().has_value());
        record[bit / 8] ^= mask;
      }
    }
  }
}

TEST_CASE("a record cut at any byte is refused, and never read beyond its end") {
  for (const Form form : kForms) {
    const Identity identity = identity_of(3, form, 5);
    const auto record = format::encode_identity(identity);
    for (std::size_t length = 0; length < record.size(); ++length) {
      const std::vector<std::byte> cut(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(length));
      REQUIRE_FALSE(format::check_identity(cut, form, length, false).problems.empty());
    }
  }
}

TEST_CASE("a filter whose end word ends one byte after the file is refused") {
  for (const Form form : kForms) {
    const Identity identity = identity_of(11, form, 0);
    const auto record = format::encode_identity(identity);
    CHECK(format::check_identity(record, form, end_of(identity), false).problems.empty());
    const auto checked = format::check_identity(record, form, end_of(identity) - 1, false);
    REQUIRE(checked.problems.size() == 1);
    CHECK(checked.problems.front().code == Code::kBody);
  }
}

TEST_CASE("the end word ends the file, in the page after the body, or right after a sealed file's checksums") {
  Identity identity = identity_of(0, Form::kFile, 0);
  identity.body_offset = 16384;
  for (const std::uint64_t body_bytes : {8U, 64U, 4096U, 65536U, 65600U, 1'000'000U}) {
    CAPTURE(body_bytes);
    identity.body_bytes = body_bytes;
    identity.seal.reset();
    const std::uint64_t checksums = 16384 + (body_bytes + 4095) / 4096 * 4096;
    CHECK(format::sections_of(identity).end_word.offset == checksums);
    CHECK(format::sections_of(identity).end == checksums + 8);
    identity.seal.emplace();
    CHECK(format::sections_of(identity).checksums.offset == checksums);
    CHECK(format::sections_of(identity).end_word.offset == checksums + 8 * ((body_bytes + 65535) / 65536));
    CHECK(format::sections_of(identity).end == format::sections_of(identity).end_word.offset + 8);
  }
}

namespace {

Identity growing_identity(std::uint32_t growth, std::uint64_t num_bits) {
  Identity identity = identity_of(0, Form::kFile, 5);
  identity.shape.layout = Layout::kGrowing;
  identity.shape.num_bits = num_bits;
  identity.shape.capacity = 1000;
  identity.body_bytes = num_bits / 8;
  identity.body_offset = format::body_offset_in_file(identity.body_bytes);
  identity.growth = growth;
  return identity;
}

}  // namespace

TEST_CASE("a growth from 2 to 16 comes back from its bytes as it was, and no other one is possible") {
  for (std::uint32_t growth = 0; growth <= 20; ++growth) {
    CAPTURE(growth);
    const Identity identity = growing_identity(growth, 1024);
    const CheckedIdentity checked = check(format::encode_identity(identity), Form::kFile, identity);
    if (growth >= 2 && growth <= 16) {
      REQUIRE(checked.problems.empty());
      REQUIRE(same(*checked.identity(), identity));
    } else {
      REQUIRE(checked.problems.size() == 1);
      REQUIRE(checked.problems.front().code == Code::kRecord);
    }
  }
}

TEST_CASE("slices begin in a page, or with 2 MiB, after the end word before, and the file ends with the last one's") {
  struct Row {
    std::uint64_t body, bytes, end_word;
  };
  const auto check_rows = [](const Identity& identity, const std::vector<Row>& rows) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      const format::Slice slice = format::slice_of(identity, i);
      CHECK(slice.body.offset == rows[i].body);
      CHECK(slice.body.bytes == rows[i].bytes);
      CHECK(slice.end_word.offset == rows[i].end_word);
      CHECK(format::sections_of(identity, i + 1).end == rows[i].end_word + 8);
    }
  };
  check_rows(
      growing_identity(2, 1024),  // the worked example of FORMAT.md
      {{16384, 128, 20480}, {24576, 256, 28672}, {32768, 512, 36864}, {40960, 1024, 45056}, {49152, 2048, 53248}});
  constexpr std::uint64_t kMebibyte = 1 << 20;
  check_rows(growing_identity(2, 8 * kMebibyte), {{16384, kMebibyte, 16384 + kMebibyte},
                                                  {2 * kMebibyte, 2 * kMebibyte, 4 * kMebibyte},
                                                  {6 * kMebibyte, 4 * kMebibyte, 10 * kMebibyte},
                                                  {12 * kMebibyte, 8 * kMebibyte, 20 * kMebibyte}});
  check_rows(growing_identity(4, 4 * kMebibyte - 512),
             {{16384, kMebibyte / 2 - 64, 16384 + kMebibyte / 2},
              {kMebibyte / 2 + 20480, 2 * kMebibyte - 256, 20480 + 5 * kMebibyte / 2}});
}

// One comparison of the two words' difference detects every change of either word or of both.
TEST_CASE("an end word is never a live word, and a file whose id differs in one bit has other words") {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    format::FileId id{};
    for (std::size_t j = 0; j < id.size(); ++j) id[j] = static_cast<std::uint8_t>(mix(i + j));
    const std::uint64_t word = format::end_word(id);
    REQUIRE((word & format::LiveWord::kNever) != 0);
    REQUIRE((format::LiveWord::healthy(id).bits & format::LiveWord::kNever) == 0);
    for (std::size_t bit = 0; bit < 128; ++bit) {
      format::FileId other = id;
      other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 1U << bit % 8);
      REQUIRE(format::end_word(other) != word);
      REQUIRE(format::LiveWord::healthy(other) != format::LiveWord::healthy(id));
    }
  }
}

TEST_CASE("the canary of another hash function is refused though the checksum is right") {
  const Identity identity = identity_of(4, Form::kFile, 0);
  REQUIRE(identity.shape.hash == Hash::kXxh3);
  auto record = format::encode_identity(identity);
  const std::uint64_t canary = hash::canary(Hash::kXxh3, identity.shape.seed);
  base::store(record.data() + format::kCanaryField.offset, canary ^ 1);
  seal(record);
  const auto checked = check(record, Form::kFile, identity);
  REQUIRE(checked.problems.size() == 1);
  CHECK(checked.problems.front().code == Code::kCanary);
}

TEST_CASE("an unknown ro_compat bit refuses writing alone, an incompat bit reading too") {
  const Identity identity = identity_of(4, Form::kFile, 0);
  for (const auto& field : {format::kCompatField, format::kRoCompatField, format::kIncompatField}) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint32_t set = std::uint32_t{1} << bit;
      if (field.offset == format::kRoCompatField.offset && set == format::kRoSealed) continue;
      auto record = format::encode_identity(identity);
      base::store(record.data() + field.offset, set);
      seal(record);
      const bool readable = format::check_identity(record, Form::kFile, end_of(identity), false).problems.empty();
      const bool writable = format::check_identity(record, Form::kFile, end_of(identity), true).problems.empty();
      CHECK(readable == (field.offset != format::kIncompatField.offset));
      CHECK(writable == (field.offset == format::kCompatField.offset));
    }
  }
}

TEST_CASE("every broken rule is reported, not only the first one, in the order of the checklist") {
  const Identity identity = identity_of(4, Form::kFile, 0);
  auto record = format::encode_identity(identity);
  base::store(record.data() + format::kVersionMajorField.offset, std::uint16_t{3});
  base::store(record.data() + format::kReservedCField.offset, std::uint64_t{1});
  base::store(record.data() + format::kIncompatField.offset, std::uint32_t{1});
  base::store(record.data() + format::kLayoutField.offset, std::uint16_t{77});
  base::store(record.data() + format::kNumProbesField.offset, std::uint32_t{65});
  base::store(record.data() + format::kNumBitsField.offset, std::uint64_t{0});
  base::store(record.data() + format::kCapacityField.offset, std::uint64_t{0});
  base::store(record.data() + format::kCanaryField.offset, hash::canary(Hash::kXxh3, identity.shape.seed) + 1);
  std::vector<Code> codes;
  for (const Problem& problem : check(record, Form::kFile, identity).problems) codes.push_back(problem.code);
  const std::vector<Code> expected{Code::kVersion, Code::kChecksum, Code::kReserved, Code::kFeature, Code::kLayout,
                                   Code::kProbes,  Code::kBits,     Code::kCapacity, Code::kCanary};
  CHECK(codes == expected);
}

TEST_CASE("a capacity above 2^63 - 1 is impossible, and so is a byte after the records that is not 0") {
  const Identity identity = identity_of(4, Form::kFile, 0);
  const auto codes_with = [&](std::size_t offset, std::uint64_t value) {
    auto record = format::encode_identity(identity);
    base::store(record.data() + offset, value);
    std::vector<Code> codes;
    for (const Problem& problem : check(record, Form::kFile, identity).problems) codes.push_back(problem.code);
    return codes;
  };
  const std::size_t end = format::encode_identity(identity).size() - 16;  // before the checksum
  CHECK(codes_with(format::kCapacityField.offset, std::uint64_t{1} << 63) ==
        std::vector<Code>{Code::kChecksum, Code::kCapacity});
  for (const std::size_t offset : {std::size_t{1024 + 512}, end})
    CHECK(codes_with(offset, 1) == std::vector<Code>{Code::kChecksum, Code::kReserved});
}
