// bfinspect: shows everything that a filter file says about itself, for a person or as JSON. It only reads the file,
// takes no lock and recovers nothing.
#include <bfstore/bfstore.hpp>

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "colour.hpp"
#include "description.hpp"
#include "facts.hpp"
#include "failure.hpp"
#include "help.hpp"
#include "html_output.hpp"
#include "json_output.hpp"
#include "link.hpp"
#include "mask.hpp"
#include "program.hpp"
#include "prometheus_output.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "text_output.hpp"
#include "unexpected.hpp"
#include "whole_file.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

constexpr const char* kAbout =
    "Tells every rule that a file breaks, too, and what is known of another program's filter, if its format is\n"
    "known. Writes nothing and takes no lock. Waits 0.1 s for a process that changes the state of the file, no\n"
    "longer.\n"
    "\n"
    "Several files: one page after another, or with --json one object on each line; --html takes one file. The exit\n"
    "code is that of the worst file.\n"
    "\n"
    "--quick: overfull is what the count of keys in the header says. A sealed file is not compared with its\n"
    "checksums, and missing bits are not looked for: the first line says so.\n"
    "\n"
    "Bits may be missing: the header counts far more keys than there are bits of, or a part of the file, at least a\n"
    "64th, has far fewer set bits than chance explains. Smaller holes, or holes in a filter of few keys, are found\n"
    "only if the file was sealed before.\n"
    "\n"
    "JSON: every key is always present; null means unknown. A fact has the name that it has in bf plan --json and in\n"
    "the C structs (num_bits, capacity, fpr). Text in any encoding survives: path, note and command are null if they\n"
    "are not UTF-8, and path_bytes, note_bytes and command_bytes have the exact bytes in hex. turned_at is text, in\n"
    "nanoseconds since 1970; window_ms is in milliseconds.\n"
    "\n"
    "HTML: one file that needs no network, for a browser. No text from the filter file becomes HTML. The page has no\n"
    "seed: a person who knows it can choose keys that collide.\n"
    "\n"
    "Prometheus: metrics of all files, for the textfile collector of the node exporter. --output replaces its file at\n"
    "once, or leaves it as it is. A file that could not be read has bfstore_up 0.";

constexpr const char* kExamples =
    "  bfinspect users.bf\n"
    "  bfinspect --json --quick users.bf | jq .state\n"
    "  bfinspect --html users.html users.bf\n"
    "  bfinspect --prometheus --output bfstore.prom users.bf urls.bf";

std::vector<tools::Entry> exit_codes() {
  return {
      {"0", "healthy: clean, in use, or left by a killed writer and ready for use"},
      {"1",
       "needs attention: unclean, recovering, poisoned, superseded, filling, overfull, or leaky (more than 1 % of the "
       "keys can no longer be removed); or bits may be missing; "
       "or a file of another program that may have several formats, or needs --column"},
      {"2", "not a good filter file, or a sealed one that is damaged: every broken rule is listed"},
      {"3", "bad usage, or the file could not be read"}};
}

struct Arguments {
  std::vector<std::string> paths;
  bfstore::ForeignForm form;  // without a format: any that the file has
  std::string html;           // the file to make; "-": standard output
  std::string output;         // of the metrics; without it standard output
  bool force = false;
  bool json = false;
  bool prometheus = false;
  bool quick = false;
  bool verbose = false;
};

int complain(const std::string& message) {
  const std::string head = tools::inked("bfinspect:", tools::Ink::kRed, tools::has_colour(STDERR_FILENO));
  const std::string line = head + ' ' + escaped(message, !locale_is_utf8()) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return static_cast<int>(Verdict::kFailed);
}

// On standard error, so that a script's standard output stays empty.
void say(const std::string& message) {
  const std::string line = escaped(message, !locale_is_utf8()) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
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
  if (failed != 0 && failed != EPIPE) return complain(tools::unwritten_words(failed));
  return static_cast<int>(verdict);
}

// A program that only reads has no use for a new file.
std::string with_way_out(const bfstore::Error& error, const std::string& path) {
  if (error.code == bfstore::Code::kNotFound) {
    if (const std::string refused = tools::refused_link(path); !refused.empty()) return refused;
  }
  constexpr std::string_view kCreate = "Correct the path, or create it first.";
  std::string text = error.message;
  const std::size_t at = text.rfind(kCreate);
  return at == std::string::npos ? text : text.replace(at, kCreate.size(), "Give the path of a filter.");
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

// Makes the file complete, or not at all. A signal that comes meanwhile waits until the temporary file is gone.
int write_file(const std::string& path, bool replace, tools::WhyKept why_kept, const std::string& text,
               Verdict verdict) {
  sigset_t waiting;
  sigemptyset(&waiting);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&waiting, number);
  sigprocmask(SIG_BLOCK, &waiting, nullptr);
  int code = static_cast<int>(verdict);
  try {
    tools::write_whole(path, text, replace, why_kept, 0666);
  } catch (const tools::Failure& failure) {
    code = complain(failure.what());
  }
  sigprocmask(SIG_UNBLOCK, &waiting, nullptr);
  return code;
}

