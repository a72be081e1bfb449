#include "region/holder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "region/lock.hpp"

namespace bfstore::region {
namespace {

namespace fs = std::filesystem;

// The names that /proc writes for the file of a lock, and for that of a mapping (proc(5)).
struct Names {
  std::string of_lock;     // "08:01:131"
  std::string of_mapping;  // "08:01 131"
};

std::optional<Names> names_of(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) return std::nullopt;
  char device[32];
  std::snprintf(device, sizeof device, "%02x:%02x", major(facts.st_dev), minor(facts.st_dev));
  const std::string inode = std::to_string(facts.st_ino);
  return Names{device + (":" + inode) + " ", device + (" " + inode)};
}

// "lock: 1: OFDLCK ADVISORY WRITE -1 08:01:131 4611686018427387904 4611686018427387904"
bool is_lock_in(const std::string& line, const Names& names, const ByteRange& range) {
  const std::size_t at = line.find(names.of_lock);
  if (line.rfind("lock:", 0) != 0 || at == std::string::npos) return false;
  unsigned long long first = 0;
  unsigned long long last = 0;
  const int read = std::sscanf(line.c_str() + at + names.of_lock.size(), "%llu %llu", &first, &last);
  return read >= 1 && first < range.end() && (read == 1 || last >= range.first);  // "EOF" is the last
}

// A mapping without the right to read keeps a lock: "7f8a4c000000-7f8a4c001000 ---s 00001000 08:01 131 ...".
bool is_lock_mapping(const std::string& line, const Names& names, const ByteRange& range) {
  char offset[32];
  std::snprintf(offset, sizeof offset, " ---s %08llx ", static_cast<unsigned long long>(offset_of_lock_page(range)));
  return line.find(offset + names.of_mapping) != std::string::npos;
}

template <class Is>
bool any_line(const fs::path& path, Is is) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (is(line)) return true;
  }
  return false;
}

bool holds(const fs::path& process, const Names& names, const ByteRange& range) {
  std::error_code ignored;
  for (const auto& info : fs::directory_iterator(process / "fdinfo", ignored)) {
    if (any_line(info.path(), [&](const std::string& line) { return is_lock_in(line, names, range); })) return true;
  }
  return any_line(process / "maps", [&](const std::string& line) { return is_lock_mapping(line, names, range); });
}

std::string words_for(const std::string& pid) {
  std::string name;
  std::ifstream("/proc/" + pid + "/comm") >> name;
  return " (process " + pid + (name.empty() ? "" : ", " + name) + ")";
}

}  // namespace

std::uint64_t offset_of_lock_page(const ByteRange& range) noexcept {
  return range.count > 1 ? 0 : static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string holder_in_words(int descriptor, const ByteRange& range) try {
  struct flock question {};
  question.l_type = F_WRLCK;
  question.l_whence = SEEK_SET;
  question.l_start = static_cast<off_t>(range.first);
  question.l_len = static_cast<off_t>(range.count);
  if (fcntl(descriptor, F_OFD_GETLK, &question) != 0 || question.l_type == F_UNLCK) return {};
  if (question.l_pid > 0) return words_for(std::to_string(question.l_pid));
  const auto names = names_of(descriptor);
  if (!names) return {};
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = process.path().filename().string();
    if (pid.find_first_not_of("0123456789") == std::string::npos && holds(process.path(), *names, range))
      return words_for(pid);
  }
  return {};
} catch (const std::exception&) {
  return {};  // a process that ends during the search
}

}  // namespace bfstore::region
