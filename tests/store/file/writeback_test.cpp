// The system writes pages by itself, and fails, while a writer lives and no process syncs. It takes the pages for
// written, and may drop them. The next process that asks the kernel learns of it, and poisons the file for every
// process.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "full_disk.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// A way to ask the kernel, while a writer and a reader have the file open.
struct Finder {
  std::string name;
  bool opens_to_tell;  // it has to open the file for writing, so that the other processes learn of it
  std::function<void(Filter& writer, const Filter& reader, const std::string& path)> ask;
};

void check_told(const Filter& filter) {
  CHECK(maybes(filter, 1, 0, kAll) == kAll);
  CHECK(maybes(filter, kNobody, 0, 100) == 100);
}

void ask_is_current(const Filter& filter) {
  static_cast<void>(filter.is_current());
  check_told(filter);
}

std::vector<Finder> finders() {
  return {
      {"the writer's is_current", false,
       [](Filter& writer, const Filter&, const std::string&) { ask_is_current(writer); }},
      {"a later add that changes a bit", false,
       [](Filter& writer, const Filter&, const std::string&) {
         bool refused = false;
         for (std::uint64_t i = 0; i < 100 && !refused; ++i) refused = !writer.add(key_of(2, i)).ok();
         CHECK(refused);
       }},
      {"the reader's is_current", true,
       [](Filter&, const Filter& reader, const std::string&) { ask_is_current(reader); }},
      {"a reader that comes later", true,
       [](Filter&, const Filter&, const std::string& path) { CHECK(open_code(path, OpenMode::kRead) != Code::kOk); }},
      {"a writer that comes later", true,
       [](Filter&, const Filter&, const std::string& path) { CHECK(open_code(path, OpenMode::kWrite) != Code::kOk); }},
  };
}

// Opens a writer that asks by itself at each add that changes a bit, if `asks`.
Filter opened_writer(const std::string& path, bool asks) {
  return opened(Filter::open(path, OpenMode::kWrite, {.writeback_check_ms = asks ? 0U : 1'000'000'000U}));
}

void lose(const FullDisk& full) {
  full.disk->settle();
  for (const std::string& path : full.paths) {
    reclaim(path);
    CHECK(lost_in(path) > 0);  // otherwise nothing has been tested
  }
}

// A busy system writes pages, and fails, before the last add, and a writer that asks learns of it.
void add_until_told(Filter& writer, bool asks) {
  for (std::uint64_t i = kBefore; i < kAll; ++i) {
    const Count added = writer.add(key_of(1, i));
    if (asks && added.code() == Code::kPoisoned) return;
    REQUIRE(added.ok());
  }
}

constexpr std::size_t kAdds = 1;  // which of the finders it is

void fail_while_a_writer_lives(const std::string& type) {
  const std::vector<Finder> all = finders();
  const FullDisk full(type, all.size(), Lacking::kRoomForNewBits);
  if (full.disk == nullptr) return;
  std::vector<Filter> writers;
  std::vector<Filter> readers;
  for (const std::string& path : full.paths) {
    writers.push_back(opened_writer(path, writers.size() == kAdds));
    readers.push_back(opened(Filter::open(path, OpenMode::kRead)));
  }
  for (std::size_t i = 0; i < writers.size(); ++i) add_until_told(writers[i], i == kAdds);
  lose(full);
  // The journal finds no room either. A reader then cannot tell the writer, which finds out by itself.
  if (type == "ext4") REQUIRE(full.disk->give_up_journal());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    all[i].ask(writers[i], readers[i], full.paths[i]);
    if (all[i].opens_to_tell && type == "ext4") {
      static_cast<void>(writers[i].is_current());
      CHECK(writers[i].health() == Code::kPoisoned);
    }
    check_told(writers[i]);
    check_told(readers[i]);
    CHECK(writers[i].add("more").code() == Code::kPoisoned);
    CHECK(open_code(full.paths[i], OpenMode::kRead) != Code::kOk);
    CHECK(open_code(full.paths[i], OpenMode::kWrite) != Code::kOk);
    CHECK_FALSE(writers[i].close().ok());
    CHECK(open_code(full.paths[i], OpenMode::kRead) != Code::kOk);
  }
}

void open_to_all(const FullDisk& full) {
  using std::filesystem::permissions;
  using std::filesystem::perms;
  for (const std::string& folder : {workshop, full.backing.path(), full.disk->path()}) permissions(folder, perms(0755));
  for (const std::string& path : full.paths) permissions(path, perms(0644));
}

// They cannot write it down: the reader that was there doubts by itself, and the one that comes is refused.
void fail_beside_readers_that_may_not_write(const std::string& type) {
  const FullDisk full(type, 2, Lacking::kRoomForNewBits);
  if (full.disk == nullptr) return;
  open_to_all(full);
  std::vector<Filter> writers;
  for (const std::string& path : full.paths) writers.push_back(opened_writer(path, false));
  std::vector<Filter> readers;
  for (const std::string& path : full.paths) readers.push_back(opened(Filter::open(path, OpenMode::kRead)));
  for (Filter& writer : writers) add_keys(writer, 1, kBefore, kAll - kBefore);
  lose(full);
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          if (Filter::open(full.paths[1], OpenMode::kRead).ok()) return 21;
          static_cast<void>(readers[0].is_current());
          if (readers[0].health() != Code::kPoisoned) return 22;
          if (maybes(readers[0], 1, 0, kAll) != kAll || maybes(readers[0], kNobody, 0, 100) != 100) return 23;
          const auto current = readers[0].is_current();
          return readers[0].health() == Code::kPoisoned ? 0 : 24;
        }) == 0);
}

// A stranger's lock once made such a file "in use".
void fail_behind_a_killed_writer_that_a_stranger_locks(const std::string& type) {
  const FullDisk full(type, 1, Lacking::kRoomForNewBits);
  if (full.disk == nullptr) return;
  const std::string& path = full.paths[0];
  CHECK(in_child([&] {
          Filter writer = opened_writer(path, false);
          bool good = true;
          for (std::uint64_t i = kBefore; good && i < kAll; ++i) good = writer.add(key_of(1, i)).ok();
          _exit(good ? 0 : 1);  // without closing anything
          return 0;
        }) == 0);
  lose(full);
  const Stopped stranger([&] { lock_as_stranger(path, F_RDLCK, F_SETLK, 0, 0); });
  for (int i = 0; i < 2; ++i) CHECK_FALSE(Filter::open(path, OpenMode::kRead, {.lock_timeout_ms = 100}).ok());
}

}  // namespace

TEST_CASE("the next process that asks finds pages that the system failed to write while a writer lives, on ext4") {
  fail_while_a_writer_lives("ext4");
}

TEST_CASE("the next process that asks finds pages that the system failed to write while a writer lives, on xfs") {
  fail_while_a_writer_lives("xfs");
}

TEST_CASE("a reader that may not write refuses the file, or doubts it alone, after the system failed to write") {
  for (const char* type : {"ext4", "xfs"}) {
    const std::string on = type;
    CAPTURE(on);
    fail_beside_readers_that_may_not_write(type);
  }
}

TEST_CASE("a killed writer's pages that the system failed to write are not adopted though a stranger locks the file") {
  for (const char* type : {"ext4", "xfs"}) {
    const std::string on = type;
    CAPTURE(on);
    fail_behind_a_killed_writer_that_a_stranger_locks(type);
  }
}

int main(int count, char** values) { return run_in_workshop(count, values, workshop); }
