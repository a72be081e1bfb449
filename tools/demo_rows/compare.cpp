// One workload, measured with the filter in front of SQLite and without.
#include "compare.hpp"

#include <chrono>
#include <iostream>

namespace demo {
namespace {

void measure(Crew& crew, const std::array<std::string, kWorkers>& parts, bool with_filter, Comparison& comparison) {
  const Measurement measured = crew.run(parts, with_filter);
  Measurement& sum = with_filter ? comparison.with : comparison.without;
  sum.tally += measured.tally;
  sum.wall_seconds += measured.wall_seconds;
}

void divide(Measurement& sum, int rounds) {
  Tally& tally = sum.tally;
  for (std::uint64_t* number : {&tally.lookups, &tally.queries, &tally.page_fetches, &tally.cpu_nanoseconds,
                                &tally.found, &tally.false_positives}) {
    *number /= static_cast<std::uint64_t>(rounds);
  }
  sum.wall_seconds /= rounds;
}

bool complain(const Comparison& comparison, const std::string& what, std::uint64_t number) {
  if (number == 0) return true;
  std::cerr << "demo: " << comparison.workload << ": " << what << ": " << number << '\n';
  return false;
}

}  // namespace

Comparison compare(Crew& crew, const Workload& workload, const std::string& directory, double seconds) {
  Comparison comparison;
  comparison.workload = workload.name;
  for (const Lookup& lookup : workload.lookups) comparison.absent += lookup.present ? 0 : 1;
  const auto parts = deal(workload, directory);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int rounds = 0;
  do {
    const bool filter_first = rounds % 2 != 0;
    measure(crew, parts, filter_first, comparison);
    measure(crew, parts, !filter_first, comparison);
    ++rounds;
  } while (std::chrono::steady_clock::now() < end);
  divide(comparison.without, rounds);
  divide(comparison.with, rounds);
  return comparison;
}

bool answers_are_right(const Comparison& comparison) {
  const Tally& without = comparison.without.tally;
  const Tally& with = comparison.with.tally;
  bool right =
      complain(comparison, "rows that were found without the filter and not with it", without.found - with.found);
  right &= complain(comparison, "wrong noes", with.wrong_noes);
  right &= complain(comparison, "words of which SQLite and the word list say otherwise",
                    without.contradictions + with.contradictions);
  return right;
}

}  // namespace demo
