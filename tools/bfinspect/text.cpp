// See text.hpp.
#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

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

// The digits after the point with which a number has three digits: "9.59", "95.9", "959".
int usual_decimals(double number) {
  if (number < 9.995) return 2;
  return number < 99.95 ? 1 : 0;
}

struct CountUnit {
  double size;
  const char* name;
};

constexpr std::array<CountUnit, 5> kCountUnits{
    {{1e18, "quintillion"}, {1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}}};

// The largest unit in which the number is at least 1, or the smallest unit.
const CountUnit& unit_of(double number) {
  for (const CountUnit& unit : kCountUnits) {
    if (number >= unit.size * 0.9995) return unit;
  }
  return kCountUnits.back();
}

std::string in_units(double number, int least_decimals = 0) {
  const CountUnit& unit = unit_of(number);
  const double count = number / unit.size;
  return fixed_text(count, std::max(usual_decimals(count), least_decimals)) + ' ' + unit.name;
}

std::string whole_text(double number) {
  return grouped(static_cast<std::uint64_t>(std::llround(std::max(number, 0.0))));
}

// For an estimate of which a difference of `step` matters.
std::string estimate_text(double number, double step) {
  if (!std::isfinite(number)) return "unknown";
  if (number < 999'500) return whole_text(number);
  constexpr double kMostDecimals = 12;
  return in_units(number,
                  static_cast<int>(std::clamp(std::ceil(std::log10(unit_of(number).size / step)), 0.0, kMostDecimals)));
}

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

namespace {

std::string escaped_bytes(std::string_view bytes, bool ascii, bool keeps_backslashes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t from = at;
    const auto byte = static_cast<unsigned char>(bytes[from]);
    const std::optional<char32_t> code_point = next_code_point(bytes, at);
    if (!code_point) {
      out += escaped_byte(byte);
      ++at;
    } else if (*code_point < 0x80) {
      out += is_printable(*code_point) && (keeps_backslashes || byte != '\\') ? std::string(1, bytes[from])
                                                                              : escaped_byte(byte);
    } else if (ascii || !is_printable(*code_point)) {
      out += "\\u{" + hex_number(*code_point) + '}';
    } else {
      out += bytes.substr(from, at - from);
    }
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view bytes, bool ascii) { return escaped_bytes(bytes, ascii, false); }

std::string escaped_message(std::string_view message, bool ascii) { return escaped_bytes(message, ascii, true); }

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

std::string count_text(std::uint64_t number) {
  if (number < 1'000'000) return grouped(number);
  return in_units(static_cast<double>(number)) + " (" + grouped(number) + ')';
}

std::string about_text(double number) { return estimate_text(number, std::numeric_limits<double>::infinity()); }

std::string interval_text(double low, double high) {
  if (!std::isfinite(high)) return about_text(low) + " or more";
  const double step = (high - low) / 4;  // so that rounding changes the width little
  if (!(step > 0)) return about_text(low);
  const bool whole = low < 1e6 && high < 1e7;
  const std::string from = whole ? whole_text(low) : estimate_text(low, step);
  const std::string to = whole ? whole_text(high) : estimate_text(high, step);
  return from == to ? from : from + " to " + to;
}

std::string bytes_text(std::uint64_t bytes) {
  const std::string text = tools::human_bytes(bytes);
  return bytes < 1024 ? text : text + " (" + grouped(bytes) + " bytes)";
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

std::string moment_text(std::time_t seconds, bool exact) {
  std::tm parts{};
  std::array<char, 64> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "an unknown day";
  const char* const form = exact ? "%Y-%m-%d %H:%M:%S UTC" : "%Y-%m-%d %H:%M UTC";
  return std::string(text.data(), std::strftime(text.data(), text.size(), form, &parts));
}

std::string fixed_text(double number, int decimals) {
  char digits[400];  // the longest double in fixed notation has 309 digits before the point
  const auto result = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed, decimals);
  return std::string(digits, result.ptr);
}

}  // namespace bfinspect
