// A worker process: a compiled program with its own connection to the database and its own mapping of the filter file.
// It obeys the crew's lines on its standard input.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

namespace demo {

// The counts of one worker in one run. The crew sums them over the workers.
struct Tally {
  std::uint64_t lookups = 0;
  std::uint64_t queries = 0;          // lookups that reached SQLite
  std::uint64_t page_fetches = 0;     // SQLITE_DBSTATUS_CACHE_MISS
  std::uint64_t cpu_nanoseconds = 0;  // user and system
  std::uint64_t found = 0;            // rows
  std::uint64_t wrong_noes = 0;       // the filter said "absent" for a word that is in the list
  std::uint64_t false_positives = 0;  // the filter said "maybe", SQLite found nothing
  std::uint64_t contradictions = 0;   // SQLite's answer contradicts the word list

  Tally& operator+=(const Tally& other);
};
std::ostream& operator<<(std::ostream& out, const Tally& tally);
std::istream& operator>>(std::istream& in, Tally& tally);

// The dialogue, a line each:
//   crew   run (with|without) PATH     look up what this file has (see deal())
//   worker ready                       everything is loaded and open
//   crew   go
//   worker done TALLY
// It ends when the crew closes its end. `database` and `filter` are paths.
void work(const std::string& database, const std::string& filter);

}  // namespace demo
