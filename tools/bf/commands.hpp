// The commands. A new one is a file with its arguments and its code, and a line here and in commands.cpp.
#pragma once

#include "arguments.hpp"

#include <vector>

namespace CLI {
class App;
}

namespace bf {

struct Command {
  const char* name;
  const char* about;                                     // one line of bf --help
  void (*declare)(CLI::App& app, Arguments& arguments);  // its arguments and its help
  // Returns the exit code. Throws Failure for 2. nullptr: see arguments.cpp and main.cpp.
  int (*run)(const Arguments& arguments);
  // Checks rules of its arguments that the grammar cannot express. Throws Failure.
  void (*check)(Arguments& arguments) = [](Arguments&) {};
};

extern const Command kCreate;
extern const Command kBuild;
extern const Command kAdd;
extern const Command kRemove;
extern const Command kCount;
extern const Command kContains;
extern const Command kRecover;
extern const Command kSeal;
extern const Command kVerify;
extern const Command kMerge;
extern const Command kJoin;
extern const Command kDigest;
extern const Command kCopy;
extern const Command kDelta;
extern const Command kApply;
extern const Command kFold;
extern const Command kIntersect;
extern const Command kCompare;
extern const Command kClear;
extern const Command kPlan;
extern const Command kImport;
extern const Command kExport;
extern const Command kFinishFilling;
extern const Command kTurn;
extern const Command kDedup;
extern const Command kInspect;
extern const Command kHelp;

// Commands for one purpose.
struct CommandGroup {
  const char* title;
  std::vector<const Command*> commands;
};

// All commands, in the order of bf --help.
const std::vector<CommandGroup>& command_groups();

}  // namespace bf
