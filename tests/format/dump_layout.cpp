// Prints what src/format's headers say about the bytes. format_doc_test.py compares that with FORMAT.md:
//   field TABLE NAME OFFSET BYTES     (BYTES 0: of any length; OFFSET -8: counted from the end)
//   number KIND NAME VALUE
//   record NAME TYPE CRITICAL LEAST MOST REPEATS IN_FILE IN_EMBEDDED EXPECTED     (EXPECTED 1: under a condition)
#include <bfstore/hashes.hpp>
#include <bfstore/layouts.hpp>

#include <cstdio>

#include "format/bare.hpp"
#include "format/checksums.hpp"
#include "format/delta.hpp"
#include "format/identity.hpp"
#include "format/record_table.hpp"
#include "format/state.hpp"

namespace {

using namespace bfstore;

template <class Fields>
void print_table(const char* table, const Fields& fields) {
  for (const format::Field& field : fields)
    std::printf("field %s %s %zu %zu\n", table, field.name, field.offset, field.bytes);
}

void print_number(const char* kind, const char* name, unsigned long long value) {
  std::printf("number %s %s %llu\n", kind, name, value);
}

template <class Enum>
void print_enum(const char* kind, const char* name, Enum value) {
  print_number(kind, name, static_cast<unsigned long long>(value));
}

void print_tables() {
  print_table("identity", format::kIdentityFields);
  std::printf("field identity records %zu 0\n", format::kRecordsOffset);
  std::printf("field identity checksum -%zu %zu\n", format::kChecksumBytes, format::kChecksumBytes);
  print_table("record", format::kRecordFields);
  std::printf("field record value %zu 0\n", format::kRecordValueOffset);
  print_table("seal", format::kSealFields);
  print_table("part", format::kPartFields);
  print_table("slot", format::kSlotFields);
  print_table("live", format::kLiveFields);
  print_table("trailer", format::kTrailerFields);
  print_table("delta", format::kDeltaFields);
  std::printf("field delta identity %zu 0\n", format::kDeltaIdentityOffset);
  std::printf("field delta checksum -%zu %zu\n", format::kChecksumBytes, format::kChecksumBytes);
  print_table("code", format::kCodeFields);
  std::printf("field code code %zu 0\n", format::kCodeHeaderBytes);
}

void print_records() {
  for (const format::RecordRow* const row : format::record_rows())
    std::printf("record %s %d %d %u %u %d %d %d %d\n", row->name, row->type, row->critical, row->least_bytes,
                row->most_bytes, row->repeats, row->in_file, row->in_embedded, row->expected != nullptr);
}

void print_enums() {
  print_enum("form", "file", format::Form::kFile);
  print_enum("form", "embedded", format::Form::kEmbedded);
  for (const LayoutInfo& row : layouts()) print_enum("layout", row.name, row.layout);
  print_enum("hash", "XXH3-64", Hash::kXxh3);
  print_enum("hash", "external", Hash::kExternal);
  print_enum("hash", "SipHash-2-4", Hash::kSipHash);
  for (const HashInfo& row : hashes()) {
    if (row.gives_positions) print_enum("hash", row.name, row.hash);
  }
  print_enum("state", "clean", format::SlotState::kClean);
  print_enum("state", "dirty", format::SlotState::kDirty);
  print_enum("state", "recovering", format::SlotState::kRecovering);
  print_enum("state", "paused", format::SlotState::kPaused);
  print_number("live", "poisoned", format::LiveWord::kPoisoned);
  print_number("live", "superseded", format::LiveWord::kSuperseded);
  print_number("live", "recovering", format::LiveWord::kRecovering);
  print_number("live", "replaced", format::LiveWord::kReplaced);
  print_number("live", "filling", format::LiveWord::kFilling);
  print_number("live", "later_states", format::LiveWord::kLaterStates);
  print_number("live", "never", format::LiveWord::kNever);
}

void print_constants() {
  for (const unsigned byte : format::kMagic) print_number("magic", "byte", byte);
  for (const unsigned byte : format::kDeltaMagic) print_number("delta_magic", "byte", byte);
  print_number("constant", "delta_version", format::kDeltaVersion);
  print_number("constant", "least_delta_header",
               format::kDeltaIdentityOffset + format::kLeastEmbeddedHeader + format::kChecksumBytes);
  print_number("constant", "most_delta_header", format::kMostDeltaHeader);
  print_number("constant", "delta_piece_bytes", format::kDeltaPieceBytes);
  print_number("constant", "most_rice_bits", format::kMostRiceBits);
  print_number("constant", "trailer_marker", format::kTrailerMarker);
  print_number("constant", "trailer_bytes", format::kTrailerBytes);
  print_number("constant", "version_major", format::kVersionMajor);
  print_number("constant", "version_minor", format::kVersionMinor);
  print_number("constant", "page_bytes", format::kPageBytes);
  print_number("constant", "file_header_bytes", format::kFileHeaderBytes);
  print_number("constant", "big_body_bytes", format::kBigBodyBytes);
  print_number("constant", "big_body_offset", format::body_offset_in_file(format::kBigBodyBytes));
  print_number("constant", "small_body_offset", format::body_offset_in_file(format::kBigBodyBytes - 1));
  print_number("constant", "least_embedded_header", format::kLeastEmbeddedHeader);
  print_number("constant", "most_embedded_header", format::kMostEmbeddedHeader);
  print_number("constant", "slot_offset", format::kSlotOffset);
  print_number("constant", "live_page_offset", format::kLivePageOffset);
  print_number("constant", "chunk_bytes", format::kChunkBytes);
  print_number("constant", "ro_sealed", format::kRoSealed);
  print_number("constant", "lanes", format::kNumLanes);
  print_number("constant", "stripes", format::kNumStripes);
  print_number("constant", "stripe_bytes", format::kStripeBytes);
  print_number("constant", "most_probes", kMaxProbes);
  print_number("constant", "most_bits", kMaxBits);
  print_number("constant", "block_bits", kLineBits);
  print_number("constant", "secret_bytes", sizeof(Secret));
}

}  // namespace

int main() {
  print_tables();
  print_records();
  print_enums();
  print_constants();
}
