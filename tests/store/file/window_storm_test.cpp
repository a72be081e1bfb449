// Eight processes add to a file whose keys expire, ask it and end its epochs, for many turns. They are killed, and
// stopped for 1 to 300 turns: in an add, in a lookup, before a turn and in it. No key of the window is answered no. By
// hand, for longer: window_storm_test --turns=1000. Ages are counted in epochs, and a turn is made by a call that names
// its epoch, so no clock matters.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "hang_watch.hpp"
#include "support.hpp"
#include "window_storm.hpp"

using namespace bfstore;
using namespace store_test;
using namespace store_test::window_storm;

namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::uint64_t kLongestStop = 300;  // in turns
constexpr std::uint64_t kMostLengths = 10;   // of the campaign, until everything was met
constexpr std::uint64_t kNewKeysOfAnEpoch = 300;

// In each cycle of turns the first ones have kills that need a recovery. It ends all stops of writers: so it is left
// out in the others.
constexpr std::uint64_t kLongestCycle = 360;
constexpr std::uint64_t kMostTurnsWithRecoveries = 60;

struct Tally {
  std::uint64_t turns = 0;
  std::uint64_t stops_in_adds = 0;
  std::uint64_t stops_in_lookups = 0;
  std::uint64_t other_stops = 0;          // for one turn or more
  std::uint64_t stops_in_recoveries = 0;  // of lookups, that continue before the next turn
  std::uint64_t turns_of_stops = 0;       // the sum
  std::uint64_t longest_stop = 0;
  std::uint64_t stops_in_turns = 0;  // with the lock: no turn is made meanwhile
  std::uint64_t younger = 0;         // times that a key of a stopped add was certainly absent
  std::uint64_t kills = 0;           // of these:
  std::uint64_t kills_in_clearings = 0;
  std::uint64_t kills_in_syncs = 0;  // of turns
  std::uint64_t recoveries = 0;
  std::uint64_t killed_recoveries = 0;
  std::uint64_t crashes = 0;
  std::uint64_t hangs = 0;
};

// How one turn is made.
enum class Plan { kPlain, kDiesInClearing, kStoppedInTurn, kStoppedBeforeLock, kKilled, kDiesInSync };

struct Seat {
  pid_t pid = -1;
  bool stopped = false;
  bool dies = false;  // it was ordered to
  std::uint64_t since = 0;
  std::uint64_t until = 0;  // the turn at which it continues
};

bool is_writer(unsigned number) { return number < kReader || number >= kTurner; }

Options window_options(Layout layout) {
  Options options = small_options();
  options.layout = layout;
  options.capacity = 1'000'000;  // a turn clears several pieces
  options.window_ms = 3'600'000;
  return options;
}

std::uint32_t epochs_of(Layout layout) { return layout == Layout::kWindow ? 8 : layout == Layout::kWindow4 ? 4 : 2; }

class Arena {
 public:
  Arena(Layout layout, std::uint64_t seed, std::uint64_t turns)
      : dir_(memory_folder()), epochs_(epochs_of(layout)), random_(seed), least_turns_(turns) {
    void* const shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    board_ = new (shared) Board;
    REQUIRE(created(dir_.file(), window_options(layout)).close().ok());
    live_ = std::make_unique<LiveEpoch>(dir_.file());
    const std::uint64_t new_keys = std::min(kNewKeysOfAnEpoch, kLogLength / (2 * turns) + 1);
    world_ = std::make_unique<World>(World{*board_, *live_, Rules(epochs_), dir_.file(), new_keys});
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (Seat& seat : seats_) {
      if (seat.pid < 0) continue;
      ::kill(seat.pid, SIGKILL);
      waitpid(seat.pid, nullptr, 0);
    }
    munmap(board_, sizeof(Board));
  }

