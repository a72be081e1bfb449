// Code of import, export and contains: the options for the bytes of another program's filter.
#pragma once

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bf {

// The format of import and export if none is given.
inline constexpr const char* kUsualFormat = "raw";

std::vector<std::string> format_names();

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help);
void add_order(CLI::App& app, Arguments& arguments);
// `usual`: the format that is taken if none is given, or empty.
CLI::Option* add_format(CLI::App& app, Arguments& arguments, const std::string& usual);
// Adds --column and --member, which choose one of several filters.
void add_choice(CLI::App& app, Arguments& arguments);

// Takes the usual format if none was given.
void take_usual_format(Arguments& arguments);

// The format that was given.
bfstore::ForeignFormat format_of(const Arguments& arguments);

// Throws Failure if the order of the bits is not known.
void check_order(const Arguments& arguments);

// Throws Failure if something is not given that the bytes to read do not say.
void check_foreign(const Arguments& arguments);

// The only format that the file, which is not a bfstore file, looks like. Throws Failure if it looks like none, or like
// several.
std::string recognized_format(const std::string& file);

// What another program's filter looks like.
struct Recognized {
  std::string formats;  // "dcso"
  std::string options;  // "--format dcso"
};

// Returns nothing if the file looks like no such filter.
std::optional<Recognized> recognize(const std::string& file, bool any_filesystem);

// Throws Failure if the error is that a file, or standard input, is not of the format that was given.
// Throws Failure if a file of which a --format was given is bfstore's own.
void refuse_own_format(const std::string& file);
void refuse_other_format(const bfstore::Error& error, const std::string& name);

// Throws Failure if the file, which is not a bfstore file, looks like a filter of another program. The message has the
// option to give.
void refuse_foreign(const std::string& file, const Arguments& arguments);

// The form of the keys of a filter of another program: --key-form, or the one that follows from the values of the
// column, if the format tells what they are. Throws Failure if --key-form is another one, or is needed. `end` is the
// last part of the file, or all of it.
std::optional<KeyForm> form_of_foreign(const Arguments& arguments, const std::string& file,
                                       std::span<const std::byte> end);

// Reads the file's last part for it.
std::optional<KeyForm> form_of_foreign(const Arguments& arguments, const std::string& file);

}  // namespace bf
