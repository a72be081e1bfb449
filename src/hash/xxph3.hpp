// RocksDB's hash of 64 bits: the preview of XXH3 in xxHash 0.7.2, which RocksDB froze, with its own value for the empty
// key. XXH3 changed before it was final, so no function of today's xxHash gives these numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "hash/wide.hpp"

namespace bfstore::hash {

class Xxph3 {
 public:
  static std::uint64_t of(std::string_view key) noexcept {
    const auto* const at = reinterpret_cast<const std::byte*>(key.data());
    const std::size_t size = key.size();
    if (size > 240) return of_long(at, size);
    if (size > 128) return of_up_to_240(at, size);
    if (size > 16) return of_up_to_128(at, size);
    if (size > 8) return of_up_to_16(at, size);
    if (size >= 4) return of_up_to_8(at, size);
    if (size > 0) return of_up_to_3(at, size);
    return folded(secret(0), kPrime2);
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9e3779b185ebca87, kPrime2 = 0xc2b2ae3d27d4eb4f,
                                 kPrime3 = 0x165667b19e3779f9, kPrime4 = 0x85ebca77c2b2ae63,
                                 kPrime5 = 0x27d4eb2f165667c5;
  static constexpr std::uint64_t kShort1 = 0x9e3779b1, kShort2 = 0x85ebca77, kShort3 = 0xc2b2ae3d;
  static constexpr std::size_t kPair = 16, kStripe = 64, kSecretBytes = 192, kLeastSecretBytes = 136;
  using Lanes = std::array<std::uint64_t, kStripe / 8>;

  // The bytes of the secret, in words whose lowest byte comes first.
  static constexpr std::array<std::uint64_t, kSecretBytes / 8> kSecret{
      0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb,
      0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088,
      0x4ef90da297486471, 0xd8acdea946ef1938, 0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a,
      0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
      0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};

  static std::uint64_t word(const std::byte* at) noexcept { return base::load<std::uint64_t>(at); }
  static std::uint64_t half_word(const std::byte* at) noexcept { return base::load<std::uint32_t>(at); }
  // The word at any byte of the secret.
  static constexpr std::uint64_t secret(std::size_t at) noexcept {
    const std::size_t shift = 8 * (at % 8);
    return shift == 0 ? kSecret[at / 8] : kSecret[at / 8] >> shift | kSecret[at / 8 + 1] << (64 - shift);
  }
  static std::uint64_t folded(std::uint64_t left, std::uint64_t right) noexcept {
    const Wide whole = Wide{left} * right;
    return static_cast<std::uint64_t>(whole) ^ static_cast<std::uint64_t>(whole >> 64);
  }
  static std::uint64_t finished(std::uint64_t h) noexcept {
    h = (h ^ h >> 37) * kPrime3;
    return h ^ h >> 32;
  }
  static std::uint64_t pair(const std::byte* at, std::size_t secret_at) noexcept {
    return folded(word(at) ^ secret(secret_at), word(at + 8) ^ secret(secret_at + 8));
  }

  static std::uint64_t of_up_to_3(const std::byte* at, std::size_t size) noexcept {
    const auto byte = [at](std::size_t i) { return std::to_integer<std::uint64_t>(at[i]); };
    const std::uint64_t all = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16 | std::uint64_t{size} << 24;
    return finished((all ^ (secret(0) & 0xffffffff)) * kPrime1);
  }
  static std::uint64_t of_up_to_8(const std::byte* at, std::size_t size) noexcept {
    const std::uint64_t keyed = (half_word(at) | half_word(at + size - 4) << 32) ^ secret(0);
    const std::uint64_t mixed = size + (keyed ^ keyed >> 51) * kShort1;
    return finished((mixed ^ mixed >> 47) * kPrime2);
  }
  static std::uint64_t of_up_to_16(const std::byte* at, std::size_t size) noexcept {
    const std::uint64_t low = word(at) ^ secret(0), high = word(at + size - 8) ^ secret(8);
    return finished(size + low + high + folded(low, high));
  }
  // Pairs from both ends to the middle. With 32 bytes or fewer they overlap.
  static std::uint64_t of_up_to_128(const std::byte* at, std::size_t size) noexcept {
    std::uint64_t sum = size * kPrime1;
    for (std::size_t i = 0; i <= (size - 1) / 32; ++i)
      sum += pair(at + kPair * i, 2 * kPair * i) + pair(at + size - kPair * (i + 1), 2 * kPair * i + kPair);
    return finished(sum);
  }
  static std::uint64_t of_up_to_240(const std::byte* at, std::size_t size) noexcept {
    std::uint64_t sum = size * kPrime1;
    for (std::size_t i = 0; i < 8; ++i) sum += pair(at + kPair * i, kPair * i);
    sum = finished(sum);
    for (std::size_t i = 8; i < size / kPair; ++i) sum += pair(at + kPair * i, kPair * (i - 8) + 3);
    return finished(sum + pair(at + size - kPair, kLeastSecretBytes - 17));
  }

  static void accumulate(Lanes& lanes, const std::byte* stripe, std::size_t secret_at) noexcept {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const std::uint64_t data = word(stripe + 8 * i), keyed = data ^ secret(secret_at + 8 * i);
      lanes[i] += data + (keyed & 0xffffffff) * (keyed >> 32);
    }
  }
  static void scramble(Lanes& lanes) noexcept {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ secret(kSecretBytes - kStripe + 8 * i)) * kShort1;
  }
  static std::uint64_t of_long(const std::byte* at, std::size_t size) noexcept {
    constexpr std::size_t kRounds = (kSecretBytes - kStripe) / 8;
    Lanes lanes{kShort3, kPrime1, kPrime2, kPrime3, kPrime4, kShort2, kPrime5, kShort1};
    for (std::size_t stripe = 0; stripe < size / kStripe; ++stripe) {
      accumulate(lanes, at + kStripe * stripe, 8 * (stripe % kRounds));
      if (stripe % kRounds == kRounds - 1) scramble(lanes);
    }
    if (size % kStripe != 0) accumulate(lanes, at + size - kStripe, kSecretBytes - kStripe - 7);
    std::uint64_t sum = size * kPrime1;
    for (std::size_t i = 0; i < lanes.size(); i += 2)
      sum += folded(lanes[i] ^ secret(11 + 8 * i), lanes[i + 1] ^ secret(11 + 8 * i + 8));
    return finished(sum);
  }
};

}  // namespace bfstore::hash
