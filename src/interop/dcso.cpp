// The file of DCSO's bloom (in Go; flor, fleur and poppy read and write it): 48 bytes of little-endian numbers, the
// bits in whole words of 64 bits, and then any bytes of its owner. hash/dcso.cpp has the positions of its keys.
#include <algorithm>
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kDcso};
constexpr std::size_t kHeaderBytes = 48;
constexpr std::uint64_t kVersion = 1;
constexpr Limits kLimits{.kind = "a file of DCSO's bloom"};

std::uint64_t bytes_of_words(std::uint64_t num_bits) noexcept { return kBigEndianWords.bytes(num_bits); }

Error check_header(std::uint64_t version, const Told& told, std::uint64_t num_probes) {
  if (version != kVersion) return not_of_kind(Code::kVersion, kLimits, "it does not begin with the number 1");
  if (Error error = check_numbers(kLimits, told.num_bits, num_probes); !error.ok()) return error;
  if (Error error = check_capacity(kLimits, told.capacity); !error.ok()) return error;
  if (told.fpr > 0 && told.fpr <= 1) return {};  // not NaN
  return not_of_kind(Code::kCapacity, kLimits, "p is not between 0 and 1");
}

// What follows the bits is its owner's, and as long as it is. A file of bfstore does not keep it.
Result<std::vector<Told>> find_dcso(const Source& source, const ForeignForm& /*form*/) {
  std::array<std::byte, kHeaderBytes> header{};
  if (source.size() < header.size()) return ends_within(kLimits, source.size());
  if (Error error = source.read(header, 0); !error.ok()) return error;
  Fields fields(header);
  const auto version = fields.little<std::uint64_t>();
  Told told{.hash = Hash::kDcso, .keeps_rate = true, .offset = kHeaderBytes};
  told.capacity = fields.little<std::uint64_t>();
  told.fpr = fields.little_double();
  const auto num_probes = fields.little<std::uint64_t>();
  told.num_bits = fields.little<std::uint64_t>();
  told.keys = fields.little<std::uint64_t>();
  if (Error error = check_header(version, told, num_probes); !error.ok()) return error;
  told.num_probes = static_cast<std::uint32_t>(num_probes);
  const std::uint64_t words_end = told.offset + bytes_of_words(told.num_bits);
  told.tail_bytes = std::max(words_end, source.size()) - told.offset - told.turn.bytes(told.num_bits);
  return std::vector{told};
}

Result<Outline> write_dcso(const Saying& filter, const ForeignForm& /*form*/) {
  const Shape& shape = filter.shape;
  Outline outline;
  outline.head = FieldsWriter()
                     .little(kVersion)
                     .little(shape.capacity)
                     .little_double(shape.fpr)
                     .little(std::uint64_t{shape.num_probes})
                     .little(shape.num_bits)
                     .little(filter.keys_added)
                     .take();
  outline.tail.resize(bytes_of_words(shape.num_bits) - outline.turn.bytes(shape.num_bits));
  return outline;
}

}  // namespace

constinit const Row kDcsoRow{.info = {.name = "dcso",
                                      .about = "the file of DCSO's bloom, flor, fleur and poppy",
                                      .tells_capacity = true,
                                      .hashes = kHashes,
                                      .keys = "bytes"},
                             .read = nullptr,
                             .write = write_dcso,
                             .find = find_dcso};

}  // namespace bfstore::interop
