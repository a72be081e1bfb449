// Tells a process that hangs from one that a busy machine does not let run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace store_test {

// The kernel's report about a process (proc(5), "stat" and "schedstat").
struct Standing {
  char state = '?';            // R: it runs, or waits for a processor; S: it waits for something else
  std::uint64_t run_ns = 0;    // on a processor
  std::uint64_t delay_ns = 0;  // runnable, and on no processor
};
Standing standing_of(pid_t pid);
std::string in_words(const Standing& standing);

// Processes that may wait for each other. Time in which the kernel did not let one of them run is no time for any.
class HangWatch {
 public:
  struct Watched {
    pid_t pid = -1;              // -1: it has ended
    std::uint64_t progress = 0;  // grows with whatever it does
  };

  explicit HangWatch(std::chrono::nanoseconds patience) : patience_(patience) {}
  // Looks at all of them. Returns the place of one that did nothing for that long, or -1.
  int look(const std::vector<Watched>& all);

 private:
  using Clock = std::chrono::steady_clock;  // clock: ends a hang; the time in which a process did not run is left out
  struct Known {
    Watched watched;
    Standing standing;
    std::chrono::nanoseconds idle{0};
  };

  std::chrono::nanoseconds patience_;
  Clock::time_point last_look_ = Clock::now();
  std::vector<Known> known_;
};

}  // namespace store_test
