// See interrupt.hpp. The handler replaces the input's descriptor by /dev/null. A process that is about to read, or that
// waits in read(2), which SA_RESTART begins again, finds the end of the input. So a signal between the check and the
// read is not lost, either.
#include "interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace bf::interrupt {
namespace {

std::atomic<int> signal_pending{0};
std::atomic<int> watched_fd{-1};
int null_fd = -1;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void keep_signal(int number) {
  const int saved = errno;
  signal_pending = number;
  if (watched_fd >= 0) ::dup2(null_fd, watched_fd);
  errno = saved;
}

}  // namespace

void defer() {
  null_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd < 0) return;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup, or a background job
    action = {};
    action.sa_handler = keep_signal;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    ::sigaction(number, &action, nullptr);
  }
}

void watch(int input_fd) {
  watched_fd = input_fd;
  if (pending() && input_fd >= 0) ::dup2(null_fd, input_fd);
}

bool pending() noexcept { return signal_pending != 0; }

void obey() {
  if (!pending()) return;
  std::signal(signal_pending, SIG_DFL);
  std::raise(signal_pending);
}

}  // namespace bf::interrupt
