// See text.hpp.
#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace bfinspect {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Control characters, characters that change the direction of text (Unicode Technical Report 36: "Trojan source"),
// invisible ones, line separators, surrogates, noncharacters of plane 0, and tags.
constexpr Range kUnprintable[] = {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},      {0x61c, 0x61c},
                                  {0x115f, 0x1160},   {0x180b, 0x180f},   {0x200b, 0x200f},  {0x2028, 0x202e},
                                  {0x2060, 0x206f},   {0x3164, 0x3164},   {0xd800, 0xdfff},  {0xfdd0, 0xfdef},
                                  {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xffff},
                                  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

constexpr char kHexDigits[] = "0123456789abcdef";

// The length of a UTF-8 sequence that begins with this byte; 0 if none does.
std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

bool is_overlong_or_impossible(char32_t code_point, std::size_t length) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return code_point < kSmallest[length] || code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff);
}

std::string hex_number(char32_t number) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint32_t>(number), 16).ptr;
  return std::string(digits, end);
}

std::string escaped_byte(unsigned char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '\\':
      return "\\\\";
    default:
      return std::string("\\x") + kHexDigits[byte >> 4] + kHexDigits[byte & 15];
  }
}

// Three significant digits, as "9.59", "95.9", "959".
std::string three_digits(double number) {
  if (number < 9.995) return fixed_text(number, 2);
  return fixed_text(number, number < 99.95 ? 1 : 0);
}

// `number` in the largest unit in which it is at least 1, or in the smallest unit.
template <std::size_t kUnits>
std::string in_units(double number, const std::array<std::pair<double, const char*>, kUnits>& units) {
  for (const auto& [size, name] : units) {
    if (number >= size * 0.9995) return three_digits(number / size) + ' ' + name;
  }
  return three_digits(number / units.back().first) + ' ' + units.back().second;
}

constexpr std::array<std::pair<double, const char*>, 5> kCountUnits{
    {{1e18, "quintillion"}, {1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}}};
constexpr std::array<std::pair<double, const char*>, 6> kByteUnits{
    {{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};

}  // namespace

std::optional<char32_t> next_code_point(std::string_view bytes, std::size_t& at) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  const std::size_t length = sequence_length(first);
  if (length == 0 || length > bytes.size() - at) return std::nullopt;
  char32_t code_point = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    if ((byte & 0xc0) != 0x80) return std::nullopt;
    code_point = (code_point << 6) | (byte & 0x3f);
  }
  if (is_overlong_or_impossible(code_point, length)) return std::nullopt;
  at += length;
  return code_point;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (!next_code_point(bytes, at)) return false;
  }
  return true;
}

bool is_printable(char32_t code_point) {
  if ((code_point & 0xfffe) == 0xfffe) return false;  // noncharacters at the end of every plane
  return std::none_of(std::begin(kUnprintable), std::end(kUnprintable),
                      [=](const Range& range) { return range.first <= code_point && code_point <= range.last; });
}

std::string escaped(std::string_view bytes, bool ascii) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t from = at;
    const auto byte = static_cast<unsigned char>(bytes[from]);
    const std::optional<char32_t> code_point = next_code_point(bytes, at);
    if (!code_point) {
      out += escaped_byte(byte);
      ++at;
    } else if (*code_point < 0x80) {
      out += is_printable(*code_point) && byte != '\\' ? std::string(1, bytes[from]) : escaped_byte(byte);
    } else if (ascii || !is_printable(*code_point)) {
      out += "\\u{" + hex_number(*code_point) + '}';
    } else {
      out += bytes.substr(from, at - from);
    }
  }
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string count_text(std::uint64_t number) {
  if (number < 1'000'000) return grouped(number);
  return in_units(static_cast<double>(number), kCountUnits) + " (" + grouped(number) + ')';
}

std::string about_text(double number) {
  if (!std::isfinite(number)) return "unknown";
  if (number < 999'500) return grouped(static_cast<std::uint64_t>(std::llround(std::max(number, 0.0))));
  return in_units(number, kCountUnits);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  return in_units(static_cast<double>(bytes), kByteUnits) + " (" + grouped(bytes) + " bytes)";
}

std::string percent_text(double ratio) {
  if (!std::isfinite(ratio)) return "unknown";
  return fixed_text(ratio * 100, 1) + " %";
}

std::string rate_text(double rate) {
  if (!std::isfinite(rate) || rate < 0) return "unknown";
  if (rate == 0) return "0 %";
  if (rate < 1e-18) return "less than 1 in a quintillion";
  if (rate < 0.9e-4) return "1 in " + about_text(1 / rate);
  return fixed_text(rate * 100, rate < 0.00095 ? 3 : 2) + " %";
}

std::string fixed_text(double number, int decimals) {
  char digits[400];  // the longest double in fixed notation has 309 digits before the point
  const auto result = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed, decimals);
  return std::string(digits, result.ptr);
}

}  // namespace bfinspect
