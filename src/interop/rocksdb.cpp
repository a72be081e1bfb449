// One full filter of RocksDB's NewBloomFilterPolicy in the form of format_version 5, as the filter block of a table has
// it without the block's own trailer: lines of 64 bytes, and 5 bytes: ff, 00, k, 00, 00.
#include <array>

#include "interop/header.hpp"

namespace bfstore::interop {
namespace {

constexpr std::array kHashes{Hash::kRocksDb};
constexpr Limits kLimits{.kind = "a full Bloom filter of RocksDB (format_version 5)",
                         .most_bits = 8 * ((std::uint64_t{1} << 32) - 64),
                         .unit_bits = 512,
                         .most_probes = 30};
constexpr std::size_t kTrailerBytes = 5;
constexpr std::byte kNewForm{0xff}, kRibbon{0xfe};

Error check_trailer(const std::array<std::byte, kTrailerBytes>& trailer) {
  if (trailer[0] == kRibbon) {
    return base::fail(Code::kUnsupported,
                      "is a Ribbon filter of RocksDB, which is no Bloom filter. Build a filter of its keys.");
  }
  if (trailer[0] != kNewForm) {
    return not_of_kind(Code::kMagic, kLimits,
                       "its trailer does not begin with ff and 00. An older format_version has another filter");
  }
  const bool one_line = (std::to_integer<unsigned>(trailer[2]) >> 5) == 0;
  const bool known = trailer[1] == std::byte{0} && trailer[3] == std::byte{0} && trailer[4] == std::byte{0};
  if (one_line && known) return {};
  return not_of_kind(Code::kFeature, kLimits, "its trailer is that of a later kind of filter");
}

Result<std::vector<Told>> find_filter(const Source& source, const ForeignForm& /*form*/) {
  std::array<std::byte, kTrailerBytes> trailer;
  if (source.size() < trailer.size()) return ends_within(kLimits, source.size());
  if (Error error = source.read(trailer, source.size() - trailer.size()); !error.ok()) return error;
  if (Error error = check_trailer(trailer); !error.ok()) return error;
  const auto num_probes = std::to_integer<std::uint32_t>(trailer[2]);
  const std::uint64_t bytes = std::min(source.size() - trailer.size(), kMaxBits / 8 + 1);
  if (Error error = check_numbers(kLimits, 8 * bytes, num_probes); !error.ok()) return error;
  return only({.hash = Hash::kRocksDb, .num_bits = 8 * bytes, .num_probes = num_probes, .tail_bytes = kTrailerBytes});
}

Result<Outline> write_filter(const Saying& filter, const ForeignForm& /*form*/) {
  const std::uint32_t num_probes = filter.shape.num_probes;
  if (num_probes <= kLimits.most_probes)
    return Outline{.tail = {kNewForm, {}, static_cast<std::byte>(num_probes), {}, {}}};
  return base::fail(Code::kUnsupported,
                    "has a k of " + std::to_string(num_probes) + ", and RocksDB's filters have at most 30.");
}

}  // namespace

constinit const Row kRocksDbRow{.info = {.name = "rocksdb",
                                         .about = "one full Bloom filter of RocksDB, format_version 5",
                                         .hashes = kHashes,
                                         .keys = "the user's key"},
                                .read = nullptr,
                                .write = write_filter,
                                .find = find_filter};

}  // namespace bfstore::interop
