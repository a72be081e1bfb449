// See arguments.hpp.
#include "arguments.hpp"

#include "colour.hpp"
#include "commands.hpp"
#include "description.hpp"
#include "failures.hpp"
#include "meant_command.hpp"
#include "options.hpp"
#include "topics.hpp"
#include "unexpected.hpp"
#include "words.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace bf {
namespace {

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

[[noreturn]] void refuse_command(const CLI::App& app, const std::string& word) {
  throw Failure("'" + word + "' is not a command." + did_you_mean_command(word, names_of_commands(app)) +
                " See bf --help.");
}

// What bf help takes.
std::vector<std::string> names_of_help(const CLI::App& app) {
  std::vector<std::string> names = names_of_commands(app);
  for (const std::string& topic : names_of_topics()) names.push_back(topic);
  return names;
}

// What may have been meant by a word without an option before it.
std::string option_before(const CLI::App& command, const std::string& word) {
  if (command.get_option_no_throw("--from") != nullptr) return " If it is a file with the keys, put --from before it.";
  const bool is_number = unmasked(word).find_first_of("0123456789") == 0;
  if (is_number && command.get_name() == "create") return " Put -n before the number.";
  if (command.get_name() == "plan") return " Put -n, -p or another option before each number.";
  return "";
}

// The reason why a word is not expected.
std::string unexpected(const CLI::App& command, const std::string& word) {
  if (command.get_name() == "create" && word.substr(0, word.find('=')) == "--from")
    return "'--from' is not expected here, because the new filter is empty. A filter of a list: bf build --from LIST.";
  return tools::unexpected(command, word) + (word.starts_with('-') ? "" : option_before(command, word));
}

// Returns the reason why CLI11 refused the words, a sentence.
std::string reason_of(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  // Unknown words come first, because something else may be missing only because of them, and because CLI11's own text
  // ends at the first mask.
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty())
    return unexpected(app.get_subcommands().empty() ? app : *app.get_subcommands().front(), unknown.front());
  const std::string reason = error.what();
  if (reason.find(": 1 required") != std::string::npos) return words.back() + " needs a value.";
  const std::size_t at_most = reason.find(": At Most 1 required but received ");
  if (at_most != std::string::npos && !app.get_subcommands().empty()) {
    const std::string name = reason.substr(0, at_most);
    const CLI::Option* const option = app.get_subcommands().front()->get_option_no_throw(name);
    if (option != nullptr && option->results().size() > 1)
      return name + " is given more than once: '" + unmasked(option->results()[1]) + "' is too many. Give one." +
             (name == "--from" ? " Several lists: cat them, and --from -." : "");
  }
  if (const std::size_t end = reason.find(" is required"); end != std::string::npos && !app.get_subcommands().empty())
    return tools::missing(*app.get_subcommands().front(), reason.substr(0, end));
  const std::size_t name_end = reason.find(" was given a disallowed flag override");
  if (name_end != std::string::npos) return "--" + reason.substr(0, name_end) + " takes no value.";
  return reason + ".";
}

[[noreturn]] void fail_to_parse(const CLI::App& app, const std::vector<std::string>& words, const CLI::Error& error) {
  if (!words.empty() && words.front().starts_with('-')) {
    const bool is_version = words.front() == "-V" || words.front() == "-v";
    if (is_version)
      throw Failure("'" + words.front() + "' is not expected here. Did you mean --version? See bf --help.");
    throw Failure(unexpected(app, words.front()) + " See bf --help.");
  }
  const auto used = app.get_subcommands();
  if (!used.empty()) {
    const std::string name = used.front()->get_name();
    throw Failure(name + ": " + reason_of(app, words, error) + " See bf " + name + " --help.");
  }
  if (words.empty()) throw Failure("no command given. See bf --help.");
  refuse_command(app, words.front());
}

// bf help exit codes: a topic whose title has several words.
void join_topic(std::vector<std::string>& words) {
  if (words.size() < 3 || words.front() != kHelp.name) return;
  std::string topic;
  for (std::size_t i = 1; i < words.size(); ++i) topic += (topic.empty() ? "" : " ") + unmasked(words[i]);
  if (!text_of_topic(topic).empty()) words = {words.front(), topic};
}

tools::Words words_known_in(const CLI::App& app) {
  tools::Words words = known_words();
  words["TOPIC"] = names_of_help(app);
  return words;
}

std::string help_about(const CLI::App& app, const std::string& topic) {
  if (const std::string text = text_of_topic(topic); !text.empty()) return text;
  if (!topic.empty()) {
    const auto known = names_of_commands(app);
    if (std::find(known.begin(), known.end(), topic) == known.end())
      throw Failure("'" + topic + "' is no command and no topic." + did_you_mean_command(topic, names_of_help(app)) +
                    " See bf --help.");
  }
  const CLI::App& asked = topic.empty() ? app : *app.get_subcommand(topic);
  return asked.get_formatter()->make_help(&asked, "", CLI::AppFormatMode::All);
}

void declare(CLI::App& app, Arguments& arguments) {
  for (const CommandGroup& group : command_groups()) {
    for (const Command* const command : group.commands) {
      CLI::App& own = *app.add_subcommand(command->name, command->about)->group(group.title);
      own.callback([&arguments, command] { arguments.command = command; });
      command->declare(own, arguments);
      if (command != &kInspect)
        add_text(own, tools::kColourOption, tools::kAboutColour, tools::kColourWords, tools::take_colour);
      if (command != &kInspect) add_groups(own);
    }
  }
}

}  // namespace

std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Bloom filters in files that any number of processes share.", "bf");
  app.require_subcommand(1);
  app.option_defaults()->disable_flag_override();  // no --force=false
  declare(app, arguments);
  add_help_and_version(app, "bf COMMAND ...",
                       {"plan", "create", "build", "add", "contains", "dedup", "inspect", "copy", "recover", "help"});
  add_texts(app,
            "bf COMMAND -h shows the usual options of a command, and bf help COMMAND all of it. bf inspect is the\n"
            "program bfinspect: what a file is, its state, how full it is, and what to do. bf help TOPIC explains\n"
            "what lists have, and which filters of other programs bf reads.\n\n"
            "Never put an old copy of a filter back with cp or mv: bf would call keys absent that were added after the "
            "copy.\n"
            "Build the filter again (bf build --force), or take the three steps of bf copy --help.",
            "  bf create users.bf --capacity 10M --fpr 0.01\n  bf add users.bf alice\n"
            "  bf contains users.bf alice bob",
            exit_codes(), topics());
  if (argc == 2 && std::string_view(argv[1]) == tools::kDescribe) return tools::described(app, words_known_in(app));

  std::vector<std::string> words = masked_words(argc, argv);
  join_topic(words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForAllHelp&) {
    return app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::Error& error) {
    fail_to_parse(app, words, error);
  }
  if (arguments.command == &kHelp) return help_about(app, arguments.topic);
  arguments.command->check(arguments);
  return arguments;
}

}  // namespace bf
