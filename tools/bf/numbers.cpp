// See numbers.hpp. A quantity is read as digits * multiplier / 10^decimals in integers, so nothing is rounded.
#include "numbers.hpp"

#include "failures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>

namespace bf {
namespace {

[[noreturn]] void refuse(const std::string& option, std::string_view text, const std::string& reason) {
  throw Failure(option + ": '" + std::string(text) + "' " + reason);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the digits at the beginning of `rest`, without commas, if they group them by three as in 1,000,000: so bf
// prints numbers. Otherwise returns nothing.
std::string take_grouped(std::string_view& rest) {
  constexpr std::size_t kGroup = 3;
  const std::size_t length = std::min(rest.find_first_not_of("0123456789,"), rest.size());
  std::string digits;
  std::size_t in_group = 0;
  bool first = true;
  for (const char c : rest.substr(0, length)) {
    if (is_digit(c)) {
      digits += c;
      ++in_group;
    } else if (in_group == kGroup || (first && in_group != 0 && in_group < kGroup)) {
      in_group = 0;
      first = false;
    } else {
      return {};
    }
  }
  if (first || in_group != kGroup) return {};
  rest.remove_prefix(length);
  return digits;
}

// Returns the digits at the beginning of `rest`, without the single _ that may be between two of them.
std::string take_digits(std::string_view& rest) {
  const auto is_digit_at = [&](std::size_t i) { return i < rest.size() && is_digit(rest[i]); };
  std::string digits;
  std::size_t length = 0;
  while (is_digit_at(length)) {
    digits += rest[length++];
    if (length < rest.size() && rest[length] == '_' && is_digit_at(length + 1)) ++length;
  }
  rest.remove_prefix(length);
  return digits;
}

// Returns the exponent at the beginning of `rest`, as in 1e6; 0 if none is there. An E without digits is a suffix.
std::size_t take_exponent(std::string_view& rest) {
  if (rest.size() < 2 || (rest[0] != 'e' && rest[0] != 'E')) return 0;
  std::string_view after = rest.substr(rest[1] == '+' ? 2 : 1);
  const std::string digits = take_digits(after);
  if (digits.empty()) return 0;
  rest = after;
  constexpr std::size_t kEnough = 99;  // more digits than any number here
  std::size_t exponent = 0;
  for (const char digit : digits) exponent = std::min(kEnough, exponent * 10 + static_cast<std::size_t>(digit - '0'));
  return exponent;
}

struct Suffix {
  std::uint64_t multiplier = 1;
  bool bytes = false;
};

// Reads the whole of `text` as a suffix. Returns nothing if it is not one.
std::optional<Suffix> parse_suffix(std::string_view text) {
  Suffix suffix;
  if (!text.empty() && text.back() == 'B') {
    suffix.bytes = true;
    text.remove_suffix(1);
  }
  if (text.empty()) return suffix;
  constexpr std::string_view kPrefixes = "kMGTPE";
  const std::size_t power = kPrefixes.find(text[0] == 'K' ? 'k' : text[0]);
  if (power == std::string_view::npos || text.size() > 2 || (text.size() == 2 && text[1] != 'i')) return std::nullopt;
  const std::uint64_t base = text.size() == 2 ? 1024 : 1000;
  for (std::size_t i = 0; i <= power; ++i) suffix.multiplier *= base;
  return suffix;
}

std::optional<std::uint8_t> value_of_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  const char lower = static_cast<char>(digit | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<std::uint8_t>(lower - 'a' + 10);
  return std::nullopt;
}

enum class Flaw { kNone, kNotANumber, kNotWhole, kTooLarge };

struct Quantity {
  Flaw flaw = Flaw::kNone;
  std::uint64_t value = 0;
  bool bytes = false;
};

// Computes digits * multiplier / 10^decimals.
Quantity scale(std::string_view digits, std::size_t decimals, std::uint64_t multiplier) {
  if (decimals > std::numeric_limits<std::uint64_t>::digits10) return {Flaw::kNotWhole};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return {Flaw::kTooLarge};
  std::uint64_t divisor = 1;
  for (std::size_t i = 0; i < decimals; ++i) divisor *= 10;
  const std::uint64_t shared = std::gcd(multiplier, divisor);
  divisor /= shared;
  if (number % divisor != 0) return {Flaw::kNotWhole};
  Quantity product;
  if (__builtin_mul_overflow(number / divisor, multiplier / shared, &product.value)) return {Flaw::kTooLarge};
  return product;
}

Quantity read_quantity(std::string_view text, Unit unit) {
  std::string whole = take_grouped(text);
  if (whole.empty()) whole = take_digits(text);
  std::string fraction;
  if (whole.empty()) return {Flaw::kNotANumber};
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return {Flaw::kNotANumber};
  }
  const std::size_t exponent = take_exponent(text);
  const std::optional<Suffix> suffix = parse_suffix(text);
  if (!suffix) return {Flaw::kNotANumber};
  fraction.resize(std::max(fraction.size(), exponent), '0');
  whole += fraction.substr(0, exponent);
  fraction.erase(0, exponent);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  // The largest multiplier, 8 * 2^60, still fits in 64 bits.
  const std::uint64_t bits_per_byte = suffix->bytes && unit == Unit::kBits ? 8 : 1;
  Quantity quantity = scale(whole + fraction, fraction.size(), suffix->multiplier * bits_per_byte);
  quantity.bytes = suffix->bytes;
  return quantity;
}

const char* unit_words(Unit unit) {
  switch (unit) {
    case Unit::kKeys:
      return "is not a number of keys such as 5000, 10M (10,000,000), 1e7 or 1.5Gi";
    case Unit::kBytes:
      return "is not a number of bytes such as 4096, 64MiB or 1.5G";
    case Unit::kBits:
      return "is not a number of bits such as 4096 or 64Mi; with a B it is a size in bytes of 8 bits: 8MiB is 64Mi";
  }
  return "";
}

// Reads the whole of `text` in base `base`. Returns nothing if it is not a number.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text, int base) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t parse_quantity(const std::string& option, std::string_view text, Unit unit, std::uint64_t max) {
  const Quantity quantity = read_quantity(text, unit);
  if (quantity.flaw == Flaw::kNotANumber) refuse(option, text, unit_words(unit));
  if (quantity.bytes && unit == Unit::kKeys) {
    refuse(option, text, "is a size in bytes, and this option counts keys. Leave out the B, or use --max-bytes.");
  }
  if (quantity.flaw == Flaw::kNotWhole) refuse(option, text, "is not a whole number");
  if (quantity.flaw == Flaw::kTooLarge || quantity.value > max) {
    refuse(option, text, "is too large: at most " + grouped(max));
  }
  if (quantity.value == 0) refuse(option, text, "is too small: at least 1");
  return quantity.value;
}

std::uint32_t parse_small(const std::string& option, std::string_view text, std::uint32_t max,
                          const std::string& others) {
  const auto value = parse_integer<std::uint32_t>(text, 10);
  if (!value || *value == 0 || *value > max) {
    refuse(option, text, "is not " + others + "a whole number from 1 to " + std::to_string(max));
  }
  return *value;
}

namespace {

struct TimeUnit {
  const char* name;
  std::uint64_t milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {{"w", 604'800'000}, {"d", 86'400'000}, {"h", 3'600'000},
                                   {"min", 60'000},    {"ms", 1},         {"s", 1000}};  // "ms" ends with "s"

}  // namespace

std::uint64_t parse_time(const std::string& option, std::string_view text) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto value = parse_integer<std::uint64_t>(text.substr(0, text.size() - std::strlen(unit.name)), 10);
    if (value && *value != 0 && *value <= UINT64_MAX / unit.milliseconds) return *value * unit.milliseconds;
    break;
  }
  refuse(option, text, "is not a time. Give a whole number and its unit, ms, s, min, h, d or w, such as 24h");
}

std::string time_words(std::uint64_t milliseconds) {
  for (const TimeUnit& unit : {kTimeUnits[1], kTimeUnits[2], kTimeUnits[3], kTimeUnits[5]}) {
    const bool is_long_enough = unit.milliseconds != kTimeUnits[1].milliseconds || milliseconds > unit.milliseconds;
    if (is_long_enough && milliseconds % unit.milliseconds == 0)
      return grouped(milliseconds / unit.milliseconds) + " " + unit.name;
  }
  return grouped(milliseconds) + " ms";
}

std::string time_option(std::uint64_t milliseconds) {
  std::string text = time_words(milliseconds);
  text.erase(std::remove_if(text.begin(), text.end(), [](char one) { return one == ' ' || one == ','; }), text.end());
  return text;
}

std::string rounded_time(std::uint64_t milliseconds) {
  constexpr std::uint64_t kLong = 1000;  // of the unit: short_number() would write it with an exponent
  constexpr TimeUnit kDay = kTimeUnits[1];
  for (const TimeUnit& unit : {kDay, kTimeUnits[2], kTimeUnits[3], kTimeUnits[5]}) {
    const bool is_day = unit.milliseconds == kDay.milliseconds;
    if (is_day ? milliseconds <= 2 * unit.milliseconds : milliseconds < unit.milliseconds) continue;
    const std::uint64_t whole = milliseconds / unit.milliseconds;
    const double exactly = static_cast<double>(milliseconds) / static_cast<double>(unit.milliseconds);
    return (whole < kLong ? short_number(exactly) : grouped(whole)) + " " + unit.name;
  }
  return grouped(milliseconds) + " ms";
}

double parse_fraction(const std::string& option, std::string_view text, double limit, const std::string& example) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value <= 0 || value >= limit) {
    refuse(option, text, "is not a number above 0 and below " + short_number(limit) + ", such as " + example);
  }
  return value;
}

