// The main of the test programs: doctest's, with options of the tests' own ("--kills=5000").
#include <doctest/doctest.h>

#include <csignal>

#include "support.hpp"

int main(int count, char** values) {
  store_test::take_options(count, values);
  std::signal(SIGPIPE, SIG_IGN);  // a worker that died is an error of the call, not the end of the test
  doctest::Context context;
  context.applyCommandLine(count, values);
  return context.run();
}
