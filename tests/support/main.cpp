// The main of all programs of this folder, compiled once: doctest's, and --times=N, which repeats random tests with
// other numbers.
#include <doctest/doctest.h>

#include <string>

#include "times.hpp"

std::uint64_t rooms::times = 1;

int main(int count, char** values) {
  const std::string prefix = "--times=";
  for (int i = 1; i < count; ++i) {
    const std::string argument = values[i];
    if (argument.rfind(prefix, 0) == 0) rooms::times = std::stoull(argument.substr(prefix.size()));
  }
  return doctest::Context(count, values).run();
}
