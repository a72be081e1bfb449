// Starts other programs, and this one again, and talks to them in lines.
#include "process.hpp"

#include "fail.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

extern char** environ;  // NOLINT: POSIX leaves this declaration to the program

namespace demo {
namespace {

struct Pipe {
  Pipe() {
    // Close-on-exec, so that no worker holds another worker's pipe open.
    if (pipe2(ends, O_CLOEXEC) != 0) fail_errno("making a pipe");
    read_end.reset(fdopen(ends[0], "r"));
    write_end.reset(fdopen(ends[1], "w"));
    if (!read_end || !write_end) fail_errno("opening a pipe");
  }
  int ends[2] = {-1, -1};
  File read_end;
  File write_end;
};

pid_t start(const std::vector<std::string>& words, posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // This program ignores SIGPIPE; the others should end by it, as programs do.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  errno = posix_spawn(&process, words[0].c_str(), actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (errno != 0) fail_errno("starting " + words[0]);
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

Child::Child(const std::vector<std::string>& words) {
  Pipe input;
  Pipe output;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  process_ = start(words, &actions);
  posix_spawn_file_actions_destroy(&actions);
  to_ = std::move(input.write_end);
  from_ = std::move(output.read_end);
}

Child::~Child() {
  to_.reset();
  wait_for(process_);
}

void Child::tell(const std::string& line) {
  if (std::fprintf(to_.get(), "%s\n", line.c_str()) < 0 || std::fflush(to_.get()) != 0)
    fail("a worker has ended early");
}

std::string Child::hear() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t length = getline(&line, &room, from_.get());
  const std::string heard(line, length > 0 ? static_cast<std::size_t>(length - 1) : 0);
  std::free(line);
  if (length <= 0) fail("a worker has ended early");
  return heard;
}

int run_program(const std::vector<std::string>& words) { return wait_for(start(words, nullptr)); }

}  // namespace demo
