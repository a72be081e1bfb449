#include "format/bare.hpp"

#include <string>

#include "base/fail.hpp"

namespace bfstore::format {
namespace {

std::string number_in(Bytes bytes, const Field& field) {
  return std::to_string(get<std::uint8_t>(bytes.last(kTrailerBytes), field));
}

// The message for a code of read_bare().
std::string what_is_wrong(Code code, Bytes bytes) {
  switch (code) {
    case Code::kTooShort:
      return "a bare filter is at least 16 bytes long";
    case Code::kMagic:
      return "the last 8 bytes are not the trailer of a bare filter";
    case Code::kLayout:
      return "unknown layout " + number_in(bytes, kTrailerLayoutField);
    case Code::kHash:
      return "hash " + number_in(bytes, kTrailerHashField) + " is unknown, or not for bare filters";
    case Code::kProbes:
      return "k is " + number_in(bytes, kTrailerNumProbesField) + ", not from 1 to 64";
    case Code::kBits:
      return "a body of " + std::to_string(bytes.size() - kTrailerBytes) + " bytes is not a whole number of blocks";
    default:
      return "the trailer's check does not match: the filter was damaged or cut, or this library's hash function "
             "differs";
  }
}

}  // namespace

BareKinds find_bare_kinds() noexcept {
  BareKinds kinds;
  for (std::uint16_t number = 0; number < kTrailerNumbers; ++number) {
    const layout::Row* const layout = layout::find(number);
    if (layout != nullptr && layout->has_bare_form()) kinds.layouts[number] = layout;
    const hash::Row* const row = hash::find(number);
    if (row != nullptr && row->info.fits_bare) kinds.hashes[number] = {row, hash::canary(row->info.hash, 0)};
  }
  return kinds;
}

std::array<std::byte, kTrailerBytes> encode_trailer(const Shape& shape, std::uint64_t body_bytes) noexcept {
  std::array<std::byte, kTrailerBytes> trailer{};
  put(trailer, kTrailerMarkerField, kTrailerMarker);
  put(trailer, kTrailerLayoutField, static_cast<std::uint8_t>(shape.layout));
  put(trailer, kTrailerHashField, static_cast<std::uint8_t>(shape.hash));
  put(trailer, kTrailerNumProbesField, static_cast<std::uint8_t>(shape.num_probes));
  put(trailer, kTrailerCheckField,
      trailer_check(trailer, bare_kinds().hashes[static_cast<std::uint8_t>(shape.hash)].canary, body_bytes));
  return trailer;
}

Result<Shape> decode_bare(Bytes bytes) {
  BareShape found;
  if (const Code code = read_bare(bytes, found); code != Code::kOk) return base::fail(code, what_is_wrong(code, bytes));
  Shape shape;
  shape.layout = found.row->info.layout;
  shape.hash = found.hash->info.hash;
  shape.num_probes = found.num_probes;
  shape.num_bits = layout::bits_in(*found.row, found.body_bytes);
  return shape;
}

}  // namespace bfstore::format
