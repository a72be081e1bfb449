// Marks of owners, and the counter of keys: what a sync stores and what survives.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace bfstore;
using namespace store_test;

TEST_CASE("an owner without a mark has mark 0, and mark 0 stores nothing") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.mark(1) == 0);
  CHECK(filter.sync(1, 0).ok());
  CHECK(filter.sync().ok());
  CHECK(filter.mark(1) == 0);
  CHECK(inspect(dir.file())->marks.empty());
}

TEST_CASE("the higher mark stays") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync(1, 100).ok());
  CHECK(filter.sync(1, 7).ok());
  CHECK(filter.mark(1) == 100);
  CHECK(filter.sync(1, 0).ok());
  CHECK(filter.mark(1) == 100);
  CHECK(filter.sync(1, UINT64_MAX).ok());
  CHECK(filter.mark(1) == UINT64_MAX);
}

TEST_CASE("owner 0 and the highest owner are owners like others") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.sync(0, 5).ok());
  CHECK(filter.sync(UINT64_MAX, 6).ok());
  CHECK(filter.mark(0) == 5);
  CHECK(filter.mark(UINT64_MAX) == 6);
  CHECK(filter.mark(1) == 0);
}

TEST_CASE("sixty-four owners have marks, the next one is refused, and its keys are safe all the same") {
  TempDir dir;
  Filter filter = created(dir.file());
  for (std::uint64_t owner = 1; owner <= 64; ++owner) CHECK(filter.sync(owner, owner * 10).ok());
  add_keys(filter, 1, 0, kSome);
  const Error refused = filter.sync(65, 1);
  CHECK(refused.code == Code::kOwners);
  CHECK(refused.message.find(dir.file()) != std::string::npos);
  CHECK(filter.health() == Code::kOk);
  CHECK((look_at(dir.file()).live_word & format::LiveWord::kSyncing) == 0);
  CHECK(filter.mark(65) == 0);
  CHECK(filter.sync(64, 641).ok());
  CHECK(filter.sync(65, 0).ok());
  CHECK(filter.close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  for (std::uint64_t owner = 1; owner <= 63; ++owner) CHECK(reader.mark(owner) == owner * 10);
  CHECK(reader.mark(64) == 641);
  CHECK(maybes(reader, 1, 0, kSome) == kSome);
  CHECK(inspect(dir.file())->marks.size() == 64);
}

TEST_CASE("marks survive close, reopening for writing, and a killed writer") {
  TempDir dir;
  {
    Filter filter = created(dir.file());
    CHECK(filter.sync(1, 11).ok());
  }
  CHECK(opened(Filter::open(dir.file(), OpenMode::kRead)).mark(1) == 11);
  {
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
    CHECK(filter.mark(1) == 11);
    CHECK(filter.sync(2, 22).ok());
  }
  {
    Remote writer(dir.file());
    CHECK(writer.call("open write") == "BFS_OK");
    CHECK(writer.call("sync 3 33") == "BFS_OK");
    writer.kill();
  }
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(filter.mark(1) == 11);
  CHECK(filter.mark(2) == 22);
  CHECK(filter.mark(3) == 33);
}

TEST_CASE("a mark that one process stores is seen by the others at once") {
  TempDir dir;
  Filter filter = created(dir.file());
  Remote reader(dir.file());
  CHECK(reader.call("open read") == "BFS_OK");
  CHECK(filter.sync(4, 44).ok());
  CHECK(reader.call("mark 4") == "44");
  CHECK(filter.sync(4, 45).ok());
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
    CHECK(reader.mark(owner) == kRounds);
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
