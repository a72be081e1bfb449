// The sign of a tar archive, POSIX's and GNU's. Each has a NUL, so no list of lines of text has one.
#pragma once

#include <cstddef>
#include <string_view>

namespace tools {

inline constexpr std::size_t kTarOffset = 257;
inline constexpr std::size_t kTarBytes = kTarOffset + 8;  // that many bytes of a file tell whether it is one

inline bool is_tar(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.size() < kTarOffset) return false;
  const std::string_view sign = head.substr(kTarOffset);
  return sign.starts_with(
             "ustar\0"
             "00"sv) ||
         sign.starts_with("ustar  \0"sv);
}

}  // namespace tools
