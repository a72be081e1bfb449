// What import and export share: the words for the bit array of another program.
#pragma once

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace bf {

inline std::uint64_t bytes_of(std::uint64_t num_bits) { return (num_bits + 7) / 8; }

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help);
void add_order(CLI::App& app, Arguments& arguments);
void add_format(CLI::App& app, Arguments& arguments);

// Throws Failure if the order of the bits is not known, or is given twice.
void check_order(Arguments& arguments);

}  // namespace bf
