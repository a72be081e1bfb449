// A dirty file without a live writer: which processes may use it, which may not, and that looking at it changes
// nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "format/identity.hpp"
#include "hash/hash.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;

namespace {

// A file that a killed process left, with 200 keys of writer 1.
struct LeftBehind {
  LeftBehind() {
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
  }
  TempDir dir;
  std::string path = dir.file();
};

// Checks what reading, writing and looking say about a file that must not be used.
void check_unclean(const std::string& path) {
  CHECK(state_of(path) == FileState::kUnclean);
  const std::string before = read_bytes(path);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(path, mode);
    CHECK(code_of(refused) == Code::kUnclean);
  }
  CHECK(read_bytes(path) == before);
  CHECK(state_of(path) == FileState::kUnclean);
}

// Gives the file a feature of a later version, without which it may be read alone.
void need_a_later_writer(const std::string& path) {
  constexpr std::uint32_t kLater = std::uint32_t{1} << 31;
  std::string record = read_bytes(path).substr(0, format::kPageBytes);
  const auto bytes = std::as_writable_bytes(std::span(record));
  format::put(bytes, format::kRoCompatField, kLater);
  const std::size_t covered = bytes.size() - format::kChecksumBytes;
  base::store(bytes.data() + covered, hash::xxh3(bytes.data(), covered, 0));
  write_bytes(path, 0, record);
}

std::array<std::int64_t, 2> time_of_change(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
}

// Opens for reading, asks, closes. Returns 0 if all is as it must be. For children, so without doctest.
int adopt_quietly(const std::string& path) {
  auto reader = Filter::open(path, OpenMode::kRead);
  if (!reader) return 10;
  if (maybes(*reader, 1, 0, kSome) != kSome) return 11;
  if (maybes(*reader, kNobody, 0, 100) > 50) return 12;
  if (reader->add(key_of(2, 0)).code() != Code::kReadOnly) return 13;
  return reader->close().ok() ? 0 : 14;
}

}  // namespace

TEST_CASE("a reader adopts a file that a killed writer left, and changes nothing") {
  LeftBehind left;
  CHECK(state_of(left.path) == FileState::kAdoptable);
  const std::string before = read_bytes(left.path);
  CHECK(adopt_quietly(left.path) == 0);
  CHECK(read_bytes(left.path) == before);
  CHECK(state_of(left.path) == FileState::kAdoptable);
}

TEST_CASE("a reader that may not write the file adopts it, too") {
  LeftBehind left;
  REQUIRE(chmod(left.dir.path().c_str(), 0755) == 0);
  REQUIRE(chmod(left.path.c_str(), 0444) == 0);
  const std::string before = read_bytes(left.path);
  const auto changed = time_of_change(left.path);
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          if (access(left.path.c_str(), W_OK) == 0) return 21;
          const int adopted = adopt_quietly(left.path);
          if (adopted != 0) return adopted;
          return Filter::open(left.path, OpenMode::kWrite).error().code == Code::kAccess ? 0 : 22;
        }) == 0);
  CHECK(read_bytes(left.path) == before);
  CHECK(time_of_change(left.path) == changed);
}

TEST_CASE("a reader of a version that may not write the file adopts it, too") {
  LeftBehind left;
  need_a_later_writer(left.path);
  CHECK(code_of(Filter::open(left.path, OpenMode::kWrite)) == Code::kFeature);
  CHECK(state_of(left.path) == FileState::kAdoptable);
  const std::string before = read_bytes(left.path);
  CHECK(adopt_quietly(left.path) == 0);
  CHECK(read_bytes(left.path) == before);
}

TEST_CASE("a writer adopts a file that a killed writer left, continues with it, and closes it clean") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    LeftBehind left;
    Filter writer = opened(Filter::open(left.path, mode));
    CHECK(state_of(left.path) == FileState::kInUse);
    CHECK(maybes(writer, 1, 0, kSome) == kSome);
    add_keys(writer, 2, 0, kSome);
    CHECK(writer.close().ok());
    CHECK(state_of(left.path) == FileState::kClean);
    const Filter reader = opened(Filter::open(left.path, OpenMode::kRead));
    CHECK(maybes(reader, 1, 0, kSome) + maybes(reader, 2, 0, kSome) == 2 * kSome);
  }
}

// A kill in the middle of a question leaves the file unclean, so no question comes before its time. The question here
// finds a sync whose process died.
TEST_CASE("a writer asks the kernel after its first pause, and not when it adds its first key") {
  for (const std::uint32_t pause_ms : {3'600'000U, 0U}) {
    CAPTURE(pause_ms);
    TempDir dir;
    Options options;
    options.capacity = 1000;
    options.writeback_check_ms = pause_ms;
    Filter maker = created(dir.file("made"), options);
    REQUIRE(created(dir.file("opened")).close().ok());
    Filter writer = opened(Filter::open(dir.file("opened"), OpenMode::kWrite, {.writeback_check_ms = pause_ms}));
    for (const auto& [filter, name] : {std::pair(&maker, "made"), std::pair(&writer, "opened")}) {
      const std::string path = dir.file(name);
      set_syncing(path);
      static_cast<void>(filter->add("first"));
      CHECK(filter->health() == (pause_ms == 0 ? Code::kPoisoned : Code::kOk));
    }
  }
}

