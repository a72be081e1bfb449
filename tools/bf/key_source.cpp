// See key_source.hpp.
#include "key_source.hpp"

#include "failure.hpp"
#include "interrupt.hpp"
#include "terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

namespace bf {
namespace {

struct stat stat_of(int fd) {
  struct stat facts {};
  ::fstat(fd, &facts);
  return facts;
}

// For filesystems without O_TMPFILE. No signal may end the process while the file has a name.
int open_named_and_unlink(const std::string& directory) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string path = directory + "/bf-spool-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  const int open_errno = errno;
  if (fd >= 0) ::unlink(path.c_str());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = open_errno;
  return fd;
}

int open_spool(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  return open_named_and_unlink(directory);
}

[[noreturn]] void fail_to_spool(const std::string& directory) {
  throw Failure(directory + ": cannot keep a copy of the keys there: " + std::strerror(errno) +
                ". Set TMPDIR to a directory with room, or give --capacity, which needs no copy.");
}

void write_all(int fd, const char* text, std::size_t bytes, const std::string& directory) {
  while (bytes > 0) {
    const ssize_t put = ::write(fd, text, bytes);
    if (put < 0 && errno != EINTR) fail_to_spool(directory);
    if (put > 0) text += put, bytes -= static_cast<std::size_t>(put);
  }
}

}  // namespace

KeySource::KeySource(const std::string& from) : name_(from == "-" ? "standard input" : from) {
  // A descriptor of its own above 2 in both cases, so that closing it never frees number 0.
  fd_ = from == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0) throw Failure(name_ + ": cannot open the keys: " + std::strerror(errno));
  const struct stat facts = stat_of(fd_);
  if (S_ISREG(facts.st_mode)) start_ = ::lseek(fd_, 0, SEEK_CUR);
  interrupt::watch(fd_);
}

KeySource::~KeySource() {
  interrupt::watch(-1);
  ::close(fd_);
}

std::optional<std::uint64_t> KeySource::bytes() const {
  const struct stat facts = stat_of(fd_);
  if (!S_ISREG(facts.st_mode) || facts.st_size < start_) return std::nullopt;
  return static_cast<std::uint64_t>(facts.st_size - start_);
}

bool KeySource::is_same_file(const std::string& path) const {
  struct stat other {};
  if (::stat(path.c_str(), &other) != 0) return false;
  const struct stat own = stat_of(fd_);
  return own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

bool KeySource::is_terminal() const { return ::isatty(fd_) == 1; }

std::vector<Range> KeySource::ranges(char separator) const {
  constexpr std::uint64_t kWorthAThread = std::uint64_t{16} << 20;
  constexpr std::uint64_t kMostThreads = 4;  // more would wait for memory, and other programs need the machine, too
  const std::uint64_t size = bytes().value_or(0);
  const std::uint64_t count =
      std::min({kMostThreads, std::uint64_t{std::thread::hardware_concurrency()}, size / kWorthAThread});
  std::vector<Range> ranges;
  if (count < 2) return ranges;
  off_t begin = start_;
  for (std::uint64_t i = 1; i < count; ++i) {
    const off_t end = std::max(begin, next_key(start_ + static_cast<off_t>(size / count * i), separator));
    ranges.push_back({begin, end});
    begin = end;
  }
  ranges.push_back({begin, std::numeric_limits<off_t>::max()});  // the file may be growing
  return ranges;
}

void KeySource::skip_to_end() const { ::lseek(fd_, 0, SEEK_END); }

// Where the first key begins that begins at or after `from`; the end of the file if there is none.
off_t KeySource::next_key(off_t from, char separator) const {
  std::vector<char> buffer(std::size_t{64} << 10);
  Range rest{from - 1, std::numeric_limits<off_t>::max()};
  while (const std::size_t got = read_some(fd_, buffer.data(), buffer.size(), name_, rest)) {
    const void* const found = std::memchr(buffer.data(), separator, got);
    if (found == nullptr) continue;
    return rest.begin - static_cast<off_t>(got) + (static_cast<const char*>(found) - buffer.data()) + 1;
  }
  return rest.begin;
}

// A pipe tells how much waits in it. A source that does not tell is copied, and the copy is asked.
bool KeySource::at_end() {
  if (!S_ISREG(stat_of(fd_).st_mode)) {
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    int bytes_ready = 0;
    if (::ioctl(fd_, FIONREAD, &bytes_ready) == 0 && bytes_ready > 0) return false;
    spool();
  }
  char first = 0;
  Range here{start_, start_ + 1};
  return read_some(fd_, &first, 1, name_, here) == 0;
}

void KeySource::make_rewindable() {
  if (!S_ISREG(stat_of(fd_).st_mode)) spool();
}

void KeySource::rewind() {
  // After a signal the descriptor is /dev/null, which can be rewound, too.
  if (::lseek(fd_, start_, SEEK_SET) < 0)
    throw Failure(name_ + ": cannot read the keys again: " + std::strerror(errno));
}

void KeySource::spool() {
  const char* const tmpdir = std::getenv("TMPDIR");
  const std::string directory = tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/tmp";
  const int copy = open_spool(directory);
  if (copy < 0) fail_to_spool(directory);
  std::vector<char> buffer(KeyReader::kBufferBytes);
  Progress progress("reading " + name_, std::nullopt, !is_terminal());
  std::uint64_t total = 0;
  while (const std::size_t got = read_some(fd_, buffer.data(), buffer.size(), name_)) {
    write_all(copy, buffer.data(), got, directory);
    progress.show(0, total += got);
  }
  replace(copy);
  start_ = 0;
  rewind();
}

void KeySource::replace(int fd) {
  interrupt::watch(fd);
  ::close(fd_);
  fd_ = fd;
}

}  // namespace bf
