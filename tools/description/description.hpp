// What a program's command line takes, for other programs: its manual page and the completions of shells are made of it
// (tools/manual, tools/completion), so that they have every option that the program has.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace tools {

// The word that makes a program print its description. It is in no help, since it is for the build alone.
inline constexpr const char* kDescribe = "--describe";

// Says that the option's value is a path.
CLI::Option* mark_path(CLI::Option* option);

// The words that an option takes, by its long name: {"--layout", {"blocked", ...}}. Where the type that the help shows
// is a list of words (little|big), they need not be given.
using Words = std::map<std::string, std::vector<std::string>>;

// One JSON object with the command line of `app` and of its commands.
std::string described(const CLI::App& app, const Words& words);

}  // namespace tools
