// The help of a program: short by -h and long by --help, in lines that fit the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tools {

// Adds -h, --help and --version. `usage`: a line for each way to call the command, which begins with the program's
// name; a line that begins with a blank continues the one before it. `usual`: the options that -h shows, the first five
// of the usage if it is empty; of a program with commands, the commands that it explains.
void add_help_and_version(CLI::App& app, const std::string& usage, const std::vector<std::string>& usual = {});

// A name, and what it means.
struct Entry {
  std::string name;
  std::string about;
};

// What the long help says besides the arguments, and the manual page, too. Sections come in one order: what the command
// does, its usage, its options in groups, examples, exit codes.
struct Texts {
  std::string about;               // paragraphs, with an empty line between two
  std::string examples;            // lines that can be typed, indented by two; others introduce them
  std::vector<Entry> codes;        // each exit code, and when the program ends with it
  std::vector<Entry> topics = {};  // of a program with commands: what else its help explains
};

// Call this after add_help_and_version.
void set_texts(CLI::App& app, Texts texts);
const Texts& texts_of(const CLI::App& app);

// A title, and the long names of the options under it. The app need not have all of them.
struct Group {
  std::string title;
  std::vector<std::string> names;
};

// Divides the options of the long help. Those in no group come first, as "Options".
void set_groups(CLI::App& app, std::vector<Group> groups);

struct GroupedOptions {
  std::string title;
  std::vector<const CLI::Option*> options;
};

// All options but the positional ones, in the order of the long help.
std::vector<GroupedOptions> grouped_options(const CLI::App& app);

// A title with its entries in two columns, and a sentence after them, in lines that fit the terminal.
std::string list_text(const std::string& title, const std::vector<Entry>& entries, const std::string& after);

// A paragraph in lines that fit the terminal, of 80 columns at most.
std::string in_lines(const std::string& paragraph);

// The usage of an app with this help, in lines of at most that many columns.
std::string usage_of(const CLI::App& app, std::size_t columns);

}  // namespace tools
