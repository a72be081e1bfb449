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

Sections sections_of(const Identity& identity, std::uint32_t num_slices) noexcept {
  Sections sections = placed(identity, identity.form);
  if (num_slices <= 1) return sections;
  sections.end_word = slice_of(identity, num_slices - 1).end_word;
  sections.end = sections.end_word.end();
  sections.behind_header.bytes = sections.end - sections.behind_header.offset;
  return sections;
}

// A slice begins at a page, and a large one, like a large body, at a multiple of 2 MiB.
Slice slice_of(const Identity& identity, std::uint32_t number) noexcept {
  const Sections first = placed(identity, identity.form);
  Slice slice{first.body, first.end_word};
  for (std::uint32_t i = 0; i < number; ++i) {
    const std::uint64_t bytes = slice.body.bytes * identity.growth.value_or(1);
    const std::uint64_t unit = bytes >= kBigBodyBytes ? kBigBodyBytes : kPageBytes;
    slice.body = {base::round_up(slice.end_word.end(), unit), bytes};
    slice.end_word = {base::round_up(slice.body.end(), kPageBytes), kEndWordBytes};
  }
  return slice;
}

std::uint32_t most_slices(const Identity& identity) noexcept { return identity.growth ? kMaxSlices : 1; }

std::uint64_t times_as_many(std::uint32_t growth, std::uint32_t num_slices) noexcept {
  std::uint64_t sum = 0;
  std::uint64_t of_slice = 1;
  for (std::uint32_t i = 0; i < num_slices; ++i, of_slice *= growth) sum += of_slice;
  return sum;
}

Growing growing_of(std::uint64_t num_bits, std::uint64_t capacity, std::uint32_t growth,
                   std::uint32_t num_slices) noexcept {
  const auto of = [=](std::uint32_t slices) {
    const std::uint64_t times = times_as_many(growth, slices);
    return Growing::Size{num_bits * times, capacity * times};
  };
  return {growth, num_slices, kMaxSlices, of(1), of(num_slices), of(kMaxSlices)};
}

bool can_grow_by(std::uint32_t growth, std::uint64_t num_bits, std::uint64_t capacity) noexcept {
  if (growth < kLeastGrowth || growth > kMostGrowth) return false;
  const std::uint64_t times = times_as_many(growth, kMaxSlices);
  return num_bits <= kMaxBits / times && capacity <= static_cast<std::uint64_t>(INT64_MAX) / times;
}

Section chunk_of(const Identity& identity, std::uint64_t number) noexcept {
  const std::uint64_t in_body = number * kChunkBytes;
  return {identity.body_offset + in_body, std::min(kChunkBytes, identity.body_bytes - in_body)};
}

std::optional<Sections> possible_sections_of(const ReportedIdentity& reported) noexcept {
  if (reported.body_offset >= kNoFileIsAsLong || reported.body_bytes >= kNoFileIsAsLong) return std::nullopt;
  return placed(reported, reported.embedded ? Form::kEmbedded : Form::kFile);
}

}  // namespace bfstore::format
