// See key_source.hpp.
#include "key_source.hpp"

#include "failure.hpp"
#include "interrupt.hpp"
#include "spool.hpp"
#include "terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <thread>

namespace bf {
namespace {

struct stat stat_of(int fd) {
  struct stat facts {};
  ::fstat(fd, &facts);
  return facts;
}

}  // namespace

KeySource::KeySource(const std::string& from, const std::string& what) : name_(from == "-" ? "standard input" : from) {
  // A descriptor of its own above 2 in both cases, so that closing it never frees number 0.
  fd_ = from == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0) throw Failure(name_ + ": cannot open " + what + ": " + std::strerror(errno));
  const struct stat facts = stat_of(fd_);
  if (S_ISDIR(facts.st_mode)) {
    ::close(fd_);
    throw Failure(name_ + ": a directory. Give the path of a file with " + what + ".");
  }
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
  if (!can_be_read_twice()) {
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

bool KeySource::can_be_read_twice() const { return S_ISREG(stat_of(fd_).st_mode); }

void KeySource::rewind() {
  // After a signal the descriptor is /dev/null, which can be rewound, too.
  if (::lseek(fd_, start_, SEEK_SET) < 0)
    throw Failure(name_ + ": cannot read the keys again: " + std::strerror(errno));
}

void KeySource::spool() {
  Spool copy;
  std::vector<char> buffer(KeyReader::kBufferBytes);
  Progress progress("reading " + name_, std::nullopt, !is_terminal());
  std::uint64_t total = 0;
  while (const std::size_t got = read_some(fd_, buffer.data(), buffer.size(), name_)) {
    copy.append(std::as_bytes(std::span(buffer).first(got)));
    progress.show(0, total += got);
  }
  replace(copy.release());
  start_ = 0;
  rewind();
}

void KeySource::replace(int fd) {
  interrupt::watch(fd);
  ::close(fd_);
  fd_ = fd;
}

}  // namespace bf
