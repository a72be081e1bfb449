// What an inspection says about the moment: whether a sync is under way, and whether the state is about to change.
#include <doctest/doctest.h>
#include <fcntl.h>

#include "faults.hpp"
#include "store/session.hpp"
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

}  // namespace

TEST_CASE("a sync that is under way is told, and neither one that is over nor one whose process died") {
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
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kSyncing);
  const Report report = report_of(dir.file());
  CHECK_FALSE(report.syncing);
  CHECK(report.state == FileState::kUnclean);
}

TEST_CASE("that another process is changing the state is told while it does") {
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
