// See whole_file.hpp. It goes to a file with a name of its own in the same folder, which then gets the name.
#include "whole_file.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/inspect.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bf {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Failure(path + ": " + what + ": " + std::strerror(error));
}

mode_t less_the_umask(unsigned mode) {
  const mode_t mask = ::umask(0);  // bf has one thread here
  ::umask(mask);
  return mode & ~mask;
}

// A filter is replaced by bf create and its like, which tell the processes that have it open. Here they would not
// learn of it, and would go on to add keys to a file that is gone.
void refuse_a_filter(const std::string& path) {
  const bfstore::Result<bfstore::Report> there = bfstore::inspect(path, false);
  if (there && there->identity)
    throw Failure(path +
                  ": is a filter, whose users would not learn that it is gone. Remove it, or choose another name.");
}

// The temporary file, which is gone when this ends.
class Temporary {
 public:
  explicit Temporary(const std::string& path) : path_(path), name_(path + ".XXXXXX") {
    fd_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (fd_ < 0) fail(path_, "cannot make it", errno);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    ::close(fd_);
    ::unlink(name_.c_str());  // after a rename no such name is there
  }

  void write(std::string_view text, unsigned mode) const {
    while (!text.empty()) {
      const ssize_t put = ::write(fd_, text.data(), text.size());
      if (put < 0 && errno != EINTR) fail(path_, "cannot write it", errno);
      if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fchmod(fd_, less_the_umask(mode)) != 0 || ::fsync(fd_) != 0) fail(path_, "cannot write it", errno);
  }

  void publish(bool replace) const {
    const int done = replace ? std::rename(name_.c_str(), path_.c_str()) : ::link(name_.c_str(), path_.c_str());
    if (done == 0) return;
    if (errno == EEXIST) throw Failure(path_ + ": exists already. Replace it (--force), or choose another name.");
    fail(path_, "cannot make it", errno);
  }

 private:
  std::string path_;
  std::string name_;
  int fd_;
};

}  // namespace

void write_whole(const std::string& path, std::string_view bytes, bool replace, unsigned mode) {
  if (replace) refuse_a_filter(path);
  const Temporary file(path);
  file.write(bytes, mode);
  file.publish(replace);
}

}  // namespace bf
