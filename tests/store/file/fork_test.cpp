// A forked child has its parent's handles: it may ask, and it may not add, sync or end the parent's part in the file.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "faults.hpp"
#include "key_calls.hpp"
#include "mounts.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

TEST_CASE("a child adds nothing through a handle of its parent, and asks as before") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    Filter filter = opened(Filter::open(dir.file(), mode));
    add_keys(filter, 1, 0, kSome);
    const std::string before = read_bytes(dir.file());
    CHECK(in_child([&] {
            for (const AddForm& form : add_forms()) {
              if (form.add(filter, 2, 300).code() != Code::kForked) return 1;
            }
            if (filter.sync({.owner = 1, .mark = 1}).code != Code::kForked) return 2;
            if (filter.finish_recovery(1).error().code != Code::kForked) return 3;
            if (const auto marks = filter.list_marks(); marks.ok() || marks.error().code != Code::kForked) return 6;
            if (filter.get_mark(1) != 0) return 7;  // as if there were none
            if (maybes(filter, 1, 0, kSome) != kSome || !answers_no(filter)) return 4;
            return filter.close().ok() ? 0 : 5;
          }) == 0);
    CHECK(read_bytes(dir.file()) == before);
    add_keys(filter, 2, 0, kSome);
    CHECK(filter.sync({.owner = 1, .mark = 1}).ok());
    CHECK(state_of(dir.file()) == FileState::kInUse);
    CHECK(filter.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

namespace {

bool has_a_descriptor_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::equivalent(entry.path(), path, gone)) return true;
  }
  return false;
}

}  // namespace

// A lock that the parent holds by such a descriptor would be the child's, too, and outlive the parent.
TEST_CASE("a child has no descriptor of a file that its parent writes to") {
  TempDir dir;
  const Filter filter = created(dir.file());
  CHECK(has_a_descriptor_of(dir.file()));
  CHECK(in_child([&] { return has_a_descriptor_of(dir.file()) ? 1 : 0; }) == 0);
}

TEST_CASE("a closed file that other code of the process opens belongs to that code, and to its children") {
  TempDir dir;
  {
    Filter filter = created(dir.file());
    add_keys(filter, 1, 0, kSome);
    CHECK(filter.close().ok());
  }
  std::vector<int> others;  // one of them has the number that the filter had
  for (int i = 0; i < 16; ++i) others.push_back(open(dir.file().c_str(), O_RDWR | O_CLOEXEC));
  CHECK(in_child([&] {
          char magic = 0;
          for (const int other : others) {
            if (pread(other, &magic, 1, 0) != 1) return 1;
          }
          return 0;
        }) == 0);
  for (const int other : others) close(other);
}

TEST_CASE("a child opens the file again, and so does its child") {
  TempDir dir;
  Filter filter = created(dir.file());
  const auto add_as = [&](unsigned writer) {
    auto own = Filter::open(dir.file(), OpenMode::kWrite);
    if (!own || !own->add(key_of(writer, 0)).ok()) return 1;
    return in_child([&] {
      if (own->add(key_of(writer, 1)).code() != Code::kForked) return 2;
      auto next = Filter::open(dir.file(), OpenMode::kWrite);
      return next.ok() && next->add(key_of(writer, 2)).ok() && next->close().ok() ? 0 : 3;
    });
  };
  CHECK(in_child([&] { return add_as(7); }) == 0);
  CHECK(in_child([&] { return add_as(8); }) == 0);
  for (const unsigned writer : {7U, 8U}) {
    CHECK(filter.contains(key_of(writer, 0)));
    CHECK(filter.contains(key_of(writer, 2)));
  }
  CHECK(filter.add(key_of(9, 9)).ok());
}

