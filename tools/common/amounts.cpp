// See amounts.hpp.
#include "amounts.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

namespace tools {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kRoundsUp = 1023.95;  // would be 1024.0
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= kRoundsUp && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ", size);
  return text.data() + std::string(kUnits[unit]);
}

std::string bytes_after_words(std::uint64_t bytes) {
  return grouped(bytes) + (bytes == 1 ? " byte follows the end of the filter, and is no part of it"
                                      : " bytes follow the end of the filter, and are no part of it");
}

}  // namespace tools
