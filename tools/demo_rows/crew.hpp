// The four worker processes, seen from the program that starts them.
#pragma once

#include "process.hpp"
#include "words.hpp"
#include "worker.hpp"

#include <sys/types.h>

#include <array>
#include <memory>
#include <string>

namespace demo {

// One run of a workload by all workers.
struct Measurement {
  Tally tally;  // summed over the workers
  double wall_seconds = 0;
};

class Crew {
 public:
  // Starts this program again, once for each worker: a filter's handle does not survive a fork.
  Crew(const std::string& database, const std::string& filter);

  // Runs all workers at once, each with its own part (see deal()).
  Measurement run(const std::array<std::string, kWorkers>& parts, bool with_filter);

  [[nodiscard]] std::array<pid_t, kWorkers> processes() const;

 private:
  std::array<std::unique_ptr<Child>, kWorkers> workers_;
};

}  // namespace demo
