// A worker process: a compiled program with its own connection to the database and its own mapping of the filter file.
// It obeys the crew's lines on its standard input.
#include "worker.hpp"

#include "database.hpp"
#include "fail.hpp"
#include "words.hpp"

#include <bfstore/bfstore.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <iostream>
#include <sstream>
#include <vector>

namespace demo {
namespace {

std::uint64_t cpu_nanoseconds() {
  timespec now{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) fail_errno("reading the CPU clock");
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// `filter` is null for a run without it.
Tally look_up(const std::vector<Lookup>& lookups, const bfstore::Filter* filter, Session& session) {
  Tally tally;
  for (const Lookup& lookup : lookups) {
    if (filter != nullptr && !filter->contains(lookup.word)) {
      if (lookup.present) ++tally.wrong_noes;
      continue;
    }
    ++tally.queries;
    const bool found = session.find(lookup.word);
    if (found) ++tally.found;
    if (found != lookup.present) ++tally.contradictions;
    if (filter != nullptr && !found) ++tally.false_positives;
  }
  tally.lookups = lookups.size();
  return tally;
}

Tally timed_run(const std::vector<Lookup>& lookups, const bfstore::Filter* filter, Session& session) {
  const std::uint64_t fetches_before = session.page_fetches();
  const std::uint64_t cpu_before = cpu_nanoseconds();
  Tally tally = look_up(lookups, filter, session);
  tally.cpu_nanoseconds = cpu_nanoseconds() - cpu_before;
  tally.page_fetches = session.page_fetches() - fetches_before;
  return tally;
}

// False if the crew is gone.
bool wait_for_go() {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  if (line != "go") fail("a worker was told '" + line + "' where 'go' was due");
  return true;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  lookups += other.lookups;
  queries += other.queries;
  page_fetches += other.page_fetches;
  cpu_nanoseconds += other.cpu_nanoseconds;
  found += other.found;
  wrong_noes += other.wrong_noes;
  false_positives += other.false_positives;
  contradictions += other.contradictions;
  return *this;
}

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.lookups << ' ' << tally.queries << ' ' << tally.page_fetches << ' ' << tally.cpu_nanoseconds
             << ' ' << tally.found << ' ' << tally.wrong_noes << ' ' << tally.false_positives << ' '
             << tally.contradictions;
}

std::istream& operator>>(std::istream& in, Tally& tally) {
  return in >> tally.lookups >> tally.queries >> tally.page_fetches >> tally.cpu_nanoseconds >> tally.found >>
         tally.wrong_noes >> tally.false_positives >> tally.contradictions;
}

void work(const std::string& database, const std::string& filter_path) {
  // When the crew's process is killed, its workers end, too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto filter = bfstore::Filter::open(filter_path, bfstore::OpenMode::kRead);
  if (!filter.ok()) fail(filter.error().message);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string run;
    std::string mode;
    std::string path;
    words >> run >> mode >> std::ws;
    std::getline(words, path);
    const std::vector<Lookup> lookups = read_lookups(path);
    Session session(database);
    std::cout << "ready" << std::endl;
    if (!wait_for_go()) return;
    std::cout << "done " << timed_run(lookups, mode == "with" ? &*filter : nullptr, session) << std::endl;
  }
}

}  // namespace demo
