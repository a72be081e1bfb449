// See failure.hpp.
#include "failure.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tools {
namespace {

const char* way_out(int os_errno) {
  switch (os_errno) {
    case EACCES:
    case EPERM:
      return ". Check the permissions of the file and its folder";
    case EROFS:
      return ". Use a filesystem that can be written to";
    case ENOSPC:
    case EDQUOT:
      return ". Free some space, or use another disk";
    case EFBIG:
      return ". Raise the limit of file sizes (ulimit -f)";
    case ELOOP:
      return ". Symbolic links lead in a circle: correct them, or give the path of the file itself";
    case ENAMETOOLONG:
      return ". Give a shorter name";
    case EISDIR:
      return ". Give the path of a file";
    default:
      return "";
  }
}

}  // namespace

std::string not_made_words(const std::string& path, int os_errno) {
  if (os_errno == ENOENT) return path + ": its folder does not exist. Create it first, or correct the path.";
  if (os_errno == ENOTDIR) return path + ": what should be its folder is a file. Correct the path.";
  if (os_errno == EACCES)
    return path + ": this process, of user " + std::to_string(::geteuid()) +
           ", may not make it in its folder: " + system_words(os_errno) + ".";
  return path + ": cannot make it: " + system_words(os_errno) + ".";
}

std::string unwritten_words(int os_errno) {
  const std::string closed = os_errno == EBADF ? ". It is closed: give it a file (> FILE) or a pipe" : "";
  return "standard output: cannot write: " + system_words(os_errno) + closed + ".";
}

std::string system_words(int os_errno) { return std::string(std::strerror(os_errno)) + way_out(os_errno); }

}  // namespace tools
