// What a test case says that can not run here: tools/sum_tests.py counts it as skipped, and not as passed.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace tests {

// Once for each case, however often it is said: the sum is of cases. The caller returns, or leaves a part of the case
// out.
inline void skip_case(const std::string& why) {
  static const void* last = nullptr;
  const void* const now = doctest::getContextOptions()->currentTest;
  if (now != last) std::printf("SKIP: %s\n", why.c_str());
  std::fflush(stdout);
  last = now;
}

}  // namespace tests
