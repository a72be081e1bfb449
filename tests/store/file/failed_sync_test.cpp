// A sync that fails: the file is poisoned for good, in every handle and every process, and there is never a wrong no.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::array kErrnos{EIO, ENOSPC};

// Makes the nth sync of a file fail, once. The others return without a sync, to save time. The result says whether the
// nth one came.
std::shared_ptr<bool> fail_sync(int nth, int os_errno) {
  auto came = std::make_shared<bool>(false);
  faults::on_sync = [nth, os_errno, came](int) mutable {
    if (--nth != 0) return 0;
    *came = true;
    return os_errno;
  };
  return came;
}

void no_faults() {
  faults::on_sync = [](int) { return 0; };
}

// Checks that the file is refused, now and after the flag was lost with its page, even while another writer is there.
void check_ruined(const std::string& path) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(path, mode) == Code::kPoisoned);
  const std::uint64_t word = look_at(path).live_word;
  set_live_word(path, word & ~format::LiveWord::kPoisoned);
  set_syncing(path, false);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(path, mode) == Code::kUnclean);
  set_live_word(path, word);
  set_syncing(path);
}

// Checks that everything is maybe, and that nothing is taken any more.
void check_poisoned(Filter& filter) {
  CHECK(filter.health() == Code::kPoisoned);
  CHECK(maybes(filter, kNobody, 0, 100) == 100);
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
}

void check_refuses_writes(Filter& filter) {
  CHECK(filter.add("more").code() == Code::kPoisoned);
  CHECK(filter.add_digest(1).code() == Code::kPoisoned);
  CHECK(filter.sync({.owner = 1, .mark = 1000}).code == Code::kPoisoned);
  CHECK(filter.sync().code == Code::kPoisoned);
  CHECK(filter.get_mark(1) < 1000);
}

// Repeats `attempt` for each errno and each n, until the nth sync does not come.
void for_each_failure(const std::function<bool(int nth, int os_errno)>& attempt, int least_failures) {
  for (const int os_errno : kErrnos) {
    int nth = 1;
    while (attempt(nth, os_errno)) ++nth;
    CHECK(nth > least_failures);
  }
}

}  // namespace

TEST_CASE("a sync that fails while a file is created leaves nothing behind") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        const auto came = fail_sync(nth, os_errno);
        const auto filter = Filter::create(dir.file(), small_options());
        if (!*came) return false;
        REQUIRE_FALSE(filter.ok());
        CHECK(filter.error().os_errno == os_errno);
        CHECK(dir.names().empty());
        return true;
      },
      1);
}

// The file does not keep which of the two it was, and the words named the disk alone.
TEST_CASE("a poisoned file is said to have lost a process in a sync, or a write, whichever it was") {
  const std::string causes = "did not end: a process was killed in it, or the disk refused a write";
  CHECK(std::string(code_text(Code::kPoisoned)).find(causes) != std::string::npos);
  for (const bool killed : {false, true}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    Filter filter = created(dir.file());
    Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
    if (killed) {
      CHECK(in_child([&] {
              auto dying = Filter::open(dir.file(), OpenMode::kWrite);
              faults::on_sync = [](int) -> int { _exit(77); };
              return dying.ok() && dying->sync().ok() ? 0 : 1;
            }) == 77);
      CHECK(filter.sync().message.find("a process was killed while it synced") != std::string::npos);  // it knows
    } else {
      const auto came = fail_sync(1, EIO);
      CHECK(filter.sync().code == Code::kPoisoned);
      no_faults();
    }
    CHECK(other.sync().message.find(causes) != std::string::npos);
    CHECK(Filter::open(dir.file(), OpenMode::kRead).error().message.find(causes) != std::string::npos);
  }
}

TEST_CASE("a failure in either half of a sync poisons the file for good in every handle") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        no_faults();
        Filter filter = created(dir.file());
        add_keys(filter, 1, 0, kSome);
        Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
        Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        CHECK(filter.sync({.owner = 1, .mark = 7}).ok());
        const auto came = fail_sync(nth, os_errno);
        const Error failed = filter.sync({.owner = 1, .mark = 8});
        if (!*came) return false;
        CHECK(failed.code == Code::kPoisoned);
        CHECK(failed.os_errno == os_errno);
        CHECK(failed.message.find(dir.file()) != std::string::npos);
        no_faults();
        check_ruined(dir.file());
        for (Filter* each : {&filter, &other, &reader}) check_poisoned(*each);
        check_refuses_writes(filter);
        check_refuses_writes(other);
        CHECK(filter.get_mark(1) <= (nth == 1 ? 7U : 8U));  // the keys may be on the disk, and the mark not
        CHECK(filter.close().ok());                         // another writer is there: nothing is synced
        CHECK(other.close().code == Code::kPoisoned);
        check_ruined(dir.file());
        CHECK(state_of(dir.file()) == FileState::kPoisoned);
        CHECK(open_code(dir.file(), OpenMode::kExclusive) == Code::kPoisoned);
        check_poisoned(reader);
        return true;
      },
      2);
}

