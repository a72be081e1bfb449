// The main of the tests of rooms, compiled once: doctest's, --times=N, which repeats random tests with other numbers,
// and --seed=N, which begins with others.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "times.hpp"

std::uint64_t rooms::times = 1;
std::uint64_t rooms::seed = 0;

namespace {

void take(const std::string& argument, const std::string& prefix, std::uint64_t& number) {
  if (argument.rfind(prefix, 0) == 0) number = std::stoull(argument.substr(prefix.size()));
}

}  // namespace

int main(int count, char** values) {
  for (int i = 1; i < count; ++i) {
    take(values[i], "--times=", rooms::times);
    take(values[i], "--seed=", rooms::seed);
  }
  return doctest::Context(count, values).run();
}
