#include "region/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace bfstore::region {
namespace {

// One hierarchy of groups that limits memory.
struct Hierarchy {
  bool version_2 = false;
  std::string root;   // the topmost group that is mounted there: in a container, its own group
  std::string mount;  // where
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory" (proc(5), mountinfo)
std::vector<Hierarchy> hierarchies_in(const std::string& proc) {
  std::ifstream mounts(proc + "/self/mountinfo");
  std::vector<Hierarchy> found;
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - cgroup");
    if (dash == std::string::npos) continue;
    const auto place = words_of(line.substr(0, dash));
    const auto kind = words_of(line.substr(dash + 3));
    if (place.size() < 5 || kind.size() < 3) continue;
    const bool version_2 = kind[0] == "cgroup2";
    if (version_2 || has_word(kind[2], "memory")) found.push_back({version_2, place[3], place[4]});
  }
  return found;
}

// A line is "4:memory:/group" or, in version 2, "0::/group". Returns the group as the process's own namespace names it.
std::optional<std::string> group_in(const std::string& proc, bool version_2) {
  std::ifstream groups(proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : has_word(controllers, "memory")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Returns the folders of the group and of its ancestors. A group that is not below the mounted one counts as the
// mounted one.
std::vector<std::string> folders_of(const Hierarchy& hierarchy, std::string group) {
  if (hierarchy.root != "/" && group.rfind(hierarchy.root, 0) == 0) group.erase(0, hierarchy.root.size());
  std::vector<std::string> folders;
  while (group.size() > 1 && group.find("..") == std::string::npos) {
    folders.push_back(hierarchy.mount + group);
    group.erase(group.rfind('/'));
  }
  folders.push_back(hierarchy.mount);
  return folders;
}

// Returns the number at the beginning of the file, or after that name in it. UINT64_MAX if it has no number ("max").
std::uint64_t number_in(const std::string& path, const std::string& name = "") {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(name, 0) != 0) continue;
    std::istringstream rest(line.substr(name.size()));
    std::uint64_t number = 0;
    return rest >> number ? number : UINT64_MAX;
  }
  return UINT64_MAX;
}

// The limit that version 1 reports for a group includes its ancestors, even hidden ones.
std::uint64_t limit_of(const Hierarchy& hierarchy, const std::string& folder) {
  if (!hierarchy.version_2) return number_in(folder + "/memory.stat", "hierarchical_memory_limit ");
  return std::min(number_in(folder + "/memory.max"), number_in(folder + "/memory.high"));
}

std::uint64_t memory_of_machine() noexcept {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t memory_limit_in(const std::string& proc, std::uint64_t machine) {
  std::uint64_t least = machine;
  for (const Hierarchy& hierarchy : hierarchies_in(proc)) {
    const auto group = group_in(proc, hierarchy.version_2);
    if (!group) continue;
    for (const std::string& folder : folders_of(hierarchy, *group))
      least = std::min(least, limit_of(hierarchy, folder));
  }
  return least;
}

std::uint64_t memory_limit() { return memory_limit_in("/proc", memory_of_machine()); }

std::uint64_t memory_for_files() {
  const std::uint64_t limit = memory_limit();
  return limit - limit / 8;
}

bool fits_in_memory(std::uint64_t bytes) {
  static std::atomic<std::uint64_t> first{0};
  if (bytes > memory_of_machine() / 8) return bytes <= memory_for_files();
  std::uint64_t most = first.load(std::memory_order_relaxed);
  if (most == 0) first.store(most = memory_for_files(), std::memory_order_relaxed);
  return bytes <= most;
}

}  // namespace bfstore::region
