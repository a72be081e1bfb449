// The positions of DCSO's bloom (in Go; flor, fleur and poppy in other languages): FNV-1 of 64 bits is the first state
// of a multiplicative generator, and each next state modulo m is a position.
#include "hash/hash.hpp"

namespace bfstore::hash {
namespace {

constexpr std::uint64_t kPrime = 18446744073709551557U;  // the largest one below 2^64
constexpr std::uint64_t kMultiplier = 18446744073709550147U;

constexpr std::uint64_t below_prime(std::uint64_t number) noexcept {
  return number >= kPrime ? number - kPrime : number;
}

std::uint64_t fnv1(std::string_view key) noexcept {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : key) h = h * 0x100000001b3U ^ static_cast<unsigned char>(c);
  return h;
}

constexpr auto kEach = [](std::string_view key, const ProbeNumbers& numbers, auto use) noexcept {
  std::uint64_t state = below_prime(fnv1(key));
  const auto next = [&](std::uint32_t) {
    state = below_prime(state * kMultiplier);  // the product is cut to 64 bits first
    return numbers.remainder(state);
  };
  return each_after_four(numbers.num_probes, next, use);
};

}  // namespace

constinit const Row kDcsoRow{.info = gives_positions(Hash::kDcso, "dcso"), .probes = probes_of(kEach)};

}  // namespace bfstore::hash
