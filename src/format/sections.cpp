#include "format/sections.hpp"

#include <algorithm>

#include "base/arith.hpp"
#include "format/seal.hpp"

namespace bfstore::format {
namespace {

constexpr std::uint64_t kNoFileIsAsLong = std::uint64_t{1} << 62;  // no sum of two such numbers overflows

}  // namespace

Sections sections_of(const Identity& identity) noexcept {
  Sections sections;
  sections.header = {0, identity.embedded ? identity.header_bytes : kFileHeaderBytes};
  sections.identity_checksum = {identity.header_bytes - kChecksumBytes, kChecksumBytes};
  sections.body = {identity.body_offset, identity.body_bytes};
  // What follows is in pages that have no bits: a cut zeroes the rest of a page bit by bit, and takes whole pages
  // before that.
  sections.checksums = {base::round_up(sections.body.end(), kPageBytes),
                        identity.seal ? checksums_bytes_of(num_chunks_of(identity.body_bytes)) : 0};
  sections.end_word = {identity.embedded ? sections.body.end() : sections.checksums.end(), kEndWordBytes};
  sections.end = sections.end_word.end();
  sections.behind_header = {sections.body.offset, sections.end - sections.body.offset};
  return sections;
}

Section chunk_of(const Identity& identity, std::uint64_t number) noexcept {
  const std::uint64_t in_body = number * kChunkBytes;
  return {identity.body_offset + in_body, std::min(kChunkBytes, identity.body_bytes - in_body)};
}

std::optional<Sections> possible_sections_of(const Identity& identity) noexcept {
  if (identity.body_offset >= kNoFileIsAsLong || identity.body_bytes >= kNoFileIsAsLong) return std::nullopt;
  return sections_of(identity);
}

}  // namespace bfstore::format
