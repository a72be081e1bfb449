// The memory that a process may use, as /proc and the control groups of made-up systems limit it.
#include "region/memory_limit.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

using bfstore::region::memory_limit_in;

namespace {

constexpr std::uint64_t kMachine = std::uint64_t{8} << 30;

// A system in a folder: /proc, and what is mounted at /groups.
class System {
 public:
  System(const std::string& mounts, const std::string& groups, const std::map<std::string, std::string>& files = {}) {
    std::string name = std::filesystem::temp_directory_path() / "memory-limit-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    write("proc/self/mountinfo", filled(mounts));
    write("proc/self/cgroup", groups);
    for (const auto& [path, text] : files) write("groups/" + path, text);
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::uint64_t limit() const { return memory_limit_in(root_ / "proc", kMachine); }

 private:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // "@" is where the groups are.
  [[nodiscard]] std::string filled(std::string text) const {
    for (std::size_t at = 0; (at = text.find('@')) != std::string::npos;)
      text.replace(at, 1, (root_ / "groups").string());
    return text;
  }

  std::filesystem::path root_;
};

constexpr const char* kVersion2 =
    "22 1 8:1 / / rw - ext4 /dev/sda rw\n41 31 0:38 / @ rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* kVersion1 =
    "32 31 0:29 / @/cpu rw,relatime - cgroup cgroup rw,cpu\n35 31 0:32 / @/memory rw shared:9 - cgroup cgroup "
    "rw,memory\n";

}  // namespace

TEST_CASE("version 2: the smallest of memory.max and memory.high, of the group and its ancestors") {
  const std::string group = "0::/system.slice/db.service\n";
  CHECK(System(kVersion2, group).limit() == kMachine);
  CHECK(System(kVersion2, group, {{"system.slice/db.service/memory.max", "max\n"}}).limit() == kMachine);
  CHECK(System(kVersion2, group, {{"system.slice/db.service/memory.max", "1048576\n"}}).limit() == 1'048'576);
  CHECK(System(kVersion2, group,
               {{"system.slice/db.service/memory.max", "max\n"}, {"system.slice/db.service/memory.high", "4096\n"}})
            .limit() == 4096);
  CHECK(System(kVersion2, group,
               {{"system.slice/db.service/memory.max", "8192\n"}, {"system.slice/memory.max", "4096\n"}})
            .limit() == 4096);
  CHECK(System(kVersion2, group, {{"system.slice/other.service/memory.max", "4096\n"}}).limit() == kMachine);
  CHECK(System(kVersion2, group, {{"memory.max", "99999999999999\n"}}).limit() == kMachine);
}

TEST_CASE("version 2 in a container: its own group is the root of what is mounted there") {
  const char* const mounts = "41 31 0:38 /docker/abc @ ro - cgroup2 cgroup rw\n";
  CHECK(System(mounts, "0::/\n", {{"memory.max", "4096\n"}}).limit() == 4096);
  CHECK(System(mounts, "0::/docker/abc\n", {{"memory.max", "4096\n"}}).limit() == 4096);
  CHECK(System(mounts, "0::/docker/abc/job\n", {{"memory.max", "8192\n"}, {"job/memory.max", "4096\n"}}).limit() ==
        4096);
  CHECK(System(mounts, "0::/../..\n", {{"memory.max", "4096\n"}}).limit() == 4096);
}

TEST_CASE("version 1: what memory.stat says holds for ancestors that are hidden, too") {
  const std::string groups = "9:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n";
  const std::string stat = "cache 1\nhierarchical_memory_limit 4096\nhierarchical_memsw_limit 1024\n";
  CHECK(System(kVersion1, groups, {{"memory/a/b/memory.stat", stat}}).limit() == 4096);
  CHECK(System(kVersion1, groups, {{"cpu/a/b/memory.stat", stat}}).limit() == kMachine);
  CHECK(System("35 31 0:32 /docker/abc @/memory rw - cgroup cgroup rw,memory\n", "4:memory:/docker/abc\n",
               {{"memory/memory.stat", stat}})
            .limit() == 4096);
  const std::string none = "hierarchical_memory_limit 9223372036854771712\n";
  CHECK(System(kVersion1, groups, {{"memory/a/b/memory.stat", none}}).limit() == kMachine);
}

TEST_CASE("a limit that cannot be read or understood limits nothing") {
  CHECK(System("", "").limit() == kMachine);
  CHECK(System(kVersion2, "").limit() == kMachine);
  CHECK(System(" - cgroup\n - cgroup2 x\n1 2 - cgroup2 y z\n", "0::/\n").limit() == kMachine);
  CHECK(System(kVersion2, "0\n0:\n0::\n", {{"memory.max", "words\n"}}).limit() == kMachine);
  CHECK(memory_limit_in("/nowhere", kMachine) == kMachine);
}
