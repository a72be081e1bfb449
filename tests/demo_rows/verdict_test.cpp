// The verdict of the demo: one wrong answer of any kind, in either run, and the verdict is "wrong".
#include "compare.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace demo;

namespace {

Comparison good() {
  Comparison comparison;
  comparison.without.tally = {.lookups = 100, .queries = 100, .found = 40};
  comparison.with.tally = {.lookups = 100, .queries = 41, .found = 40, .false_positives = 1};
  return comparison;
}

}  // namespace

TEST_CASE("false positives are no wrong answers") { CHECK(answers_are_right(good())); }

TEST_CASE("one wrong no is one too many") {
  Comparison comparison = good();
  comparison.with.tally.wrong_noes = 1;
  CHECK_FALSE(answers_are_right(comparison));
}

TEST_CASE("a row that is found only without the filter is a wrong answer") {
  Comparison comparison = good();
  --comparison.with.tally.found;
  CHECK_FALSE(answers_are_right(comparison));
  comparison.with.tally.found += 2;
  CHECK_FALSE(answers_are_right(comparison));
}

TEST_CASE("SQLite and the list of words contradict each other in neither run") {
  Comparison comparison = good();
  comparison.without.tally.contradictions = 1;
  CHECK_FALSE(answers_are_right(comparison));
  comparison = good();
  comparison.with.tally.contradictions = 1;
  CHECK_FALSE(answers_are_right(comparison));
}

TEST_CASE("the sum has everything that each worker counted") {
  const Tally one{1, 2, 3, 4, 5, 6, 7, 8};
  Tally sum = one;
  sum += one;
  std::stringstream told;
  told << sum;
  CHECK(told.str() == "2 4 6 8 10 12 14 16");
  Tally heard;
  told >> heard;
  std::ostringstream again;
  again << heard;
  CHECK(again.str() == told.str());
}
