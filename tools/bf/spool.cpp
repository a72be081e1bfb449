// See spool.hpp.
#include "spool.hpp"

#include "failures.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace bf {
namespace {

std::string temporary_directory() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

// Opens a file on a filesystem without O_TMPFILE. No signal may end the process while the file has a name.
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

int open_unnamed(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  return open_named_and_unlink(directory);
}

}  // namespace

void allow_files(std::uint64_t count) {
  constexpr rlim_t kOthers = 64;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + kOthers) return;
  limit.rlim_cur = count + kOthers;
  if (limit.rlim_cur <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw Failure(std::to_string(count) + " parts need as many open files, and this process may have " +
                std::to_string(limit.rlim_max) + ". Give fewer parts, or raise the limit (ulimit -Hn).");
}

Spool::Spool(const char* instead)
    : directory_(temporary_directory()), instead_(instead), fd_(open_unnamed(directory_)) {
  if (fd_ < 0) fail();
}

Spool::~Spool() {
  if (fd_ >= 0) ::close(fd_);
}

int Spool::release() noexcept { return std::exchange(fd_, -1); }

void Spool::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) fail();
    if (put > 0) bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void Spool::read(std::span<std::byte> into, std::uint64_t offset) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got == 0) errno = EIO;  // no other process has the file
    if (got <= 0 && (got == 0 || errno != EINTR)) fail();
    if (got <= 0) continue;
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void Spool::fail() const {
  const std::string way_out = errno == EFBIG ? "Raise the limit of file sizes (ulimit -f)"
                                             : "Set TMPDIR to a directory with more room (TMPDIR=DIR bf ...)";
  throw Failure(directory_ + ": cannot keep what was read there: " + std::strerror(errno) + ". " + way_out + ", or " +
                instead_ + ".");
}

}  // namespace bf
