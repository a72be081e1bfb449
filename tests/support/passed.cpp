// doctest itself, compiled once for all programs; and a line "PASSED: name" for each case that ran and is good, for
// tools/sum_tests.py.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

namespace {

class Passed : public doctest::IReporter {
 public:
  explicit Passed(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test_case) override { name_ = test_case.m_name; }
  // Flushed, so that a child of a later case does not print it again.
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags == 0) std::cout << "PASSED: " << name_ << std::endl;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const char* name_ = "";
};

REGISTER_LISTENER("passed", 1, Passed);

}  // namespace
