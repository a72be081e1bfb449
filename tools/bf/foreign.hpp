// Code of import and export: the options for the bytes of another program's filter.
#pragma once

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace bf {

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help);
void add_order(CLI::App& app, Arguments& arguments);
void add_format(CLI::App& app, Arguments& arguments);

// The format that was given; raw if none was.
bfstore::ForeignFormat format_of(const Arguments& arguments);

// Throws Failure if the order of the bits is not known.
void check_order(Arguments& arguments);

}  // namespace bf
