// The test programs' main: doctest's, with options of the tests' own ("--kills=5000").
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

std::vector<std::string> arguments;

}  // namespace

std::uint64_t store_test::option(const std::string& name, std::uint64_t otherwise) {
  const std::string prefix = "--" + name + "=";
  for (const std::string& argument : arguments) {
    if (argument.rfind(prefix, 0) == 0) return std::stoull(argument.substr(prefix.size()));
  }
  return otherwise;
}

int main(int count, char** values) {
  arguments.assign(values + 1, values + count);
  std::signal(SIGPIPE, SIG_IGN);  // a worker that died is an error of the call, not the end of the test
  doctest::Context context;
  context.applyCommandLine(count, values);
  return context.run();
}
