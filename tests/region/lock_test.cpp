// Locks of bytes of a file: what owns them, what is in their way, how long a process waits for them, and what ends
// them.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>

#include "region/lock.hpp"
#include "support/support.hpp"
#include "support/virtual_clock.hpp"

using namespace rooms;
using region::ByteRange;
using region::File;
using region::MappedLock;
using region::ScopedLock;

namespace {

constexpr ByteRange kRange{1000, 16};
constexpr std::uint32_t kShort = 30;

struct Locked {
  Locked() { std::ofstream(directory.file("x")) << "a file"; }
  [[nodiscard]] File opened(File::Access access = File::Access::kReadWrite) const {
    return must(File::open(directory.file("x"), access));
  }
  TemporaryDirectory directory;
};

// A stranger's lock, by a descriptor of its own.
class Stranger {
 public:
  Stranger(const Locked& file, short type, const ByteRange& range)
      : descriptor_(::open(file.directory.file("x").c_str(), type == F_RDLCK ? O_RDONLY : O_RDWR)) {
    struct flock request {};
    request.l_type = type;
    request.l_whence = SEEK_SET;
    request.l_start = static_cast<off_t>(range.first);
    request.l_len = static_cast<off_t>(range.count);
    CHECK(fcntl(descriptor_, F_OFD_SETLK, &request) == 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { ::close(descriptor_); }

 private:
  int descriptor_;
};

bool held(const File& asking) { return must(region::locked_by_other(asking, kRange)); }

}  // namespace

TEST_CASE("a lock of a byte excludes other descriptions, not other bytes, and a process that only reads may ask") {
  const Locked file;
  const File one = file.opened();
  const File two = file.opened(File::Access::kRead);
  {
    const ScopedLock lock = must(ScopedLock::take(one, 5, 0));
    CHECK(must(region::locked_by_other(two, {5})));
    CHECK_FALSE(must(region::locked_by_other(two, {4})));
    CHECK_FALSE(must(region::locked_by_other(one, {5})));  // one's own is not another's
    CHECK_FALSE(must(region::try_lock(file.opened(), 5)));
  }
  CHECK_FALSE(must(region::locked_by_other(two, {5})));
  CHECK(must(region::try_lock(file.opened(), 5)));
}

// Such a child shares the description of its parent, and so its lock. A child of fork() shares neither.
TEST_CASE("a child that was not made by fork() leaves its parent's lock alone") {
  const Locked locked;
  const File one = locked.opened();
  auto lock = std::make_unique<ScopedLock>(must(ScopedLock::take(one, 5, 0)));
  const pid_t child = _Fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  CHECK(waitpid(child, nullptr, 0) == child);
  const File two = locked.opened();
  CHECK_FALSE(ScopedLock::take(two, 5, 0).ok());
}

TEST_CASE("a call waits for another process's lock, then fails as busy, and the message names that process") {
  const Locked file;
  const File one = file.opened();
  const ScopedLock lock = must(ScopedLock::take(one, 5, 0));
  const File two = file.opened();
  const VirtualClock clock;
  const auto waited = ScopedLock::take(two, 5, kShort);
  CHECK(waited.error().code == Code::kBusy);
  CHECK(waited.error().message.find("(process " + std::to_string(getpid())) != std::string::npos);
}

namespace {

using namespace std::chrono_literals;

constexpr VirtualClock::Time kPoll = 500us;

// A kind of lock that a caller can wait for.
struct Waiting {
  const char* name;
  std::function<Code(const File& file, std::uint32_t timeout_ms)> take;
};

template <class Lock>
Code code_of(const Result<Lock>& lock) {
  return lock.ok() ? Code::kOk : lock.error().code;
}

const std::vector<Waiting>& kinds_of_waiting() {
  static const std::vector<Waiting> all{
      {"a scope's byte", [](const File& file, std::uint32_t ms) { return code_of(ScopedLock::take(file, 5, ms)); }},
      {"a mapped byte", [](const File& file, std::uint32_t ms) { return code_of(MappedLock::take_byte(file, 5, ms)); }},
      {"any byte", [](const File& file, std::uint32_t ms) { return code_of(MappedLock::take_one(file, kRange, ms)); }},
      {"all bytes", [](const File& file, std::uint32_t ms) { return code_of(MappedLock::take_all(file, kRange, ms)); }},
  };
  return all;
}

// Calls the check for each kind while a lock of all bytes is in the way. The check may release that lock.
void for_every_kind_of_waiting(
    const std::function<void(const Waiting&, const File&, std::unique_ptr<Stranger>&)>& check) {
  for (const Waiting& waiting : kinds_of_waiting()) {
    CAPTURE(waiting.name);
    const Locked file;
    auto stranger = std::make_unique<Stranger>(file, F_RDLCK, ByteRange{0, 0});
    check(waiting, file.opened(), stranger);
  }
}

}  // namespace

// A wait of half a second more than was asked for once passed every test.
TEST_CASE("a call waits for every lock as long as was asked for, and at most a poll longer") {
  for_every_kind_of_waiting([](const Waiting& waiting, const File& file, const std::unique_ptr<Stranger>&) {
    for (const std::uint32_t timeout_ms : {std::uint32_t{0}, std::uint32_t{1}, kShort, kLockTimeoutMs}) {
      CAPTURE(timeout_ms);
      const VirtualClock clock;
      clock.check_waits(std::chrono::milliseconds(timeout_ms), kPoll,
                        [&] { CHECK(waiting.take(file, timeout_ms) == Code::kBusy); });
    }
  });
}

TEST_CASE("on a machine whose sleeps are long a wait ends with the first sleep that is long enough") {
  for_every_kind_of_waiting([](const Waiting& waiting, const File& file, const std::unique_ptr<Stranger>&) {
    constexpr VirtualClock::Time kHour = 1h;
    constexpr std::uint32_t kLongest = kWaitForEver - 1;
    VirtualClock clock;
    clock.sleeps_last(kHour);
    clock.check_waits(std::chrono::milliseconds(kLongest), kHour,
                      [&] { CHECK(waiting.take(file, kLongest) == Code::kBusy); });
    clock.check_waits(kHour, kPoll, [&] { CHECK(waiting.take(file, 1) == Code::kBusy); });
  });
}

TEST_CASE("a lock that is released meanwhile is taken with the next poll") {
  for (const std::uint32_t timeout_ms : {2 * kShort, kWaitForEver}) {
    for_every_kind_of_waiting([&](const Waiting& waiting, const File& file, std::unique_ptr<Stranger>& stranger) {
      VirtualClock clock;
      clock.after(std::chrono::milliseconds(kShort), [&] { stranger.reset(); });
      clock.check_waits(std::chrono::milliseconds(kShort), kPoll,
                        [&] { CHECK(waiting.take(file, timeout_ms) == Code::kOk); });
    });
  }
}

TEST_CASE("an endless wait lasts ten minutes, and ends when the lock is released") {
  for_every_kind_of_waiting([](const Waiting& waiting, const File& file, std::unique_ptr<Stranger>& stranger) {
    VirtualClock clock;
    clock.sleeps_last(100ms);
    clock.after(600s, [&] { stranger.reset(); });
    clock.check_waits(600s, 100ms, [&] { CHECK(waiting.take(file, kWaitForEver) == Code::kOk); });
  });
}

TEST_CASE("a call does not wait for a lock that another part of this process holds for long") {
  const Locked file;
  const File one = file.opened();
  const ScopedLock lock = must(ScopedLock::take(one, 5, 0));
  one.hold_for_long();
  CHECK(ScopedLock::take(file.opened(), 5, kWaitForEver).error().code == Code::kBusy);
}

TEST_CASE("locks of one byte live together, one of the whole range lives alone") {
  const Locked file;
  const File asking = file.opened(File::Access::kRead);
  {
    const File one = file.opened();
    const File two = file.opened();
    const MappedLock first = must(MappedLock::take_one(one, kRange, 0));
    CHECK_FALSE(must(first.others(one)));
    CHECK(held(asking));
    {
      const MappedLock second = must(MappedLock::take_one(two, kRange, 0));
      CHECK(must(first.others(one)));
      CHECK(must(second.others(two)));
      CHECK(MappedLock::take_all(file.opened(), kRange, kWaitForEver).error().code == Code::kBusy);
    }
    CHECK_FALSE(must(first.others(one)));
  }
  CHECK_FALSE(held(asking));
  const File alone = file.opened();
  const MappedLock all = must(MappedLock::take_all(alone, kRange, 0));
  CHECK_FALSE(must(all.others(alone)));
  for (int i = 0; i < 50; ++i)  // whichever byte is tried
    CHECK(MappedLock::take_one(file.opened(), kRange, kWaitForEver).error().code == Code::kBusy);
}

TEST_CASE("the lock of a large range is found at any byte of it, without a wait") {
  constexpr ByteRange kLarge{1000, 65536};
  const Locked file;
  const File alone = file.opened();
  const MappedLock all = must(MappedLock::take_all(alone, kLarge, 0));
  const auto refused = MappedLock::take_one(file.opened(), kLarge, kWaitForEver);
  CHECK(refused.error().code == Code::kBusy);
  CHECK(refused.error().message.find("an exclusive writer") != std::string::npos);
}

TEST_CASE("a range has as many locks as bytes") {
  const Locked file;
  std::vector<File> files;
  std::vector<MappedLock> locks;
  for (std::uint64_t i = 0; i < kRange.count; ++i) {
    files.push_back(file.opened());
    locks.push_back(must(MappedLock::take_one(files.back(), kRange, 0)));
  }
  CHECK(held(file.opened()));
}

// A backup program takes such a lock, or Samba.
TEST_CASE("a stranger's shared lock does not count as a writer's, and only blocks") {
  const Locked file;
  const File asking = file.opened();
  const Stranger reading(file, F_RDLCK, {0, 0});
  CHECK_FALSE(held(asking));
  CHECK_FALSE(must(region::locked_by_other(asking, {5})));
  CHECK(ScopedLock::take(asking, 5, kShort).error().code == Code::kBusy);
  CHECK(MappedLock::take_one(asking, kRange, kShort).error().code == Code::kBusy);
  CHECK(MappedLock::take_all(asking, kRange, kShort).error().code == Code::kBusy);
}

TEST_CASE("a stranger's exclusive lock of the whole file does not count as a writer's") {
  const Locked file;
  const Stranger writing(file, F_WRLCK, {0, 0});
  CHECK_FALSE(held(file.opened()));
}

TEST_CASE("a lock of all bytes is told from locks of some") {
  const Locked file;
  const File asking = file.opened(File::Access::kRead);
  const auto wholly = [&] { return must(region::wholly_locked_by_other(asking, kRange)); };
  CHECK_FALSE(wholly());
  const File one = file.opened();
  {
    const MappedLock lock = must(MappedLock::take_one(one, kRange, 0));
    CHECK_FALSE(wholly());
  }
  {
    const MappedLock lock = must(MappedLock::take_all(one, kRange, 0));
    CHECK(wholly());
  }
  const Stranger writing(file, F_WRLCK, {0, 0});
  CHECK_FALSE(wholly());
}

TEST_CASE("a mapped lock stays when other code closes every descriptor, and ends with its owner") {
  const Locked file;
  const File asking = file.opened(File::Access::kRead);
  const pid_t child = fork();
  if (child == 0) {
    const File one = file.opened();
    auto lock = std::make_unique<MappedLock>(must(MappedLock::take_one(one, kRange, 0)));
    closefrom(3);
    const bool stays = held(file.opened());
    lock.reset();
    _exit(stays && !held(file.opened()) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_FALSE(held(asking));
}

TEST_CASE("a child does not have its killed parent's mapped lock") {
  const Locked file;
  const File asking = file.opened(File::Access::kRead);
  int alive[2];
  REQUIRE(pipe(alive) == 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const File one = file.opened();
    const MappedLock lock = must(MappedLock::take_all(one, kRange, 0));
    if (fork() == 0) {
      const pid_t self = getpid();
      if (write(alive[1], &self, sizeof self) == sizeof self) pause();
      _exit(1);
    }
    pause();
  }
  pid_t child = 0;
  REQUIRE(read(alive[0], &child, sizeof child) == sizeof child);
  CHECK(held(asking));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  CHECK_FALSE(held(asking));
  kill(child, SIGKILL);
}
