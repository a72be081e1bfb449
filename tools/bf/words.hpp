// The words of a command line, and the options that take them: texts, paths.
#pragma once

#include "help.hpp"
#include "mask.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bf {

using tools::add_help_and_version;
using tools::unmasked;

// Makes the words for CLI11 (see words.cpp). A masked word is only text.
std::vector<std::string> masked_words(int argc, const char* const* argv);

// Takes an option's name and its value.
using Take = std::function<void(const std::string& name, const std::string& text)>;

// Adds an option (or FILE) whose value is passed to `take`, unmasked and otherwise unchanged. Of "-n,--capacity",
// `take` gets the long name.
CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      Take take);

// The value is the path of a file. A user who gives "-" means standard input or output, and gets an error.
CLI::Option* add_path(CLI::App& app, const std::string& name, const std::string& help, const std::string& type,
                      std::string& path);
// The value may be "-", too.
CLI::Option* add_path_or_stream(CLI::App& app, const std::string& name, const std::string& help,
                                const std::string& type, std::string& path);
// Returns `text`, which option `option` has as the path of a file. Throws Failure if it is none.
std::string named_path(const std::string& option, std::string text);

}  // namespace bf
