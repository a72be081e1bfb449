// The help of a program: short by -h and long by --help, in lines that fit the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tools {

// Adds -h, --help and --version. `usage`: a line for each way to call the command, which begins with the program's
// name; a line that begins with a blank continues the one before it. `usual`: the options that -h shows, the first five
// if it is empty.
void add_help_and_version(CLI::App& app, const std::string& usage, const std::vector<std::string>& usual = {});

// A name, and what it means.
struct Entry {
  std::string name;
  std::string about;
};

// A title with its entries in two columns, and a sentence after them, in lines that fit the terminal.
std::string list_text(const std::string& title, const std::vector<Entry>& entries, const std::string& after);

// The usage of an app with this help, in lines of at most that many columns.
std::string usage_of(const CLI::App& app, std::size_t columns);

}  // namespace tools
