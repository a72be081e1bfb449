// See unexpected.hpp.
#include "unexpected.hpp"

#include "mask.hpp"
#include "nearest.hpp"

#include <algorithm>

namespace tools {
namespace {

bool a_subcommand_has(const CLI::App& app, const std::string& option) {
  const auto has_it = [&](const CLI::App* command) { return command->get_option_no_throw(option) != nullptr; };
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(), has_it);
}

}  // namespace

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unexpected(const CLI::App& command, const std::string& word) {
  const std::string refused = "'" + unmasked(word) + "' is not expected here.";
  if (!word.starts_with('-')) return refused;
  const std::string name = word.substr(0, word.find('='));
  if (command.get_option_no_throw(name) == nullptr && a_subcommand_has(command, name))
    return refused + " Give it after the command.";
  const std::string meant = did_you_mean(name, names_of_options(command));
  const bool takes_keys = command.get_option_no_throw("KEY") != nullptr;
  return refused + meant + (meant.empty() && takes_keys ? " If it is a key: put -- before it." : "");
}

std::string missing(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr) return name + " is missing.";
  const std::string about = option->get_description();
  return name + " is missing: " + about.substr(0, about.find_first_of(";,")) + ".";
}

}  // namespace tools
