// Other processes: copies of this program that begin their work at the same time, and programs that are timed.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bench::system {

// One end of a pipe, or any other descriptor, which it closes.
class End {
 public:
  explicit End(int number = -1) noexcept : number_(number) {}
  End(End&& other) noexcept : number_(other.release()) {}
  End& operator=(End&& other) noexcept;
  ~End() { shut(); }

  [[nodiscard]] int number() const noexcept { return number_; }
  void shut() noexcept;

 private:
  int release() noexcept;
  int number_;
};

// The time of a child's work, in seconds of a clock that all processes share.
struct Outcome {
  double begin = 0;
  double end = 0;
  double cpu = 0;  // CPU time of the child in between
};

// Copies of this program, started with fork and exec. Each gets "--child" and its arguments, and reports when it is
// `ready`.
class Team {
 public:
  // Returns when all copies are ready.
  explicit Team(const std::vector<std::vector<std::string>>& arguments);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();  // kills those that still run

  [[nodiscard]] const std::vector<pid_t>& processes() const noexcept { return processes_; }
  // Lets all begin, and returns when all are done.
  std::vector<Outcome> go();

 private:
  End gate_;
  std::vector<pid_t> processes_;
  std::vector<End> outputs_;
};

// For a child: the parts of work_with_the_others().
void wait_at_the_gate();
Outcome now();
void tell(const Outcome& outcome);

// For a child: reports that it is ready, waits for the others, works, and reports the time of its work.
template <class Work>
void work_with_the_others(Work work) {
  wait_at_the_gate();
  const Outcome before = now();
  work();
  const Outcome after = now();
  tell({before.end, after.end, after.cpu - before.cpu});
}

// A program that ran to its end with exit code 0; anything else is a failure. `output` is a path.
struct Run {
  double seconds = 0;  // wall-clock time
  double cpu = 0;      // user and system
};
Run run_program(const std::vector<std::string>& command, const std::string& output);

}  // namespace bench::system