namespace {

// Starts a process that gets a filter, forks, and is killed. Calls `then` while its child lives on.
void with_an_orphan(const std::function<Result<Filter>()>& get, const std::function<void()>& then) {
  int to_child[2] = {};
  int from_child[2] = {};
  REQUIRE(pipe(to_child) == 0);
  REQUIRE(pipe(from_child) == 0);
  char byte = 0;
  const pid_t parent = fork();
  if (parent == 0) {
    auto filter = get();
    if (!filter || !filter->add(key_of(1, 1)).ok()) _exit(1);
    if (fork() != 0) raise(SIGKILL);
    const bool asks = filter->contains(key_of(1, 1)) && filter->is_current().error().code == Code::kForked;
    if (!asks || write(from_child[1], "x", 1) != 1) _exit(2);
    close(to_child[1]);
    _exit(read(to_child[0], &byte, 1) == 0 ? 0 : 3);
  }
  CHECK(wait_for(parent) == 1000 + SIGKILL);
  close(from_child[1]);
  REQUIRE(read(from_child[0], &byte, 1) == 1);
  then();
  for (const int end : {to_child[0], to_child[1], from_child[0]}) close(end);
}

void check_nobody_has_it(const std::string& path) {
  CHECK(state_of(path) == FileState::kAdoptable);
  Filter next = opened(Filter::open(path, OpenMode::kExclusive));
  CHECK(next.contains(key_of(1, 1)));
  CHECK(next.sync({.owner = 1, .mark = 1}).ok());
  CHECK(next.close().ok());
}

// Hides /proc, in mounts of this process's own. Returns false where that is not allowed.
bool without_proc() { return own_mounts() && mount("none", "/proc", "tmpfs", 0, nullptr) == 0; }

}  // namespace

TEST_CASE("a child that outlives its killed parent keeps nothing of the file in use") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    with_an_orphan([&] { return Filter::open(dir.file(), mode); }, [&] { check_nobody_has_it(dir.file()); });
  }
}

TEST_CASE("without /proc, too, a child that outlives its killed parent keeps nothing of the file in use") {
  for (const bool make : {false, true}) {
    TempDir dir;
    if (in_child([] { return without_proc() ? 0 : 1; }) != 0) {
      tests::skip_case("nothing can be mounted here");
      return;
    }
    if (!make) CHECK(created(dir.file()).close().ok());
    const auto get = [&]() -> Result<Filter> {
      if (!without_proc()) _exit(9);
      return make ? Filter::create(dir.file(), small_options()) : Filter::open(dir.file(), OpenMode::kExclusive);
    };
    with_an_orphan(get, [&] {
      // The slot has no boot id, so no process adopts the file; but no process has it open.
      CHECK(state_of(dir.file()) == FileState::kUnclean);
      CHECK(code_of(Filter::open(dir.file(), OpenMode::kExclusive, {.accept_loss = true})) == Code::kOk);
      CHECK(dir.names().size() == 1);
    });
  }
}

namespace {

Result<Filter> superseder_of(const std::string& path) {
  Options options = small_options();
  options.replace = options.unpublished = true;
  auto fresh = Filter::create(path, options);
  if (fresh && !fresh->supersede().ok()) _exit(9);
  return fresh;
}

}  // namespace

TEST_CASE("a child that outlives a killed process that superseded a file does not keep that file locked") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  with_an_orphan([&] { return superseder_of(dir.file()); },
                 [&] { CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk); });
}

TEST_CASE("a child that was not made by fork() ends its parent's filter, and the superseded file stays locked") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  auto fresh = std::make_unique<Result<Filter>>(superseder_of(dir.file()));
  const pid_t child = _Fork();
  if (child == 0) {
    fresh.reset();
    _exit(0);
  }
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(in_child([&] {
          const auto refused = Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 100});
          return code_of(refused) == Code::kBusy ? 0 : 1;
        }) == 0);
  CHECK((*fresh)->publish().ok());
}

// A process that may not open a file for writing cannot open it once more for a lock that its children do not get.
TEST_CASE("a child does not keep a new file in use whose mode lets its killed parent only read") {
  for (const unsigned mode : {0400U, 0444U, 0000U}) {
    CAPTURE(mode);
    TempDir dir;
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
    Options options = small_options();
    options.mode = mode;
    const auto get = [&]() -> Result<Filter> {
      if (!become_nobody()) _exit(9);
      return Filter::create(dir.file(), options);
    };
    with_an_orphan(get, [&] {
      CHECK((std::filesystem::status(dir.file()).permissions() & std::filesystem::perms(0777)) ==
            std::filesystem::perms(mode));
      check_nobody_has_it(dir.file());
    });
  }
}

