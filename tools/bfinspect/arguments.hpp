// The command line of bfinspect.
#pragma once

#include <string>
#include <variant>

namespace bfinspect {

struct Arguments {
  std::string path;
  bool json = false;
  bool quick = false;
};

// Returns the arguments, or the text that --help or --version print. Throws std::runtime_error for bad usage.
std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv);

}  // namespace bfinspect
