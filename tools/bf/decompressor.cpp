// See decompressor.hpp.
#include "decompressor.hpp"

#include "failures.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace bf {
namespace {

constexpr int kPipeBytes = 1 << 20;  // so that the two processes seldom wait for each other

// Beginnings of names of environment variables with which a user changes these programs. Some make a program leave out
// a part of the list without a message.
constexpr std::array kTheirs{"GZIP=", "BZIP=", "BZIP2=", "XZ_OPT=", "XZ_DEFAULTS=", "LZOP=", "ZSTD_"};

std::vector<char*> environment_without_theirs() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name(*variable);
    if (std::none_of(kTheirs.begin(), kTheirs.end(), [&](const char* theirs) { return name.starts_with(theirs); }))
      kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

}  // namespace

Decompressor::Decompressor(std::string program, std::string options, int input_fd, std::string name)
    : program_(std::move(program)), name_(std::move(name)) {
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid() does not tell how the program ended
  std::array<int, 2> ends{};
  errors_ = ::memfd_create("errors", MFD_CLOEXEC);
  if (errors_ < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Failure(name_ + ": cannot decompress it: " + tools::system_words(errno) + ".");
  output_ = ends[0];
  ::fcntl(output_, F_SETPIPE_SZ, kPipeBytes);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input_fd, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  const std::array<char*, 3> words{program_.data(), options.data(), nullptr};
  const int error =
      ::posix_spawnp(&pid_, program_.c_str(), &actions, nullptr, words.data(), environment_without_theirs().data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error == 0) return;
  ::close(output_);
  ::close(errors_);
  throw BadList(name_ + ": is compressed, and " + program_ + " cannot be run to decompress it: " +
                std::strerror(error) + ". Install it, or decompress the list first.");
}

Decompressor::~Decompressor() {
  if (output_ >= 0) ::close(output_);
  if (pid_ >= 0) {
    ::kill(pid_, SIGTERM);  // it may wait for input that never comes
    wait();
  }
  ::close(errors_);
}

int Decompressor::release_output() noexcept { return std::exchange(output_, -1); }

// bzip2 only warns if bytes after the list are ignored, and its exit code is then 0. So any message is an error here.
void Decompressor::finish() {
  if (pid_ < 0) return;
  const bool good = wait();
  const std::string words = said();
  if (good && words.empty()) return;
  throw BadList(name_ + ": " + program_ + " could not decompress all of it" +
                (words.empty() ? "" : " (" + words + ")") + ". It was cut or damaged: copy it again.");
}

bool Decompressor::wait() {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  pid_ = -1;
  return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string Decompressor::said() const {
  std::array<char, 200> text{};
  const ssize_t bytes = ::pread(errors_, text.data(), text.size(), 0);
  const std::string_view all(text.data(), bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  const std::size_t begin = all.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(all.substr(begin, all.find('\n', begin) - begin));
}

}  // namespace bf
