// The line of a test case that cannot run here: tools/sum_tests.py counts it as skipped, and not as passed.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace tests {

// The caller returns, or leaves out a part of the case. However often a case calls this, it counts once.
inline void skip_case(const std::string& why) {
  std::printf("SKIPPED: %s (%s)\n", doctest::getContextOptions()->currentTest->m_name, why.c_str());
  std::fflush(stdout);
}

}  // namespace tests
