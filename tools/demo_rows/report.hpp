// The demo's output.
#pragma once

#include "compare.hpp"

#include <cstdint>
#include <string>

namespace demo {

std::string with_separators(std::uint64_t number);  // 1234567 -> "1,234,567"
std::string mebibytes(std::uint64_t bytes);         // 1572864 -> "1.5 MiB"

// The head of the table, 120 columns wide at most. `promised_rate` is the filter's, 0 to 1.
std::string table_head(double promised_rate);
// Two lines of the table, without the filter and with it.
std::string table_rows(const Comparison& comparison);

// Explains the numbers of the workload with the most absent words and of the one with none.
std::string closing_sentence(const Comparison& absent, const Comparison& present);

}  // namespace demo
