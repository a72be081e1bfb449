#include "format/sections.hpp"

#include "base/arith.hpp"
#include "format/seal.hpp"

namespace bfstore::format {
namespace {

constexpr std::uint64_t kNoFileIsAsLong = std::uint64_t{1} << 62;  // no sum of two such numbers overflows

}  // namespace

Sections sections_of(const Identity& identity) noexcept {
  Sections sections;
  sections.identity_checksum = identity.header_bytes - kChecksumBytes;
  sections.body_end = identity.body_offset + identity.body_bytes;
  sections.checksums = base::round_up(sections.body_end, kPageBytes);
  // In a page that has no bits: a cut zeroes the rest of a page bit by bit, and takes whole pages before that.
  const std::uint64_t checksums_bytes = identity.seal ? checksums_bytes_of(num_chunks_of(identity.body_bytes)) : 0;
  sections.end_word = identity.embedded ? sections.body_end : sections.checksums + checksums_bytes;
  sections.end = sections.end_word + kEndWordBytes;
  return sections;
}

std::optional<Sections> possible_sections_of(const Identity& identity) noexcept {
  if (identity.body_offset >= kNoFileIsAsLong || identity.body_bytes >= kNoFileIsAsLong) return std::nullopt;
  return sections_of(identity);
}

}  // namespace bfstore::format
