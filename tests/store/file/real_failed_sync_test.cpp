// Syncs that fail for real: a filesystem of the test's own on a device that has run out of space without its knowledge.
// So the system cannot write pages with new keys, and takes them for written. They are dropped, and read again as they
// were before: no process may answer from them.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "full_disk.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// The writer does not ask the kernel: whenever the system writes, its sync learns of the failure. Another program's
// sync may be earlier.
Filter opened_writer(const std::string& path) {
  return opened(Filter::open(path, OpenMode::kWrite, {.writeback_check_ms = kNeverAsks}));
}

void check_nobody_is_let_in(const std::string& path) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(path, mode);
    CHECK_FALSE(refused.ok());
  }
}

void recover_by_the_mark(const std::string& path) {
  Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
  CHECK(filter.get_mark(1) == kBefore);
  add_keys(filter, 1, kBefore, kAll - kBefore);
  CHECK(filter.finish_recovery(1).ok());
  CHECK(filter.close().ok());
  reclaim(path);
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  CHECK(maybes(reader, 1, 0, kAll) == kAll);
  CHECK(answers_no(reader));
}

// Mounts the filesystem again. One that gave its journal up is read-only until then.
void mount_again(FullDisk& full) {
  full.backing.grow_again();
  REQUIRE(full.disk->unmount());
  REQUIRE(full.disk->mount());
}

// Checks that the mark is enough to recover the file: the device has room again, and the machine was started again.
void check_it_can_be_recovered(FullDisk& full) {
  REQUIRE(new_boot(workshop));
  mount_again(full);
  check_nobody_is_let_in(full.paths[0]);
  recover_by_the_mark(full.paths[0]);
}

// Returns whether keys were lost, or it cannot be tried here. Otherwise nothing has been tested: if another program's
// sync makes ext4 give its journal up while keys are being added, the pages stay dirty, and in memory.
bool try_to_fail_a_sync(const std::string& type) {
  FullDisk full(type);
  if (full.disk == nullptr) return true;
  {
    Filter writer = opened_writer(full.paths[0]);
    add_keys(writer, 1, kBefore, kAll - kBefore);
    const Error failed = writer.sync({.owner = 1, .mark = kAll});
    CAPTURE(failed.message);
    REQUIRE(failed.code == Code::kPoisoned);
    // EROFS: ext4 gave its journal up, because the system had tried to write before.
    CHECK((failed.os_errno == EIO || failed.os_errno == ENOSPC || failed.os_errno == EROFS));
    CHECK(maybes(writer, 1, 0, kAll) == kAll);
    reclaim(full.paths[0]);
    CHECK(maybes(writer, 1, 0, kAll) == kAll);
    CHECK(writer.health() == Code::kPoisoned);
    CHECK(writer.sync({.owner = 1, .mark = kAll}).code == Code::kPoisoned);
    CHECK(writer.add("more").code() == Code::kPoisoned);
    check_nobody_is_let_in(full.paths[0]);
    CHECK_FALSE(writer.close().ok());
  }
  reclaim(full.paths[0]);
  const bool lost = lost_in(full.paths[0]) > 0;
  check_nobody_is_let_in(full.paths[0]);
  check_it_can_be_recovered(full);
  return lost;
}

template <class Try>
void until_keys_are_lost(Try attempt) {
  bool lost = false;
  for (int tries = 0; tries < 10 && !lost; ++tries) lost = attempt();
  CHECK(lost);
}

void fail_a_sync(const std::string& type) {
  until_keys_are_lost([&] { return try_to_fail_a_sync(type); });
}

// The write fails when no process is left that could be told. Returns what try_to_fail_a_sync() returns.
bool try_to_fail_behind_a_killed_writer(const std::string& type, bool again) {
  FullDisk full(type, 1, Lacking::kRoomForNewBits);
  if (full.disk == nullptr) return true;
  CHECK(in_child([&] {
          auto writer = Filter::open(full.paths[0], OpenMode::kWrite, {.writeback_check_ms = kNeverAsks});
          bool good = writer.ok();
          for (std::uint64_t i = kBefore; good && i < kAll; ++i) good = writer->add(key_of(1, i)).ok();
          _exit(good ? 0 : 1);  // without closing anything
          return 0;
        }) == 0);
  full.disk->settle();
  reclaim(full.paths[0]);
  if (lost_in(full.paths[0]) == 0) return false;
  if (again) mount_again(full);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    const auto late = Filter::open(full.paths[0], mode);
    CHECK_FALSE(late.ok());
  }
  if (!again) check_it_can_be_recovered(full);
  return true;
}

void fail_behind_a_killed_writer(const std::string& type, bool again) {
  until_keys_are_lost([&] { return try_to_fail_behind_a_killed_writer(type, again); });
}

}  // namespace

TEST_CASE("a failed write of a device poisons the file, on ext4, and pages that are dropped make no wrong no") {
  fail_a_sync("ext4");
}

TEST_CASE("a failed write of a device poisons the file, on xfs, and pages that are dropped make no wrong no") {
  fail_a_sync("xfs");
}

// The pages have every bit, and the system takes them for written: adding again changes nothing in them.
TEST_CASE("a recovery writes pages that the system counts as written, so dropping them afterwards loses nothing") {
  FullDisk full("xfs");  // ext4 would give its journal up, and be read-only until it is mounted again
  if (full.disk == nullptr) return;
  {
    Filter writer = opened_writer(full.paths[0]);
    add_keys(writer, 1, kBefore, kAll - kBefore);
    REQUIRE(writer.sync({.owner = 1, .mark = kAll}).code == Code::kPoisoned);
    CHECK_FALSE(writer.close().ok());
  }
  full.backing.grow_again();
  recover_by_the_mark(full.paths[0]);
}

// The kernel tells each open file of the failure by itself. The reader cannot know that a recovery came after it.
TEST_CASE(
    "a reader that was open when a write failed may poison the file once more after the recovery, and not twice") {
  FullDisk full("xfs");
  if (full.disk == nullptr) return;
  const std::string& path = full.paths[0];
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  {
    Filter writer = opened_writer(path);
    add_keys(writer, 1, kBefore, kAll - kBefore);
    REQUIRE(writer.sync({.owner = 1, .mark = kAll}).code == Code::kPoisoned);
    CHECK_FALSE(writer.close().ok());
  }
  full.backing.grow_again();
  recover_by_the_mark(path);
  CHECK(maybes(reader, 1, 0, kAll) == kAll);
  static_cast<void>(reader.is_current());
  CHECK(reader.health() == Code::kPoisoned);
  CHECK(open_code(path, OpenMode::kRead) == Code::kPoisoned);
  recover_by_the_mark(path);
  CHECK(reader.is_current().value());
  CHECK(reader.health() == Code::kOk);
  CHECK(maybes(reader, 1, 0, kAll) == kAll);
}

TEST_CASE("a killed writer's file with keys that the device could not write is not adopted, on ext4") {
  fail_behind_a_killed_writer("ext4", false);
}

TEST_CASE("a killed writer's file with keys that the device could not write is not adopted, on xfs") {
  fail_behind_a_killed_writer("xfs", false);
}

// The kernel tells of the failure as long as it remembers the inode, and then of nothing. But it was another mount.
TEST_CASE("a killed writer's file that lost keys is not adopted after its filesystem was mounted again") {
  for (const char* type : {"ext4", "xfs"}) {
    const std::string on = type;
    CAPTURE(on);
    fail_behind_a_killed_writer(type, true);
  }
}

int main(int count, char** values) { return run_in_workshop(count, values, workshop); }
