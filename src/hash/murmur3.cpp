// MurmurHash3_x86_32 with k seeds: the positions of tutorials and small programs in Python (mmh3 with bitarray).
#include "hash/murmur3.hpp"

#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

// Computes Python's %: the remainder has the sign of the divisor. -1 - number is not negative if number is.
std::uint64_t floored_remainder(std::int32_t number, const ProbeNumbers& numbers) noexcept {
  if (number >= 0) return numbers.remainder(static_cast<std::uint64_t>(number));
  return numbers.num_bits - 1 - numbers.remainder(static_cast<std::uint64_t>(-1 - number));
}

constexpr auto kEachSigned = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    const auto hash = static_cast<std::int32_t>(murmur3_x86_32(key, numbers.seeds[i]));
    if (!use(floored_remainder(hash, numbers))) return false;
  }
  return true;
};

constexpr auto kEachUnsigned = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i)
    if (!use(numbers.remainder(murmur3_x86_32(key, numbers.seeds[i])))) return false;
  return true;
};

// The number of positions that a hash of 32 bits reaches.
constexpr std::uint64_t kMost32 = std::uint64_t{1} << 32;

}  // namespace

constinit const Row kMurmur3Row{
    .info = gives_positions(Hash::kMurmur3, "murmur3", true), .probes = probes_of(kEachSigned), .most_bits = kMost32};
constinit const Row kMurmur3UnsignedRow{.info = gives_positions(Hash::kMurmur3Unsigned, "murmur3-unsigned", true),
                                        .probes = probes_of(kEachUnsigned),
                                        .most_bits = kMost32};

}  // namespace bfstore::hash
