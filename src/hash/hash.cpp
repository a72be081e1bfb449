// The table of hashes, and the canary of each.
#include "hash/hash.hpp"

#include <array>
#include <bit>
#include <numeric>

#include "hash/siphash.hpp"

namespace bfstore::hash {
namespace {

std::uint64_t siphash_for_all(const void* data, std::size_t bytes, std::uint64_t) noexcept {
  SecretKey counting{};
  std::iota(counting.begin(), counting.end(), std::uint8_t{0});
  return siphash(data, bytes, counting);
}

// In the order of their numbers.
constexpr std::array kRows{
    Row{{Hash::kXxh3, "xxh3", true, true, false, true}, xxh3},
    Row{{Hash::kExternal, "external", false, false, false, true}, nullptr},
    Row{{Hash::kSipHash, "siphash", true, false, true, false}, siphash_for_all},
};

}  // namespace

const Row* find(std::uint16_t number) noexcept {
  for (const Row& row : kRows) {
    if (static_cast<std::uint16_t>(row.info.hash) == number) return &row;
  }
  return nullptr;
}

const Row& row_of(Hash hash) noexcept { return *find(static_cast<std::uint16_t>(hash)); }

std::uint64_t canary(Hash hash, std::uint64_t seed) noexcept {
  const Row& row = row_of(hash);
  if (row.known_digest == nullptr) return 0;
  constexpr std::array<std::size_t, 7> kLengths{0, 3, 8, 16, 100, 240, 1000};
  std::array<unsigned char, 1000> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i % 251);
  std::uint64_t fold = 0;
  for (const std::size_t length : kLengths) fold = std::rotl(fold, 9) ^ row.known_digest(key.data(), length, seed);
  return fold;
}

}  // namespace bfstore::hash

namespace bfstore {

std::vector<HashInfo> hashes() {
  std::vector<HashInfo> all;
  for (const hash::Row& row : hash::kRows) all.push_back(row.info);
  return all;
}

std::optional<HashInfo> hash_of(Hash hash) noexcept {
  const hash::Row* const row = hash::find(static_cast<std::uint16_t>(hash));
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

std::optional<HashInfo> hash_named(std::string_view name) noexcept {
  for (const hash::Row& row : hash::kRows) {
    if (name == row.info.name) return row.info;
  }
  return std::nullopt;
}

}  // namespace bfstore
