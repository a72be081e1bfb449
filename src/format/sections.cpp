#include "format/sections.hpp"

#include <algorithm>

#include "base/arith.hpp"
#include "format/checksums.hpp"

namespace bfstore::format {
namespace {

constexpr std::uint64_t kNoFileIsAsLong = std::uint64_t{1} << 62;  // no sum of two such numbers overflows

// Takes an identity or a report: both have these numbers.
template <class Numbers>
Sections placed(const Numbers& numbers, Form form) noexcept {
  const bool embedded = form == Form::kEmbedded;
  Sections sections;
  sections.header = {0, embedded ? numbers.header_bytes : kFileHeaderBytes};
  sections.identity_checksum = {numbers.header_bytes - kChecksumBytes, kChecksumBytes};
  sections.body = {numbers.body_offset, numbers.body_bytes};
  // The sections after the body are in pages without its bits: a truncation removes whole pages first, and then zeroes
  // the rest of the last page bit by bit.
  sections.checksums = {base::round_up(sections.body.end(), kPageBytes),
                        numbers.seal ? checksums_bytes_of(num_chunks_of(numbers.body_bytes)) : 0};
  sections.end_word = {embedded ? sections.body.end() : sections.checksums.end(), kEndWordBytes};
  sections.end = sections.end_word.end();
  sections.behind_header = {sections.body.offset, sections.end - sections.body.offset};
  return sections;
}

}  // namespace

Sections sections_of(const Identity& identity) noexcept { return placed(identity, identity.form); }

Section chunk_of(const Identity& identity, std::uint64_t number) noexcept {
  const std::uint64_t in_body = number * kChunkBytes;
  return {identity.body_offset + in_body, std::min(kChunkBytes, identity.body_bytes - in_body)};
}

std::optional<Sections> possible_sections_of(const ReportedIdentity& reported) noexcept {
  if (reported.body_offset >= kNoFileIsAsLong || reported.body_bytes >= kNoFileIsAsLong) return std::nullopt;
  return placed(reported, reported.embedded ? Form::kEmbedded : Form::kFile);
}

}  // namespace bfstore::format
