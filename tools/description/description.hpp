// Describes a program's command line for other programs. Its manual page and the completions of shells are made from
// this (tools/manual, tools/completion), so that they have every option of the program.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace tools {

// The word that makes a program print its description. It is in no help, since it is for the build alone.
inline constexpr const char* kDescribe = "--describe";

// Marks an option whose value is a path.
CLI::Option* mark_path(CLI::Option* option);

// The words that an option takes, by its long name: {"--layout", {"blocked", ...}}. If the type in the help is a list
// of words (little|big), they need not be given.
using Words = std::map<std::string, std::vector<std::string>>;

// One JSON object with the command line of `app` and of its commands.
std::string described(const CLI::App& app, const Words& words);

}  // namespace tools
