// A JSON text of one object whose values are numbers and strings, and base64. Only what a format needs: no escapes in
// strings, no nested values, no fractions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bfstore::interop {

// Reads such a text. Each value is the text between its quotes, or its digits.
class FlatJson {
 public:
  // Nothing if the text is no such object, or has a name twice.
  static std::optional<std::map<std::string, std::string_view>> read(std::string_view text) {
    FlatJson json(text);
    std::map<std::string, std::string_view> values;
    if (!json.take('{')) return std::nullopt;
    do {
      const auto name = json.quoted();
      if (!name || !json.take(':')) return std::nullopt;
      const auto value = json.next() == '"' ? json.quoted() : json.digits();
      if (!value || !values.emplace(*name, *value).second) return std::nullopt;
    } while (json.take(','));
    if (!json.take('}')) return std::nullopt;
    json.next();
    if (!json.left_.empty()) return std::nullopt;
    return values;
  }

 private:
  explicit FlatJson(std::string_view text) noexcept : left_(text) {}

  // The next character that is not blank; 0 at the end.
  char next() noexcept {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size()));
    return left_.empty() ? '\0' : left_.front();
  }
  bool take(char wanted) noexcept {
    if (next() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  std::string_view cut(std::size_t length) noexcept {
    const std::string_view text = left_.substr(0, length);
    left_.remove_prefix(length);
    return text;
  }
  std::optional<std::string_view> quoted() noexcept {
    if (!take('"')) return std::nullopt;
    const std::size_t end = left_.find_first_of("\"\\");
    if (end == std::string_view::npos || left_[end] != '"') return std::nullopt;
    const std::string_view text = cut(end);
    left_.remove_prefix(1);
    return text;
  }
  std::optional<std::string_view> digits() noexcept {
    const std::string_view text = cut(std::min(left_.find_first_not_of("0123456789"), left_.size()));
    if (text.empty()) return std::nullopt;
    return text;
  }

  std::string_view left_;
};

// The value of one character in either alphabet of base64, or 64.
inline std::uint32_t base64_value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 52);
  if (c == '-' || c == '+') return 62;
  if (c == '_' || c == '/') return 63;
  return 64;
}

// Nothing if the text is not base64 with its padding.
inline std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::uint32_t value = base64_value(c);
    if (value > 63) return std::nullopt;
    group = (group << 6 | value) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(group >> bits));
  }
  if ((group & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace bfstore::interop
