// SipHash-2-4 with 64 bits (Aumasson & Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012). To an attacker
// without the secret, digests are random numbers: the attacker cannot choose keys by the places of their bits.
#pragma once

#include <bfstore/options.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace bfstore::hash {

// The four words of the paper's section 2, with the paper's names.
struct SipState {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void round() noexcept {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32) + v3;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  void compress(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }

  [[nodiscard]] std::uint64_t finish() noexcept {
    v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

// Returns the last `rest` (0 to 7) of `bytes` bytes, with zeros above. One load if 8 bytes can be read.
inline std::uint64_t sip_rest(const std::byte* end, std::size_t bytes, std::size_t rest) noexcept {
  if (rest == 0) return 0;
  if (bytes >= 8) return base::load<std::uint64_t>(end - 8) >> (64 - 8 * rest);
  std::uint64_t word = 0;
  for (std::size_t i = 1; i <= rest; ++i)
    word = word << 8 | std::to_integer<std::uint64_t>(end[-static_cast<std::ptrdiff_t>(i)]);
  return word;
}

// `data` may be null when `bytes` is 0.
inline std::uint64_t siphash(const void* data, std::size_t bytes, const Secret& secret) noexcept {
  const auto* secret_bytes = reinterpret_cast<const std::byte*>(secret.data());
  const auto k0 = base::load<std::uint64_t>(secret_bytes);
  const auto k1 = base::load<std::uint64_t>(secret_bytes + 8);
  SipState state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  const auto* at = static_cast<const std::byte*>(data);
  const std::size_t rest = bytes % 8;
  for (const std::byte* const end = at + (bytes - rest); at != end; at += 8)
    state.compress(base::load<std::uint64_t>(at));
  state.compress(std::uint64_t{bytes} << 56 | sip_rest(at + rest, bytes, rest));
  return state.finish();
}

}  // namespace bfstore::hash
