// No process waits for ever: neither for a process that is slow or stopped in the middle of its work, nor for another
// part of its own.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "faults.hpp"
#include "format/locks.hpp"
#include "support.hpp"
#include "support/virtual_clock.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kTimeoutMs = 200;
constexpr std::uint32_t kLongMs = 120'000;
constexpr VirtualClock::Time kPoll = 2ms;         // of a reader; a writer polls more often
constexpr VirtualClock::Time kOfAReader = 100ms;  // at most, for a state that will not change soon

const OpenOptions kImpatient{.lock_timeout_ms = kTimeoutMs};
const OpenOptions kPatient{.lock_timeout_ms = kLongMs};

Options replacing(std::uint32_t timeout_ms = kLongMs) {
  Options options = small_options();
  options.replace = true;
  options.lock_timeout_ms = timeout_ms;
  return options;
}

Options replacing_later() {
  Options options = replacing();
  options.unpublished = true;
  return options;
}

// Starts a process that stands still in the first sync of what it adopts. That sync then fails, or does not.
std::unique_ptr<Stopped> stopped_adopter(const std::string& path, int sync_errno) {
  return std::make_unique<Stopped>([&] {
    bool first = true;
    faults::on_sync = [&](int) {
      if (!first) return 0;
      first = false;
      raise(SIGSTOP);
      return sync_errno;
    };
    const auto writer = Filter::open(path, OpenMode::kWrite);
    raise(SIGSTOP);
  });
}

void check_busy(const Result<Filter>& result, const Stopped& holder) {
  CHECK(code_of(result) == Code::kBusy);
  CHECK_MESSAGE(result.error().message.find(holder.in_words()) != std::string::npos, result.error().message);
}

// Checks that the call ends with kBusy after kTimeoutMs.
void check_gets_busy(const std::function<Result<Filter>()>& call, const Stopped& holder) {
  const VirtualClock clock;
  clock.check_waits(std::chrono::milliseconds(kTimeoutMs), kPoll, [&] { check_busy(call(), holder); });
}

}  // namespace

// A reader once opened the file while that sync was under way, before it was known whether it works.
TEST_CASE("a reader waits for a process that adopts the file, and is refused when that one's sync fails") {
  for (const int sync_errno : {EIO, 0}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    const auto adopter = stopped_adopter(dir.file(), sync_errno);
    VirtualClock clock;
    clock.after(100s, [&] { adopter->go_on(); });
    std::optional<Result<Filter>> reader;
    clock.check_waits(100s, kPoll, [&] { reader = Filter::open(dir.file(), OpenMode::kRead, kPatient); });
    if (sync_errno != 0) {
      CHECK(code_of(*reader) == Code::kPoisoned);
    } else {
      CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
      CHECK(reader->ok());
    }
  }
}

TEST_CASE("a call waits for a process that is stopped while it adopts the file no longer than was asked for") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  const auto adopter = stopped_adopter(dir.file(), 0);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
    check_gets_busy([&] { return Filter::open(dir.file(), mode, kImpatient); }, *adopter);
  check_gets_busy([&] { return Filter::create(dir.file(), replacing(kTimeoutMs)); }, *adopter);
  adopter->kill();  // no process knows whether its sync worked
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
}

TEST_CASE("a call waits for a process that is stopped while it replaces the file no longer than was asked for") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  Stopped replacer([&] {
    auto fresh = Filter::create(dir.file(), replacing_later());
    if (!fresh || !fresh->supersede().ok()) _exit(1);
    raise(SIGSTOP);
  });
  {
    const VirtualClock clock;
    clock.check_waits(kOfAReader, kPoll, [&] {
      CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, kPatient)) == Code::kSuperseded);
    });
    clock.check_waits_not([&] {
      CHECK(writer.add(key_of(1, kSome)).code() == Code::kSuperseded);
      CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kSuperseded);
    });
  }
  check_gets_busy([&] { return Filter::open(dir.file(), OpenMode::kWrite, kImpatient); }, replacer);
  check_gets_busy([&] { return Filter::create(dir.file(), replacing(kTimeoutMs)); }, replacer);
  replacer.kill();
  CHECK(opened(Filter::open(dir.file(), OpenMode::kWrite)).contains(key_of(1, 0)));
  CHECK(writer.add(key_of(1, kSome)).ok());
}

