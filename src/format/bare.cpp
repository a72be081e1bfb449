#include "format/bare.hpp"

#include <cstring>

#include <string>

#include "base/fail.hpp"

namespace bfstore::format {
namespace {

constexpr std::size_t kNumbers = 256;  // of layouts and of hashes, for which a trailer has room

struct KnownHash {
  const hash::Row* row = nullptr;
  std::uint64_t canary = 0;  // for seed 0
};

// Those that a bare filter can have, by their numbers; nullptr: not known, or not for bare filters.
struct Known {
  std::array<const layout::Row*, kNumbers> layouts{};
  std::array<KnownHash, kNumbers> hashes{};
};

// Computed once: the canary takes longer than a hundred lookups, and each one needs it.
const Known& known_here() noexcept {
  static const Known kKnown = [] {
    Known known;
    for (std::uint16_t number = 0; number < kNumbers; ++number) {
      known.layouts[number] = layout::find(number);
      const hash::Row* const row = hash::find(number);
      if (row != nullptr && row->info.fits_bare) known.hashes[number] = {row, hash::canary(row->info.hash, 0)};
    }
    return known;
  }();
  return kKnown;
}

// The four bytes before the check, and the length. In one store of 16 bytes: XXH3 reads them as two words that overlap,
// and a load of bytes from two stores waits until both are in the cache, which would be half of a lookup's time.
std::uint32_t check_of(Bytes trailer, std::uint64_t canary, std::uint64_t body_bytes) noexcept {
  using Words [[gnu::vector_size(16)]] = std::uint64_t;
  const std::uint64_t first = base::load<std::uint32_t>(trailer.data());
  const Words covered{base::little_endian(first | body_bytes << 32), base::little_endian(body_bytes >> 32)};
  static_assert(kTrailerCheckField.offset == sizeof(std::uint32_t));
  return static_cast<std::uint32_t>(hash::xxh3(&covered, kTrailerCheckField.offset + sizeof body_bytes, canary));
}

// A division takes as long as half of a lookup.
bool is_multiple(std::uint64_t value, std::uint64_t unit) noexcept {
  const bool power_of_two = (unit & (unit - 1)) == 0;
  return power_of_two ? (value & (unit - 1)) == 0 : value % unit == 0;
}

// A word of body, and the trailer.
constexpr std::uint64_t kLeastBytes = 8 + kTrailerBytes;

std::string number_in(Bytes bytes, const Field& field) {
  return std::to_string(get<std::uint8_t>(bytes.last(kTrailerBytes), field));
}

// The words for a code of read_bare().
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
      return "a body of " + std::to_string(bytes.size() - kTrailerBytes) + " bytes is no whole number of blocks";
    default:
      return "the trailer's check does not match: damaged, cut, or another hash function";
  }
}

}  // namespace

std::array<std::byte, kTrailerBytes> encode_trailer(const Shape& shape, std::uint64_t body_bytes) noexcept {
  std::array<std::byte, kTrailerBytes> trailer{};
  put(trailer, kTrailerMarkerField, kTrailerMarker);
  put(trailer, kTrailerLayoutField, static_cast<std::uint8_t>(shape.layout));
  put(trailer, kTrailerHashField, static_cast<std::uint8_t>(shape.hash));
  put(trailer, kTrailerNumProbesField, static_cast<std::uint8_t>(shape.num_probes));
  put(trailer, kTrailerCheckField,
      check_of(trailer, known_here().hashes[static_cast<std::size_t>(shape.hash)].canary, body_bytes));
  return trailer;
}

Code read_bare(Bytes bytes, BareShape& shape) noexcept {
  if (bytes.size() < kLeastBytes) return Code::kTooShort;
  shape.body_bytes = bytes.size() - kTrailerBytes;
  if (shape.body_bytes > kMaxBits / 8) return Code::kBits;  // before the end is looked at, which cannot be there
  const Bytes trailer = bytes.subspan(shape.body_bytes);
  if (get<std::uint8_t>(trailer, kTrailerMarkerField) != kTrailerMarker) return Code::kMagic;
  const Known& known = known_here();
  shape.row = known.layouts[get<std::uint8_t>(trailer, kTrailerLayoutField)];
  if (shape.row == nullptr) return Code::kLayout;
  const KnownHash& hash = known.hashes[get<std::uint8_t>(trailer, kTrailerHashField)];
  shape.hash = hash.row;
  if (shape.hash == nullptr) return Code::kHash;
  shape.num_probes = get<std::uint8_t>(trailer, kTrailerNumProbesField);
  if (shape.num_probes < 1 || shape.num_probes > kMaxProbes) return Code::kProbes;
  if (!fits_bare(*shape.row, shape.body_bytes)) return Code::kBits;
  const bool checked =
      get<std::uint32_t>(trailer, kTrailerCheckField) == check_of(trailer, hash.canary, shape.body_bytes);
  return checked ? Code::kOk : Code::kChecksum;
}

bool fits_bare(const layout::Row& row, std::uint64_t body_bytes) noexcept {
  return body_bytes != 0 && body_bytes <= kMaxBits / 8 && is_multiple(body_bytes * 8, row.body_unit);
}

Result<Shape> decode_bare(Bytes bytes) {
  BareShape found;
  if (const Code code = read_bare(bytes, found); code != Code::kOk) return base::fail(code, what_is_wrong(code, bytes));
  Shape shape;
  shape.layout = found.row->info.layout;
  shape.hash = found.hash->info.hash;
  shape.num_probes = found.num_probes;
  shape.num_bits = found.body_bytes * 8;
  return shape;
}

}  // namespace bfstore::format
