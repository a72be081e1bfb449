// The table of hashes, and the canary of each.
#include "hash/hash.hpp"

#include <array>
#include <bit>
#include <numeric>

#include "hash/positions.hpp"
#include "hash/siphash.hpp"

namespace bfstore::hash {
namespace {

std::uint64_t siphash_for_all(const void* data, std::size_t bytes, std::uint64_t) noexcept {
  Secret counting{};
  std::iota(counting.begin(), counting.end(), std::uint8_t{0});
  return siphash(data, bytes, counting);
}

constexpr Row kXxh3Row{{Hash::kXxh3, "xxh3", true, true, false, true}, xxh3};
constexpr Row kExternalRow{{Hash::kExternal, "external", false, false, false, true}};
constexpr Row kSipHashRow{{Hash::kSipHash, "siphash", true, false, true, false}, siphash_for_all};

// All hashes, in the order of their numbers.
constexpr std::array kRows{
    &kXxh3Row,           &kExternalRow,      &kSipHashRow,       &kMurmur3Row, &kMurmur3UnsignedRow,
    &kJavaPolynomialRow, &kJaybirdRow,       &kPybloomLiveRow,   &kDcsoRow,    &kGuavaRow,
    &kGuava32Row,        &kRedisBloomRow,    &kPybloomfilterRow, &kLevelDbRow, &kRocksDbRow,
    &kParquetRow,        &kBitsAndBloomsRow, &kLibbloomRow,      &kRbloomRow,  &kJavaBytesRow};

}  // namespace

std::string Row::limits() const {
  std::string text;
  if (slices || unit_bits > 1) text = "an m that is a multiple of " + (slices ? "k" : std::to_string(unit_bits));
  if (most_bits != kMaxBits) text += (text.empty() ? "an m of at most " : " and at most ") + std::to_string(most_bits);
  if (only_probes != 0) text += (text.empty() ? "a k of " : ", and a k of ") + std::to_string(only_probes);
  return text;
}

const Row* find(std::uint16_t number) noexcept {
  for (const Row* const row : kRows) {
    if (static_cast<std::uint16_t>(row->info.hash) == number) return row;
  }
  return nullptr;
}

const Row& row_of(Hash hash) noexcept { return *find(static_cast<std::uint16_t>(hash)); }

std::uint64_t canary(Hash hash, std::uint64_t seed, const ProbeNumbers& numbers) noexcept {
  const Row& row = row_of(hash);
  if (!row.info.takes_keys) return 0;
  constexpr std::array<std::size_t, 7> kLengths{0, 3, 8, 16, 100, 240, 1000};
  std::array<unsigned char, 1000> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i % 251);
  std::uint64_t fold = 0;
  const auto take = [&fold](std::uint64_t number) { fold = std::rotl(fold, 9) ^ number; };
  for (const std::size_t length : kLengths) {
    if (row.probes.positions == nullptr) {
      take(row.known_digest(key.data(), length, seed));
    } else {
      const Positions positions({reinterpret_cast<const char*>(key.data()), length}, row, numbers);
      for (const std::uint64_t position : positions.all()) take(position);
    }
  }
  return fold;
}

}  // namespace bfstore::hash

namespace bfstore {

std::vector<HashInfo> hashes() {
  std::vector<HashInfo> all;
  for (const hash::Row* const row : hash::kRows) all.push_back(row->info);
  return all;
}

std::optional<HashInfo> hash_of(Hash hash) noexcept {
  const hash::Row* const row = hash::find(static_cast<std::uint16_t>(hash));
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

std::optional<HashInfo> hash_named(std::string_view name) noexcept {
  for (const hash::Row* const row : hash::kRows) {
    if (name == row->info.name) return row->info;
  }
  return std::nullopt;
}

}  // namespace bfstore
