// The table of hashes, and the canary of each.
#include "hash/hash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "hash/jaybird.hpp"
#include "hash/murmur3.hpp"
#include "hash/positions.hpp"
#include "hash/siphash.hpp"
#include "hash/utf16.hpp"

namespace bfstore::hash {
namespace {

std::uint64_t siphash_for_all(const void* data, std::size_t bytes, std::uint64_t) noexcept {
  Secret counting{};
  std::iota(counting.begin(), counting.end(), std::uint8_t{0});
  return siphash(data, bytes, counting);
}

// Computes Python's %: the remainder has the sign of the divisor.
std::uint64_t floored_remainder(std::int64_t number, std::uint64_t divisor) noexcept {
  const std::int64_t rest = number % static_cast<std::int64_t>(divisor);
  return static_cast<std::uint64_t>(rest) + (rest < 0 ? divisor : 0);
}

void murmur3_positions(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const auto hash = static_cast<std::int32_t>(murmur3_x86_32(key, numbers.seeds[i]));
    positions[i] = floored_remainder(hash, numbers.num_bits);
  }
}

void murmur3_unsigned_positions(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i)
    positions[i] = murmur3_x86_32(key, numbers.seeds[i]) % numbers.num_bits;
}

// SimpleHash of the tutorials: `result = seed * result + value.charAt(i)` of Java's int, and then `(cap - 1) & result`.
// Only the low 32 bits of a product matter, so the numbers here may be longer.
void java_polynomial_positions(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  const std::uint32_t count = numbers.num_probes;
  std::fill_n(positions, count, std::uint64_t{0});
  each_utf16_unit(key, [&](std::uint16_t unit) {
    for (std::uint32_t i = 0; i < count; ++i) positions[i] = positions[i] * numbers.seeds[i] + unit;
  });
  for (std::uint32_t i = 0; i < count; ++i) positions[i] &= numbers.num_bits - 1;
}

// `and` with m - 1 lets through any combination of its set bits: all numbers below m only if m is a power of two.
std::uint64_t java_polynomial_reached(std::uint64_t num_bits) noexcept {
  return num_bits == 0 ? 0 : std::uint64_t{1} << std::popcount(num_bits - 1);
}

constexpr HashInfo seeded(Hash hash, const char* name) noexcept {
  return {.hash = hash, .name = name, .takes_keys = true, .takes_seeds = true, .gives_positions = true};
}

constexpr Row sliced(Hash hash, const char* name, decltype(Row::positions) positions) noexcept {
  return {.info = {.hash = hash, .name = name, .takes_keys = true, .gives_positions = true},
          .known_digest = nullptr,
          .positions = positions,
          .slices = true};
}

// The number of positions that a hash of 32 bits reaches.
constexpr std::uint64_t kMost32 = std::uint64_t{1} << 32;

// Java's largest int.
constexpr std::uint64_t kMostInJava = INT32_MAX;

// All hashes, in the order of their numbers.
constexpr std::array kRows{
    Row{{Hash::kXxh3, "xxh3", true, true, false, true}, xxh3},
    Row{{Hash::kExternal, "external", false, false, false, true}, nullptr},
    Row{{Hash::kSipHash, "siphash", true, false, true, false}, siphash_for_all},
    Row{seeded(Hash::kMurmur3, "murmur3"), nullptr, murmur3_positions, kMost32},
    Row{seeded(Hash::kMurmur3Unsigned, "murmur3-unsigned"), nullptr, murmur3_unsigned_positions, kMost32},
    Row{.info = seeded(Hash::kJavaPolynomial, "java-polynomial"),
        .known_digest = nullptr,
        .positions = java_polynomial_positions,
        .most_bits = kMostInJava,
        .counts_seeds = false,
        .num_reached = java_polynomial_reached},
    sliced(Hash::kJaybird, "jaybird", jaybird_positions<Salted<Md5>>),
    sliced(Hash::kPybloomLive, "pybloom-live", jaybird_positions<SaltedXxh128>),
};

}  // namespace

const Row* find(std::uint16_t number) noexcept {
  for (const Row& row : kRows) {
    if (static_cast<std::uint16_t>(row.info.hash) == number) return &row;
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
    if (row.positions == nullptr) {
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
