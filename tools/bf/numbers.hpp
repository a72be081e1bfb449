// Numbers as people write them on a command line: 10M, 1.5G, 64MiB, 0.01, 0640. Parsed exactly and without locale.
// Other text throws a Failure that names the option.
#pragma once

#include "amounts.hpp"

#include <bfstore/options.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bf {

enum class Unit {
  kKeys,   // no B: 64MiB keys make no sense
  kBytes,  // a B is accepted and changes nothing
  kBits,   // with a B it is a size in bytes, 8 bits each
};

// A whole number from 1 to `max`, with an optional suffix: k M G T P E are powers of 1000, Ki Mi Gi Ti Pi Ei powers of
// 1024. 1.5e6 and 1_500_000 are 1.5M. A fraction is good if the product is whole: 1.5k, not 1.5.
std::uint64_t parse_quantity(const std::string& option, std::string_view text, Unit unit, std::uint64_t max);

// A plain whole number from 1 to `max`. `others` names, for the message, other values that the caller takes.
std::uint32_t parse_small(const std::string& option, std::string_view text, std::uint32_t max,
                          const std::string& others = "");

// A number above 0 and below `limit`. `example` is one for the message.
double parse_fraction(const std::string& option, std::string_view text, double limit, const std::string& example);

// A false-positive rate: a number above 0 and below 1, or a percentage such as 1%.
double parse_rate(const std::string& option, std::string_view text);

// 64 bits, decimal or 0x and hexadecimal.
std::uint64_t parse_uint64(const std::string& option, std::string_view text);

// "41..47", or single numbers with commas, "3,1,4": at most 64 numbers of 32 bits, decimal or 0x and hexadecimal.
std::vector<std::uint32_t> parse_seeds(const std::string& option, std::string_view text);

// Reads two hexadecimal digits for each byte. False, and some of the bytes may have changed, if the text is anything
// else.
bool read_hex(std::string_view digits, std::span<std::uint8_t> bytes) noexcept;

// A file_id as bfinspect prints it.
bfstore::FileId parse_file_id(const std::string& option, std::string_view text);

// A time as a whole number with its unit, ms, s, min, h, d (days) or w (weeks): 24h, 90min, 7d. In milliseconds.
std::uint64_t parse_time(const std::string& option, std::string_view text);

// 86,400,000 as "24 h": in the largest unit of which it is a whole number, but in hours below two days.
std::string time_words(std::uint64_t milliseconds);

// As parse_time() reads it: "24h".
std::string time_option(std::uint64_t milliseconds);

// 12,342,858 as "3.43 h", rounded: in the largest unit of which it is one or more, but in hours up to two days.
std::string rounded_time(std::uint64_t milliseconds);

// Permission bits in octal.
std::uint32_t parse_mode(const std::string& option, std::string_view text);

using tools::grouped;
using tools::human_bytes;

// 0.01 as "0.01", with at most that many significant digits.
std::string short_number(double number, int digits = 3);

}  // namespace bf
