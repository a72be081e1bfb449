// bfinspect: shows everything that a filter file says about itself, for a person or as JSON. It only reads the file,
// takes no lock and recovers nothing.
#include <bfstore/bfstore.hpp>

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "description.hpp"
#include "facts.hpp"
#include "json_output.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "text_output.hpp"

namespace bfinspect {
namespace {

constexpr const char* kFooter =
    "Exit status:\n"
    "  0  healthy: clean, in use, or left by a killed writer and ready for use\n"
    "  1  needs attention: unclean, recovering, poisoned, filling, or overfull; or a\n"
    "     file of another program that may have several formats, or needs --column\n"
    "  2  not a good filter file: every broken rule is listed\n"
    "  3  bad usage, or the file could not be read\n"
    "\n"
    "JSON: every key is always present; null means unknown. Text in any encoding\n"
    "survives: path, note and command are null if they are not UTF-8, and\n"
    "path_bytes, note_bytes and command_bytes have the exact bytes in hex.\n"
    "\n"
    "Examples:\n"
    "  bfinspect users.bf\n"
    "  bfinspect --json --quick users.bf | jq .state";

struct Arguments {
  std::string path;
  bfstore::ForeignForm form;  // without a format: any that the file has
  bool json = false;
  bool quick = false;
};

int complain(const std::string& message) {
  const std::string line = "bfinspect: " + escaped(message, !locale_is_utf8()) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return static_cast<int>(Verdict::kFailed);
}

// Writes all of `text` to standard output. Returns an errno on failure.
int write_out(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return 0;
}

// The verdict counts, even if no program reads the output (a closed pipe).
int finish(const std::string& text, Verdict verdict) {
  const int failed = write_out(text);
  if (failed != 0 && failed != EPIPE) return complain(std::string("standard output: ") + std::strerror(failed));
  return static_cast<int>(verdict);
}

std::string with_way_out(const bfstore::Error& error) {
  if (error.code != bfstore::Code::kNotFound) return error.message;
  return error.message + (error.message.ends_with('.') ? " " : ". ") + "bf create makes one.";
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const bfstore::ForeignFormat& format : bfstore::foreign_formats()) names.emplace_back(format.name);
  return names;
}

// Returns what is wrong with the form, or nothing.
std::string wrong_form(const bfstore::ForeignForm& form) {
  if (form.format.empty()) return form.column.empty() ? "" : "--column is of no use without --format.";
  const auto format = bfstore::foreign_format_named(form.format);
  if (!format) {
    std::string names;
    for (const std::string& name : format_names()) names += (names.empty() ? "" : ", ") + name;
    return "--format: '" + form.format + "' is not a format. Give one of " + names + ".";
  }
  const std::string name = std::string("the format ") + format->name;
  if (format->needs_size) {
    return name +
           " is the bits alone, which say nothing of their filter. Ask it (bf contains), or import it (bf "
           "import).";
  }
  if (format->needs_column == form.column.empty())
    return name + (format->needs_column ? " has filters of several columns. Give one, --column C."
                                        : " has no columns. Leave --column out.");
  return "";
}

int inspect(const Arguments& arguments) {
  if (const std::string wrong = wrong_form(arguments.form); !wrong.empty()) return complain(wrong);
  const bfstore::Result<bfstore::Report> report = bfstore::inspect(arguments.path, !arguments.quick);
  if (!report) {
    complain(with_way_out(report.error()));
    return finish(arguments.json ? json_of(arguments.path, report.error()) : "", Verdict::kFailed);
  }
  const Facts facts = gather(*report, !arguments.quick, arguments.form);
  return finish(arguments.json ? json_of(facts) : page_of(facts, style_of_output()), facts.verdict);
}

int run(int argc, char** argv) {
  CLI::App app(
      "Shows all facts about a bfstore filter file, and every rule that it breaks, or\n"
      "about another program's filter, if its format is known.\n"
      "Writes nothing and takes no lock. Waits 0.1 s for a process that changes the\n"
      "state of the file, no longer.",
      "bfinspect");
  Arguments arguments;
  tools::mark_path(app.add_option("FILE", arguments.path, "the filter file"))->required()->type_name("");
  app.add_flag("--json", arguments.json, "one JSON object instead of a page");
  app.add_flag("--quick", arguments.quick, "do not count the bits (for huge files)");
  app.add_option("--format", arguments.form.format, "another program's file, in this format")->type_name("F");
  app.add_option("--column", arguments.form.column, "of a format with columns: the one that is meant")->type_name("C");
  app.set_version_flag("--version", std::string("bfinspect ") + bfstore::version(), "print the version and exit");
  app.footer(kFooter);
  if (argc == 2 && std::string_view(argv[1]) == tools::kDescribe)
    return finish(tools::described(app, {{"--format", format_names()}}), Verdict::kHealthy);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return finish(app.help(), Verdict::kHealthy);
  } catch (const CLI::CallForVersion& version) {
    return finish(version.what() + std::string("\n"), Verdict::kHealthy);
  } catch (const CLI::ParseError& error) {
    return complain(std::string(error.what()) + ". See bfinspect --help.");
  }
  return inspect(arguments);
}

}  // namespace
}  // namespace bfinspect

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  try {
    return bfinspect::run(argc, argv);
  } catch (const std::exception& error) {
    return bfinspect::complain(error.what());
  }
}
