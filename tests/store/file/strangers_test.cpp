// Programs that know nothing of filters, and lock their files: they prove nothing, and delay no process for long. And a
// system that does not say which boot it is.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>

#include "faults.hpp"
#include "mounts.hpp"
#include "store/file/session.hpp"
#include "support.hpp"
#include "support/skip.hpp"
#include "support/virtual_clock.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kTimeoutMs = 200;
constexpr VirtualClock::Time kPoll = 500us;

const OpenOptions kImpatient{.lock_timeout_ms = kTimeoutMs};

// A program that may only read can have the shared ones. A writer of filters has none of them.
struct Lock {
  const char* name;
  short kind;
  int command;
  std::uint64_t first;
  std::uint64_t count;
};
constexpr Lock kStrangers[] = {
    {"a backup program, which locks the file", F_RDLCK, F_SETLK, 0, 0},
    {"the same with a lock of its description", F_RDLCK, F_OFD_SETLK, 0, 0},
    {"a program that may write, and locks the file", F_WRLCK, F_OFD_SETLK, 0, 0},
    {"the same with a lock of its process", F_WRLCK, F_SETLK, 0, 0},
    {"shared locks of the writers' bytes", F_RDLCK, F_OFD_SETLK, format::kFirstWriterLock, format::kNumWriterLocks},
    {"a process's own lock of a writer's byte", F_WRLCK, F_SETLK, format::kFirstWriterLock, 1},
    {"a shared lock of the state's byte", F_RDLCK, F_OFD_SETLK, format::kStateLock, 1},
};

std::function<void()> locks(const std::string& path, const Lock& lock) {
  return [=] { lock_as_stranger(path, lock.kind, lock.command, lock.first, lock.count); };
}

Options replacing(std::uint32_t timeout_ms) {
  Options options = small_options();
  options.replace = true;
  options.lock_timeout_ms = timeout_ms;
  return options;
}

// Hides the boot id, in mounts of this process's own.
class UnknownBoot {
 public:
  explicit UnknownBoot(const TempDir& dir) {
    std::ofstream(dir.file("empty"));
    static const bool own = own_mounts();
    there_ = own && mount(dir.file("empty").c_str(), kBootId, nullptr, MS_BIND, nullptr) == 0;
    if (!there_) tests::skip_case(std::string("nothing can be mounted here: ") + std::strerror(errno));
  }
  ~UnknownBoot() {
    if (there_) umount2(kBootId, MNT_DETACH);
  }
  UnknownBoot(const UnknownBoot&) = delete;
  UnknownBoot& operator=(const UnknownBoot&) = delete;
  [[nodiscard]] bool there() const { return there_; }

 private:
  static constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";
  bool there_ = false;
};

// Calls the check for a file that a killed writer left, with what each kind of stranger locks.
template <class Check>
void for_every_stranger(const Check& check) {
  for (const Lock& lock : kStrangers) {
    const std::string who = lock.name;
    CAPTURE(who);
    const faults::Scope scope;
    const TempDir dir;
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    const Stopped stranger(locks(dir.file(), lock));
    check(dir);
  }
}

}  // namespace

// Such a lock once made the file look as if a writer had it open: then no process asked whether its pages had reached
// the disk.
TEST_CASE("a killed writer's file that a stranger locks is adopted with a sync, and not by a strict opening") {
  for_every_stranger([](const TempDir& dir) {
    CHECK(state_of(dir.file()) == FileState::kAdoptable);
    int syncs = 0;
    faults::on_sync = [&](int) { return ++syncs, 0; };
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, {.strict = true})) == Code::kUnclean);
    CHECK(syncs == 0);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(syncs == 1);
    CHECK(maybes(reader, 1, 0, kSome) == kSome);
  });
}

TEST_CASE("a killed writer's file that a stranger locks, and that cannot be synced, is refused") {
  for_every_stranger([](const TempDir& dir) {
    faults::on_sync = [](int) { return EIO; };
    const Code refused = code_of(Filter::open(dir.file(), OpenMode::kRead, kImpatient));
    CHECK((refused == Code::kUnclean || refused == Code::kPoisoned));
  });
}