std::string why_no_page_replaces(std::string_view first) {
  return tools::begins_with_element(first, "html") ? "" : "is no page of HTML, and --force replaces such pages alone";
}

// The metrics of the last time.
std::string why_no_metrics_replace(std::string_view first) {
  return may_be_metrics(first) ? "" : "has no metrics of bfstore, and --output replaces these alone";
}

// `before`: what separates it from the file before it.
int show(const Arguments& arguments, const Facts& facts, const std::string& before) {
  if (!arguments.html.empty()) {
    const std::string text = html_of(facts);
    if (arguments.html == "-") return finish(text, facts.verdict);
    const int code = write_file(arguments.html, arguments.force, why_no_page_replaces, text, facts.verdict);
    if (code != static_cast<int>(Verdict::kFailed))
      say(arguments.html + ": written. " + facts.report.path + ": " + headline(facts));
    return code;
  }
  const bool on_one_line = arguments.paths.size() > 1;
  Style style = style_of_output();
  style.details = arguments.verbose;
  return finish(arguments.json ? json_of(facts, on_one_line) : before + page_of(facts, style), facts.verdict);
}

int inspect_file(const Arguments& arguments, const std::string& path, const std::string& before) {
  const bfstore::Result<bfstore::Report> report = bfstore::inspect(path, !arguments.quick);
  if (!report) {
    complain(with_way_out(report.error(), path));
    const bool on_one_line = arguments.paths.size() > 1;
    return finish(arguments.json ? json_of(path, report.error(), on_one_line) : "", Verdict::kFailed);
  }
  return show(arguments, gather(*report, !arguments.quick, arguments.form), before);
}

// Each page begins with its file's name. The exit code is that of the worst file.
int inspect(const Arguments& arguments) {
  int worst = static_cast<int>(Verdict::kHealthy);
  bool shown = false;
  for (const std::string& path : arguments.paths) {
    const int code = inspect_file(arguments, path, shown ? "\n" : "");
    shown = shown || code != static_cast<int>(Verdict::kFailed);
    worst = std::max(worst, code);
  }
  return worst;
}

int print_metrics(const Arguments& arguments) {
  std::vector<InspectedFile> files;
  Verdict worst = Verdict::kHealthy;
  for (const std::string& path : arguments.paths) {
    files.push_back({path, std::nullopt});
    const bfstore::Result<bfstore::Report> report = bfstore::inspect(path, !arguments.quick);
    if (report) {
      files.back().facts = gather(*report, !arguments.quick, arguments.form);
    } else {
      complain(with_way_out(report.error(), path));
    }
    worst = std::max(worst, report ? files.back().facts->verdict : Verdict::kFailed);
  }
  if (arguments.output.empty()) return finish(metrics_of(files), worst);
  constexpr bool kReplace = true;
  return write_file(arguments.output, kReplace, why_no_metrics_replace, metrics_of(files), worst);
}

// Returns what is wrong with the arguments together, or nothing.
std::string wrong_arguments(const Arguments& arguments) {
  if (const std::string wrong = wrong_form(arguments.form); !wrong.empty()) return wrong;
  if (arguments.paths.size() > 1 && !arguments.html.empty()) {
    return "'" + arguments.paths[1] +
           "' is not expected here: --html takes one file. Run bfinspect once for each. See bfinspect --help.";
  }
  if (arguments.json + arguments.prometheus + !arguments.html.empty() > 1)
    return "--json, --html and --prometheus exclude each other. Give one. See bfinspect --help.";
  if (arguments.force && arguments.html.empty()) return "--force is of no use without --html. See bfinspect --help.";
  if (!arguments.output.empty() && !arguments.prometheus)
    return "--output is for --prometheus alone. See bfinspect --help.";
  return "";
}

int run_parsed(const Arguments& arguments) {
  if (const std::string wrong = wrong_arguments(arguments); !wrong.empty()) return complain(wrong);
  return arguments.prometheus ? print_metrics(arguments) : inspect(arguments);
}

