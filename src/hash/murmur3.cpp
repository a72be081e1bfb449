// MurmurHash3_x86_32 with k seeds: the positions of tutorials and small programs in Python (mmh3 with bitarray).
#include "hash/murmur3.hpp"

#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

// Computes Python's %: the remainder has the sign of the divisor.
std::uint64_t floored_remainder(std::int64_t number, std::uint64_t divisor) noexcept {
  const std::int64_t rest = number % static_cast<std::int64_t>(divisor);
  return static_cast<std::uint64_t>(rest) + (rest < 0 ? divisor : 0);
}

void signed_positions(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const auto hash = static_cast<std::int32_t>(murmur3_x86_32(key, numbers.seeds[i]));
    positions[i] = floored_remainder(hash, numbers.num_bits);
  }
}

void unsigned_positions(std::string_view key, const ProbeNumbers& numbers, std::uint64_t* positions) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i)
    positions[i] = murmur3_x86_32(key, numbers.seeds[i]) % numbers.num_bits;
}

// The number of positions that a hash of 32 bits reaches.
constexpr std::uint64_t kMost32 = std::uint64_t{1} << 32;

}  // namespace

constinit const Row kMurmur3Row{
    .info = gives_positions(Hash::kMurmur3, "murmur3", true), .positions = signed_positions, .most_bits = kMost32};
constinit const Row kMurmur3UnsignedRow{.info = gives_positions(Hash::kMurmur3Unsigned, "murmur3-unsigned", true),
                                        .positions = unsigned_positions,
                                        .most_bits = kMost32};

}  // namespace bfstore::hash
