// See failure.hpp.
#include "failure.hpp"

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
    case EISDIR:
      return ". Give the path of a file";
    default:
      return "";
  }
}

}  // namespace

std::string system_words(int os_errno) { return std::string(std::strerror(os_errno)) + way_out(os_errno); }

}  // namespace tools
