// Numbers for a person to read, the same in both programs.
#pragma once

#include <cstdint>
#include <string>

namespace tools {

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

// 12884901 as "12.3 MiB", in the units of ls -h; below 1024 "512 bytes".
std::string human_bytes(std::uint64_t bytes);

// "5 bytes follow the end of the filter, ...": what another program appended to a file, which no code of bfstore reads.
std::string bytes_after_words(std::uint64_t bytes);

}  // namespace tools
