// See decompressor.hpp.
#include "decompressor.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace bf {
namespace {

constexpr int kPipeBytes = 1 << 20;  // so that the two processes seldom wait for each other

}  // namespace

Decompressor::Decompressor(std::string program, int input_fd, std::string name)
    : program_(std::move(program)), name_(std::move(name)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Failure(name_ + ": cannot decompress it: " + std::strerror(errno));
  output_ = ends[0];
  ::fcntl(output_, F_SETPIPE_SZ, kPipeBytes);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input_fd, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // What it would say has no name of the list: it reads its standard input.
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string option = "-dc";
  const std::array<char*, 3> words{program_.data(), option.data(), nullptr};
  const int error = ::posix_spawnp(&pid_, program_.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error == 0) return;
  ::close(output_);
  throw BadList(name_ + ": is compressed, and " + program_ + " cannot be run to decompress it: " +
                std::strerror(error) + ". Install it, or decompress the list first.");
}

Decompressor::~Decompressor() {
  if (output_ >= 0) ::close(output_);
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);  // it may wait for input that never comes
  wait();
}

int Decompressor::release_output() noexcept { return std::exchange(output_, -1); }

void Decompressor::finish() {
  if (pid_ < 0) return;
  const int status = wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw BadList(name_ + ": " + program_ + " could not decompress all of it. It was cut or damaged: copy it again.");
}

int Decompressor::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return status;
}

}  // namespace bf
