#include "message.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace capi {
namespace {

constexpr std::string_view kLeftOut = " ... ";

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// Returns the length in bytes of the character at the text's beginning, by Table 3-7 of the Unicode standard. 0 if no
// valid character is there.
std::size_t character_at(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool good = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
                    !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
  return good ? length : 0;
}

// A character of the text, or a byte that is not part of one.
struct Unit {
  std::size_t bytes;  // of the text
  std::array<char, 4> shown;
  std::size_t shown_bytes;
};

Unit first_unit(std::string_view text) noexcept {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const std::size_t length = character_at(text);
  if (length == 0) {
    const auto byte = static_cast<unsigned char>(text[0]);
    return {1, {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15U]}, 4};
  }
  Unit unit{length, {}, length};
  std::memcpy(unit.shown.data(), text.data(), length);
  return unit;
}

std::size_t shown_bytes(std::string_view text) noexcept {
  std::size_t sum = 0;
  while (!text.empty()) {
    const Unit unit = first_unit(text);
    sum += unit.shown_bytes;
    text.remove_prefix(unit.bytes);
  }
  return sum;
}

// Writes as many whole units as fit into `most` bytes. Returns the number of bytes written.
std::size_t show(char* to, std::size_t most, std::string_view text) noexcept {
  std::size_t written = 0;
  while (!text.empty()) {
    const Unit unit = first_unit(text);
    if (written + unit.shown_bytes > most) break;
    std::memcpy(to + written, unit.shown.data(), unit.shown_bytes);
    written += unit.shown_bytes;
    text.remove_prefix(unit.bytes);
  }
  return written;
}

// Returns the longest end of the text, in whole units, that takes at most `most` bytes when written.
std::string_view end_of(std::string_view text, std::size_t most) noexcept {
  std::size_t left = shown_bytes(text);
  while (left > most) {
    const Unit unit = first_unit(text);
    left -= unit.shown_bytes;
    text.remove_prefix(unit.bytes);
  }
  return text;
}

}  // namespace

void write_message(char* to, std::size_t room, std::string_view message) noexcept {
  const std::size_t most = room - 1;
  std::size_t written = 0;
  if (shown_bytes(message) <= most || room < 4 * kLeftOut.size()) {
    written = show(to, most, message);
  } else {
    written = show(to, room / 3, message);
    std::memcpy(to + written, kLeftOut.data(), kLeftOut.size());
    written += kLeftOut.size();
    written += show(to + written, most - written, end_of(message, most - written));
  }
  to[written] = '\0';
}

}  // namespace capi
