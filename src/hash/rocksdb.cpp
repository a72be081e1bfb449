// The positions of RocksDB's full filters from format_version 5 on: one cache line by the low half of the hash, and the
// bits in it by the high half.
#include "hash/hash.hpp"
#include "hash/xxph3.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kLineBits = 512;

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  const std::uint64_t hash = Xxph3::of(key);
  const std::uint64_t line = (hash & 0xffffffff) * (numbers.num_bits / kLineBits) >> 32;
  auto h = static_cast<std::uint32_t>(hash >> 32);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i, h *= 0x9e3779b9U)
    if (!use(line * kLineBits + (h >> 23))) return false;
  return true;
};

// RocksDB counts the bytes in 32 bits.
constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 32) - kLineBits / 8;

}  // namespace

constinit const Row kRocksDbRow{.info = gives_positions(Hash::kRocksDb, "rocksdb"),
                                .probes = probes_of(kEach),
                                .most_bits = 8 * kMostBytes,
                                .unit_bits = kLineBits,
                                .spread = Spread::kLine};

}  // namespace bfstore::hash
