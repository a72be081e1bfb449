// The positions of rbloom in Python with the hash function of its documentation: a number of 128 bits from SHA-256,
// which a linear congruential generator makes k numbers of.
#include "hash/hash.hpp"
#include "hash/sha2.hpp"
#include "hash/wide.hpp"

namespace bfstore::hash {
namespace {

// The factor of the generator: 47026247687942121848144207491837418733 (L'Ecuyer, "Tables of linear congruential
// generators of different sizes and good lattice structure", 1999).
constexpr Wide kFactor = Wide{0x2360ed051fc65da4} << 64 | 0x4385df649fcb5ced;

// The program takes these bits as a signed number, and its generator takes them as an unsigned one again.
Wide number_of(std::string_view key) noexcept {
  MessageDigest<Sha256> message;
  message.put(key);
  const auto digest = message.finish();
  Wide number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | digest[i];
  return number;
}

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  Wide state = number_of(key);
  for (std::uint32_t i = 0; i < numbers.num_probes; ++i) {
    state = state * kFactor + 1;
    if (!use(numbers.remainder(static_cast<std::uint64_t>(state >> 32)))) return false;
  }
  return true;
};

}  // namespace

constinit const Row kRbloomRow{
    .info = gives_positions(Hash::kRbloom, "rbloom"), .probes = probes_of(kEach), .unit_bits = 8};

}  // namespace bfstore::hash