TEST_CASE("a failure of any sync of the last writer's close leaves the file poisoned and not clean") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        no_faults();
        Filter filter = created(dir.file());
        add_keys(filter, 1, 0, kSome);
        Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const auto came = fail_sync(nth, os_errno);
        const Error failed = filter.close();
        if (!*came) return false;
        CHECK(failed.code == Code::kPoisoned);
        CHECK(failed.os_errno == os_errno);
        no_faults();
        check_ruined(dir.file());
        CHECK_FALSE(look_at(dir.file()).slots.clean());
        check_poisoned(reader);
        return true;
      },
      2);
}

// The device takes neither the slot nor the live page, and the system drops what it could not write.
TEST_CASE("a handle whose failed sync could not be written down stays poisoned when the live page is dropped") {
  const faults::Scope scope;
  TempDir dir;
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  faults::on_sync = [](int) { return EIO; };
  CHECK(filter.sync({.owner = 1, .mark = 8}).code == Code::kPoisoned);
  set_live_word(dir.file(), look_at(dir.file()).live_word & ~format::LiveWord::kPoisoned);
  set_syncing(dir.file(), false);
  check_poisoned(filter);
  check_refuses_writes(filter);
  CHECK(filter.close().code == Code::kPoisoned);
}

// The slot was written, and the system drops the live page, which it could not write.
TEST_CASE("another writer of a poisoned file neither syncs it nor marks it clean when the live page is dropped") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
  const auto came = fail_sync(1, EIO);
  CHECK(filter.sync({.owner = 1, .mark = 8}).code == Code::kPoisoned);
  CHECK(*came);
  no_faults();
  const auto drop_live_page = [&] {
    set_live_word(dir.file(), look_at(dir.file()).live_word & ~format::LiveWord::kPoisoned);
    set_syncing(dir.file(), false);
  };
  drop_live_page();
  CHECK(other.sync({.owner = 1, .mark = 9}).code == Code::kPoisoned);
  check_poisoned(other);
  CHECK(other.get_mark(1) == 0);
  drop_live_page();
  filter.abandon();
  CHECK(other.close().code == Code::kPoisoned);
  CHECK_FALSE(look_at(dir.file()).slots.clean());
  drop_live_page();
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
}

TEST_CASE("a writer of a file that another process poisoned neither syncs it nor marks it clean") {
  TempDir dir;
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  check_poisoned(filter);
  CHECK(filter.sync({.owner = 1, .mark = 8}).code == Code::kPoisoned);
  CHECK(filter.get_mark(1) == 0);
  CHECK(filter.close().code == Code::kPoisoned);
  CHECK_FALSE(look_at(dir.file()).slots.clean());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kPoisoned);
}

TEST_CASE("the close of a file that another process poisoned does not mark it clean") {
  TempDir dir;
  Filter filter = created(dir.file());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kPoisoned);
  CHECK(filter.close().code == Code::kPoisoned);
  CHECK_FALSE(look_at(dir.file()).slots.clean());
}

TEST_CASE("a sync that fails in the destructor poisons, too") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  {
    const Filter filter = created(dir.file());
    fail_sync(1, EIO);
  }
  no_faults();
  check_ruined(dir.file());
}

TEST_CASE("a writer that cannot sync the file that it adopts poisons it") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        no_faults();
        CHECK(created(dir.file()).close().ok());
        leave_behind(dir.file());
        Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const auto came = fail_sync(nth, os_errno);
        const auto refused = Filter::open(dir.file(), OpenMode::kWrite);
        if (!*came) return false;
        CHECK(code_of(refused) == Code::kPoisoned);
        no_faults();
        check_ruined(dir.file());
        check_poisoned(reader);
        return true;
      },
      1);
}

// A sync that failed was the only warning: the next one says that all is well, and what was lost stays lost.
TEST_CASE("a file that a reader could not sync when it adopted it is adopted by no later writer or reader") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  fail_sync(1, EIO);
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
  no_faults();
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
  CHECK(open_code(dir.file(), OpenMode::kWrite) != Code::kOk);
}

