// A device that is put back to an earlier moment, or whose filesystem is mounted again, while the system runs: the same
// boot, device and inode, and yet not what a killed process wrote.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "full_disk.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Returns whether the mount alone tells the two apart. It is false if the file is on another device: another process
// may have taken the number of the first one while it was free.
bool is_another_mount_alone(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  const format::Slot then = look_at(path).newest();
  if (then.place.device != facts.st_dev) return false;
  CHECK(then.place.boot_id == boot_id_here());
  CHECK(then.place.inode == facts.st_ino);
  CHECK(then.place.mount != 0);
  return true;
}

void check_refused_and_recover(const std::string& path) {
  CHECK(state_of(path) == FileState::kUnclean);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(open_code(path, mode) == Code::kUnclean);
  {
    Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
    CHECK(filter.get_mark(1) == kBefore);
    add_keys(filter, 1, kBefore, kAll - kBefore);
    CHECK(filter.finish_recovery(1).value());
    CHECK(filter.close().ok());
  }
  CHECK(maybes(opened(Filter::open(path, OpenMode::kRead)), 1, 0, kAll) == kAll);
}

// Returns whether the file was on one device all the time, or this cannot be tried here.
bool try_once(const std::string& type, bool put_back) {
  std::string why;
  const auto disk = LoopDisk::make(type, workshop, std::uint64_t{320} << 20, why);
  if (disk == nullptr) {
    tests::skip_case(why);
    return true;
  }
  const std::string path = disk->path() + "/filter.bf";
  {
    Stopped writer([&] {
      auto filter = Filter::create(path, small_options());
      bool good = filter.ok();
      for (std::uint64_t i = 0; good && i < kAll; ++i) {
        good = filter->add(key_of(1, i)).ok() && (i + 1 != kBefore || filter->sync({.owner = 1, .mark = kBefore}).ok());
      }
      if (!good) _exit(1);
      raise(SIGSTOP);
    });
    if (put_back) REQUIRE(disk->take_snapshot());
  }
  CHECK(state_of(path) == FileState::kAdoptable);
  REQUIRE(disk->unmount());
  if (put_back) REQUIRE(disk->put_back_snapshot());
  REQUIRE(disk->mount());
  if (!is_another_mount_alone(path)) return false;
  check_refused_and_recover(path);
  return true;
}

void put_back_or_mount_again(const std::string& type, bool put_back) {
  bool done = false;
  for (int tries = 0; tries < 10 && !done; ++tries) done = try_once(type, put_back);
  CHECK(done);
}

}  // namespace

TEST_CASE("no process adopts the file of a device that was put back to an earlier moment in the same boot, on ext4") {
  put_back_or_mount_again("ext4", true);
}

TEST_CASE("no process adopts the file of a device that was put back to an earlier moment in the same boot, on xfs") {
  put_back_or_mount_again("xfs", true);
}

TEST_CASE("no process adopts the file of a filesystem that was mounted again in the same boot") {
  for (const char* type : {"ext4", "xfs"}) {
    const std::string on = type;
    CAPTURE(on);
    put_back_or_mount_again(type, false);
  }
}

int main(int count, char** values) { return run_in_workshop(count, values, workshop); }
