// Code that bfbench and bfsystem share: command lines, and Google Benchmark.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bench {

// Parses the command line. An option that the app does not know must be Google Benchmark's, and is put into `rest`.
// False if the program ends now, with `code`.
bool parse(CLI::App& app, int argc, char** argv, std::vector<std::string>& rest, int& code);

// Gives Google Benchmark its arguments, the first of which is the program's name, and checks that its results can be
// written to `json`. Later arguments win, so the user's own come last. Call it once in a process.
void initialize(std::vector<std::string> arguments, const std::string& json);

// Adds a description of this machine to the results. Files are made in `folder`.
void add_machine(const std::string& folder);

}  // namespace bench
