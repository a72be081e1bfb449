// See commands.hpp.
#include "commands.hpp"

#include "options.hpp"
#include "program.hpp"

namespace bf {
namespace {

void declare_help(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf help [TOPIC]");
  add_text(app, "TOPIC",
           "a command of bf, keys (how lists are read), key-forms (what their lines are), formats (of other programs' "
           "filters), or topics (the list of these)",
           "", [&](const std::string&, const std::string& text) { arguments.topic = text; });
  add_texts(app, "", "  bf help create\n  bf help topics");
}

void declare_inspect(CLI::App& app, Arguments&) { bfinspect::describe_arguments(app); }

}  // namespace

const Command kHelp{"help", "Say what a command does, with all of its options, or explain a topic", declare_help,
                    nullptr};
const Command kInspect{"inspect", "Show all facts about a filter file, as bfinspect does", declare_inspect, nullptr};

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> all = {
      {"Make and fill", {&kPlan, &kCreate, &kBuild, &kAdd, &kRemove, &kClear, &kTurn, &kFinishFilling}},
      {"Ask", {&kContains, &kDedup, &kCount, &kInspect, &kCompare, &kHelp}},
      {"Combine and divide", {&kMerge, &kJoin, &kIntersect, &kFold, &kDigest}},
      {"Copy, check and repair", {&kCopy, &kSeal, &kDelta, &kApply, &kVerify, &kRecover}},
      {"Exchange with other programs", {&kImport, &kExport}}};
  return all;
}

}  // namespace bf
