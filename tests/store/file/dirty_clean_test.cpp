// The file's state while it is in use: dirty from before open returns until after its last writer closed.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Checks that the file is marked dirty, by this system, in this very file.
void check_marked_dirty(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  const OnDisk now = look_at(path);
  CHECK(now.slots.whole());
  CHECK(now.says_dirty());
  CHECK(now.newest().place.boot_id == boot_id_here());
  CHECK(now.newest().place.device == facts.st_dev);
  CHECK(now.newest().place.inode == facts.st_ino);
  CHECK(state_of(path) == FileState::kInUse);
}

void check_clean(const std::string& path) {
  CHECK(look_at(path).slots.clean());
  CHECK(state_of(path) == FileState::kClean);
}

}  // namespace

TEST_CASE("a new file says dirty until the handle that made it is closed") {
  TempDir dir;
  Filter filter = created(dir.file());
  check_marked_dirty(dir.file());
  add_keys(filter, 1, 0, kSome);
  check_marked_dirty(dir.file());
  CHECK(filter.close().ok());
  check_clean(dir.file());
}

TEST_CASE("opening for writing has marked the file dirty, with this boot and inode, when it returns") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    Filter filter = opened(Filter::open(dir.file(), mode));
    check_marked_dirty(dir.file());
    CHECK(filter.close().ok());
    check_clean(dir.file());
  }
}

// `cp` writes in this way, and dd with conv=notrunc.
TEST_CASE("a clean copy that is written over the file of a writer is not synced, and never answers no") {
  for (const auto how : {std::ios::trunc, std::ios::in}) {
    for (const bool closes : {false, true}) {
      CAPTURE(closes);
      TempDir dir;
      Filter made = created(dir.file());
      add_keys(made, 1, 0, kSome);
      CHECK(made.close().ok());
      std::ifstream in(dir.file(), std::ios::binary);
      const std::string copy((std::istreambuf_iterator<char>(in)), {});
      Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      add_keys(writer, 2, 0, kSome);
      std::ofstream(dir.file(), std::ios::binary | std::ios::out | how) << copy;
      const Error error = closes ? writer.close() : writer.sync({});
      CHECK(error.code == Code::kPoisoned);
      CHECK(error.message.find("wrote a clean copy over it") != std::string::npos);
      CHECK(maybes(reader, 2, 0, kSome) == kSome);
      CHECK(reader.health() == Code::kPoisoned);
      CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead)) == Code::kPoisoned);
      CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite)) == Code::kPoisoned);
      if (!closes) CHECK_FALSE(writer.close().ok());
      CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead)) == Code::kPoisoned);
    }
  }
}

TEST_CASE("a file whose handle is destroyed without close is clean, too") {
  TempDir dir;
  {
    Filter filter = created(dir.file());
    add_keys(filter, 1, 0, kSome);
  }
  check_clean(dir.file());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("the first of two writers to close leaves the file dirty, the second makes it clean") {
  TempDir dir;
  Filter first = created(dir.file());
  Filter second = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(first, 1, 0, kSome);
  CHECK(first.close().ok());
  check_marked_dirty(dir.file());
  add_keys(second, 2, 0, kSome);
  CHECK(second.close().ok());
  check_clean(dir.file());
}

TEST_CASE("the first of two writing processes to close leaves the file dirty, the second makes it clean") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Remote first(dir.file());
  Remote second(dir.file());
  CHECK(first.call("open write") == "BFS_OK");
  CHECK(second.call("open write") == "BFS_OK");
  check_marked_dirty(dir.file());
  CHECK(second.call("close") == "BFS_OK");
  check_marked_dirty(dir.file());
  CHECK(first.call("add 1 0 200") == "200");
  CHECK(first.call("close") == "BFS_OK");
  check_clean(dir.file());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a reader that stays open does not keep the file dirty, and sees what a later writer adds") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  check_clean(dir.file());
  {
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    check_marked_dirty(dir.file());
    add_keys(writer, 1, 0, kSome);
    CHECK(maybes(reader, 1, 0, kSome) == kSome);
  }
  check_clean(dir.file());
}

TEST_CASE("a writer that is killed while another one lives leaves the file in use, and the other makes it clean") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter stays = opened(Filter::open(dir.file(), OpenMode::kWrite));
  leave_behind(dir.file());
  check_marked_dirty(dir.file());
  CHECK(maybes(stays, 1, 0, kSome) == kSome);
  CHECK(stays.close().ok());
  check_clean(dir.file());
}

TEST_CASE("a sync stores its state and leaves the file dirty") {
  TempDir dir;
  Filter filter = created(dir.file());
  const std::uint64_t before = look_at(dir.file()).newest().sequence;
  CHECK(filter.sync({.owner = 3, .mark = 5}).ok());
  check_marked_dirty(dir.file());
  CHECK(look_at(dir.file()).newest().sequence == before + 1);
  CHECK_FALSE(look_at(dir.file()).syncing);
}

// Found by fuzz_open_file: the sequence began again at 0, which counts as older than the slot that says clean.
TEST_CASE("a file whose slots can be counted no further is refused to writers, and not taken for clean while in use") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const std::uint64_t newest = look_at(dir.file()).newest().sequence;
  edit_slots(dir.file(), [newest](format::Slot& slot) { slot.sequence += UINT64_MAX - newest - 1; });
  const std::string before = read_bytes(dir.file());
  {
    const Filter last = opened(Filter::open(dir.file(), OpenMode::kWrite));  // one more slot can be written
    CHECK(state_of(dir.file()) == FileState::kInUse);
  }
  CHECK(state_of(dir.file()) != FileState::kClean);
  write_bytes(dir.file(), 0, before);
  edit_slots(dir.file(), [](format::Slot& slot) { ++slot.sequence; });
  const std::string last = read_bytes(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kSlots);
  CHECK(open_code(dir.file(), OpenMode::kExclusive) == Code::kSlots);
  CHECK(read_bytes(dir.file()) == last);
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
}

TEST_CASE("a forked child that ends its copy of a handle does not close the file of its parent") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Remote parent(dir.file());
  CHECK(parent.call("open write") == "BFS_OK");
  CHECK(parent.call("add 1 0 200") == "200");
  CHECK(parent.call("child") == "done");
  check_marked_dirty(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kExclusive) == Code::kBusy);
  CHECK(parent.call("add 2 0 200") == "200");
  CHECK(parent.call("close") == "BFS_OK");
  check_clean(dir.file());
}
