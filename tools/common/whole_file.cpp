// See whole_file.hpp. The bytes go to a file with a temporary name in the same folder, which then gets the name.
#include "whole_file.hpp"

#include "failure.hpp"
#include "link.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/inspect.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <tuple>

namespace tools {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Failure(path + ": " + what + ": " + system_words(error) + ".");
}

mode_t less_the_umask(unsigned mode) {
  const mode_t mask = ::umask(0);  // bf has one thread here
  ::umask(mask);
  return mode & ~mask;
}

// bf create and similar commands replace a filter, and tell the processes that have it open. Here these would not learn
// of it, and would continue to add keys to a file that is gone.
void refuse_a_filter(const std::string& path) {
  const bfstore::Result<bfstore::Report> there = bfstore::inspect(path, false);
  if (there && there->identity)
    throw Failure(path + ": is a filter, whose users would not learn that it is gone. Choose another name.");
}

// A device or a FIFO would become a regular file. A link would be replaced, and not the file that it leads to.
void refuse_other_kinds(const std::string& path, mode_t mode) {
  if (S_ISLNK(mode)) throw Failure(refused_link(path));
  if (S_ISDIR(mode)) throw Failure(path + ": a directory. Give a file name in it.");
  if (!S_ISREG(mode)) throw Failure(path + ": not a regular file. Choose another name.");
}

// Some characters of `text`, without white space, from its beginning on.
std::string_view without_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool begins_in_any_case(std::string_view text, std::string_view with) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= with.size() &&
         std::equal(with.begin(), with.end(), text.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

void refuse_other_content(const std::string& path, WhyKept why_kept) {
  std::array<char, kFirstBytes> first{};
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), first.size());
  const std::string_view head(first.data(), static_cast<std::size_t>(file.gcount()));
  if (head.empty()) return;
  if (const std::string why = why_kept(head); !why.empty())
    throw Failure(path + ": " + why + ". Choose another name, or move it away first (mv).");
}

// The temporary file, which the destructor removes.
class Temporary {
 public:
  explicit Temporary(const std::string& path) : path_(path), name_(path + ".XXXXXX") {
    fd_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (fd_ < 0) throw Failure(not_made_words(path_, errno));
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    ::close(fd_);
    ::unlink(name_.c_str());  // after a rename the name does not exist
  }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t put = ::write(fd_, text.data(), text.size());
      if (put < 0 && errno != EINTR) fail(path_, "cannot write it", errno);
      if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  void set_mode(mode_t mode) const {
    if (::fchmod(fd_, mode) != 0) fail(path_, "cannot set its mode", errno);
  }

  // The owner is changed last: a process that is no longer the owner may not change the mode. If the group cannot be
  // set, the group gets only the rights of all others.
  void be_as(const struct stat& other) const {
    const bool grouped = ::fchown(fd_, static_cast<uid_t>(-1), other.st_gid) == 0;
    const mode_t mode = other.st_mode & 0777U;
    set_mode(grouped ? mode : mode & (0707U | ((mode & 7U) << 3U)));
    std::ignore = ::fchown(fd_, other.st_uid, static_cast<gid_t>(-1));
  }

  void sync() const {
    if (::fsync(fd_) != 0) fail(path_, "cannot write it", errno);
  }

  void publish(bool replace) const {
    const int done = replace ? std::rename(name_.c_str(), path_.c_str()) : ::link(name_.c_str(), path_.c_str());
    if (done == 0) return;
    if (errno == EEXIST) throw Failure(path_ + ": exists already. Replace it (--force), or choose another name.");
    throw Failure(not_made_words(path_, errno));
  }

 private:
  std::string path_;
  std::string name_;
  int fd_;
};

}  // namespace

bool begins_with_element(std::string_view first, std::string_view element) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (first.starts_with(kMark)) first.remove_prefix(kMark.size());
  first = without_space(first);
  while (first.starts_with("<?") || first.starts_with("<!")) {
    const std::string_view end = first.starts_with("<!--") ? "-->" : ">";
    const std::size_t at = first.find(end);
    if (begins_in_any_case(first, "<!DOCTYPE " + std::string(element))) return true;
    if (at == std::string_view::npos) return false;
    first = without_space(first.substr(at + end.size()));
  }
  return begins_in_any_case(first, "<" + std::string(element));
}

void write_whole(const std::string& path, std::string_view bytes, bool replace, WhyKept why_kept, std::uint32_t usual,
                 std::optional<std::uint32_t> mode) {
  struct stat before {};
  const bool is_there = ::lstat(path.c_str(), &before) == 0;
  if (is_there) refuse_other_kinds(path, before.st_mode);
  if (is_there) refuse_a_filter(path);
  const bool replaces = replace && is_there;
  if (replaces) refuse_other_content(path, why_kept);
  const Temporary file(path);
  file.write(bytes);
  if (replaces && !mode) {
    file.be_as(before);
  } else {
    file.set_mode(less_the_umask(mode.value_or(usual)));
  }
  file.sync();
  file.publish(replaces);
}

}  // namespace tools
