// The UTF-16 units of a key in UTF-8, as a Java or Python program that decodes it sees them. Any bytes have units:
// those that are not UTF-8 become U+FFFD, one for each "maximal subpart" (Unicode 15, section 3.9), as in Java's new
// String(bytes, UTF_8) and Python's decode("utf-8", "replace"). So equal keys have equal units, and no key is an error.
#pragma once

#include <cstdint>
#include <string_view>

namespace bfstore::hash {

// A decoder in the steps of the WHATWG Encoding Standard, "UTF-8 decoder".
class Utf8Decoder {
 public:
  static constexpr std::uint32_t kReplacement = 0xfffd;

  // Calls take(code point) for what ends with this byte: nothing, a character, a replacement, or both.
  template <class Take>
  void put(std::uint8_t byte, Take take) {
    if (needed_ != 0 && (byte < lowest_ || byte > highest_)) {
      needed_ = 0;
      take(kReplacement);
    }
    if (needed_ == 0) return begin(byte, take);
    lowest_ = 0x80;
    highest_ = 0xbf;
    point_ = point_ << 6 | (byte & 0x3fU);
    if (--needed_ == 0) take(point_);
  }

  template <class Take>
  void end(Take take) {
    if (needed_ != 0) take(kReplacement);
  }

 private:
  // The first byte of a sequence tells how many follow. The second byte has its own bounds after some first bytes, to
  // exclude overlong forms, surrogates, and numbers above 0x10ffff.
  template <class Take>
  void begin(std::uint8_t byte, Take take) {
    if (byte < 0x80) return take(byte);
    if (byte < 0xc2 || byte > 0xf4) return take(kReplacement);
    needed_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    point_ = byte & (0x3fU >> needed_);
    lowest_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    highest_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
  }

  std::uint32_t point_ = 0;
  unsigned needed_ = 0;  // bytes
  std::uint8_t lowest_ = 0x80, highest_ = 0xbf;
};

// Calls take(unit) for each UTF-16 unit of the key.
template <class Take>
void each_utf16_unit(std::string_view key, Take take) {
  const auto split = [&take](std::uint32_t point) {
    if (point < 0x10000) return take(static_cast<std::uint16_t>(point));
    take(static_cast<std::uint16_t>(0xd800 + ((point - 0x10000) >> 10)));
    take(static_cast<std::uint16_t>(0xdc00 + (point & 0x3ff)));
  };
  std::size_t ascii = 0;  // most keys are nothing else
  for (; ascii < key.size() && static_cast<std::uint8_t>(key[ascii]) < 0x80; ++ascii)
    take(static_cast<std::uint8_t>(key[ascii]));
  Utf8Decoder decoder;
  for (const char byte : key.substr(ascii)) decoder.put(static_cast<std::uint8_t>(byte), split);
  decoder.end(split);
}

}  // namespace bfstore::hash
