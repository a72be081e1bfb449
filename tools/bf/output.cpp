// See output.hpp.
#include "output.hpp"

#include "failures.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace bf {
namespace {

[[noreturn]] void die_of_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(128 + SIGPIPE);  // if SIGPIPE is blocked
}

std::size_t write_some(std::string_view text) {
  for (;;) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) return static_cast<std::size_t>(put);
    if (errno == EPIPE) die_of_closed_pipe();
    if (errno == EAGAIN) {
      pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      throw Failure(tools::unwritten_words(errno));
    }
  }
}

}  // namespace

void Output::flush() {
  std::size_t written = 0;
  try {
    while (written < buffer_.size()) written += write_some(std::string_view(buffer_).substr(written));
  } catch (const Failure&) {
    buffer_.erase(0, written);
    throw;
  }
  buffer_.clear();
}

void prepare_process() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // Opened for the wrong direction on purpose: a use of the closed descriptor stays an error. open() takes the lowest
    // free number.
    const int filler = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (filler != fd) std::_Exit(2);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace bf