TEST_CASE("a stranger's shared lock does not keep the last close from syncing and marking the file clean") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const Stopped stranger(
      locks(dir.file(), {"half of them", F_RDLCK, F_OFD_SETLK, format::kFirstWriterLock, format::kNumWriterLocks / 2}));
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(writer, 1, 0, kSome);
  const faults::Scope scope;
  int syncs = 0;
  faults::on_sync = [&](int) { return ++syncs, 0; };
  CHECK(writer.close().ok());
  CHECK(syncs == 2);  // of the body, and of the slot
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a call waits for a stranger's lock no longer than was asked for, and the message names its process") {
  for (const Lock& lock : kStrangers) {
    if (lock.count != 0) continue;
    const std::string who = lock.name;
    CAPTURE(who);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    const Stopped stranger(locks(dir.file(), lock));
    const auto check_busy = [&](const Result<Filter>& result) {
      CHECK(code_of(result) == Code::kBusy);
      CHECK_MESSAGE(result.error().message.find(stranger.in_words()) != std::string::npos, result.error().message);
    };
    for (const std::uint32_t timeout_ms : {std::uint32_t{0}, kTimeoutMs, kLockTimeoutMs}) {
      CAPTURE(timeout_ms);
      const OpenOptions options{.lock_timeout_ms = timeout_ms};
      const auto check_waits = [&](const std::function<Result<Filter>()>& call) {
        const VirtualClock clock;
        clock.check_waits(std::chrono::milliseconds(timeout_ms), kPoll, [&] { check_busy(call()); });
      };
      check_waits([&] { return Filter::open(dir.file(), OpenMode::kWrite, options); });
      check_waits([&] { return Filter::open(dir.file(), OpenMode::kExclusive, options); });
      check_waits([&] { return Filter::create(dir.file(), replacing(timeout_ms)); });
    }
    CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

TEST_CASE("a call waits for a stranger's lock of every writer's byte no longer than was asked for") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const Stopped stranger(locks(dir.file(), kStrangers[4]));
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    const VirtualClock clock;
    clock.check_waits(std::chrono::milliseconds(kTimeoutMs), kPoll, [&] {
      const auto result = Filter::open(dir.file(), mode, kImpatient);
      CHECK(code_of(result) == Code::kBusy);
      CHECK_MESSAGE(result.error().message.find(stranger.in_words()) != std::string::npos, result.error().message);
    });
  }
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
}

TEST_CASE("a sync and a close that a stranger blocks are errors in time, and the file loses nothing") {
  for (const std::uint64_t byte : {format::kStateLock, format::kSyncLock}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite, kImpatient));
    add_keys(writer, 1, 0, kSome);
    Stopped stranger([&] { lock_as_stranger(dir.file(), F_RDLCK, F_OFD_SETLK, byte, 1); });
    const VirtualClock clock;
    Error synced;
    clock.check_waits(std::chrono::milliseconds(kTimeoutMs), kPoll,
                      [&] { synced = writer.sync({.owner = 1, .mark = kSome}); });
    CHECK(synced.code == Code::kBusy);
    CHECK_MESSAGE(synced.message.find(stranger.in_words()) != std::string::npos, synced.message);
    CHECK(writer.get_mark(1) == 0);
    Error closed;
    clock.check_waits(std::chrono::milliseconds(kTimeoutMs), kPoll, [&] { closed = writer.close(); });
    CHECK(closed.code == Code::kBusy);
    stranger.kill();
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
    CHECK(opened(Filter::open(dir.file(), OpenMode::kWrite)).close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

// The system tells of one lock only, and that may be the stranger's: a writer locks a random byte.
TEST_CASE("a stranger that locks a part of the writers' bytes hides no writer in another part") {
  for (const std::uint64_t part : {std::uint64_t{0}, format::kNumWriterLocks / 4, format::kNumWriterLocks / 2}) {
    CAPTURE(part);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    const Stopped stranger(
        locks(dir.file(), {"a part", F_WRLCK, F_SETLK, format::kFirstWriterLock + part, format::kNumWriterLocks / 2}));
    const Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    CHECK(state_of(dir.file()) == FileState::kInUse);
  }
}

TEST_CASE("a writer is admitted when the stranger has gone, even after ten minutes") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Stopped stranger(locks(dir.file(), kStrangers[0]));
  VirtualClock clock;
  clock.sleeps_last(100ms);
  clock.after(600s, [&] { stranger.kill(); });
  clock.check_waits(600s, 100ms, [&] {
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = kWaitForEver})) == Code::kOk);
  });
}

TEST_CASE("without a known boot no process adopts a file that a killed process left, whatever its boot was") {
  TempDir dir;
  for (const bool known_then : {true, false}) {
    const std::string path = dir.file(known_then ? "known.bf" : "unknown.bf");
    CHECK(created(path).close().ok());
    if (known_then) leave_behind(path);
    const UnknownBoot unknown(dir);
    if (!unknown.there()) return;
    if (!known_then) leave_behind(path);
    CHECK(open_code(path, OpenMode::kRead) == Code::kUnclean);
    CHECK(open_code(path, OpenMode::kWrite) == Code::kUnclean);
    const Stopped stranger(locks(path, kStrangers[0]));
    CHECK(open_code(path, OpenMode::kRead) == Code::kUnclean);
  }
  CHECK(open_code(dir.file("unknown.bf"), OpenMode::kRead) == Code::kUnclean);
}

TEST_CASE("without a known boot a writer has its file to itself, and closes it clean") {
  TempDir dir;
  const UnknownBoot unknown(dir);
  if (!unknown.there()) return;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
  CHECK(writer.sync({.owner = 1, .mark = kSome}).ok());
  CHECK(writer.close().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}
