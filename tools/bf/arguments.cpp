// See arguments.hpp.
#include "arguments.hpp"

#include "commands.hpp"
#include "description.hpp"
#include "failures.hpp"
#include "options.hpp"
#include "words.hpp"

#include <CLI/CLI.hpp>

#include <string_view>

namespace bf {
namespace {

// Returns the reason why CLI11 refused the words.
std::string reason_of(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  // Unknown words come first, because something else may be missing only because of them, and because CLI11's own text
  // ends at the first mask.
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return "'" + unmasked(unknown.front()) + "' is not expected here";
  const std::string reason = error.what();
  if (reason.find(": 1 required") != std::string::npos) return words.back() + " needs a value";
  const std::size_t name_end = reason.find(" was given a disallowed flag override");
  if (name_end != std::string::npos) return "--" + reason.substr(0, name_end) + " takes no value";
  return reason;
}

[[noreturn]] void fail_to_parse(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  const auto used = app.get_subcommands();
  if (!used.empty()) {
    const std::string name = used.front()->get_name();
    throw Failure(name + ": " + reason_of(app, words, error) + ". See bf " + name + " --help.");
  }
  if (words.empty()) throw Failure("no command given. See bf --help.");
  throw Failure("'" + words.front() + "' is not a command. See bf --help.");
}

}  // namespace

std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Bloom filters in files that any number of processes share.", "bf");
  app.require_subcommand(1);
  app.option_defaults()->disable_flag_override();  // no --force=false
  app.footer(
      "Example:\n  bf create users.bf --capacity 10M --fpr 0.01\n  bf add users.bf alice\n"
      "  bf contains users.bf alice bob\n\n"
      "Never put a copy of a filter back over its original with cp: bf would call keys absent that were added after\n"
      "the copy. Remove the file first, or mv the copy over it.\n\n"
      "bf COMMAND --help says more about a command.");
  for (const Command* command : commands()) {
    CLI::App& own = *app.add_subcommand(command->name, command->about);
    own.callback([&arguments, command] { arguments.command = command; });
    command->declare(own, arguments);
  }
  add_help_and_version(app, "bf COMMAND ...");
  if (argc == 2 && std::string_view(argv[1]) == tools::kDescribe) return tools::described(app, known_words());

  std::vector<std::string> words = masked_words(argc, argv);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::Error& error) {
    fail_to_parse(app, words, error);
  }
  arguments.command->check(arguments);
  return arguments;
}

}  // namespace bf
