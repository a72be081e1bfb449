// Suite part 11: eight processes on one path, whose files grow or not. They add with other writers and alone, sync with
// marks, replace the file after superseding it or give that up, seal it in place, recover it, copy it and ask. They are
// killed at any moment of that. Strangers make a second name of the file, lock it, and close the descriptors of its
// writers. The keys are in memory that all share. No process gets "no" for a key whose add had returned. By hand, for
// longer: storm_test
// --rounds=300, each --seconds=2 at least; --kills=0, --links=0 and so on leave something out.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "hang_watch.hpp"
#include "storm.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using namespace store_test::storm;

namespace {

using Clock = std::chrono::steady_clock;       // clock: how long a round goes on at least
constexpr std::chrono::seconds kPatience{30};  // a lock is waited for 5 seconds at most
constexpr std::uint64_t kActsOfARound = 3;     // of each process, however slow the machine is
constexpr std::uint64_t kMostRounds = 10;      // times the rounds that are asked for, until everything was met

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
          option("rebuild-closes", all.closes_in_rebuilds ? 1 : 0) != 0, option("kills", all.deaths ? 1 : 0) != 0};
}

// One file, from the first process to the last.
class Storm {
 public:
  Storm(std::uint64_t seed, std::uint64_t round, Tally& tally)
      : dir_(seed % 2 == 0 ? memory_folder() : std::filesystem::temp_directory_path().string()),
        random_(seed),
        round_(round),
        tally_(tally) {
    void* const shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    board_ = new (shared) Board;
    REQUIRE(created(dir_.file(), storm::options(seed % 4 < 2)).close().ok());
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm() { munmap(board_, sizeof(Board)); }

  void run(std::chrono::seconds least) {
    for (unsigned number = 0; number < kProcesses; ++number) start(number, first_event(number), 1);
    const auto end = Clock::now() + least;
    while (!gone_wrong_ && (Clock::now() < end || !all_have_acted())) {
      std::this_thread::sleep_for(std::chrono::microseconds(10'000 + random_() % 40'000));
      const auto victim = static_cast<unsigned>(random_() % kProcesses);
      if (chosen_mischief().deaths && may_die(victim) && has_ended(victim, true)) start_again(victim);
      for (unsigned number = 0; number < kProcesses; ++number) {
        if (has_ended(number, false)) start_again(number);
      }
      watch();
    }
    board_->stop.store(1);
    await_all();
    count();
  }

 private:
  // Returns the event with which a process begins. In every two rounds each event is one of these.
  [[nodiscard]] Event first_event(unsigned number) const noexcept {
    constexpr auto kEvents = static_cast<std::uint64_t>(Event::kNumber);
    return static_cast<Event>((number + kProcesses * round_) % kEvents);
  }

  void start(unsigned number, Event first, std::uint64_t acts_before_death) {
    const std::uint64_t seed = random_();
    may_die_after_[number] = board_->acts[number].load() + acts_before_death;
    pids_[number] = fork();
    REQUIRE(pids_[number] >= 0);
    if (pids_[number] != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Process(*board_, dir_.file(), chosen_mischief(), number, seed).run(first);
    _exit(0);
  }
  // One in three may be killed at any moment. On a busy machine none would live long enough to do anything.
  void start_again(unsigned number) { start(number, Event::kNumber, random_() % 3); }

  [[nodiscard]] bool may_die(unsigned number) const { return board_->acts[number].load() >= may_die_after_[number]; }
  [[nodiscard]] bool all_have_acted() const {
    return std::all_of(board_->acts.begin(), board_->acts.end(),
                       [](const auto& acts) { return acts.load() >= kActsOfARound; });
  }

  // Returns whether the process has ended. If it was not killed here, it must end well, and not before it is told to.
  bool has_ended(unsigned number, bool by_killing) {
    if (by_killing) kill(pids_[number], SIGKILL);
    int status = 0;
    if (waitpid(pids_[number], &status, by_killing ? 0 : WNOHANG) == 0) return false;
    pids_[number] = -1;
    const bool killed = by_killing && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    tally_.kills += killed ? 1 : 0;
    if (killed || (status == 0 && board_->stop.load() != 0)) return true;
    std::printf("process %u ended with status %#x\n", number, static_cast<unsigned>(status));
    ++tally_.crashes;
    gone_wrong_ = true;
    return true;
  }

  // Ends a process that hangs.
  void watch() {
    std::vector<HangWatch::Watched> all;
    for (unsigned i = 0; i < kProcesses; ++i)
      all.push_back({pids_[i], board_->calls[i].load() + board_->acts[i].load()});
    const int hanging = hang_watch_.look(all);
    if (hanging < 0) return;
    pid_t& pid = pids_[static_cast<std::size_t>(hanging)];
    std::printf("process %d hangs: %s\n", hanging, in_words(standing_of(pid)).c_str());
    ++tally_.hangs;
    gone_wrong_ = true;
    kill_and_wait(std::exchange(pid, -1));
  }

  void await_all() {
    for (bool all_ended = false; !all_ended;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      all_ended = true;
      for (unsigned i = 0; i < kProcesses; ++i) all_ended = (pids_[i] < 0 || has_ended(i, false)) && all_ended;
      watch();
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
  std::uint64_t round_;
  Tally& tally_;
  Board* board_ = nullptr;
  std::array<pid_t, kProcesses> pids_{};
  std::array<std::uint64_t, kProcesses> may_die_after_{};  // acts of all processes of that number
  HangWatch hang_watch_{kPatience};
  bool gone_wrong_ = false;  // the round ends
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
  std::set<Code> legal{Code::kBusy,   Code::kUnclean,   Code::kPoisoned,   Code::kRecovering, Code::kSuperseded,
                       Code::kSealed, Code::kNotSealed, Code::kUnsupported};  // a file that grows is not sealed
  if (mischief.links) legal.insert(Code::kNotFound);
  if (mischief.foreign_closes || mischief.closes_in_rebuilds) legal.insert(Code::kLost);
  for (const auto& entry : tally.refusals) {
    CAPTURE(std::string(code_name(entry.first)));
    CHECK(legal.count(entry.first) == 1);
  }
}

// Returns the events that the chosen mischief should have met, and did not.
std::string not_met(const Tally& tally, const Mischief& mischief) {
  std::set<Event> left_out{Event::kWrongNo};
  if (!mischief.links) left_out.insert(Event::kLink);
  if (!mischief.foreign_locks) left_out.insert(Event::kForeignLock);
  if (!mischief.foreign_closes && !mischief.closes_in_rebuilds) left_out.insert(Event::kForeignClose);
  if (!mischief.deaths) left_out.insert(Event::kRecovery);
  std::string numbers;
  for (std::size_t i = 0; i < tally.events.size(); ++i) {
    const bool wanted = left_out.count(static_cast<Event>(i)) == 0;
    if (wanted && tally.events[i] == 0) numbers += " " + std::to_string(i);
  }
  return numbers;
}

void check_that_no_other_mischief_was_done(const Tally& tally, const Mischief& mischief) {
  if (!mischief.links) CHECK(tally.count(Event::kLink) == 0);
  if (!mischief.foreign_locks) CHECK(tally.count(Event::kForeignLock) == 0);
  if (!mischief.foreign_closes && !mischief.closes_in_rebuilds) CHECK(tally.count(Event::kForeignClose) == 0);
  if (!mischief.deaths) CHECK(tally.kills == 0);
}

}  // namespace

TEST_CASE("no process gets a wrong no, whatever eight processes do to one path and to each other") {
  const std::uint64_t rounds = option("rounds", kKeyScale == 1 ? 4 : 2);
  const std::chrono::seconds least(option("seconds", 2));
  const Mischief mischief = chosen_mischief();
  const std::uint64_t first = first_seed();
  Tally tally;
  const auto more_is_to_be_met = [&] { return tally.hangs + tally.crashes == 0 && !not_met(tally, mischief).empty(); };
  for (std::uint64_t i = 0; i < rounds || (i < kMostRounds * rounds && more_is_to_be_met()); ++i) {
    Storm(first + i, i, tally).run(least);
  }
  print(tally);
  CHECK(tally.count(Event::kWrongNo) == 0);
  CHECK(tally.lost == 0);
  CHECK(tally.hangs == 0);
  CHECK(tally.crashes == 0);
  check_refusals(tally, mischief);
  CHECK(not_met(tally, mischief) == "");  // the numbers of events
  check_that_no_other_mischief_was_done(tally, mischief);
}
