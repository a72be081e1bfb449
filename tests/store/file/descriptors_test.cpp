// A process that may have no more descriptors: an open that fails harms no file, and an open that works leaves a file
// that all other processes can use.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr rlim_t kMostNeeded = 8;  // more than any of these needs at once

// Leaves this many descriptor numbers free.
void leave_free(rlim_t count) {
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit limit{static_cast<rlim_t>(next) + count, 4096};
  setrlimit(RLIMIT_NOFILE, &limit);
}

Options replacing() {
  Options options = small_options();
  options.replace = true;
  return options;
}

using Open = std::function<Result<Filter>(const std::string& path)>;

struct Way {
  const char* name;
  bool makes;  // a file of its own, at the path
  Open open;
};

std::vector<Way> ways() {
  const auto opens = [](OpenMode mode, OpenOptions options = {}) {
    return [=](const std::string& path) { return Filter::open(path, mode, options); };
  };
  OpenOptions guarded;
  guarded.map.guard = true;
  return {{"read", false, opens(OpenMode::kRead)},
          {"write", false, opens(OpenMode::kWrite)},
          {"write with a guard", false, opens(OpenMode::kWrite, guarded)},
          {"exclusive", false, opens(OpenMode::kExclusive)},
          {"replace", true, [](const std::string& path) { return Filter::create(path, replacing()); }}};
}

// Checks what other processes find while a process has the file open that used its last descriptors for that, and after
// it was killed. Returns 0, or the line that found something wrong. `left`: free numbers. `got`: whether the process
// opened the file.
int open_with(const Way& way, const std::string& path, rlim_t left, bool& got) {
  leave_free(left);
  auto filter = way.open(path);
  got = filter.ok();
  if (!got && filter.error().os_errno != EMFILE) return __LINE__;
  const bool writes = got && filter->add("key").ok();
  if (writes && !filter->sync({.owner = 1, .mark = 1}).ok()) return __LINE__;
  leave_free(64);
  if (!got) return open_code(path, OpenMode::kExclusive) == Code::kOk ? 0 : __LINE__;
  if (open_code(path, OpenMode::kRead) != Code::kOk) return __LINE__;
  if (!writes) return 0;
  if (inspect(path, false)->state != FileState::kInUse) return __LINE__;
  if (look_at(path).newest().place.boot_id != boot_id_here()) return __LINE__;
  return 0;  // the process is killed: no destructor runs
}

}  // namespace

// The boot id once could not be opened, and the slot recorded that. Then no other process believed the file.
TEST_CASE("with any number of free descriptors a file is opened so that every process can use it, or not touched") {
  for (const Way& way : ways()) {
    const std::string how = way.name;
    CAPTURE(how);
    TempDir dir;
    std::optional<rlim_t> enough;
    for (rlim_t left = 0; left <= kMostNeeded; ++left) {
      CAPTURE(left);
      const std::string path = dir.file(std::to_string(left) + ".bf");
      CHECK(created(path).close().ok());
      bool got = false;
      const int told = in_child([&] {
        const int line = open_with(way, path, left, got);
        _exit(line != 0 ? 1 : got ? 2 : 3);
        return 0;
      });
      CHECK(told != 1);
      if (told == 2 && !enough) enough = left;
      if (told == 3) CHECK_FALSE(enough.has_value());
      CHECK(open_code(path, OpenMode::kRead) == Code::kOk);
      CHECK(open_code(path, OpenMode::kExclusive) == Code::kOk);
      CHECK(state_of(path) == FileState::kClean);
      CHECK(dir.names().size() == left + 1);  // nothing was left behind
    }
    REQUIRE(enough.has_value());
    CHECK(*enough > 0);
  }
}
