// See foreign.hpp.
#include "foreign.hpp"

#include "commands.hpp"
#include "failure.hpp"
#include "words.hpp"

namespace bf {
namespace {

bfstore::BitOrder parse_order(const std::string& option, const std::string& text) {
  if (text == "little") return bfstore::BitOrder::kLittle;
  if (text == "big") return bfstore::BitOrder::kBig;
  throw Failure(option + ": '" + text + "' is no order of bits. Give little or big.");
}

// "raw|jaybird"
std::string formats(const std::string& between) {
  std::string names;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats())
    names += (names.empty() ? std::string() : between) + format.name;
  return names;
}

// "raw (default): the bits alone; ..."
std::string about_formats() {
  std::string about;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats()) {
    if (!about.empty()) about += "; ";
    about += format.name;
    if (format.name == Arguments().form.format) about += " (default)";
    about.append(": ").append(format.about);
  }
  return about;
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

void add_format(CLI::App& app, Arguments& arguments) {
  add_text(app, "--format", about_formats(), formats("|"), [&](const std::string& name, const std::string& text) {
    if (!bfstore::foreign_format_named(text))
      throw Failure(name + ": '" + text + "' is not a format. Give " + formats(" or ") + ".");
    arguments.form.format = text;
  });
}

bfstore::ForeignFormat format_of(const Arguments& arguments) {
  return *bfstore::foreign_format_named(arguments.form.format);
}

void check_order(Arguments& arguments) {
  if (format_of(arguments).needs_order && !arguments.form.order)
    throw Failure(std::string(arguments.command->name) + ": no order of the bits given. Give --order little or big.");
}

}  // namespace bf