TEST_CASE("readers that adopted a file see what a writer that adopts it later adds") {
  LeftBehind left;
  const Filter reader = opened(Filter::open(left.path, OpenMode::kRead));
  Filter writer = opened(Filter::open(left.path, OpenMode::kWrite));
  add_keys(writer, 2, 0, kSome);
  CHECK(maybes(reader, 2, 0, kSome) == kSome);
  CHECK(answers_no(reader));
}

TEST_CASE("a file that was dirty in another boot is unclean") {
  LeftBehind left;
  edit_slots(left.path, [](Slot& slot) { slot.place.boot_id[5] ^= 1; });
  check_unclean(left.path);
}

TEST_CASE("a file that was dirty in an unknown boot is unclean") {
  LeftBehind left;
  edit_slots(left.path, [](Slot& slot) { slot.place.boot_id = {}; });
  check_unclean(left.path);
}

TEST_CASE("a copy that was made while the file was in use is unclean") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  copy_file(dir.file(), dir.file("copy.bf"));
  check_unclean(dir.file("copy.bf"));
  CHECK(writer.close().ok());
  check_unclean(dir.file("copy.bf"));
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
}

// A copy that was made while the file was in use, and put in its place after the file was removed, often gets the very
// inode number of the file: keys that were added after the copy was made are not in it.
TEST_CASE("a copy with the inode number of the file that it was copied from is unclean") {
  TempDir dir;
  Filter writer = created(dir.file());
  copy_file(dir.file(), dir.file("copy.bf"));
  add_keys(writer, 1, 0, kSome);
  struct stat facts {};
  REQUIRE(stat(dir.file("copy.bf").c_str(), &facts) == 0);
  edit_slots(dir.file("copy.bf"), [&](Slot& slot) { slot.place.inode = facts.st_ino; });
  check_unclean(dir.file("copy.bf"));
}

TEST_CASE("a file that was dirty on another device is unclean") {
  LeftBehind left;
  edit_slots(left.path, [](Slot& slot) { ++slot.place.device; });
  check_unclean(left.path);
}

TEST_CASE("a file whose writer died in a sync is unclean") {
  LeftBehind left;
  set_syncing(left.path);
  check_unclean(left.path);
}

TEST_CASE("a dirty file with a torn state slot is unclean") {
  for (const std::size_t which : {0U, 1U}) {
    LeftBehind left;
    write_bytes(left.path, format::kSlotOffset + which * format::kPageBytes + 2048, "torn");
    check_unclean(left.path);
  }
}

TEST_CASE("a clean file with a torn state slot is unclean") {
  for (const std::size_t which : {0U, 1U}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    write_bytes(dir.file(), format::kSlotOffset + which * format::kPageBytes + 2048, "torn");
    check_unclean(dir.file());
  }
}

TEST_CASE("a file with two valid slots that do not follow each other is unclean") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const std::uint64_t newest = look_at(dir.file()).newest().sequence;
  edit_slots(dir.file(), [&](Slot& slot) { slot.sequence += slot.sequence == newest ? 1 : 0; });
  check_unclean(dir.file());
}

TEST_CASE("a clean file that still carries the flag of the sync that made it clean is clean") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  set_syncing(dir.file());
  CHECK(state_of(dir.file()) == FileState::kClean);
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK_FALSE(look_at(dir.file()).syncing);
  CHECK(writer.sync({.owner = 1, .mark = 1}).ok());
  CHECK(writer.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("poisoned and recovering files are refused with their own codes") {
  const std::array<std::pair<std::uint64_t, Code>, 2> cases{
      {{format::LiveWord::kPoisoned, Code::kPoisoned}, {format::LiveWord::kRecovering, Code::kRecovering}}};
  for (const auto& [flag, code] : cases) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    set_live_word(dir.file(), look_at(dir.file()).live_word | flag);
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
      CHECK(open_code(dir.file(), mode) == code);
    }
  }
}

TEST_CASE("a second writer needs no adoption, but is refused if a process died in a sync") {
  TempDir dir;
  const Filter stays = created(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk);
  set_syncing(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
  CHECK(open_code(dir.file(), OpenMode::kWrite) != Code::kOk);
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
}

TEST_CASE("the error for an unclean file names the path and the marks up to which its keys are durable") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  {
    Remote writer(dir.file());
    CHECK(writer.call("open write") == "BFS_OK");
    CHECK(writer.call("sync 7 4711") == "BFS_OK");
    CHECK(writer.call("sync 8 12") == "BFS_OK");
    writer.kill();
  }
  edit_slots(dir.file(), [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    const auto refused = Filter::open(dir.file(), mode);
    REQUIRE(code_of(refused) == Code::kUnclean);
    const std::string& message = refused.error().message;
    CAPTURE(message);
    CHECK(message.find(dir.file()) != std::string::npos);
    CHECK(message.find("owner 7 up to mark 4711") != std::string::npos);
    CHECK(message.find("owner 8 up to mark 12") != std::string::npos);
  }
}
