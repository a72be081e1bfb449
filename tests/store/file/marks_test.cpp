// Marks of owners, and the counter of keys: what a sync stores and what survives.
#include <doctest/doctest.h>

#include <array>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

TEST_CASE("an owner without a mark has mark 0, and mark 0 stores nothing") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.get_mark(1) == 0);
  CHECK(filter.sync({.owner = 1, .mark = 0}).ok());
  CHECK(filter.sync().ok());
  CHECK(filter.get_mark(1) == 0);
  CHECK(inspect(dir.file())->marks.empty());
}

TEST_CASE("the higher one of two marks stays") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync({.owner = 1, .mark = 100}).ok());
  CHECK(filter.sync({.owner = 1, .mark = 7}).ok());
  CHECK(filter.get_mark(1) == 100);
  CHECK(filter.sync({.owner = 1, .mark = 0}).ok());
  CHECK(filter.get_mark(1) == 100);
  CHECK(filter.sync({.owner = 1, .mark = UINT64_MAX}).ok());
  CHECK(filter.get_mark(1) == UINT64_MAX);
}

TEST_CASE("owner 0 and the highest owner are owners like others") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync({.owner = 0, .mark = 5}).ok());
  CHECK(filter.sync({.owner = UINT64_MAX, .mark = 6}).ok());
  CHECK(filter.get_mark(0) == 5);
  CHECK(filter.get_mark(UINT64_MAX) == 6);
  CHECK(filter.get_mark(1) == 0);
}

TEST_CASE("sixty-four owners have marks, the next one is refused, and its keys are safe all the same") {
  TempDir dir;
  Filter filter = created(dir.file());
  for (std::uint64_t owner = 1; owner <= 64; ++owner) CHECK(filter.sync({.owner = owner, .mark = owner * 10}).ok());
  add_keys(filter, 1, 0, kSome);
  const Error refused = filter.sync({.owner = 65, .mark = 1});
  CHECK(refused.code == Code::kOwners);
  CHECK(refused.message.find(dir.file()) != std::string::npos);
  CHECK(filter.health() == Code::kOk);
  CHECK_FALSE(look_at(dir.file()).syncing);
  CHECK(filter.get_mark(65) == 0);
  CHECK(filter.sync({.owner = 64, .mark = 641}).ok());
  CHECK(filter.sync({.owner = 65, .mark = 0}).ok());
  CHECK(filter.close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  for (std::uint64_t owner = 1; owner <= 63; ++owner) CHECK(reader.get_mark(owner) == owner * 10);
  CHECK(reader.get_mark(64) == 641);
  CHECK(maybes(reader, 1, 0, kSome) == kSome);
  CHECK(inspect(dir.file())->marks.size() == 64);
}

// The positions of a log that was reset, restored or taken over begin anew: the mark of the one before may be higher.
TEST_CASE("a mark of another epoch says that everything has to be added again") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync({.owner = 1, .epoch = 7, .mark = 1000}).ok());
  CHECK(filter.get_mark(1, 7) == 1000);
  for (const std::uint64_t other : {0U, 6U, 8U}) CHECK(filter.get_mark(1, other) == 0);
  CHECK(filter.sync().ok());
  CHECK(filter.get_mark(1, 7) == 1000);
  CHECK(filter.sync({.owner = 1, .epoch = 8, .mark = 10}).ok());
  CHECK(filter.get_mark(1, 8) == 10);
  CHECK(filter.get_mark(1, 7) == 0);
  CHECK(filter.close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(reader.get_mark(1, 8) == 10);
  CHECK(reader.list_marks().value() == std::vector<OwnerMark>{{{.owner = 1, .epoch = 8, .mark = 10}}});
}

TEST_CASE("keys that were added before a sync of another epoch are durable like all others") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync({.owner = 1, .epoch = 7, .mark = 1000}).ok());
  add_keys(filter, 1, 0, kSome);
  CHECK(filter.sync({.owner = 1, .epoch = 8}).ok());
  CHECK(filter.get_mark(1, 7) == 0);
  CHECK(look_at(dir.file()).newest().lanes[0] == LogPosition{.owner = 1, .epoch = 8});
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
}