  void run() {
    for (unsigned number = 0; number < kProcesses; ++number) start(number);
    reader_ = opened(Filter::open(dir_.file(), OpenMode::kRead));
    asker_ = std::make_unique<Process>(*world_, kController, random_());
    while (fine() && turn_ < least_turns_) one_turn();
    if (!not_met().empty()) std::printf("not met in %lu turns: %s\n", turn_, not_met().c_str());
    while (fine() && turn_ < kMostLengths * least_turns_ && !not_met().empty()) one_turn();
    end_all();
    tally_.turns = turn_;
  }

  void print() const;
  void check();

 private:
  [[nodiscard]] bool fine() const { return tally_.crashes + tally_.hangs == 0 && board_->count(Event::kWrongNo) == 0; }
  [[nodiscard]] std::string not_met() const;

  // --- One turn
  void one_turn();
  void do_deeds();
  void stop_in_lookups();
  void refresh();
  void end_epoch(Plan plan);
  void order_turner(Plan plan);
  void look_after_turner(unsigned number, Plan plan);
  void ask_for_pending();
  void ask_for_watched();
  [[nodiscard]] Plan plan() const;
  [[nodiscard]] bool may_need_recovery() const {
    const std::uint64_t cycle = std::min(kLongestCycle, least_turns_);
    return turn_ % cycle < std::min(kMostTurnsWithRecoveries, cycle / 2);
  }

  // --- Processes
  void start(unsigned number);
  void stop_at_any_moment(unsigned number, std::uint64_t turns);
  bool stop_at_a_look(unsigned number, Order where, std::uint64_t turns);
  void stop_now(unsigned number);
  void kill_at_any_moment(unsigned number);
  void settle_in_trouble(unsigned number);
  void let_continue(unsigned number);
  void continue_those_due();
  void bury(unsigned number);
  void kill_now(unsigned number);
  bool has_settled(unsigned number);
  void look_at_all();
  void learn(unsigned number, int status);
  void wait_until(const std::function<bool()>& met);
  void await_acts(const std::array<std::uint64_t, kSeats>& before);
  void recover();
  void end_all();

