// The program bfinspect, which bf inspect is, too.
#pragma once

namespace CLI {
class App;
}

namespace bfinspect {

// Returns the exit code.
int run_program(int argc, char** argv);

// Gives an app the arguments and the help of bfinspect, for a program that describes them and does not parse them.
void describe_arguments(CLI::App& app);

}  // namespace bfinspect