// CLI11 takes the last word first.
std::vector<std::string> masked_words(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto first_name = std::find(words.begin(), words.end(), "--");
  std::transform(words.begin(), first_name, words.begin(), tools::spelled);
  for (std::string& word : words) {
    if (word.starts_with('[')) word.insert(word.begin(), tools::kMask);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

void unmask(Arguments& arguments) {
  for (std::string& path : arguments.paths) path = tools::unmasked(std::move(path));
  for (std::string* const word : {&arguments.html, &arguments.output, &arguments.form.format, &arguments.form.column})
    *word = tools::unmasked(std::move(*word));
}

void declare(CLI::App& app, Arguments& arguments) {
  tools::mark_path(app.add_option("FILE", arguments.paths, "the filter file, or several"))->required()->type_name("");
  app.add_flag("--json", arguments.json,
               "a JSON object for each file instead of a page; of several files one on each line");
  tools::mark_path(app.add_option("--html", arguments.html, "make this file, a page for a browser; -: print it"))
      ->type_name("PATH");
  app.add_flag("--force", arguments.force, "with --html: replace the file if it exists");
  app.add_flag("--prometheus", arguments.prometheus, "metrics for Prometheus, of any number of files");
  tools::mark_path(
      app.add_option("--output", arguments.output, "with --prometheus: make or replace this file, whole or not at all"))
      ->type_name("PATH");
  app.add_flag("--quick", arguments.quick, "do not read the bits (for huge files)");
  app.add_flag("-v,--verbose", arguments.verbose, "the slots that hold the state, too");
  app.add_option("--format", arguments.form.format, "another program's file, in this format")->type_name("F");
  app.add_option("--column", arguments.form.column, "of a format with columns: the one that is meant")->type_name("C");
  app.add_option_function<std::string>(
         tools::kColourOption, [](const std::string& word) { tools::take_colour(tools::kColourOption, word); },
         tools::kAboutColour)
      ->type_name(tools::kColourWords);
  tools::add_help_and_version(app,
                              "bfinspect [--json | -v] [--quick] [--format F [--column C]] FILE...\n"
                              "bfinspect --html PATH [--force] [--quick] [--format F [--column C]] FILE\n"
                              "bfinspect --prometheus [--output PATH] [--quick] FILE...",
                              {"--json", "--html", "--prometheus", "--quick", "--verbose"});
  tools::set_texts(app, {kAbout, kExamples, exit_codes()});
  tools::set_groups(app, {{"Output", {"--json", "--html", "--force", "--prometheus", "--output"}},
                          {"General", {tools::kColourOption, "--help", "--version"}}});
}

// Returns the reason why CLI11 refused the words, a sentence.
std::string reason_of(const CLI::App& app, const CLI::Error& error) {
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty())
    return tools::unexpected(app, unknown.front());
  const std::string reason = error.what();
  if (const std::size_t end = reason.find(": 1 required"); end != std::string::npos)
    return reason.substr(0, end) + " needs a value.";
  if (reason == "FILE is required") {
    for (const auto& [name, made] :
         {std::pair("--html", "the page"), std::pair("--output", "the file of the metrics")}) {
      if (const CLI::Option* const option = app.get_option(name); option->count() != 0)
        return std::string("FILE is missing: ") + name + " took '" + tools::unmasked(option->results().front()) +
               "' for " + made + " to make.";
    }
    return tools::missing(app, "FILE");
  }
  return reason + ".";
}

int run(int argc, char** argv) {
  CLI::App app("Show all facts about a bfstore filter file", "bfinspect");
  Arguments arguments;
  declare(app, arguments);
  if (argc == 2 && std::string_view(argv[1]) == tools::kDescribe)
    return finish(tools::described(app, {{"--format", format_names()}}), Verdict::kHealthy);
  try {
    app.parse(masked_words(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return finish(app.help(), Verdict::kHealthy);
  } catch (const CLI::CallForAllHelp&) {
    return finish(app.help("", CLI::AppFormatMode::All), Verdict::kHealthy);
  } catch (const CLI::CallForVersion& version) {
    return finish(version.what() + std::string("\n"), Verdict::kHealthy);
  } catch (const CLI::ParseError& error) {
    return complain(reason_of(app, error) + " See bfinspect --help.");
  }
  unmask(arguments);
  return run_parsed(arguments);
}

}  // namespace

int run_program(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // an error of the write instead
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

void describe_arguments(CLI::App& app) {
  static Arguments unused;
  declare(app, unused);
}

}  // namespace bfinspect