double parse_rate(const std::string& option, std::string_view text) {
  if (!text.ends_with('%')) {
    const auto percent = parse_integer<std::uint32_t>(text, 10);
    const bool is_percent = percent && *percent >= 1 && *percent < 100;
    return parse_fraction(
        option, text, 1,
        is_percent ? "0.01 or 1%. " + std::string(text) + " percent is " + std::string(text) + "%" : "0.01 or 1%");
  }
  std::string_view percent = text.substr(0, text.size() - 1);
  if (percent.ends_with(' ')) percent.remove_suffix(1);
  const double rate = parse_fraction(option, percent, 100, "1 (percent)") / 100;
  if (rate == 0) refuse(option, text, "is too close to 0");
  return rate;
}

std::uint64_t parse_uint64(const std::string& option, std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x";
  const auto value = parse_integer<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10);
  if (!value) refuse(option, text, "is not a whole number from 0 to 18446744073709551615, decimal or 0x...");
  return *value;
}

bool read_hex(std::string_view digits, std::span<std::uint8_t> bytes) noexcept {
  if (digits.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = value_of_digit(digits[2 * i]);
    const auto low = value_of_digit(digits[2 * i + 1]);
    if (!high || !low) return false;
    bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return true;
}

bfstore::FileId parse_file_id(const std::string& option, std::string_view text) {
  bfstore::FileId id{};
  if (!read_hex(text, id) || id == bfstore::FileId{})
    refuse(option, text, "is not 32 hexadecimal digits, not all of them 0, such as uuidgen | tr -d - prints");
  return id;
}

std::vector<std::uint32_t> parse_seeds(const std::string& option, std::string_view text) {
  constexpr std::size_t kMost = 64;
  const auto fail = [&] {
    refuse(option, text, "is not a list of at most 64 seeds below 2^32, such as 41..47 or 3,1,4");
  };
  const auto number = [&](std::string_view part) {
    const bool hex = part.substr(0, 2) == "0x";
    const auto value = parse_integer<std::uint32_t>(hex ? part.substr(2) : part, hex ? 16 : 10);
    if (!value) fail();
    return *value;
  };
  std::vector<std::uint32_t> seeds;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, end);
    const std::size_t dots = part.find("..");
    const std::uint32_t first = number(part.substr(0, dots));
    const std::uint32_t last = dots == std::string_view::npos ? first : number(part.substr(dots + 2));
    if (last < first || last - first >= kMost - seeds.size()) fail();
    for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(static_cast<std::uint32_t>(seed));
    if (end == rest.size()) return seeds;
    if (seeds.size() == kMost) fail();
    rest.remove_prefix(end + 1);
  }
}

std::uint32_t parse_mode(const std::string& option, std::string_view text) {
  const auto value = parse_integer<std::uint32_t>(text, 8);
  if (!value || *value == 0 || *value > 0777) refuse(option, text, "is not an octal mode such as 0640 (1 to 0777)");
  return *value;
}

std::string short_number(double number, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, number);
  return text.data();
}

}  // namespace bf