TEST_CASE("an owner that is dropped has mark 0, and another owner gets its place") {
  TempDir dir;
  Filter filter = created(dir.file());
  for (std::uint64_t owner = 1; owner <= 64; ++owner) {
    CHECK(filter.sync({.owner = owner, .epoch = 3, .mark = owner}).ok());
  }
  CHECK(filter.sync({.owner = 65, .mark = 1}).code == Code::kOwners);
  CHECK(filter.drop_owner(20).ok());
  CHECK(filter.get_mark(20, 3) == 0);
  CHECK(filter.drop_owner(20).ok());
  CHECK(filter.list_marks()->size() == 63);
  CHECK(filter.sync({.owner = 65, .mark = 1}).ok());
  CHECK(filter.drop_owner(1).ok());
  CHECK(filter.sync({.owner = 20, .epoch = 4, .mark = 5}).ok());
  CHECK(filter.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(reader.get_mark(20, 4) == 5);
  CHECK(reader.get_mark(65) == 1);
  CHECK(reader.get_mark(1, 3) == 0);
  for (std::uint64_t owner = 2; owner <= 64; ++owner) CHECK(reader.get_mark(owner, 3) == (owner == 20 ? 0 : owner));
  CHECK(reader.list_marks()->size() == 64);
}

TEST_CASE("a reader lists the marks and drops no owner, and a buffer has no marks") {
  TempDir dir;
  CHECK(created(dir.file()).sync({.owner = 1, .epoch = 2, .mark = 3}).ok());
  Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(reader.drop_owner(1).code == Code::kReadOnly);
  CHECK(reader.list_marks().value() == std::vector<OwnerMark>{{{.owner = 1, .epoch = 2, .mark = 3}}});
  alignas(64) std::array<std::byte, 16384> buffer{};
  Filter embedded = opened(Filter::format(buffer, small_options()));
  CHECK(embedded.drop_owner(1).code == Code::kInvalid);
  CHECK(embedded.list_marks().error().code == Code::kInvalid);
}

TEST_CASE("marks survive close, reopening for writing, and a killed writer") {
  TempDir dir;
  {
    Filter filter = created(dir.file());
    CHECK(filter.sync({.owner = 1, .mark = 11}).ok());
  }
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).get_mark(1) == 11);
  {
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
    CHECK(filter.get_mark(1) == 11);
    CHECK(filter.sync({.owner = 2, .mark = 22}).ok());
  }
  {
    Remote writer(dir.file());
    CHECK(writer.call("open write") == "BFS_OK");
    CHECK(writer.call("sync 3 33") == "BFS_OK");
    writer.kill();
  }
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(filter.get_mark(1) == 11);
  CHECK(filter.get_mark(2) == 22);
  CHECK(filter.get_mark(3) == 33);
}

TEST_CASE("a mark that one process stores is seen by the others at once") {
  TempDir dir;
  Filter filter = created(dir.file());
  Remote reader(dir.file());
  CHECK(reader.call("open read") == "BFS_OK");
  CHECK(filter.sync({.owner = 4, .mark = 44}).ok());
  CHECK(reader.call("mark 4") == "44");
  CHECK(filter.sync({.owner = 4, .mark = 45}).ok());
  CHECK(reader.call("mark 4") == "45");
}

TEST_CASE("processes with owners of their own sync at once, and each keeps its marks") {
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  constexpr std::uint64_t kRounds = 200;
  std::vector<pid_t> workers;
  for (const char* owner : {"1", "2", "3"}) workers.push_back(start_worker({"sync", dir.file(), owner, "200"}));
  for (const pid_t worker : workers) CHECK(wait_for(worker) == 0);
  CHECK(state_of(dir.file()) == FileState::kClean);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  for (const unsigned owner : {1U, 2U, 3U}) {
    CHECK(reader.get_mark(owner) == kRounds);
    CHECK(maybes(reader, owner, 1, kRounds) == kRounds);
  }
}

TEST_CASE("the counter counts the adds that changed something, and survives close, reopening and a killed writer") {
  TempDir dir;
  std::uint64_t changed = 0;
  const auto add = [&](Filter& filter, unsigned writer) {
    for (std::uint64_t i = 0; i < kSome; ++i) changed += filter.add(key_of(writer, i)).keys();
    CHECK(filter.stats().keys_added == changed);
  };
  {
    Filter filter = created(dir.file());
    CHECK(filter.stats().keys_added == 0);
    add(filter, 1);
    add(filter, 1);  // nothing is new
    CHECK(changed <= kSome);
  }
  Remote other(dir.file());
  CHECK(other.call("open write") == "BFS_OK");
  {
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
    add(filter, 2);
    changed += std::stoull(other.call("add 3 0 200"));
    CHECK(filter.stats().keys_added == changed);
  }
  other.kill();
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).stats().keys_added == changed);
  CHECK(inspect(dir.file())->keys_added == changed);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add(filter, 4);
  CHECK(changed > 4 * kSome - 10);
}
