// Pure functions from bytes and numbers to text that is safe and easy to read. None depends on the locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "amounts.hpp"

namespace bfinspect {

// The code point at `at`, which then moves after it. Empty, and `at` stays, if the bytes there are not UTF-8 (overlong
// forms, surrogates and numbers above U+10FFFF are not).
std::optional<char32_t> next_code_point(std::string_view bytes, std::size_t& at);

bool is_utf8(std::string_view bytes);

// True if a terminal may get this code point raw. Control characters, and characters that reorder, hide or break text,
// are not printable.
bool is_printable(char32_t code_point);

// Untrusted bytes for a person to read: \n, \t, \r, \\, \xHH for other ASCII controls and for bytes that are not UTF-8,
// \u{HEX} for other code points that are not printable. With `ascii`, also for every code point that is not ASCII.
std::string escaped(std::string_view bytes, bool ascii);

// The same for a message of the library, which has escaped the bytes of files in it. So backslashes stay as they are.
std::string escaped_message(std::string_view message, bool ascii);

// "1b5d"
std::string hex(std::string_view bytes);

using tools::grouped;

// "9.59 million (9,585,408)"; below a million "585,408".
std::string count_text(std::uint64_t number);

// For an estimate, whose exact number is unknown: "9.59 million", "585,408".
std::string about_text(double number);

// For an interval: "9.59 million to 9.61 million", with as many digits as its ends need to differ; "4" if both
// ends are the same; "9.59 million or more" if it has no upper end.
std::string interval_text(double low, double high);

// "1.2 MiB (1,234,567 bytes)"; below 1024 "512 bytes".
std::string bytes_text(std::uint64_t bytes);

// "36.2 %"
std::string percent_text(double ratio);

// A false-positive rate: "0.83 %", or "1 in 98.3 million" if a percentage would be all zeros.
std::string rate_text(double rate);

// "2026-11-28 10:17 UTC". `seconds` since 1970.
std::string moment_text(std::time_t seconds, bool exact = false);

// A number with `decimals` digits after the point.
std::string fixed_text(double number, int decimals);

}  // namespace bfinspect
