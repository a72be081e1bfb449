// Message digests in blocks of 16 words, with the padding and the length of RFC 1321 (MD5) and FIPS 180-4 (SHA-1,
// SHA-2). An Algorithm has Word, kOrder (of a word's bytes), State and kInitial, kDigestBytes, and mix(state, block).
//
// Used only for the positions of other programs' filters (jaybird.hpp), never for security.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bfstore::hash {

template <class Word>
using MessageBlock = std::array<Word, 16>;

template <class Algorithm>
class MessageDigest {
 public:
  using Digest = std::array<std::uint8_t, Algorithm::kDigestBytes>;

  constexpr void put(std::uint8_t byte) noexcept {
    Word& word = block_[filled_ / sizeof(Word)];
    if constexpr (kLittle)
      word = word >> 8 | Word{byte} << (kWordBits - 8);
    else
      word = word << 8 | byte;
    if (++filled_ < sizeof block_) return;
    Algorithm::mix(state_, block_);
    mixed_ += filled_;
    filled_ = 0;
  }
  constexpr void put(std::span<const std::uint8_t> bytes) noexcept {
    for (const std::uint8_t byte : bytes) put(byte);
  }
  constexpr void put(std::string_view bytes) noexcept {
    for (const char byte : bytes) put(static_cast<std::uint8_t>(byte));
  }

  // Ends the message. No other call may follow.
  constexpr Digest finish() noexcept {
    const std::uint64_t bytes = mixed_ + filled_;
    put(std::uint8_t{0x80});
    while (filled_ != sizeof block_ - 2 * sizeof(Word)) put(std::uint8_t{0});
    const auto low = static_cast<Word>(bytes << 3);  // of the number of bits
    const auto high = static_cast<Word>(bytes >> (kWordBits - 3));
    block_[14] = kLittle ? low : high;
    block_[15] = kLittle ? high : low;
    Algorithm::mix(state_, block_);
    return digest();
  }

 private:
  using Word = typename Algorithm::Word;
  static constexpr unsigned kWordBits = 8 * sizeof(Word);
  static constexpr bool kLittle = Algorithm::kOrder == std::endian::little;

  [[nodiscard]] constexpr Digest digest() const noexcept {
    Digest bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t number = i % sizeof(Word);
      const std::size_t shift = 8 * (kLittle ? number : sizeof(Word) - 1 - number);
      bytes[i] = static_cast<std::uint8_t>(state_[i / sizeof(Word)] >> shift);
    }
    return bytes;
  }

  typename Algorithm::State state_ = Algorithm::kInitial;
  MessageBlock<Word> block_{};
  std::size_t filled_ = 0;   // bytes in the block
  std::uint64_t mixed_ = 0;  // bytes before the block
};

}  // namespace bfstore::hash
