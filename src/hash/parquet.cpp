// The positions of Parquet's split-block filters: XXH64 chooses a block of 32 bytes, and one bit in each of its words.
#include <array>

#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kWordBits = 32, kBlockBits = 256;
constexpr std::array<std::uint32_t, kBlockBits / kWordBits> kSalts{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                                   0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  static constexpr char kEmpty = 0;  // xxHash gets no null pointer
  const std::uint64_t hash = XXH64(key.empty() ? &kEmpty : key.data(), key.size(), 0);
  const std::uint64_t block = (hash >> 32) * (numbers.num_bits / kBlockBits) >> 32;
  for (std::size_t i = 0; i < kSalts.size(); ++i) {
    const std::uint64_t in_word = static_cast<std::uint32_t>(hash) * kSalts[i] >> 27;
    if (!use(block * kBlockBits + i * kWordBits + in_word)) return false;
  }
  return true;
};

// The format counts bytes in 31 bits.
constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 31) - kBlockBits / 8;

}  // namespace

constinit const Row kParquetRow{.info = gives_positions(Hash::kParquet, "parquet"),
                                .probes = probes_of(kEach),
                                .most_bits = 8 * kMostBytes,
                                .unit_bits = kBlockBits,
                                .only_probes = kSalts.size(),
                                .spread = Spread::kSplitBlock};

}  // namespace bfstore::hash
