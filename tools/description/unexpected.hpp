// What to say of a word that a command line does not take.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tools {

// The long options of a command, with their dashes.
std::vector<std::string> names_of_options(const CLI::App& command);

// "'--jsn' is not expected here. Did you mean --json?", with the options of the command that got the word. A masked
// word is no option. An option that its subcommands have belongs after them.
std::string unexpected(const CLI::App& command, const std::string& word);

// "B is missing: the second filter.", of a word that the command must have.
std::string missing(const CLI::App& command, const std::string& name);

}  // namespace tools
