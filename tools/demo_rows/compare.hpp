// One workload, measured with the filter in front of SQLite and without.
#pragma once

#include "crew.hpp"
#include "words.hpp"

#include <cstdint>
#include <string>

namespace demo {

// Means over the rounds, which are equally many with and without the filter. Wrong noes and contradictions are sums,
// because one is too many.
struct Comparison {
  std::string workload;
  std::uint64_t absent = 0;  // lookups of words that are absent
  Measurement without;
  Measurement with;
};

// Runs with and without the filter, then in the other order (so both profit equally from what the first run warms up),
// and so on until `seconds` are over.
Comparison compare(Crew& crew, const Workload& workload, const std::string& directory, double seconds);

// True if the answers are right: equal rows with and without the filter, no wrong no, and SQLite agrees with the word
// list. Prints mistakes to standard error.
bool answers_are_right(const Comparison& comparison);

}  // namespace demo
