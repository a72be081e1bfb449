// See description.hpp.
#include "description.hpp"

#include "help.hpp"

#include <nlohmann/json.hpp>

#include <bfstore/bfstore.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

// The name of a check that accepts everything: CLI11 has no other place for the kind of an option's value.
constexpr const char* kPathMark = "path";

bool is_path(CLI::Option& option) {
  try {
    return option.get_validator(kPathMark) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

Json words_of(const std::string& type, const std::vector<std::string>& names, const Words& words) {
  Json found = Json::array();
  for (const std::string& name : names) {
    const auto known = words.find(name);
    if (known != words.end()) found = known->second;
  }
  if (!found.empty() || type.find('|') == std::string::npos) return found;
  for (const std::string& word : CLI::detail::split(type, '|')) found.push_back(word);
  return found;
}

Json described(CLI::Option& option, const std::string& group, const Words& words) {
  const bool positional = option.get_positional();
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (positional) names = {option.get_name(true)};
  const std::string type = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  return {{"names", names},
          {"positional", positional},
          {"value", type},
          {"path", is_path(option)},
          {"words", words_of(type, names, words)},
          {"many", option.get_allow_extra_args()},
          {"required", option.get_required()},
          {"group", group},
          {"help", option.get_description()}};
}

constexpr std::size_t kManualColumns = 72;  // a manual page of 80 columns is indented

Json described_tree(const CLI::App& app, const Words& words) {
  Json options = Json::array();
  const auto add = [&](const CLI::Option* option, const std::string& group) {
    options.push_back(described(const_cast<CLI::Option&>(*option), group, words));  // get_validator is not const
  };
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_positional()) add(option, "Arguments");
  }
  for (const GroupedOptions& group : grouped_options(app)) {
    for (const CLI::Option* const option : group.options) add(option, group.title);
  }
  Json codes = Json::array();
  for (const Entry& code : texts_of(app).codes) codes.push_back({{"code", code.name}, {"about", code.about}});
  Json topics = Json::array();
  for (const Entry& topic : texts_of(app).topics) topics.push_back({{"name", topic.name}, {"about", topic.about}});
  Json commands = Json::array();
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(described_tree(*command, words));
  return {{"name", app.get_name()},        {"group", app.get_group()},
          {"help", app.get_description()}, {"usage", usage_of(app, kManualColumns)},
          {"about", texts_of(app).about},  {"examples", texts_of(app).examples},
          {"exit_codes", codes},           {"options", options},
          {"commands", commands},          {"topics", topics}};
}

}  // namespace

CLI::Option* mark_path(CLI::Option* option) {
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, "", kPathMark));
}

std::string described(const CLI::App& app, const Words& words) {
  Json all = described_tree(app, words);
  all["version"] = bfstore::version();
  return all.dump(1) + "\n";
}

}  // namespace tools
