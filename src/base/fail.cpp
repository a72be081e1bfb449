#include "base/fail.hpp"

#include <array>
#include <cstring>

namespace bfstore::base {
namespace {

Code code_of_errno(int os_errno) noexcept {
  switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kAccess;
    case EEXIST:
      return Code::kExists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::kNoSpace;
    case ENOMEM:
      return Code::kNoMemory;
    default:
      return Code::kSystem;
  }
}

// Empty if the errno does not tell what to do.
std::string_view what_to_do_about(int os_errno) noexcept {
  switch (os_errno) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space, or use another disk.";
    case EFBIG:
      return "Raise the limit of file sizes (ulimit -f), or make a smaller filter.";
    case EACCES:
      return "Check the permissions of the file and its folder.";
    case EPERM:
      return "Check the permissions of the file and its folder, and whether they are immutable (lsattr).";
    case EROFS:
      return "Use a filesystem that can be written to.";
    case EMFILE:
    case ENFILE:
      return "Close some files, or raise the limit of open files (ulimit -n).";
    case ENOMEM:
      return "Free some memory.";
    case ENOTDIR:
      return "A part of the path is a file and not a folder. Correct the path.";
    case ELOOP:
      return "Symbolic links lead in a circle: correct them, or give the path of the file itself.";
    case ENAMETOOLONG:
      return "Give a shorter name.";
    default:
      return {};
  }
}

// glibc's strerror_r returns the text, which need not be in the buffer. Other C libraries fill the buffer and return an
// errno.
[[maybe_unused]] const char* described(const char* text, const char* /*buffer*/) noexcept { return text; }
[[maybe_unused]] const char* described(int failed, const char* buffer) noexcept {
  return failed == 0 ? buffer : "an unknown error";
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t most) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : bytes.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (bytes.size() > most) out += "...";
  return out;
}

std::string sentences(std::string first, std::string_view second) {
  first += first.ends_with('.') ? " " : ". ";
  first += second;
  return first;
}

Error fail_errno(int os_errno, const std::string& path, std::string_view what) {
  std::array<char, 128> buffer{};
  std::string message = path.empty() ? std::string() : path + ": ";
  message += what;
  message += ": ";
  message += described(strerror_r(os_errno, buffer.data(), buffer.size()), buffer.data());  // in the caller's locale
  if (const auto way = what_to_do_about(os_errno); !way.empty()) message = sentences(std::move(message), way);
  return Error{code_of_errno(os_errno), os_errno, std::move(message)};
}

}  // namespace bfstore::base