  [[nodiscard]] bool runs(unsigned number) const { return seats_[number].pid >= 0 && !seats_[number].stopped; }
  [[nodiscard]] bool any_runs() const {
    for (unsigned number = 0; number < kProcesses; ++number) {
      if (runs(number)) return true;
    }
    return false;
  }
  // One of each pair continues.
  [[nodiscard]] bool may_rest(unsigned number) const {
    if (!runs(number)) return false;
    if (number == kReopener || number == kOtherReader) return true;
    return runs(number <= kBatchAdder    ? kAdder + kBatchAdder - number
                : number <= kBatchReader ? kReader + kBatchReader - number
                                         : kTurner + kOtherTurner - number);
  }
  [[nodiscard]] std::array<std::uint64_t, kSeats> acts() const {
    std::array<std::uint64_t, kSeats> all{};
    for (unsigned i = 0; i < kSeats; ++i) all[i] = board_->acts[i].load();
    return all;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  std::uint64_t some_turns() { return 1 + below(one_in(8) ? kLongestStop : one_in(3) ? 40 : 10); }
  // Readers and turners are needed for stops in lookups.
  std::uint64_t some_turns(unsigned number) { return number < kOwners || one_in(3) ? some_turns() : 1 + below(3); }
  void order(unsigned number, Order what, std::uint64_t n) {
    board_->orders[number].store(static_cast<std::uint64_t>(what) + 256 * n);
  }

  TempDir dir_;
  std::uint32_t epochs_;
  std::mt19937_64 random_;
  std::uint64_t least_turns_;
  std::uint64_t turn_ = 0;  // the current epoch
  Board* board_ = nullptr;
  std::unique_ptr<LiveEpoch> live_;
  std::unique_ptr<World> world_;
  std::array<Seat, kProcesses> seats_;
  std::optional<Filter> reader_;
  std::unique_ptr<Process> asker_;
  std::vector<std::pair<Key, std::uint64_t>>
      watched_;  // keys of adds that were stopped, and in which turn they began again
  bool recovers_ = false;
  HangWatch hang_watch_{kPatience};
  Tally tally_;
};

// --- One turn --------------------------------------------------------------------------------------------------------

void Arena::one_turn() {
  const auto before = acts();
  continue_those_due();
  do_deeds();
  stop_in_lookups();
  refresh();
  end_epoch(plan());
  if (!fine()) return;
  ++turn_;
  ask_for_pending();
  ask_for_watched();
  await_acts(before);
}

void Arena::do_deeds() {
  for (std::uint64_t i = below(3); i > 0; --i) {
    const auto number = static_cast<unsigned>(below(kProcesses));
    if (!may_rest(number)) continue;
    if (one_in(4)) {
      kill_at_any_moment(number);
    } else if (one_in(2) || number >= kTurner) {
      stop_at_any_moment(number, some_turns(number));
    } else {
      stop_at_a_look(number, number < kOwners ? Order::kStopInAdd : Order::kStopInLookup, some_turns(number));
    }
  }
  const auto adder = static_cast<unsigned>(below(kOwners));
  if ((one_in(2) || !may_need_recovery()) && may_rest(adder))
    stop_at_a_look(adder, Order::kStopInAdd, one_in(2) ? 1 + below(2 * epochs_) : some_turns());
}

// They ask for keys that this epoch adds again, and that the turn at its end would clear.
void Arena::stop_in_lookups() {
  for (const unsigned number : {kReader, kBatchReader, kOtherReader, kTurner, kOtherTurner, kReopener}) {
    if (may_rest(number)) stop_at_a_look(number, Order::kStopInLookup, one_in(16) ? some_turns() : 1);
  }
}

void Arena::refresh() {
  board_->refresh.store(turn_ + 1);
  wait_until([this] {
    for (std::uint64_t i = 0; i < kHotKeys; ++i) {
      const Promise promise = Promise::of(board_->hot[i].load());
      if (world_->rules.is_due(i, turn_) && (promise.chain == 0 || promise.epoch < turn_)) return false;
    }
    return true;
  });
}

Plan Arena::plan() const {
  if (may_need_recovery() && turn_ % 2 == 0) return Plan::kDiesInSync;
  switch (turn_ % 8) {
    case 1:
      return Plan::kDiesInClearing;
    case 3:
      return Plan::kStoppedInTurn;
    case 5:
      return Plan::kStoppedBeforeLock;
    case 7:
      return may_need_recovery() ? Plan::kKilled : Plan::kDiesInClearing;
    default:
      return Plan::kPlain;
  }
}

void Arena::end_epoch(Plan plan) {
  board_->first_turner.store(plan == Plan::kPlain ? kAnyTurner : kNoTurner);
  board_->goal.store(turn_ + 1);
  if (plan != Plan::kPlain) order_turner(plan);
  board_->first_turner.store(kAnyTurner);
  wait_until([this] { return live_->load() >= 2 * (turn_ + 1); });
  if (live_->load() <= 2 * (turn_ + 1)) return;
  std::printf("two epochs were ended instead of epoch %lu\n", turn_);
  ++tally_.crashes;
}

void Arena::order_turner(Plan plan) {
  const unsigned number = runs(kTurner) ? kTurner : kOtherTurner;
  const unsigned other = kTurner + kOtherTurner - number;
  if (plan == Plan::kStoppedBeforeLock && seats_[other].stopped) let_continue(other);  // it makes the turn
  seats_[number].dies = plan == Plan::kDiesInClearing || plan == Plan::kDiesInSync;
  if (plan == Plan::kDiesInClearing) order(number, Order::kDieInClearing, 1 + below(4));
  if (plan == Plan::kDiesInSync) order(number, Order::kDieInSync, 1 + below(3));
  if (plan == Plan::kStoppedInTurn) order(number, Order::kStopInTurn, 1 + below(24));
  if (plan == Plan::kStoppedBeforeLock) order(number, Order::kStopBeforeLock, 0);
  board_->first_turner.store(number);
  look_after_turner(number, plan);
}

void Arena::look_after_turner(unsigned number, Plan plan) {
  if (plan == Plan::kKilled) {
    wait_until([this] { return live_->load() > 2 * turn_; });
    if (fine()) kill_now(number);
    return;
  }
  wait_until([&] { return has_settled(number); });
  Seat& seat = seats_[number];
  if (seat.stopped && plan == Plan::kStoppedInTurn) settle_in_trouble(number);
  if (seat.stopped && plan == Plan::kStoppedBeforeLock) seat.until = turn_ + (one_in(3) ? some_turns() : 1);
  seat.dies = false;
}

// A key that is certainly absent while its add is under way, and would be found if it had been added before, is added
// later.
void Arena::ask_for_pending() {
  for (unsigned number = 0; number < kProcesses; ++number) {
    Pending& pending = board_->pending[number];
    if (!seats_[number].stopped || reader_->health() != Code::kOk) continue;
    for (std::uint64_t i = 0; i < pending.count.load(); ++i) {
      const std::uint64_t before = live_->load();
      const bool maybe = reader_->contains(text_of(pending.keys[i]));
      if (maybe || !world_->rules.is_kept(pending.least[i].load(), live_->load())) continue;
      pending.least[i].store(before / 2);
      ++tally_.younger;
    }
  }
}

void Arena::ask_for_watched() {
  const auto is_over = [this](const auto& entry) { return entry.second + 2 * std::uint64_t{epochs_} < turn_; };
  watched_.erase(std::remove_if(watched_.begin(), watched_.end(), is_over), watched_.end());
  KeyList keys;
  for (const auto& entry : watched_) keys.push_back(entry.first);
  for (std::uint32_t i = 0; i < kHotKeys; ++i) keys.push_back({kHot, i});
  asker_->ask(*reader_, keys, one_in(2));
}

// --- Processes -------------------------------------------------------------------------------------------------------

void Arena::start(unsigned number) {
  const std::uint64_t seed = random_();
  board_->orders[number].store(0);
  board_->pending[number].count.store(0);
  board_->calls[number].store(Call::kNone);
  Seat& seat = seats_[number];
  seat = {};
  seat.pid = fork();
  REQUIRE(seat.pid >= 0);
  if (seat.pid != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Process(*world_, number, seed).run();
  _exit(0);
}

// A process that may have a lock is not stopped for turns: no turn would be made.
void Arena::stop_at_any_moment(unsigned number, std::uint64_t turns) {
  Seat& seat = seats_[number];
  stop_now(number);
  const Call call = board_->calls[number].load();
  seat.until = turn_ + turns;
  if (seat.stopped && (call == Call::kTurn || call == Call::kOther)) settle_in_trouble(number);
}

// Returns whether it has stopped.
bool Arena::stop_at_a_look(unsigned number, Order where, std::uint64_t turns) {
  order(number, where, 0);
  wait_until([&] { return has_settled(number); });
  seats_[number].until = turn_ + turns;
  return seats_[number].stopped;
}

void Arena::stop_now(unsigned number) {
  int status = 0;
  ::kill(seats_[number].pid, SIGSTOP);
  if (waitpid(seats_[number].pid, &status, WUNTRACED) == seats_[number].pid) learn(number, status);
}

void Arena::kill_at_any_moment(unsigned number) {
  Seat& seat = seats_[number];
  stop_now(number);
  if (!seat.stopped) return;
  const Call call = board_->calls[number].load();
  const bool may_sync = is_writer(number) && (call == Call::kTurn || call == Call::kOther);
  if (may_sync && !may_need_recovery()) {
    let_continue(number);
  } else {
    kill_now(number);
  }
}

// It is stopped, maybe with a lock: others add and ask meanwhile. Then it continues or is killed.
void Arena::settle_in_trouble(unsigned number) {
  const bool in_turn = board_->calls[number].load() == Call::kTurn;
  tally_.stops_in_turns += in_turn ? 1 : 0;
  await_acts(acts());
  if (!seats_[number].stopped) return;  // a recovery ended it
  const bool clears = in_turn && live_->load() % 2 == 1 && !live_->is_syncing();
  const bool syncs = in_turn && live_->is_syncing();
  if (one_in(2) && (clears || may_need_recovery())) {
    tally_.kills_in_clearings += clears ? 1 : 0;
    tally_.kills_in_syncs += syncs ? 1 : 0;
    kill_now(number);
  } else {
    let_continue(number);
  }
}

void Arena::let_continue(unsigned number) {
  Seat& seat = seats_[number];
  const std::uint64_t turns = turn_ - seat.since;
  tally_.longest_stop = std::max(tally_.longest_stop, turns);
  tally_.turns_of_stops += turns;
  const Call call = board_->calls[number].load();
  if (turns != 0)
    ++(call == Call::kAdd ? tally_.stops_in_adds : call == Call::kAsk ? tally_.stops_in_lookups : tally_.other_stops);
  const Pending& pending = board_->pending[number];
  for (std::uint64_t i = 0; i < pending.count.load(); ++i) watched_.emplace_back(pending.keys[i], turn_);
  seat.stopped = false;
  ::kill(seat.pid, SIGCONT);
}

void Arena::continue_those_due() {
  for (unsigned number = 0; number < kProcesses; ++number) {
    if (seats_[number].stopped && seats_[number].until <= turn_) let_continue(number);
  }
  // They end their calls before the next turn.
  wait_until([this] {
    for (unsigned number = 0; number < kProcesses; ++number) {
      if (runs(number) && board_->orders[number].load() != 0) return false;
    }
    return true;
  });
}

void Arena::kill_now(unsigned number) {
  ::kill(seats_[number].pid, SIGKILL);
  waitpid(seats_[number].pid, nullptr, 0);
  bury(number);
}

void Arena::bury(unsigned number) {
  ++tally_.kills;
  seats_[number] = {};
  if (!recovers_) start(number);
}

// True if it has obeyed its order, or cannot any more.
bool Arena::has_settled(unsigned number) { return seats_[number].stopped || board_->orders[number].load() == 0; }

void Arena::look_at_all() {
  for (unsigned number = 0; number < kProcesses; ++number) {
    const pid_t pid = seats_[number].pid;
    int status = 0;
    if (pid >= 0 && waitpid(pid, &status, WNOHANG | WUNTRACED) == pid) learn(number, status);
  }
}

void Arena::learn(unsigned number, int status) {
  Seat& seat = seats_[number];
  if (WIFSTOPPED(status)) {
    seat.stopped = true;
    seat.since = turn_;
  } else if (seat.dies && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    ++(live_->is_syncing() ? tally_.kills_in_syncs : tally_.kills_in_clearings);
    bury(number);
  } else {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && board_->stop.load() != 0;
    if (!well) std::printf("process %u ended with status %#x\n", number, static_cast<unsigned>(status));
    tally_.crashes += well ? 0 : 1;
    seat = {};
  }
}

void Arena::wait_until(const std::function<bool()>& met) {
  while (fine() && !met()) {
    look_at_all();
    if (!recovers_ && board_->doubt.load() != 0) recover();
    std::vector<HangWatch::Watched> all;
    for (unsigned i = 0; i < kProcesses; ++i) all.push_back({runs(i) ? seats_[i].pid : -1, board_->acts[i].load()});
    const int hanging = hang_watch_.look(all);
    if (hanging >= 0) {
      const pid_t pid = seats_[static_cast<std::size_t>(hanging)].pid;
      std::printf("process %d hangs: %s\n", hanging, in_words(standing_of(pid)).c_str());
      ++tally_.hangs;
    }
    if (!any_runs() && !met()) {
      std::printf("this waits for processes that are all stopped\n");
      ++tally_.hangs;
    }
    usleep(100);
  }
}

// Some process has added meanwhile, and another one has asked. One that opens, syncs or closes may wait for the lock of
// a process that is stopped: no other one waits for it then.
void Arena::await_acts(const std::array<std::uint64_t, kSeats>& before) {
  const auto acted = [&](unsigned number) {
    return board_->acts[number].load() > before[number] ||
           (runs(number) && board_->calls[number].load() == Call::kOther);
  };
  wait_until([&] { return (acted(kAdder) || acted(kBatchAdder)) && (acted(kReader) || acted(kBatchReader)); });
}

// No writer may have the file open. Readers that are stopped in a lookup learn of nothing, and continue before the next
// turn. One that is stopped while it opens the file may have a lock, for which the recovery would wait: it continues.
void Arena::recover() {
  recovers_ = true;
  for (unsigned number = 0; number < kProcesses; ++number) {
    if (is_writer(number) && seats_[number].pid >= 0) kill_now(number);
    if (seats_[number].stopped && board_->calls[number].load() == Call::kOther) let_continue(number);
  }
  for (bool over = false; fine() && !over;) {
    const std::uint64_t last_sync = one_in(4) ? 1 + below(6) : 0;
    const std::uint64_t seed = random_();
    const int ending = in_child([&] { return Process(*world_, kController, seed).recover(last_sync) ? 0 : 1; });
    if (ending == 1000 + SIGKILL && last_sync != 0) {
      ++tally_.killed_recoveries;
    } else if (ending != 0) {
      std::printf("a recovery ended with %d\n", ending);
      ++tally_.crashes;
    } else {
      over = true;
    }
  }
  ++tally_.recoveries;
  board_->doubt.store(0);
  const unsigned turner = board_->first_turner.exchange(kNoTurner);
  for (const unsigned number : {kReader, kBatchReader, kOtherReader}) {
    if (!seats_[number].stopped || seats_[number].until > turn_ + 1 || one_in(4)) continue;
    ++tally_.stops_in_recoveries;
    let_continue(number);
  }
  wait_until([this] {
    return std::all_of(&seats_[kReader], &seats_[kTurner], [this](const Seat& seat) {
      return seat.stopped || board_->orders[static_cast<std::size_t>(&seat - seats_.data())].load() == 0;
    });
  });
  recovers_ = false;
  for (unsigned number = 0; number < kProcesses; ++number) {
    if (seats_[number].pid < 0) start(number);
  }
  board_->first_turner.store(turner == kNoTurner ? kNoTurner : kAnyTurner);
}

void Arena::end_all() {
  for (unsigned number = 0; number < kProcesses; ++number) {
    if (seats_[number].stopped) let_continue(number);
  }
  continue_those_due();
  board_->stop.store(1);
  wait_until(
      [this] { return std::all_of(seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.pid < 0; }); });
}

// --- The end ---------------------------------------------------------------------------------------------------------

// Returns what should have happened, and has not.
std::string Arena::not_met() const {
  std::string names;
  const auto need = [&names](std::uint64_t times, const char* name) {
    if (times == 0) names += std::string(names.empty() ? "" : ", ") + name;
  };
#if defined(__x86_64__)
  need(tally_.stops_in_adds, "stops in adds");
  need(tally_.stops_in_lookups, "stops in lookups");
  need(tally_.stops_in_recoveries, "stops in lookups until a recovery was over");
  need(tally_.younger, "adds that were stopped before they set a bit");
#endif
  need(tally_.other_stops, "other stops");
  need(tally_.stops_in_turns, "stops in turns");
  need(tally_.kills_in_clearings, "kills in clearings");
  need(tally_.kills_in_syncs, "kills in syncs");
  need(tally_.recoveries, "recoveries");
  for (const Event event : {Event::kAdded, Event::kAddedAgain, Event::kQuestion, Event::kLongQuestion,
                            Event::kAskedNever, Event::kTurn, Event::kTurnOfOthers, Event::kOpened, Event::kSync}) {
    need(board_->count(event), ("event " + std::to_string(static_cast<unsigned>(event))).c_str());
  }
  return names;
}

void Arena::print() const {
  const auto of = [this](Event event) { return board_->count(event); };
  std::printf(
      "%u epochs: %lu turns, %lu keys added, %lu added again, %lu questions to keys that were owed an answer (%lu for "
      "several moments), %lu to keys that were never added (%lu maybes), %lu to old ones (%lu maybes)\n",
      epochs_, tally_.turns, of(Event::kAdded), of(Event::kAddedAgain), of(Event::kQuestion), of(Event::kLongQuestion),
      of(Event::kAskedNever), of(Event::kNeverMaybe), of(Event::kAskedOld), of(Event::kOldMaybe));
  std::printf(
      "  stops: %lu in adds, %lu in lookups, %lu others, for %lu turns in all, the longest for %lu; %lu in lookups "
      "until "
      "a recovery was over; %lu in a turn; %lu times a key of an add was younger\n",
      tally_.stops_in_adds, tally_.stops_in_lookups, tally_.other_stops, tally_.turns_of_stops, tally_.longest_stop,
      tally_.stops_in_recoveries, tally_.stops_in_turns, tally_.younger);
  std::printf(
      "  %lu kills, of these %lu in clearings and %lu in syncs of turns; %lu recoveries, %lu of them killed; %lu turns "
      "made, %lu found made; %lu opened, %lu syncs\n",
      tally_.kills, tally_.kills_in_clearings, tally_.kills_in_syncs, tally_.recoveries, tally_.killed_recoveries,
      of(Event::kTurn), of(Event::kTurnOfOthers), of(Event::kOpened), of(Event::kSync));
  for (std::size_t i = 0; i < board_->refusals.size(); ++i) {
    if (board_->refusals[i] != 0)
      std::printf("  %s %lu\n", code_name(static_cast<Code>(-static_cast<std::int32_t>(i))),
                  board_->refusals[i].load());
  }
  std::printf("  %lu wrong noes, %lu crashes, %lu hangs\n", of(Event::kWrongNo), tally_.crashes, tally_.hangs);
  std::fflush(stdout);
}

void Arena::check() {
  CHECK(board_->count(Event::kWrongNo) == 0);
  CHECK(tally_.crashes == 0);
  CHECK(tally_.hangs == 0);
  if (!fine()) return;
  CHECK(not_met() == "");
  CHECK(board_->count(Event::kNeverMaybe) <= board_->count(Event::kAskedNever) / 20);
  CHECK(board_->count(Event::kOldMaybe) <= board_->count(Event::kAskedOld) / 4);
  reader_.reset();
  Filter filter = opened(Filter::open(dir_.file(), OpenMode::kWrite, {.recover = true}));
  KeyList all;
  for (std::uint32_t owner = 0; owner < kOwners; ++owner) {
    for (std::uint32_t i = 0; i < board_->logs[owner].written.load(); ++i) all.push_back({owner, i});
  }
  for (std::uint32_t i = 0; i < kHotKeys; ++i) all.push_back({kHot, i});
  CHECK(asker_->ask(filter, all, true) == 0);
  for (std::uint32_t i = 0; i < epochs_; ++i) {
    const auto turned = filter.turn(live_->load() / 2);
    REQUIRE(turned.ok());
    CHECK(*turned);
  }
  const auto found =
      std::count_if(all.begin(), all.end(), [&](const Key& key) { return filter.contains(text_of(key)); });
  CHECK(found == 0);  // every word was cleared, and no other process adds
  CHECK(filter.close().ok());
  CHECK(state_of(dir_.file()) == FileState::kClean);
}

}  // namespace

TEST_CASE("through turns, kills and stops of eight processes no key of the window is answered no") {
  const std::uint64_t turns = option("turns", 30);
  const std::uint64_t seed = first_seed();
  for (const Layout layout : {Layout::kWindow, Layout::kWindow4, Layout::kWindow2}) {
    CAPTURE(static_cast<int>(layout));
    Arena arena(layout, seed, turns);
    arena.run();
    arena.print();
    arena.check();
  }
}