namespace {

std::vector<Filter> ended_before_a_fork;

}  // namespace

TEST_CASE("a program that ends filters in its own fork handlers waits for no lock") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  static const int registered =
      pthread_atfork([] { ended_before_a_fork.clear(); }, nullptr, [] { ended_before_a_fork.clear(); });
  CHECK(registered == 0);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    ended_before_a_fork.push_back(opened(Filter::open(dir.file(), mode)));
    CHECK(in_child([&] { return Filter::open(dir.file(), OpenMode::kWrite).ok() ? 0 : 1; }) == 0);
  }
}

TEST_CASE("a child's add through an exclusive handle is refused though a thread was adding at the fork") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kExclusive));
  std::vector<std::uint64_t> digests(100'000);
  for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = i * 0x9e3779b97f4a7c15;
  std::atomic<bool> stop{false};
  std::thread adds([&] {
    while (!stop) static_cast<void>(filter.add_keys(Keys::digests(digests)));
  });
  for (int i = 0; i < 10; ++i) {
    CHECK(in_child([&] {
            alarm(600);
            if (filter.add("key").code() != Code::kForked) return 1;
            return filter.add_keys(Keys::digests(digests)).code() == Code::kForked ? 0 : 2;
          }) == 0);
  }
  stop = true;
  adds.join();
}

// Exclusive handles take turns by a lock in the parent's memory. To other buffers a child adds by atomic steps.
TEST_CASE("a child adds nothing to a buffer whose handle is exclusive, and adds to another one that it shares") {
  for (const bool bare : {false, true}) {
    for (const bool exclusive : {false, true}) {
      CAPTURE(exclusive);
      Options options = small_options();
      options.seed = 0;
      options.bare = bare;
      options.exclusive = exclusive;
      const auto bytes = Filter::required_bytes(options);
      REQUIRE(bytes.ok());
      void* const memory = mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      REQUIRE(memory != MAP_FAILED);
      auto made = Filter::format({static_cast<std::byte*>(memory), *bytes}, options);
      REQUIRE_MESSAGE(made.ok(), made.error().message);
      Filter filter = std::move(made).value();
      add_keys(filter, 1, 0, kSome);
      CHECK(in_child([&] {
              for (const AddForm& form : add_forms()) {
                const Count added = form.add(filter, 2, 300);
                if (exclusive ? added.code() != Code::kForked : !added.ok()) return 1;
              }
              return maybes(filter, 1, 0, kSome) == kSome ? 0 : 2;
            }) == 0);
      CHECK((maybes(filter, 2, 0, kSome) == kSome) == !exclusive);
      add_keys(filter, 3, 0, kSome);
      CHECK(filter.dumped_bytes().ok());
      CHECK(filter.close().ok());
      CHECK(munmap(memory, *bytes) == 0);
    }
  }
}

TEST_CASE("a child does not end its parent's replacement, and takes no name from its file") {
  for (const bool unnamed : {true, false}) {
    const faults::Scope scope;
    faults::no_unnamed_files = !unnamed;
    TempDir dir;
    Filter writer = created(dir.file());
    Options options = small_options();
    options.replace = options.unpublished = true;
    Filter fresh = created(dir.file(), options);
    CHECK(fresh.supersede().ok());
    CHECK(in_child([&] {
            if (fresh.supersede().code != Code::kForked || fresh.publish().code != Code::kForked) return 1;
            return fresh.close().ok() ? 0 : 2;
          }) == 0);
    CHECK(writer.add(key_of(1, 1)).code() == Code::kSuperseded);
    add_keys(fresh, 2, 0, kSome);
    CHECK(fresh.publish().ok());
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 2, 0, kSome) == kSome);
  }
}