TEST_CASE("a process that already replaces the file does not wait for itself") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter fresh = created(dir.file(), replacing_later());
  CHECK(fresh.supersede().ok());
  Filter second = created(dir.file(), replacing_later());
  const VirtualClock clock;
  clock.check_waits_not([&] {
    CHECK(second.supersede().code == Code::kBusy);
    CHECK(second.publish().code == Code::kBusy);
    CHECK(code_of(Filter::create(dir.file(), replacing())) == Code::kBusy);
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, kPatient)) == Code::kBusy);
  });
  add_keys(fresh, 1, 0, kSome);
  CHECK(fresh.publish().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

// The second call once superseded the file that the first one had published.
TEST_CASE("two threads that supersede by one handle both succeed, and what is published is not superseded") {
  TempDir dir(memory_folder());
  for (int round = 0; round < 100; ++round) {
    CHECK(created(dir.file(), replacing()).close().ok());
    Filter fresh = created(dir.file(), replacing_later());
    std::atomic<int> ready{0};
    std::array<Error, 2> outcomes;
    const auto supersede = [&](Error& outcome) {
      for (++ready; ready < 2;) {
      }
      outcome = fresh.supersede();
    };
    std::thread one([&] { supersede(outcomes[0]); });
    supersede(outcomes[1]);
    one.join();
    for (const Error& outcome : outcomes) REQUIRE_MESSAGE(outcome.ok(), outcome.message);
    CHECK(fresh.publish().ok());
    CHECK(fresh.health() == Code::kOk);
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
  }
}

namespace {

using Call = Error (*)(const std::string& path, std::vector<Filter>& writers);

Error sync_one(const std::string&, std::vector<Filter>& writers) {
  return writers.front().sync({.owner = 1, .mark = 1});
}
Error close_one(const std::string&, std::vector<Filter>& writers) { return writers.front().close(); }
Error open_one(const std::string& path, OpenMode mode) {
  const auto filter = Filter::open(path, mode, kImpatient);
  return filter ? Error{} : filter.error();
}
Error write_one(const std::string& path, std::vector<Filter>&) { return open_one(path, OpenMode::kWrite); }
Error read_one(const std::string& path, std::vector<Filter>&) { return open_one(path, OpenMode::kRead); }

void cut(const std::string& path) {
  if (truncate(path.c_str(), 0) != 0) _exit(100);
}

// Returns the call's code, from a child: a store to the page of a live word that was cut would end it. `arm` says when
// the file is cut. The child ends at once: what it has mapped is not there any more.
Code code_where_cut(const std::string& path, std::size_t num_writers, const std::function<void()>& arm, Call call) {
  const int code = in_child([&] {
    std::vector<Filter> writers;
    for (std::size_t i = 0; i < num_writers; ++i) {
      auto writer = Filter::open(path, OpenMode::kWrite, kImpatient);
      if (!writer) return 101;
      writers.push_back(std::move(*writer));
    }
    arm();
    const Error error = call(path, writers);
    _exit(-static_cast<int>(error.code));
    return 0;
  });
  return static_cast<Code>(-code);
}

// Returns a call that cuts the file once that byte is locked.
std::function<void()> at_lock(
    const std::string& path, std::uint64_t byte, const std::function<void()>& then = [] {}) {
  return [=] {
    faults::after_lock = [=](const faults::LockCall& made) {
      if (made.command != F_OFD_SETLK || made.kind != F_WRLCK || made.byte != static_cast<long>(byte)) return;
      cut(path);
      then();
    };
  };
}

std::function<void()> at_sync(
    const std::string& path, const std::function<void()>& then = [] {}) {
  return [=] {
    faults::on_sync = [=](int) {
      cut(path);
      then();
      return 0;
    };
  };
}

}  // namespace

TEST_CASE("a file that is cut while a process waits for a lock of it, or syncs it, is an error and no signal") {
  TempDir dir;
  const std::string path = dir.file();
  const auto code = [&](std::size_t num_writers, const std::function<void()>& arm, Call call) {
    unlink(path.c_str());
    CHECK(created(path).close().ok());
    if (num_writers == 0) leave_behind(path);
    return code_where_cut(path, num_writers, arm, call);
  };
  const auto nobody_stores = [&path] { lock_as_stranger(path, F_WRLCK, F_OFD_SETLK, format::kStateLock, 1); };
  CHECK(code(1, at_lock(path, format::kSyncLock), sync_one) == Code::kLost);
  CHECK(code(1, at_lock(path, format::kSyncLock, nobody_stores), sync_one) == Code::kLost);
  CHECK(code(1, at_lock(path, format::kStateLock), sync_one) == Code::kLost);
  CHECK(code(1, at_sync(path), sync_one) == Code::kLost);
  CHECK(code(1, at_sync(path, nobody_stores), sync_one) == Code::kLost);
  CHECK(code(1, at_sync(path), close_one) == Code::kLost);
  CHECK(code(2, at_lock(path, format::kSyncLock), close_one) == Code::kLost);
  CHECK(code(1, at_lock(path, format::kSyncLock), write_one) == Code::kLost);
  CHECK(code(0, at_lock(path, format::kSyncLock), write_one) == Code::kLost);
  CHECK(code(0, at_lock(path, format::kSyncLock), read_one) == Code::kTooShort);  // opens it again
}
