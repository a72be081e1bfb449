// See failure.hpp.
#include "failure.hpp"

#include "amounts.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace tools {
namespace {

const char* way_out(int os_errno) {
  switch (os_errno) {
    case EACCES:
      return ". Check the permissions of the file and its folder";
    case EPERM:
      return ". Check the permissions of the file and its folder, and whether they are immutable (lsattr)";
    case EROFS:
      return ". Use a filesystem that can be written to";
    case ENOSPC:
    case EDQUOT:
      return ". Free some space, or use another disk";
    case EFBIG:
      return ". Raise the limit of file sizes (ulimit -f)";
    case EMFILE:
    case ENFILE:
      return ". Close some files, or raise the limit of open files (ulimit -n)";
    case ENOMEM:
      return ". Free some memory";
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

// " Its mode is 0600, ...", as the library says it, or nothing if this process may not see the mode either.
std::string rights_words(const std::string& path, const char* begin) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return "";
  constexpr mode_t kPermissions = 07777;
  std::array<char, 16> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(facts.st_mode & kPermissions));
  return std::string(" ") + begin + mode.data() + ", its owner user " + std::to_string(facts.st_uid) + ", its group " +
         std::to_string(facts.st_gid) + ", and this process is user " + std::to_string(::geteuid()) + ".";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string not_made_words(const std::string& path, int os_errno) {
  if (os_errno == ENOENT) return path + ": its folder does not exist. Create it first, or correct the path.";
  if (os_errno == ENOTDIR) return path + ": what should be its folder is a file. Correct the path.";
  if (os_errno == EACCES)
    return path + ": cannot make it in its folder: " + system_words(os_errno) + "." +
           rights_words(folder_of(path), "The mode of the folder is ");
  return path + ": cannot make it: " + system_words(os_errno) + ".";
}

std::string unwritten_words(int os_errno) {
  const std::string closed = os_errno == EBADF ? ". It is closed: give it a file (> FILE) or a pipe" : "";
  return "standard output: cannot write: " + system_words(os_errno) + closed + ".";
}

std::string not_opened_words(const std::string& path, int os_errno) {
  return system_words(os_errno) + "." + (os_errno == EACCES ? rights_words(path, "Its mode is ") : "");
}

std::string memory_words() {
  struct rlimit limit {};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited
             ? "This process may have " + human_bytes(limit.rlim_cur) + " of addresses: raise that limit (ulimit -v)."
             : "Free some memory, or raise the limit of its container.";
}

std::string system_words(int os_errno) { return std::string(std::strerror(os_errno)) + way_out(os_errno); }

}  // namespace tools
