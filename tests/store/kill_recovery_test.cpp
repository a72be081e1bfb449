// Two processes add to one file, sync it, and recover it when they have to, and are killed at any moment of that: while
// they add, in a sync, in a recovery, while they open and close. A process that gets an answer gets "maybe" for every
// acknowledged key. By hand, for longer: kill_recovery_test --kills=10000.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "support.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kWorkers = 2;

class Arena {
 public:
  explicit Arena(std::uint64_t seed) : random_(seed) {
    Options options;
    options.capacity = 100'000;
    options.bits_per_key = 16;
    REQUIRE(created(path(), options).close().ok());
    board_ = map_board(dir_.file("board"));
    REQUIRE(board_ != nullptr);
  }

  [[nodiscard]] std::string path() const { return dir_.file(); }
  [[nodiscard]] bool filling_up() const {
    return board_->workers[0].acknowledged() + board_->workers[1].acknowledged() > 50'000;
  }

  // Starts the processes that are missing, kills one, and looks at what the file says then. Returns how many were
  // killed.
  std::uint64_t round() {
    for (unsigned i = 0; i < kWorkers; ++i) {
      if (pids_[i] == 0) pids_[i] = start_worker({"live", path(), dir_.file("board"), std::to_string(i)});
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 12'000));
    std::uint64_t killed = 0;
    for (unsigned i = 0; i < kWorkers; ++i) {
      if (random_() % 3 == 0) continue;
      kill_and_wait(pids_[i]);
      pids_[i] = 0;
      ++killed;
    }
    look();
    return killed;
  }

  // All keys are there in the end, when the last processes have left and the missing one has recovered.
  void end() {
    board_->stop.store(1);
    for (pid_t& pid : pids_) {
      if (pid != 0) CHECK(wait_for(pid) == 0);
      pid = 0;
    }
    Filter filter = opened(Filter::open(path(), OpenMode::kWrite, {.recover = true}));
    for (unsigned owner = 0; owner < kWorkers && filter.health() == Code::kRecovering; ++owner) {
      add_keys(filter, owner, 0, board_->workers[owner].acknowledged());
      CHECK(filter.finish_recovery(owner).ok());
    }
    check(filter);
    CHECK(answers_no(filter));
    CHECK(filter.close().ok());
    CHECK(state_of(path()) == FileState::kClean);
  }

  [[nodiscard]] const std::map<Code, std::uint64_t>& seen() const noexcept { return seen_; }

 private:
  void look() {
    std::array<std::uint64_t, kWorkers> before{};
    for (unsigned i = 0; i < kWorkers; ++i) before[i] = board_->workers[i].acknowledged();
    const auto reader = Filter::open(path(), OpenMode::kRead);
    ++seen_[reader ? Code::kOk : reader.error().code];
    if (!reader) return;
    for (unsigned i = 0; i < kWorkers; ++i) CHECK(maybes(*reader, i, 0, before[i]) == before[i]);
  }

  void check(const Filter& filter) const {
    for (unsigned i = 0; i < kWorkers; ++i) {
      const std::uint64_t acknowledged = board_->workers[i].acknowledged();
      CHECK(maybes(filter, i, 0, acknowledged) == acknowledged);
    }
  }

  TempDir dir_;
  Board* board_ = nullptr;
  std::mt19937_64 random_;
  std::array<pid_t, kWorkers> pids_{};
  std::map<Code, std::uint64_t> seen_;
};

}  // namespace

TEST_CASE("processes that are killed while they add, sync and recover lose no acknowledged key") {
  const std::uint64_t kills = option("kills", 200);
  std::map<Code, std::uint64_t> seen;
  std::uint64_t killed = 0;
  for (std::uint64_t seed = option("seed", 1); killed < kills; ++seed) {
    CAPTURE(seed);
    Arena arena(seed);
    while (killed < kills && !arena.filling_up()) killed += arena.round();
    arena.end();
    for (const auto& [code, times] : arena.seen()) seen[code] += times;
  }
  for (const auto& entry : seen) MESSAGE(std::string(code_name(entry.first)), ": ", entry.second);
  // It was answered, it was refused for a sync that died, and it was refused in a recovery.
  CHECK(seen[Code::kOk] > 0);
  CHECK(seen[Code::kUnclean] + seen[Code::kPoisoned] > 0);
  CHECK(seen[Code::kRecovering] > 0);
  for (const auto& entry : seen) {
    const Code code = entry.first;
    CAPTURE(std::string(code_name(code)));
    CHECK((code == Code::kOk || code == Code::kUnclean || code == Code::kPoisoned || code == Code::kRecovering));
  }
}
