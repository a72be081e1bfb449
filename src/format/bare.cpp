#include "format/bare.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"

namespace bfstore::format {
namespace {

std::uint32_t check_of(Bytes trailer, Hash hash, std::uint64_t body_bytes) noexcept {
  std::array<std::byte, 12> covered{};
  std::memcpy(covered.data(), trailer.data(), kTrailerCheckField.offset);
  base::store(covered.data() + kTrailerCheckField.offset, body_bytes);
  return static_cast<std::uint32_t>(hash::xxh3(covered.data(), covered.size(), hash::canary(hash, 0)));
}

}  // namespace

std::array<std::byte, kTrailerBytes> encode_trailer(const Shape& shape, std::uint64_t body_bytes) noexcept {
  std::array<std::byte, kTrailerBytes> trailer{};
  put(trailer, kTrailerMarkerField, kTrailerMarker);
  put(trailer, kTrailerLayoutField, static_cast<std::uint8_t>(shape.layout));
  put(trailer, kTrailerHashField, static_cast<std::uint8_t>(shape.hash));
  put(trailer, kTrailerNumProbesField, static_cast<std::uint8_t>(shape.num_probes));
  put(trailer, kTrailerCheckField, check_of(trailer, shape.hash, body_bytes));
  return trailer;
}

Result<Shape> decode_bare(Bytes bytes) {
  if (bytes.size() < 8 + kTrailerBytes)
    return base::fail(Code::kTooShort, "shorter than 16 bytes, so not a bare filter");
  const std::uint64_t body_bytes = bytes.size() - kTrailerBytes;
  const Bytes trailer = bytes.subspan(body_bytes);
  if (get<std::uint8_t>(trailer, kTrailerMarkerField) != kTrailerMarker) {
    return base::fail(Code::kMagic, "the last 8 bytes are not the trailer of a bare filter");
  }
  const auto layout_number = get<std::uint8_t>(trailer, kTrailerLayoutField);
  const auto hash_number = get<std::uint8_t>(trailer, kTrailerHashField);
  Shape shape;
  shape.num_probes = get<std::uint8_t>(trailer, kTrailerNumProbesField);
  const layout::Row* const row = layout::find(layout_number);
  if (row == nullptr) return base::fail(Code::kLayout, "unknown layout " + std::to_string(layout_number));
  const hash::Row* const hash = hash::find(hash_number);
  if (hash == nullptr || !hash->info.fits_bare)
    return base::fail(Code::kHash, "hash " + std::to_string(hash_number) + " is unknown, or not for bare filters");
  shape.layout = row->info.layout;
  shape.hash = hash->info.hash;
  if (shape.num_probes < 1 || shape.num_probes > kMaxProbes) {
    return base::fail(Code::kProbes, "k is " + std::to_string(shape.num_probes) + ", not from 1 to 64");
  }
  shape.num_bits = body_bytes * 8;
  if (shape.num_bits > kMaxBits || layout::body_bytes(*row, shape.num_bits) != body_bytes) {
    return base::fail(Code::kBits,
                      "a body of " + std::to_string(body_bytes) + " bytes is not a whole number of blocks");
  }
  if (get<std::uint32_t>(trailer, kTrailerCheckField) != check_of(trailer, shape.hash, body_bytes)) {
    return base::fail(
        Code::kChecksum,
        "the trailer's check does not match: the filter was damaged or cut, or this library's hash function differs");
  }
  return shape;
}

}  // namespace bfstore::format
