// An inspection's report about the moment: whether a sync is under way, whether the state is about to change, and
// whether a writer lets others add.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "faults.hpp"
#include "store/file/session.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using faults::LockCall;

namespace {

Report report_of(const std::string& path) {
  auto report = inspect(path, false);
  REQUIRE(report.ok());
  return std::move(report).value();
}

// Returns whether the newest slot is one from which the state can have been judged.
bool fits(FileState state, std::uint32_t slot_state, bool both_valid) {
  const auto says = [&](format::SlotState one) { return slot_state == static_cast<std::uint32_t>(one); };
  if (state == FileState::kClean) return both_valid && says(format::SlotState::kClean);
  if (state == FileState::kInUse) return both_valid && says(format::SlotState::kDirty);
  return state == FileState::kUnclean || state == FileState::kAdoptable;
}

// Adds a key, syncs with the number of new keys for a mark, and closes, until it is told to stop.
void change_again_and_again(const std::string& path, const std::atomic<bool>& stop) {
  std::uint64_t digest = 0;
  for (std::uint64_t keys = 0; !stop;) {
    auto writer = Filter::open(path, OpenMode::kWrite);
    if (!writer) continue;
    for (int i = 0; i < 4; ++i) {
      digest += 0x9e3779b97f4a7c15;
      keys += writer->add_digest(digest).keys();
      static_cast<void>(writer->sync({.owner = 1, .mark = keys}));
    }
  }
}

// Checks that no lock but that of `byte` is held of any byte of the file.
void check_no_other_lock(int descriptor, long byte) {
  const std::array<std::pair<long, long>, 2> others{{{0, byte}, {byte + 1, 0}}};
  for (const auto& [first, count] : others) {
    struct flock question {};
    question.l_type = F_WRLCK;
    question.l_whence = SEEK_SET;
    question.l_start = first;
    question.l_len = count;
    REQUIRE(fcntl(descriptor, F_OFD_GETLK, &question) == 0);
    CHECK(question.l_type == F_UNLCK);
  }
}

}  // namespace

// The state and the slots once came from two readings, between which a writer came or went.
TEST_CASE("no report contradicts itself while a writer comes, syncs and goes") {
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  std::atomic<bool> stop{false};
  std::thread writer([&] { change_again_and_again(dir.file(), stop); });
  // A sanitizer's own memory makes each look at the process's pages long.
  const std::uint64_t kLooks = tests::if_slow(200, 2'000);
  std::array<int, 2> seen{};
  for (std::uint64_t i = 0; i < 20'000 && (i < kLooks || seen[0] == 0 || seen[1] == 0); ++i) {
    const Report report = report_of(dir.file());
    REQUIRE(report.state_sequence.has_value());
    const std::array<ReportedSlot, 2> slots{*report.slots[0], *report.slots[1]};
    const ReportedSlot& newest = slots[slots[1].sequence > slots[0].sequence ? 1 : 0];
    CHECK(newest.sequence == *report.state_sequence);
    CHECK_MESSAGE(fits(report.state, newest.state, slots[0].valid && slots[1].valid),
                  std::string(file_state_name(report.state)), " and a slot that says ", newest.state);
    const std::uint64_t mark = report.marks.empty() ? 0 : report.marks.front().mark;
    CHECK(report.keys_added.value_or(0) >= mark);
    if (report.state == FileState::kClean) ++seen[0];
    if (report.state == FileState::kInUse) ++seen[1];
  }
  stop = true;
  writer.join();
  CHECK(seen[0] > 0);
  CHECK(seen[1] > 0);
}

TEST_CASE("an inspection takes no lock, and waits for none that another process holds") {
  for (const std::uint64_t held : {format::kStateLock, format::kSyncLock, format::kFirstWriterLock}) {
    CAPTURE(held);
    const faults::Scope scope;
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    const Stopped holder([&] { lock_as_stranger(dir.file(), F_WRLCK, F_OFD_SETLK, held, 1); });
    const int descriptor = open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
    int looks = 0;
    faults::before_lock = [](const LockCall& made) { CHECK(made.command == F_OFD_GETLK); };
    faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
      check_no_other_lock(descriptor, static_cast<long>(held));
      ++looks;
      return 0;
    };
    report_of(dir.file());
    CHECK(looks > 0);
    close(descriptor);
  }
}

TEST_CASE("a sync that is under way is reported, and not one that is over or whose process died") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  CHECK_FALSE(report_of(dir.file()).syncing);
  std::vector<bool> seen;
  faults::on_sync = [&](int) {
    faults::on_sync = nullptr;
    seen.push_back(report_of(dir.file()).syncing);
    return 0;
  };
  CHECK(writer.sync({.owner = 1, .mark = 1}).ok());
  CHECK(seen == std::vector<bool>{true});
  CHECK_FALSE(report_of(dir.file()).syncing);
  CHECK(writer.close().ok());
  leave_behind(dir.file());
  set_syncing(dir.file());
  const Report report = report_of(dir.file());
  CHECK_FALSE(report.syncing);
  CHECK(report.state == FileState::kUnclean);
}

TEST_CASE("an exclusive writer is reported as such, and no other writer is") {
  TempDir dir;
  Filter made = created(dir.file());
  CHECK_FALSE(report_of(dir.file()).exclusive);
  CHECK(made.close().ok());
  CHECK_FALSE(report_of(dir.file()).exclusive);
  for (const auto mode : {OpenMode::kExclusive, OpenMode::kWrite, OpenMode::kRead}) {
    const Filter handle = opened(Filter::open(dir.file(), mode));
    CHECK(report_of(dir.file()).exclusive == (mode == OpenMode::kExclusive));
  }
  CHECK_FALSE(report_of(dir.file()).exclusive);
}

TEST_CASE("a change of the state by another process is reported while it lasts") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK_FALSE(report_of(dir.file()).being_changed);
  std::vector<bool> seen;
  {
    const faults::Scope scope;
    faults::after_lock = [&](const LockCall& made) {
      if (made.command == F_OFD_GETLK || made.byte != static_cast<long>(format::kStateLock)) return;
      seen.push_back(report_of(dir.file()).being_changed == (made.kind != F_UNLCK));
    };
    CHECK(opened(Filter::open(dir.file(), OpenMode::kWrite)).close().ok());
  }
  CHECK(seen.size() >= 4);  // taken and released, when it was opened and when it was closed
  CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  CHECK_FALSE(report_of(dir.file()).being_changed);
}
