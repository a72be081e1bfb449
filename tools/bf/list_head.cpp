// See list_head.hpp.
#include "list_head.hpp"

#include "failures.hpp"
#include "list_kind.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace bf {
namespace {

// A pipe of this process, into which the bytes of another pipe are copied.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw Failure(name + ": its beginning cannot be looked at: " + tools::system_words(errno) + ".");
  }
  ~Copy() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // Like recv(2) with MSG_PEEK. EINVAL if fd is not a pipe.
  ssize_t peek(int fd, char* to, std::size_t bytes) {
    const ssize_t copied = ::tee(fd, ends_[1], bytes, 0);
    return copied <= 0 ? copied : ::read(ends_[0], to, static_cast<std::size_t>(copied));
  }

 private:
  std::array<int, 2> ends_{};
};

ssize_t peek(Copy& copy, int fd, char* to, std::size_t bytes) {
  for (;;) {
    ssize_t got = copy.peek(fd, to, bytes);
    if (got < 0 && errno == EINVAL) got = ::recv(fd, to, bytes, MSG_PEEK);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
    pollfd waiting{fd, POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
}

// True if no process can write more into it.
bool has_no_writer(int fd) {
  pollfd asked{fd, POLLIN | POLLRDHUP, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

}  // namespace

std::string head_of_stream(int fd, const std::string& name) {
  constexpr std::chrono::milliseconds kPause{1};
  Copy copy(name);
  std::string head;
  for (;;) {
    const bool all = has_no_writer(fd);
    head.resize(kHeadBytes);
    const ssize_t got = peek(copy, fd, head.data(), head.size());
    head.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (head.empty() || all || !may_become_a_kind(head)) return head;
    std::this_thread::sleep_for(kPause);  // the bytes that were seen stay readable, so poll() would not wait
  }
}

}  // namespace bf
