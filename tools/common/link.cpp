// See link.hpp.
#include "link.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tools {

std::string target_of_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<std::size_t>(length));
}

std::string refused_link(const std::string& path) {
  const std::string target = target_of_link(path);
  if (target.empty()) return "";
  const std::string begin = path + ": a symbolic link to " + target;
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0)
    return begin + ", and bf writes through no link. Give the path of the file itself.";
  const std::string why = errno == ENOENT ? ", which does not exist" : std::string(": ") + std::strerror(errno);
  return begin + why + ". Make that file under its own name, or correct the link (ln -sfn).";
}

}  // namespace tools
