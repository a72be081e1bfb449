// Other processes: starts them, sends them lines, kills them and waits for them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "support.hpp"

namespace store_test {

namespace {

[[noreturn]] void become_worker(const std::vector<std::string>& arguments, int standard_input, int standard_output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies takes its workers with it
  if (standard_input >= 0) dup2(standard_input, 0);
  if (standard_output >= 0) dup2(standard_output, 1);
  const char* program = std::getenv("BFSTORE_WORKER");
  std::vector<char*> words{const_cast<char*>(program)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  if (program != nullptr) execv(program, words.data());
  _exit(99);
}

}  // namespace

pid_t start_worker(const std::vector<std::string>& arguments, int standard_input, int standard_output) {
  REQUIRE_MESSAGE(std::getenv("BFSTORE_WORKER") != nullptr, "BFSTORE_WORKER names the worker program");
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) become_worker(arguments, standard_input, standard_output);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) REQUIRE(errno == EINTR);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void kill_and_wait(pid_t pid) {
  REQUIRE(::kill(pid, SIGKILL) == 0);
  CHECK(wait_for(pid) == 1000 + SIGKILL);
}

int in_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(body());
  return wait_for(pid);
}

bool become_nobody() {
  constexpr uid_t kNobodysId = 65534;
  if (geteuid() != 0) return true;
  return setgroups(0, nullptr) == 0 && setgid(kNobodysId) == 0 && setuid(kNobodysId) == 0;
}

Remote::Remote(const std::string& path) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  REQUIRE(pipe2(down.data(), O_CLOEXEC) == 0);
  REQUIRE(pipe2(up.data(), O_CLOEXEC) == 0);
  pid_ = start_worker({"remote", path}, down[0], up[1]);
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Remote::~Remote() {
  close(to_);  // the worker ends
  close(from_);
  if (pid_ >= 0) wait_for(pid_);
}

std::string Remote::call(const std::string& line) {
  const std::string sent = line + "\n";
  REQUIRE_MESSAGE(write(to_, sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()), line);
  std::string answer;
  for (char c = 0; read(from_, &c, 1) == 1;) {
    if (c == '\n') return answer;
    answer += c;
  }
  FAIL("the worker died over: " << line << " (" << answer << ")");
  return answer;
}

void Remote::kill() {
  kill_and_wait(pid_);
  pid_ = -1;
}

Stopped::Stopped(const std::function<void()>& body) : pid_(fork()) {
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    raise(SIGSTOP);
    _exit(0);
  }
  wait_for_its_stop();
}

Stopped::~Stopped() { kill(); }

void Stopped::wait_for_its_stop() {
  int status = 0;
  REQUIRE(waitpid(pid_, &status, WUNTRACED) == pid_);
  if (!WIFSTOPPED(status)) pid_ = -1;
  REQUIRE(WIFSTOPPED(status));
}

void Stopped::go_on() {
  REQUIRE(::kill(pid_, SIGCONT) == 0);
  wait_for_its_stop();
}

void Stopped::kill() {
  if (pid_ >= 0) kill_and_wait(std::exchange(pid_, -1));
}

void lock_as_stranger(const std::string& path, short kind, int command, std::uint64_t first, std::uint64_t count) {
  const int descriptor = open(path.c_str(), (kind == F_RDLCK ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  struct flock request {};
  request.l_type = kind;
  request.l_whence = SEEK_SET;
  request.l_start = static_cast<off_t>(first);
  request.l_len = static_cast<off_t>(count);
  if (descriptor < 0 || fcntl(descriptor, command, &request) != 0) _exit(1);
}

void leave_behind(const std::string& path, std::uint64_t count) {
  Remote writer(path);
  REQUIRE(writer.call("open write") == "BFS_OK");
  REQUIRE(writer.call("add 1 0 " + std::to_string(count)) == std::to_string(count));
  writer.kill();
}

}  // namespace store_test
