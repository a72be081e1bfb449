// One workload, measured with the filter in front of SQLite and without.
#pragma once

#include "crew.hpp"
#include "words.hpp"

#include <cstdint>
#include <string>

namespace demo {

// Means over the rounds, of which there are as many both ways; wrong noes and contradictions are sums, for one is too
// many.
struct Comparison {
  std::string workload;
  std::uint64_t absent = 0;  // lookups of words that are not there
  Measurement without;
  Measurement with;
};

// Runs both ways in turn, then both in the other order (what the first run warms up, it warms up for both equally
// often), and so on until `seconds` are over.
Comparison compare(Crew& crew, const Workload& workload, const std::string& directory, double seconds);

// Whether the answers are right: equal rows with and without, no wrong no, and SQLite says what the word list says.
// What is wrong is printed to standard error.
bool answers_are_right(const Comparison& comparison);

}  // namespace demo