TEST_CASE("a sync that fails while an unpublished filter is published leaves no name, and the filter is poisoned") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        no_faults();
        Options options = small_options();
        options.unpublished = true;
        Filter filter = created(dir.file(), options);
        add_keys(filter, 1, 0, kSome);
        const auto came = fail_sync(nth, os_errno);
        const Error failed = filter.publish();
        if (!*came) return false;
        CHECK(failed.code == Code::kPoisoned);
        no_faults();
        CHECK(dir.names().empty());
        check_poisoned(filter);
        check_refuses_writes(filter);
        CHECK(filter.publish().code == Code::kPoisoned);
        CHECK(dir.names().empty());
        return true;
      },
      2);
}

TEST_CASE("a sync that fails while a file is opened for writing makes no wrong no in any later opening") {
  for_each_failure(
      [](int nth, int os_errno) {
        const faults::Scope scope;
        TempDir dir;
        no_faults();
        {
          Filter filter = created(dir.file());
          add_keys(filter, 1, 0, kSome);
        }
        Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const auto came = fail_sync(nth, os_errno);
        const auto refused = Filter::open(dir.file(), OpenMode::kWrite);
        if (!*came) return false;
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().os_errno == os_errno);
        no_faults();
        CHECK(maybes(reader, 1, 0, kSome) == kSome);
        for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
          auto next = Filter::open(dir.file(), mode);
          if (next.ok()) CHECK(maybes(*next, 1, 0, kSome) == kSome);
        }
        return true;
      },
      1);
}

TEST_CASE("a process that dies between a failed sync and its flag leaves a file that no process uses") {
  for (const int nth : {1, 2}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    Filter dead = created(dir.file());
    add_keys(dead, 1, 0, kSome);
    Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite));
    faults::on_sync = [count = nth](int) mutable -> int {
      if (--count == 0) throw faults::Killed();
      return 0;
    };
    CHECK_THROWS_AS(static_cast<void>(dead.sync({.owner = 1, .mark = 1})), faults::Killed);
    no_faults();
    CHECK(open_code(dir.file(), OpenMode::kWrite) != Code::kOk);  // next to the other writer
    CHECK(other.sync({.owner = 2, .mark = 1}).code == Code::kPoisoned);
    check_poisoned(other);
    CHECK(other.close().ok());  // the dead one's handle is still open in this process
    check_ruined(dir.file());
  }
}

TEST_CASE("an adopting process that dies between a failed sync and its flag leaves a file that no process uses") {
  for (const int nth : {1, 2}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    faults::on_sync = [count = nth](int) mutable -> int {
      if (--count == 0) throw faults::Killed();
      return 0;
    };
    CHECK_THROWS_AS(static_cast<void>(Filter::open(dir.file(), OpenMode::kWrite)), faults::Killed);
    no_faults();
    CHECK(state_of(dir.file()) == FileState::kUnclean);
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(dir.file(), mode) != Code::kOk);
  }
}

// The system tells of a failure once. The next process that opens the file would hear of none.
TEST_CASE("a reader that dies between a failed sync and its flag leaves a file that no process uses") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  faults::on_sync = [](int) -> int { throw faults::Killed(); };
  CHECK_THROWS_AS(static_cast<void>(Filter::open(dir.file(), OpenMode::kRead)), faults::Killed);
  no_faults();
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(dir.file(), mode) != Code::kOk);
}

TEST_CASE("a reader that may open no more files when its sync fails leaves a file that no process uses") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  faults::on_sync = [&before](int) {
    const rlimit none{0, before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    return EIO;
  };
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  no_faults();
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(dir.file(), mode) != Code::kOk);
}

TEST_CASE("a sync or the last close poisons the file after another process died in a sync") {
  for (const bool closing : {false, true}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    Filter other = created(dir.file());
    CHECK(in_child([&] {
            auto dying = Filter::open(dir.file(), OpenMode::kWrite);
            faults::on_sync = [](int) -> int { _exit(77); };
            return dying.ok() && dying->sync().ok() ? 0 : 1;
          }) == 77);
    CHECK((closing ? other.close() : other.sync({.owner = 2, .mark = 1})).code == Code::kPoisoned);
    check_ruined(dir.file());
  }
}

