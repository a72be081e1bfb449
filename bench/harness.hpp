// What the two programs of bench/ have in common: their command lines, and Google Benchmark under them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bench {

// Parses; what the app does not know must be Google Benchmark's and is put into `rest`. False if the program ends now,
// with `code`.
bool parse(CLI::App& app, int argc, char** argv, std::vector<std::string>& rest, int& code);

// Hands Google Benchmark its arguments, of which the first is the program's name, and checks that its results, which go
// to `json`, can be written. Later arguments win, so the user's own come last. Once in a process.
void initialize(std::vector<std::string> arguments, const std::string& json);

// What the results say of this machine; files were made in `folder`.
void add_machine(const std::string& folder);

}  // namespace bench
