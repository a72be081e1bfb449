// Two processes add to one file, sync it, and recover it when they have to, and are killed at any moment of that: while
// they add, in a sync, in a recovery, while they open and close. A process that gets an answer gets "maybe" for every
// acknowledged key. By hand, for longer: kill_recovery_test --kills=10000.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "faults.hpp"
#include "support.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kWorkers = 2;

using Codes = std::map<Code, std::uint64_t>;

// Returns whether a reader got answers, was refused for a sync that died, and was refused in a recovery.
bool all_met(const Codes& seen) {
  const auto met = [&](Code code) { return seen.count(code) != 0; };
  return met(Code::kOk) && (met(Code::kUnclean) || met(Code::kPoisoned)) && met(Code::kRecovering);
}

// One file, and one process at a time that uses it and dies in one of its syncs.
class Victim {
 public:
  Victim() {
    void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    progress_ = new (shared) Progress;
    CHECK(created(path()).close().ok());
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() { munmap(progress_, sizeof(Progress)); }

  [[nodiscard]] std::string path() const { return dir_.file(); }

  // Opens the file, recovers it if need be, adds, syncs and closes. The process dies in its sync number `last_sync`,
  // counted from 1, from the beginning or from when it has the file. Returns 0 if it makes fewer syncs.
  enum class Counted { kFromOpening, kWhenOpen };
  [[nodiscard]] int live(unsigned last_sync, Counted counted) const {
    return in_child([&] {
      unsigned left = last_sync;
      const auto die_in_the_last = [&](int descriptor) {
        if (--left == 0) raise(SIGKILL);
        return syscall(SYS_fdatasync, descriptor) == 0 ? 0 : errno;
      };
      if (counted == Counted::kFromOpening) faults::on_sync = die_in_the_last;
      auto filter = Filter::open(path(), OpenMode::kWrite, {.recover = true});
      if (!filter || !catch_up(*filter)) return 1;
      faults::on_sync = die_in_the_last;
      for (std::uint64_t i = progress_->acknowledged(), end = i + 20; i < end; ++i) {
        if (!filter->add(key_of(1, i)).ok()) return 2;
        progress_->word.store(packed(i + 1, 0));
      }
      if (!filter->sync({.owner = 1, .mark = progress_->acknowledged() + 1}).ok()) return 3;
      return filter->close().ok() ? 0 : 4;
    });
  }
  void die_in_a_sync() const { REQUIRE(live(1, Counted::kWhenOpen) == 1000 + SIGKILL); }

  // Returns the code that a reader gets. If it is let in, it finds every key.
  [[nodiscard]] Code look() const {
    const auto reader = Filter::open(path(), OpenMode::kRead, {.lock_timeout_ms = kWaitForEver});
    if (reader) check(*reader);
    return code_of(reader);
  }

  void check_recovery() const {
    Filter filter = opened(Filter::open(path(), OpenMode::kWrite, {.recover = true}));
    CHECK(catch_up(filter));
    check(filter);
    CHECK(filter.close().ok());
    CHECK(state_of(path()) == FileState::kClean);
    CHECK(look() == Code::kOk);
  }

 private:
  [[nodiscard]] bool catch_up(Filter& filter) const {
    if (filter.health() != Code::kRecovering) return true;
    const std::uint64_t mark = filter.get_mark(1);
    for (std::uint64_t i = mark == 0 ? 0 : mark - 1; i < progress_->acknowledged(); ++i) {
      if (!filter.add(key_of(1, i)).ok()) return false;
    }
    return filter.finish_recovery(1).ok();
  }
  void check(const Filter& filter) const {
    CHECK(maybes(filter, 1, 0, progress_->acknowledged()) == progress_->acknowledged());
    CHECK(answers_no(filter));
  }

  TempDir dir_;
  Progress* progress_ = nullptr;
};

// Returns what readers get after a process was killed in its first sync, in its second one, and so on.
Codes after_a_kill_in_each_sync(const std::function<void(const Victim&)>& prepare) {
  Codes seen;
  for (unsigned last_sync = 1;; ++last_sync) {
    CAPTURE(last_sync);
    const Victim victim;
    prepare(victim);
    const int ending = victim.live(last_sync, Victim::Counted::kFromOpening);
    if (ending == 0) return seen;
    REQUIRE(ending == 1000 + SIGKILL);
    ++seen[victim.look()];
    victim.check_recovery();
  }
}

// Returns the names of the codes, once each.
std::set<std::string> names_of(const Codes& seen) {
  std::set<std::string> names;
  for (const auto& entry : seen) names.insert(code_name(entry.first));
  return names;
}

class Arena {
 public:
  explicit Arena(std::uint64_t seed) : random_(seed) {
    Options options;
    if (seed % 2 == 0) {
      options.layout = Layout::kGrowing;
      options.capacity = 1000;
      options.capacity_at_most = 341'000;  // 4 times as many in each next slice
      options.fpr = 0.0001;
    } else {
      options.capacity = 100'000;
      options.bits_per_key = 16;
    }
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
      if (pids_[i] == 0) start(i);
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

  // Checks that all keys are there in the end, when the last processes have left and the missing one has recovered.
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

  [[nodiscard]] const Codes& seen() const noexcept { return seen_; }

 private:
  // One in four may be killed before it has tried to open the file. On a busy machine all would be.
  void start(unsigned number) {
    std::atomic<std::uint32_t>& has_tried = board_->workers[number].adding;
    has_tried.store(0);
    pids_[number] = start_worker({"live", path(), dir_.file("board"), std::to_string(number)});
    if (random_() % 4 == 0) return;
    while (has_tried.load() == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      REQUIRE(waitpid(pids_[number], nullptr, WNOHANG) == 0);
    }
  }

  void look() {
    std::array<std::uint64_t, kWorkers> before{};
    for (unsigned i = 0; i < kWorkers; ++i) before[i] = board_->workers[i].acknowledged();
    const auto reader = Filter::open(path(), OpenMode::kRead, {.lock_timeout_ms = kWaitForEver});
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
  Codes seen_;
};

}  // namespace

TEST_CASE("processes that are killed while they add, sync and recover lose no acknowledged key") {
  const std::uint64_t kills = option("kills", 200);
  const std::uint64_t first = first_seed();
  Codes seen;
  std::uint64_t killed = 0;
  // The speed of the machine also decides what is met.
  for (std::uint64_t seed = first; killed < kills || (killed < 5 * kills && !all_met(seen)); ++seed) {
    CAPTURE(seed);
    Arena arena(seed);
    const std::uint64_t most = killed < kills ? kills : killed + 20;
    while (killed < most && !arena.filling_up()) killed += arena.round();
    arena.end();
    for (const auto& [code, times] : arena.seen()) seen[code] += times;
  }
  for (const auto& entry : seen) MESSAGE(std::string(code_name(entry.first)), ": ", entry.second);
  CHECK(all_met(seen));
  for (const auto& entry : seen) {
    const Code code = entry.first;
    CAPTURE(std::string(code_name(code)));
    CHECK((code == Code::kOk || code == Code::kUnclean || code == Code::kPoisoned || code == Code::kRecovering));
  }
}

TEST_CASE("a process that is killed in any of its syncs leaves a file that a reader uses, or finds unclean") {
  const Codes seen = after_a_kill_in_each_sync([](const Victim&) {});
  CHECK(names_of(seen) == std::set<std::string>{"BFS_OK", "BFS_EUNCLEAN"});
}

TEST_CASE("a process that is killed in any sync of a recovery leaves a file that is recovered again") {
  const Codes seen = after_a_kill_in_each_sync([](const Victim& victim) { victim.die_in_a_sync(); });
  CHECK(names_of(seen) == std::set<std::string>{"BFS_OK", "BFS_EUNCLEAN", "BFS_ERECOVERING"});
}

TEST_CASE("a sync poisons the file if another process was killed in one") {
  const Victim victim;
  Remote other(victim.path());
  REQUIRE(other.call("open write") == "BFS_OK");
  victim.die_in_a_sync();
  CHECK(victim.look() == Code::kUnclean);
  const std::string added =
      other.call("add 2 0 1");  // an add asks the kernel now and then, and may be the first to see the dead sync
  CHECK((added == "1" || added == "BFS_EPOISONED"));
  CHECK(other.call("sync 2 1") == "BFS_EPOISONED");
  CHECK(victim.look() == Code::kPoisoned);
  CHECK(other.call("close") != "BFS_OK");
  victim.check_recovery();
}