TEST_CASE("a process that dies in the sync of its close leaves a file that is unclean, or clean with every key") {
  for (const int nth : {1, 2}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    {
      Filter dead = created(dir.file());
      add_keys(dead, 1, 0, kSome);
      faults::on_sync = [count = nth](int) mutable -> int {
        if (--count == 0) throw faults::Killed();
        return 0;
      };
      CHECK_THROWS_AS(static_cast<void>(dead.close()), faults::Killed);
      no_faults();
    }
    auto next = Filter::open(dir.file(), OpenMode::kRead);
    if (next.ok()) {
      CHECK(maybes(*next, 1, 0, kSome) == kSome);
    } else {
      CHECK(next.error().code == Code::kUnclean);
    }
  }
}

TEST_CASE("a failed sync reaches readers and writers in other processes") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  Remote reader(dir.file());
  Remote writer(dir.file());
  CHECK(reader.call("open read") == "BFS_OK");
  CHECK(writer.call("open write") == "BFS_OK");
  CHECK(reader.call("ask 999 0 100") == "0");
  fail_sync(1, EIO);
  CHECK(filter.sync().code == Code::kPoisoned);
  CHECK(reader.call("ask 999 0 100") == "100");
  CHECK(reader.call("health") == "BFS_EPOISONED");
  CHECK(writer.call("ask 999 0 100") == "100");
  CHECK(writer.call("add 2 0 1") == "BFS_EPOISONED");
  CHECK(writer.call("sync 2 1") == "BFS_EPOISONED");
  CHECK(filter.close().ok());
  CHECK(writer.call("close") == "BFS_EPOISONED");
  CHECK(reader.call("open read") == "BFS_EPOISONED");
  CHECK(writer.call("open write") == "BFS_EPOISONED");
  check_ruined(dir.file());
}

// The folder is synced when the file already has its name.
TEST_CASE("a folder that cannot be synced fails the creation, and no file is left there") {
  const faults::Scope scope;
  TempDir dir;
  no_faults();
  faults::on_folder_sync = [] { return EIO; };
  CHECK_FALSE(Filter::create(dir.file(), small_options()).ok());
  CHECK(dir.names().empty());
}

TEST_CASE("a filter whose publishing fails at the folder is no clean file with a writer") {
  for (const bool replace : {false, true}) {
    const faults::Scope scope;
    TempDir dir;
    no_faults();
    if (replace) CHECK(created(dir.file()).close().ok());
    Options options = small_options();
    options.unpublished = true;
    options.replace = replace;
    Filter filter = created(dir.file(), options);
    faults::on_folder_sync = [] { return EIO; };
    CHECK_FALSE(filter.publish().ok());
    CHECK(dir.names().size() == (replace ? 1 : 0));
    if (replace) CHECK(look_at(dir.file()).newest().place.boot_id == format::BootId{});  // poisoned: none adopts it
    const bool took_more = filter.add("one more").ok();
    if (took_more && replace) CHECK_FALSE(look_at(dir.file()).slots.clean());
  }
}

TEST_CASE("a folder that can be written to and not read takes a new file") {
  const faults::Scope scope;
  TempDir dir;
  faults::folder_open_errno = EACCES;
  const auto filter = Filter::create(dir.file(), small_options());
  CHECK(filter.ok() == (dir.names().size() == 1));
}

TEST_CASE("a filter that cannot be given its name leaves nothing behind") {
  for (const bool no_unnamed : {false, true}) {
    for (const bool replace : {false, true}) {
      const faults::Scope scope;
      TempDir dir;
      no_faults();
      faults::no_unnamed_files = no_unnamed;
      faults::naming_errno = EIO;
      Options options = small_options();
      options.replace = replace;
      const auto filter = Filter::create(dir.file(), options);
      REQUIRE_FALSE(filter.ok());
      CHECK(filter.error().os_errno == EIO);
      CHECK(dir.names().empty());
    }
  }
}

// The kernel tells a failure once. Whether it told this one, no process knows.
TEST_CASE("a writer that is killed while it asks the kernel leaves the flag of a sync") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child([&] {
          auto writer = Filter::open(dir.file(), OpenMode::kWrite, {.writeback_check_ms = 0});
          if (!writer) return 1;
          faults::on_question = [](int) { return raise(SIGKILL); };
          for (std::uint64_t i = 0; i < kSome; ++i) {
            if (!writer->add(key_of(1, i)).ok()) return 2;
          }
          return 3;
        }) == 1000 + SIGKILL);
  CHECK(look_at(dir.file()).syncing);
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
}
