#include "children.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <sstream>
#include <utility>

#include "fail.hpp"

namespace bench::system {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_errno("making a pipe");
    output = End(ends[0]);
    input = End(ends[1]);
  }
  End output;
  End input;
};

// Starts a program with the given descriptors as standard input and output. All others of this program are
// close-on-exec.
pid_t start(const std::string& program, std::vector<std::string> command, int input, int output) {
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t process = -1;
  const int code = posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code == 0) return process;
  errno = code;
  fail_errno("starting " + command.front());
}

// Reads up to the end of the line. Empty at the end of the pipe.
std::string read_line(int pipe) {
  std::string line;
  for (char byte = 0; read(pipe, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

}  // namespace

End& End::operator=(End&& other) noexcept {
  shut();
  number_ = other.release();
  return *this;
}

void End::shut() noexcept {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

int End::release() noexcept { return std::exchange(number_, -1); }

Team::Team(const std::vector<std::vector<std::string>>& arguments) {
  Pipe gate;
  gate_ = std::move(gate.input);
  for (const std::vector<std::string>& words : arguments) {
    std::vector<std::string> command{"bfsystem", "--child"};
    command.insert(command.end(), words.begin(), words.end());
    Pipe output;
    processes_.push_back(start("/proc/self/exe", command, gate.output.number(), output.input.number()));
    outputs_.push_back(std::move(output.output));
  }
  for (const End& output : outputs_) {
    if (read_line(output.number()) != "ready") fail("a child process ended before its work");
  }
}

Team::~Team() {
  for (const pid_t process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
}

std::vector<Outcome> Team::go() {
  gate_.shut();
  std::vector<Outcome> outcomes;
  for (const End& output : outputs_) {
    Outcome& outcome = outcomes.emplace_back();
    std::istringstream words(read_line(output.number()));
    if (!(words >> outcome.begin >> outcome.end >> outcome.cpu)) fail("a child process failed at its work");
  }
  // Only a writer that has closed its file has all of its counters in it.
  while (!processes_.empty()) {
    int status = 0;
    waitpid(processes_.back(), &status, 0);
    processes_.pop_back();
    if (status != 0) fail("a child process ended badly");
  }
  return outcomes;
}

void wait_at_the_gate() {
  std::fputs("ready\n", stdout);
  std::fflush(stdout);
  static_cast<void>(read_line(STDIN_FILENO));
}

Outcome now() {
  const double time = seconds_of(CLOCK_MONOTONIC);
  return {time, time, seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

void tell(const Outcome& outcome) {
  std::printf("%.9f %.9f %.9f\n", outcome.begin, outcome.end, outcome.cpu);
  std::fflush(stdout);
}

Run run_program(const std::vector<std::string>& command, const std::string& output) {
  const End nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const End out(open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (nothing.number() < 0 || out.number() < 0) fail_errno(output);
  const double begin = seconds_of(CLOCK_MONOTONIC);
  const pid_t process = start(command.front(), command, nothing.number(), out.number());
  int status = 0;
  rusage usage{};
  while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const double seconds = seconds_of(CLOCK_MONOTONIC) - begin;
  if (status != 0) fail(command.front() + " ended with status " + std::to_string(status));
  return {seconds, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

}  // namespace bench::system
