// See foreign.hpp.
#include "foreign.hpp"

#include "commands.hpp"
#include "failures.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <bfstore/hashes.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace bf {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats()) names.emplace_back(format.name);
  return names;
}

namespace {

bfstore::BitOrder parse_order(const std::string& option, const std::string& text) {
  if (text == "little") return bfstore::BitOrder::kLittle;
  if (text == "big") return bfstore::BitOrder::kBig;
  throw Failure(option + ": '" + text + "' is no order of bits. Give little or big.");
}

// "raw or jaybird"
template <class Name>
std::string joined(const std::vector<Name>& names) {
  std::string text;
  for (const Name& name : names) text += (text.empty() ? "" : " or ") + std::string(name);
  return text;
}

// "the program's format (raw): see bf help formats"
std::string about_formats(const std::string& usual) {
  return "the program's format" + (usual.empty() ? "" : " (" + usual + ")") + ": see bf help formats";
}

// The bytes do not tell values that bf would choose by itself in a new filter, so they must be given.
void check_word(const Arguments& arguments, const bfstore::ForeignFormat& format) {
  const bfstore::Options& options = arguments.options;
  if (!format.hashes.empty() || !options.like.empty()) return;
  const std::string name = arguments.command->name;
  if (!options.hash)
    throw Failure(name + ": no hash given. Give the one that the bits are of, --hash H, or --like OTHER.");
  if (bfstore::hash_of(*options.hash)->takes_seed && !options.seed)
    throw Failure(name + ": no seed given. Give the one that the bits are of, --seed S, or --like OTHER.");
}

}  // namespace

void add_raw(CLI::App& app, Arguments& arguments, const std::string& help) {
  add_path(app, "RAW", help, "", arguments.raw)->required();
}

void add_order(CLI::App& app, Arguments& arguments) {
  add_text(app, "--order",
           "which bit of a byte comes first: little is the lowest, as in C and Java; big is bitarray's in Python",
           "little|big",
           [&](const std::string& name, const std::string& text) { arguments.form.order = parse_order(name, text); });
}

CLI::Option* add_format(CLI::App& app, Arguments& arguments, const std::string& usual) {
  return add_text(app, "--format", about_formats(usual), "F", [&](const std::string& name, const std::string& text) {
    if (!bfstore::foreign_format_named(text))
      throw Failure(name + ": '" + text + "' is not a format. Give " + joined(format_names()) + ".");
    arguments.form.format = text;
  });
}

void add_choice(CLI::App& app, Arguments& arguments) {
  add_text(app, "--column", "the column that is meant, in a format whose columns have filters of their own", "C",
           [&](const std::string& name, const std::string& text) {
             if (text.empty()) throw Failure(name + ": the name is empty. Give the name of a column.");
             arguments.form.column = text;
           });
  add_text(app, "--member", "the only filter that is meant of a file of several, from 1", "N",
           [&](const std::string& name, const std::string& text) {
             arguments.form.member = parse_small(name, text, std::numeric_limits<std::uint32_t>::max());
           });
}

void take_usual_format(Arguments& arguments) {
  if (arguments.form.format.empty()) arguments.form.format = kUsualFormat;
}

bfstore::ForeignFormat format_of(const Arguments& arguments) {
  return *bfstore::foreign_format_named(arguments.form.format);
}

void check_order(const Arguments& arguments) {
  if (format_of(arguments).needs_order && !arguments.form.order)
    throw Failure(std::string(arguments.command->name) + ": no order of the bits given. Give --order little or big.");
}

void check_foreign(const Arguments& arguments) {
  const bfstore::ForeignFormat format = format_of(arguments);
  check_bits(arguments);
  if (!arguments.is_sized() && format.needs_size) fail_unsized(arguments);
  check_hash(arguments);
  check_word(arguments, format);
  if (format.needs_column && arguments.form.column.empty())
    throw Failure(std::string(arguments.command->name) + ": no column given. Give the one that is meant, --column C.");
  check_order(arguments);
}

std::string recognized_format(const std::string& file) {
  const auto found = bfstore::recognize_foreign(file, {.any_filesystem = true});
  if (!found) throw Failure(found.error().message);
  if (found->size() == 1) return found->front();
  if (found->empty())
    throw Failure(file + ": is no filter of bfstore, nor of a format that tells what it is. Give its --format.");
  throw Failure(file + ": looks like a filter of the format " + joined(*found) + ". Give the right one: --format F.");
}

namespace {

// " --hash rbloom" for a file whose bytes do not tell its hash, and nothing for other files.
std::string hash_option(const std::string& file, const char* format) {
  const auto told = bfstore::inspect_foreign_file(file, {.format = format}, {.any_filesystem = true});
  if (!told || told->hash) return "";
  std::vector<std::string> options;
  for (const bfstore::Hash hash : told->format.hashes)
    options.push_back(std::string("--hash ") + bfstore::hash_of(hash)->name);
  return options.size() == 1 ? " " + options.front() : " and " + joined(options);
}

}  // namespace

void refuse_foreign(const std::string& file, const Arguments& arguments) {
  const auto found = bfstore::recognize_foreign(file, {.any_filesystem = arguments.any_filesystem});
  if (!found || found->empty()) return;
  const std::string names = joined(*found);
  const bool has_columns = std::any_of(
      found->begin(), found->end(), [](const char* name) { return bfstore::foreign_format_named(name)->needs_column; });
  throw Failure(file + ": is no bfstore filter. It looks like one of the format " + names + ": give --format " +
                (found->size() == 1 ? names + hash_option(file, found->front()) : "and the right one") +
                (has_columns ? ", and --column" : "") + ".");
}

}  // namespace bf
