// Several processes add to one file and are killed while they add: nothing acknowledged is lost, and the count holds.
// By hand, for longer: kill_test --kills=5000.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "support.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kWorkers = 3;
constexpr std::uint64_t kCapacity = 2'000'000;

// One file, three workers that fill it, and those that are to die in a round.
class Arena {
 public:
  Arena(std::uint64_t seed, std::uint64_t batch) : random_(seed), batch_(batch) {
    Options options;
    options.capacity = kCapacity;
    options.bits_per_key = 16;
    options.seed = seed;
    REQUIRE(created(path(), options).close().ok());
    board_ = map_board(dir_.file("board"));
    REQUIRE(board_ != nullptr);
  }

  [[nodiscard]] std::string path() const { return dir_.file(); }
  [[nodiscard]] std::uint64_t killed() const noexcept { return killed_; }
  [[nodiscard]] bool filling_up() const noexcept { return acknowledged_ > kCapacity / 4; }

  // Starts all workers, kills that many of them, and lets the others close.
  void round(unsigned victims) {
    start();
    doze(1500);
    std::shuffle(pids_.begin(), pids_.end(), random_);
    for (unsigned i = 0; i < victims; ++i) kill_and_wait(pids_[i]);
    killed_ += victims;
    doze(500);
    board_->stop.store(1);
    for (unsigned i = victims; i < kWorkers; ++i) CHECK(wait_for(pids_[i]) == 0);
  }

  unsigned some_victims() { return std::uniform_int_distribution<unsigned>(1, kWorkers)(random_); }

  void check(const Filter& filter) {
    std::uint64_t acknowledged = 0;
    std::uint64_t certainly_new = 0;
    for (unsigned i = 0; i < kWorkers; ++i) {
      const Progress& worker = board_->workers[i];
      CHECK(maybes(filter, i, 0, worker.acknowledged()) == worker.acknowledged());
      acknowledged += worker.acknowledged();
      certainly_new += worker.certainly_new();
    }
    acknowledged_ = acknowledged;
    // A process that dies between setting bits and counting them leaves one call uncounted; what it did not live to
    // acknowledge may be counted. Beyond that the count is exact, and in a filter that is far from full hardly a key is
    // taken for one that is there already.
    const std::uint64_t counted = filter.stats().keys_added;
    const std::uint64_t doubt = killed_ * batch_;
    CHECK(counted >= certainly_new);
    CHECK(counted <= certainly_new + doubt);
    if (acknowledged <= kCapacity / 4) CHECK(counted + doubt + acknowledged / 10'000 >= acknowledged);
    CHECK(answers_no(filter));
  }

 private:
  void start() {
    board_->stop.store(0);
    pids_.clear();
    for (unsigned i = 0; i < kWorkers; ++i) {
      board_->workers[i].adding.store(0);
      pids_.push_back(start_worker({"add", path(), dir_.file("board"), std::to_string(i), std::to_string(batch_)}));
    }
    for (unsigned i = 0; i < kWorkers; ++i) {
      while (board_->workers[i].adding.load() == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (waitpid(pids_[i], nullptr, WNOHANG) != 0) FAIL("a worker ended before it added anything");
      }
    }
  }

  void doze(int most_microseconds) {
    std::uniform_int_distribution<int> length(0, most_microseconds);
    std::this_thread::sleep_for(std::chrono::microseconds(length(random_)));
  }

  TempDir dir_;
  Board* board_ = nullptr;
  std::mt19937_64 random_;
  std::uint64_t batch_;
  std::vector<pid_t> pids_;
  std::uint64_t killed_ = 0;
  std::uint64_t acknowledged_ = 0;
};

// Checks that a reader adopts what it finds and writes nothing, and that a writer then continues with it.
void look_after(Arena& arena, bool one_closed) {
  const std::string path = arena.path();
  CHECK(state_of(path) == (one_closed ? FileState::kClean : FileState::kAdoptable));
  arena.check(opened(Filter::open(path, OpenMode::kRead)));
  CHECK(state_of(path) == (one_closed ? FileState::kClean : FileState::kAdoptable));
  Filter writer = opened(Filter::open(path, OpenMode::kWrite));
  arena.check(writer);
  CHECK(state_of(path) == FileState::kInUse);
  CHECK(writer.close().ok());
  CHECK(state_of(path) == FileState::kClean);
}

// Makes that many kills. Every third round has a writer that stays, every third a reader.
void kill_so_many(std::uint64_t kills, std::uint64_t batch, std::uint64_t seed) {
  for (std::uint64_t done = 0; done < kills;) {
    Arena arena(seed++, batch);
    for (std::uint64_t round = 0; !arena.filling_up() && done + arena.killed() < kills; ++round) {
      std::optional<Filter> beside;
      if (round % 3 != 0)
        beside = opened(Filter::open(arena.path(), round % 3 == 1 ? OpenMode::kWrite : OpenMode::kRead));
      const unsigned victims = arena.some_victims();
      arena.round(victims);
      if (beside) arena.check(*beside);
      const bool writer_stayed = round % 3 == 1;
      if (writer_stayed) CHECK(state_of(arena.path()) == FileState::kInUse);
      beside.reset();
      look_after(arena, victims < kWorkers || writer_stayed);
    }
    done += arena.killed();
  }
}

}  // namespace

TEST_CASE("no acknowledged key is lost when processes are killed while they add, and one count a kill at most") {
  kill_so_many(option("kills", 40), 1, first_seed());
}

TEST_CASE("a process that is killed while it adds a batch loses no acknowledged key, and one batch's count at most") {
  kill_so_many(option("kills", 40) / 2, 32, first_seed() + 1'000'000);
}

TEST_CASE("the count is exact after several processes filled a file and none was killed") {
  Arena arena(7, 1);
  for (int round = 0; round < 3; ++round) arena.round(0);
  CHECK(arena.killed() == 0);
  arena.check(opened(Filter::open(arena.path(), OpenMode::kRead)));
}
