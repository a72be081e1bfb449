// Suite part 11: eight processes on one path. They add with other writers and alone, sync with marks, replace the file
// after superseding it or give that up, seal it in place, recover it, copy it and ask. They are killed at any moment of
// that. Strangers make a second name of the file, lock it, and close the descriptors of its writers. The keys are in
// memory that all share. No process gets "no" for a key whose add had returned. By hand, for longer: storm_test
// --rounds=300, each --seconds=2; --kills=0, --links=0 and so on leave something out.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "storm.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using namespace store_test::storm;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{30};  // a lock is waited for 5 seconds at most
constexpr std::uint64_t kLongEnough = 10;      // seconds in which each kind of event is met

// The sums over all rounds.
struct Tally {
  std::array<std::uint64_t, static_cast<std::size_t>(Event::kNumber)> events{};
  std::map<Code, std::uint64_t> refusals;
  std::uint64_t kills = 0;
  std::uint64_t lost = 0;
  std::uint64_t hangs = 0;
  std::uint64_t crashes = 0;

  [[nodiscard]] std::uint64_t count(Event event) const noexcept { return events[static_cast<std::size_t>(event)]; }
};

Mischief chosen_mischief() {
  const Mischief all;
  return {option("links", all.links ? 1 : 0) != 0, option("locks", all.foreign_locks ? 1 : 0) != 0,
          option("closes", all.foreign_closes ? 1 : 0) != 0,
          option("rebuild-closes", all.closes_in_rebuilds ? 1 : 0) != 0};
}

// One file, from the first process to the last.
class Storm {
 public:
  Storm(std::uint64_t seed, Tally& tally)
      : dir_(seed % 2 == 0 ? memory_folder() : std::filesystem::temp_directory_path().string()),
        random_(seed),
        tally_(tally) {
    void* const shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    board_ = new (shared) Board;
    REQUIRE(created(dir_.file(), storm::options()).close().ok());
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm() { munmap(board_, sizeof(Board)); }

  void run(std::chrono::seconds length, bool kills) {
    for (unsigned number = 0; number < kProcesses; ++number) start(number);
    const auto end = Clock::now() + length;
    while (Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::microseconds(10'000 + random_() % 40'000));
      const auto victim = static_cast<unsigned>(random_() % kProcesses);
      if (kills && has_ended(victim, true)) start(victim);
    }
    board_->stop.store(1);
    for (unsigned number = 0; number < kProcesses; ++number) await(number);
    count();
  }

 private:
  void start(unsigned number) {
    const std::uint64_t seed = random_();
    pids_[number] = fork();
    REQUIRE(pids_[number] >= 0);
    if (pids_[number] != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Process(*board_, dir_.file(), chosen_mischief(), number, seed).run();
    _exit(0);
  }

  // Where it was not killed here, it is to end well.
  bool has_ended(unsigned number, bool by_killing) {
    if (by_killing) kill(pids_[number], SIGKILL);
    int status = 0;
    if (waitpid(pids_[number], &status, by_killing ? 0 : WNOHANG) == 0) return false;
    const bool killed = by_killing && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    tally_.kills += killed ? 1 : 0;
    if (killed || status == 0) return true;
    std::printf("process %u ended with status %#x\n", number, static_cast<unsigned>(status));
    ++tally_.crashes;
    return true;
  }

  void await(unsigned number) {
    const auto end = Clock::now() + kPatience;
    while (!has_ended(number, false)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (Clock::now() < end) continue;
      std::printf("process %u hangs\n", number);
      ++tally_.hangs;
      return kill_and_wait(pids_[number]);
    }
  }

  void count() {
    tally_.lost += Process(*board_, dir_.file(), chosen_mischief(), 0, random_()).lost();
    for (std::size_t i = 0; i < tally_.events.size(); ++i) tally_.events[i] += board_->events[i].load();
    for (std::size_t i = 0; i < board_->refusals.size(); ++i) {
      const std::uint64_t times = board_->refusals[i].load();
      if (times != 0) tally_.refusals[static_cast<Code>(-static_cast<std::int32_t>(i))] += times;
    }
  }

  TempDir dir_;
  std::mt19937_64 random_;
  Tally& tally_;
  Board* board_ = nullptr;
  std::array<pid_t, kProcesses> pids_{};
};

void print(const Tally& tally) {
  const auto of = [&](Event event) { return tally.count(event); };
  std::printf(
      "%lu keys acknowledged, %lu questions, %lu kills, %lu rebuilds, %lu given up, %lu seals, %lu recoveries\n",
      of(Event::kAcknowledged), of(Event::kQuestion), tally.kills, of(Event::kRebuild), of(Event::kGivenUp),
      of(Event::kSeal), of(Event::kRecovery));
  std::printf(
      "%lu syncs, %lu opened exclusively, %lu copies, %lu saved; %lu second names, %lu foreign locks, %lu foreign "
      "closes\n",
      of(Event::kSync), of(Event::kExclusive), of(Event::kCopy), of(Event::kSave), of(Event::kLink),
      of(Event::kForeignLock), of(Event::kForeignClose));
  for (const auto& [code, times] : tally.refusals) std::printf("%s %lu, ", code_name(code), times);
  std::printf("\n%lu wrong noes, %lu lost at the end, %lu hangs, %lu crashes\n", of(Event::kWrongNo), tally.lost,
              tally.hangs, tally.crashes);
}

// The errors that a caller may get in all this. A process whose descriptors were closed may get more.
void check_refusals(const Tally& tally, const Mischief& mischief) {
  std::set<Code> legal{Code::kBusy,       Code::kUnclean, Code::kPoisoned, Code::kRecovering,
                       Code::kSuperseded, Code::kSealed,  Code::kNotSealed};
  if (mischief.links) legal.insert(Code::kNotFound);
  if (mischief.foreign_closes || mischief.closes_in_rebuilds) legal.insert(Code::kLost);
  for (const auto& entry : tally.refusals) {
    CAPTURE(std::string(code_name(entry.first)));
    CHECK(legal.count(entry.first) == 1);
  }
}

void check_that_all_was_met(const Tally& tally, const Mischief& mischief) {
  std::set<Event> absent{Event::kWrongNo};
  if (!mischief.links) absent.insert(Event::kLink);
  if (!mischief.foreign_locks) absent.insert(Event::kForeignLock);
  if (!mischief.foreign_closes && !mischief.closes_in_rebuilds) absent.insert(Event::kForeignClose);
  for (std::size_t i = 0; i < tally.events.size(); ++i) {
    CAPTURE(i);
    CHECK((tally.events[i] > 0) != (absent.count(static_cast<Event>(i)) == 1));
  }
}

}  // namespace

TEST_CASE("whatever eight processes do to one path, and to each other, nobody is told a wrong no") {
  const std::uint64_t rounds = option("rounds", kKeyScale == 1 ? 5 : 2);
  const std::uint64_t seconds = option("seconds", 2);
  const bool kills = option("kills", 1) != 0;
  const std::uint64_t first = option("seed", 1);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Storm(seed, tally).run(std::chrono::seconds(seconds), kills);
  }
  print(tally);
  CHECK(tally.count(Event::kWrongNo) == 0);
  CHECK(tally.lost == 0);
  CHECK(tally.hangs == 0);
  CHECK(tally.crashes == 0);
  check_refusals(tally, chosen_mischief());
  if (kills && rounds * seconds >= kLongEnough) check_that_all_was_met(tally, chosen_mischief());
}
