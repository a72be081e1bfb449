// MurmurHash3_x64_128 (Austin Appleby, public domain).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"

namespace bfstore::hash {

// The two words of the hash, in their order.
struct Murmur128 {
  std::uint64_t first;
  std::uint64_t second;
};

inline std::uint64_t murmur128_finished(std::uint64_t h) noexcept {
  h = (h ^ h >> 33) * 0xff51afd7ed558ccdU;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53U;
  return h ^ h >> 33;
}

// The hash while blocks are taken.
class Murmur128Blocks {
 public:
  static constexpr std::size_t kBytes = 16;
  using Words = std::array<std::uint64_t, 2>;

  explicit Murmur128Blocks(std::uint32_t seed) noexcept : first_(seed), second_(seed) {}

  void take(const Words& block) noexcept {
    first_ = (std::rotl(first_ ^ scrambled_first(block[0]), 27) + second_) * 5 + 0x52dce729;
    second_ = (std::rotl(second_ ^ scrambled_second(block[1]), 31) + first_) * 5 + 0x38495ab5;
  }
  // `rest` is what follows the last whole block, with zeros after it.
  [[nodiscard]] Murmur128 finished(const Words& rest, std::uint64_t key_bytes) const noexcept {
    std::uint64_t h1 = first_ ^ scrambled_first(rest[0]) ^ key_bytes;
    std::uint64_t h2 = second_ ^ scrambled_second(rest[1]) ^ key_bytes;
    h1 += h2;
    h2 += h1;
    h1 = murmur128_finished(h1);
    h2 = murmur128_finished(h2);
    h1 += h2;
    return {h1, h2 + h1};
  }

 private:
  static constexpr std::uint64_t kFirst = 0x87c37b91114253d5U, kSecond = 0x4cf5ad432745937fU;
  static std::uint64_t scrambled_first(std::uint64_t word) noexcept { return std::rotl(word * kFirst, 31) * kSecond; }
  static std::uint64_t scrambled_second(std::uint64_t word) noexcept { return std::rotl(word * kSecond, 33) * kFirst; }

  std::uint64_t first_;
  std::uint64_t second_;
};

// Takes the whole blocks of the key. Returns the rest.
inline Murmur128Blocks::Words take_blocks(std::string_view key, Murmur128Blocks& blocks) noexcept {
  const auto* at = reinterpret_cast<const std::byte*>(key.data());
  std::size_t left = key.size();
  for (; left >= Murmur128Blocks::kBytes; left -= Murmur128Blocks::kBytes, at += Murmur128Blocks::kBytes)
    blocks.take({base::load<std::uint64_t>(at), base::load<std::uint64_t>(at + 8)});
  if (left < 8) return {base::load_rest(at, left), 0};
  const auto last = base::load<std::uint64_t>(at + left - 8);  // it has bytes of the first word, too, 8 to 1 of them
  return {base::load<std::uint64_t>(at), last >> 8 >> 8 * (15 - left)};
}

inline Murmur128 murmur3_x64_128(std::string_view key, std::uint32_t seed) noexcept {
  Murmur128Blocks blocks(seed);
  const Murmur128Blocks::Words rest = take_blocks(key, blocks);
  return blocks.finished(rest, key.size());
}

// The hashes of a key and of the key with a byte 1 after it, with seed 0.
inline std::pair<Murmur128, Murmur128> murmur3_x64_128_and_longer(std::string_view key) noexcept {
  Murmur128Blocks blocks(0);
  Murmur128Blocks::Words rest = take_blocks(key, blocks);
  const Murmur128 of_key = blocks.finished(rest, key.size());
  const std::size_t at = key.size() % Murmur128Blocks::kBytes;
  const std::uint64_t one = std::uint64_t{1} << 8 * (at % 8);
  rest[0] |= at < 8 ? one : 0;
  rest[1] |= at < 8 ? 0 : one;
  if (at + 1 == Murmur128Blocks::kBytes) {
    blocks.take(rest);
    rest = {};
  }
  return {of_key, blocks.finished(rest, key.size() + 1)};
}

}  // namespace bfstore::hash
