// Files whose keys expire: turns by any number of processes at any moment, and whatever kills, power cuts and copies
// there are meanwhile. No key is answered no before its epochs are over.
#include <doctest/doctest.h>
#include <bfstore/layouts.hpp>
#include <bfstore/seal.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "faults.hpp"
#include "format/live_word.hpp"
#include "format/locks.hpp"
#include "region/holder.hpp"
#include "region/lock.hpp"
#include "store/file/turn.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;
using format::SlotState;

namespace {

constexpr std::uint64_t kHour = 3'600'000;  // in milliseconds
constexpr std::uint64_t kLiveEpoch = format::kLivePageOffset + 16;
constexpr std::array kLayouts{Layout::kWindow, Layout::kWindow4, Layout::kWindow2};

Options window_options(Layout layout = Layout::kWindow) {
  Options options = small_options();
  options.layout = layout;
  options.window_ms = 7 * kHour;
  return options;
}

std::uint32_t epochs_of(const Filter& filter) { return filter.stats({}).turning->epochs; }
std::uint64_t epoch_of(const Filter& filter) { return filter.stats({}).turning->epoch; }
std::uint64_t live_epoch(const std::string& path) {
  return base::load<std::uint64_t>(reinterpret_cast<const std::byte*>(read_bytes(path).data()) + kLiveEpoch);
}
void set_live_epoch(const std::string& path, std::uint64_t word) { set_word(path, kLiveEpoch, word); }

void turn_it(Filter& filter) {
  const auto turned = filter.turn(epoch_of(filter));
  REQUIRE(turned.ok());
  REQUIRE(*turned);
}

// The linker gives this function the calls of clock_gettime (tests/store/meson.build).
std::atomic<std::int64_t> real_shift{0};
std::atomic<std::int64_t> boot_shift{0};

// Hours by which the clocks are ahead, for a scope.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead() { by(0, 0); }
  void by(std::int64_t real_hours, std::int64_t boot_hours) {
    real_shift = real_hours * 3600;
    boot_shift = boot_hours * 3600;
  }
};

// What was added in which epoch last, as one writer's keys by number.
class Model {
 public:
  explicit Model(std::uint32_t epochs) : epochs_(epochs) {}
  void added(std::uint64_t key) { last_[key] = epoch_; }
  void turned() { ++epoch_; }
  [[nodiscard]] bool is_kept(std::uint64_t epoch) const { return epoch + epochs_ > epoch_; }
  // No key of the window is answered no, and hardly any other is maybe.
  void check(const std::function<bool(std::uint64_t)>& asks) const {
    std::uint64_t old = 0;
    std::uint64_t old_maybes = 0;
    for (const auto& [key, epoch] : last_) {
      const bool maybe = asks(key);
      if (is_kept(epoch)) REQUIRE(maybe);
      old += is_kept(epoch) ? 0U : 1U;
      old_maybes += !is_kept(epoch) && maybe ? 1U : 0U;
    }
    CHECK(old_maybes <= old / 4);
  }
  void check(const Filter& filter) const {
    check([&](std::uint64_t key) { return filter.contains(key_of(1, key)); });
  }

 private:
  std::uint32_t epochs_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, std::uint64_t> last_;
};

// Adds some keys one by one, and some at once.
void add_both_ways(Filter& filter, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t key = from; key < from + count / 2; ++key) REQUIRE(filter.add(key_of(1, key)).ok());
  std::vector<std::string> keys;
  for (std::uint64_t key = from + count / 2; key < from + count; ++key) keys.push_back(key_of(1, key));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  REQUIRE(filter.add_keys(Keys::views(views)).ok());
}

std::vector<std::uint8_t> answers_at_once(const Filter& filter, std::uint64_t count) {
  std::vector<std::string> keys;
  for (std::uint64_t key = 0; key < count; ++key) keys.push_back(key_of(1, key));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::uint8_t> answers(count);
  REQUIRE(filter.contains_keys(Keys::views(views), answers).ok());
  return answers;
}

constexpr std::uint64_t kAnEpoch = 100;  // keys

}  // namespace

extern "C" {
int __real_clock_gettime(clockid_t clock, timespec* time);
int __wrap_clock_gettime(clockid_t clock, timespec* time);
int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  const int done = __real_clock_gettime(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += real_shift;
  if (clock == CLOCK_BOOTTIME) time->tv_sec += boot_shift;
  return done;
}
}

TEST_CASE("over many turns every key of the window is found, in every way, and old keys are not") {
  for (const Layout layout : kLayouts) {
    for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
      CAPTURE(static_cast<int>(layout));
      const TempDir dir(memory_folder());
      CHECK(created(dir.file(), window_options(layout)).close().ok());
      Filter filter = opened(Filter::open(dir.file(), mode));
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      Remote far(dir.file());
      CHECK(far.call("open read") == "BFS_OK");
      const std::uint32_t epochs = epochs_of(filter);
      Model model(epochs);
      std::uint64_t keys = 0;
      for (std::uint64_t epoch = 0; epoch < 3 * epochs; ++epoch) {
        add_both_ways(filter, keys, kAnEpoch);
        for (std::uint64_t key = keys; key < keys + kAnEpoch; ++key) model.added(key);
        keys += kAnEpoch;
        for (std::uint64_t again = keys % 7; again < keys; again += 7 * kAnEpoch / 10) {  // live or not
          REQUIRE(filter.add(key_of(1, again)).ok());
          model.added(again);
        }
        model.check(filter);
        model.check(reader);
        const auto at_once = answers_at_once(reader, keys);
        model.check([&](std::uint64_t key) { return at_once[key] != 0; });
        CHECK(far.call("ask 1 " + std::to_string(keys - kAnEpoch) + " 100") == "100");
        CHECK(epoch_of(reader) == epoch);
        turn_it(filter);
        model.turned();
        CHECK(epoch_of(reader) == epoch + 1);
        model.check(filter);
        model.check(reader);
      }
      const auto fill = opened(Filter::open(dir.file(), OpenMode::kRead)).stats({.fill = true}).fill;
      CHECK(fill->keys_of_epochs[0] == 0);  // nothing was added since the last turn
      CHECK(fill->keys_of_epochs[1] > kAnEpoch * 0.9);
      REQUIRE(filter.close().ok());
      CHECK(state_of(dir.file()) == FileState::kClean);
      model.check(opened(Filter::open(dir.file(), OpenMode::kWrite)));  // and the epoch outlives the close
      CHECK(live_epoch(dir.file()) == 2 * 3 * std::uint64_t{epochs});
    }
  }
}

TEST_CASE("a key that is added again is kept from its last add on, though its bits were there") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    REQUIRE(filter.add(key_of(1, 0)).ok());
    if (epoch == 0) CHECK(filter.stats({}).keys_added == 1);
    turn_it(filter);
    CHECK(filter.contains(key_of(1, 0)));
  }
  CHECK(filter.stats({}).keys_added == 1);  // it was new once
}

// --- Which turns are made --------------------------------------------------------------------------------------------

TEST_CASE("a turn from another epoch changes nothing") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  add_keys(filter, 1, 0, kSome);
  turn_it(filter);
  const std::string before = read_bytes(dir.file());
  for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{2}, UINT64_MAX - 1}) {
    const auto turned = filter.turn(epoch);
    REQUIRE(turned.ok());
    CHECK_FALSE(*turned);
  }
  CHECK(read_bytes(dir.file()) == before);
}

TEST_CASE("a turn is due when the epoch has lasted for its time, and not before") {
  Slot slot;
  slot.turned_at = store::now().since_1970;
  Ahead clocks;
  clocks.by(1, 0);
  CHECK(store::is_turn_due(slot, {}, kHour));
  CHECK_FALSE(store::is_turn_due(slot, {}, kHour + kHour / 2));
  slot.place.boot_id[0] = 1;
  slot.turned_after_boot = 1;
  clocks.by(1, 100);
  CHECK(store::is_turn_due(slot, slot.place.boot_id, 2 * kHour));
  CHECK_FALSE(store::is_turn_due(slot, {2}, 2 * kHour));  // that clock began anew since
  slot.turned_after_boot = 0;                             // unknown: the date decides, in the same boot, too
  CHECK_FALSE(store::is_turn_due(slot, slot.place.boot_id, 2 * kHour));
  slot.turned_after_boot = 1;
  slot.place.boot_id = {};
  CHECK_FALSE(store::is_turn_due(slot, {}, 2 * kHour));  // two unknown boots may be two
}

TEST_CASE("in one boot the clock that no one sets decides, and in another boot the one that shows the date") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());  // an epoch lasts an hour
  Ahead clocks;
  const auto due = [&] { return filter.stats({}).turning->due; };
  const auto turned = [&] { return filter.turn().value(); };
  CHECK_FALSE(due());
  CHECK_FALSE(turned());
  clocks.by(1000, 0);  // somebody set the date forward
  CHECK_FALSE(due());
  CHECK_FALSE(turned());
  clocks.by(-1000, 1);  // and back, while an hour passed
  CHECK(due());
  CHECK(turned());
  CHECK_FALSE(due());  // one turn, and not more
  CHECK_FALSE(turned());
  clocks.by(-1000, 100);
  CHECK(turned());
  CHECK_FALSE(turned());
  CHECK(epoch_of(filter) == 2);
  REQUIRE(filter.close().ok());
  edit_slots(dir.file(), [](Slot& slot) {  // another boot
    slot.place.boot_id[0] ^= 1;
    slot.turned_at = store::now().since_1970;
  });
  filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(look_at(dir.file()).newest().turned_after_boot == 0);
  clocks.by(-1001, 1000);  // back
  CHECK_FALSE(due());
  CHECK_FALSE(turned());
  clocks.by(-999, 1000);
  CHECK(due());
  CHECK(turned());
  CHECK_FALSE(turned());
  CHECK(look_at(dir.file()).newest().turned_after_boot != 0);
}

TEST_CASE("eight processes that find an epoch over end one") {
  for (const bool by_number : {false, true}) {
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), window_options());
    add_keys(filter, 1, 0, kSome);
    Ahead clocks;
    clocks.by(1, 1);
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t pid = fork();
      REQUIRE(pid >= 0);
      if (pid == 0) {
        auto own = Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = kWaitForEver});
        const auto turned = own.ok() ? own->turn(by_number ? std::optional<std::uint64_t>(0) : std::nullopt)
                                     : Result<bool>(own.error());
        const char answer = !turned.ok() ? 'e' : *turned ? '1' : '0';
        const bool told = write(pipe_ends[1], &answer, 1) == 1;
        _exit(told ? 0 : 1);
      }
      children.push_back(pid);
    }
    for (const pid_t pid : children) CHECK(wait_for(pid) == 0);
    std::string answers(8, ' ');
    REQUIRE(read(pipe_ends[0], answers.data(), answers.size()) == 8);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    std::sort(answers.begin(), answers.end());
    CHECK(answers == "00000001");
    CHECK(epoch_of(filter) == 1);
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a turn that waited for another one judges the epoch that there is then, and ends no second one") {
  for (const bool by_number : {false, true}) {
    CAPTURE(by_number);
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), window_options());
    add_keys(filter, 1, 0, kSome);
    Ahead clocks;
    clocks.by(1, 1);
    Stopped late([&] {
      auto own = Filter::open(dir.file(), OpenMode::kWrite);
      bool stopped = false;
      faults::before_lock = [&stopped](const faults::LockCall& made) {
        if (stopped || made.command != F_OFD_SETLK || made.byte != static_cast<long>(format::kSyncLock)) return;
        stopped = true;
        raise(SIGSTOP);
      };
      if (own.ok()) static_cast<void>(own->turn(by_number ? std::optional<std::uint64_t>(0) : std::nullopt));
      faults::before_lock = {};
    });
    CHECK(epoch_of(filter) == 0);
    turn_it(filter);
    late.go_on();
    CHECK(epoch_of(filter) == 1);
    CHECK(filter.health() == Code::kOk);
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("no epoch of a file in doubt ends, and no word of it is cleared") {
  struct Doubt {
    const char* name;
    Code code;
    std::function<void(const std::string& path)> make;
  };
  const auto set_state = [](std::uint64_t state) {
    return [state](const std::string& path) { set_live_word(path, look_at(path).live_word | state); };
  };
  const auto set_slots = [](SlotState state) {
    return [state](const std::string& path) { edit_slots(path, [state](Slot& slot) { slot.state = state; }); };
  };
  const std::array doubts{
      Doubt{"the slots say recovering", Code::kRecovering, set_slots(SlotState::kRecovering)},
      Doubt{"the slots say paused", Code::kRecovering, set_slots(SlotState::kPaused)},
      Doubt{"the live word says recovering", Code::kRecovering, set_state(format::LiveWord::kRecovering)},
      Doubt{"the slots say poisoned", Code::kPoisoned,
            [](const std::string& path) { edit_slots(path, format::poison); }},
      Doubt{"the live word says poisoned", Code::kPoisoned, set_state(format::LiveWord::kPoisoned)},
      Doubt{"a sync died", Code::kPoisoned, [](const std::string& path) { set_syncing(path); }},
      Doubt{"its live page is of another epoch", Code::kPoisoned,
            [](const std::string& path) { set_live_epoch(path, 4); }},
  };
  for (const Doubt& doubt : doubts) {
    CAPTURE(std::string(doubt.name));
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), window_options());
    doubt.make(dir.file());
    const std::uint64_t live = live_epoch(dir.file());
    const auto turned = filter.turn(0);
    REQUIRE_FALSE(turned.ok());
    CHECK(turned.error().code == doubt.code);
    CHECK(live_epoch(dir.file()) == live);
    CHECK(look_at(dir.file()).newest().epoch == 0);
    filter.abandon();
  }
}

// --- Turns in the middle of other things -----------------------------------------------------------------------------

namespace {

// Calls `deed` at every call of a turn that goes to the kernel, and not in the deed's own calls.
class AtEveryStep {
 public:
  explicit AtEveryStep(std::function<void()> deed) : deed_(std::move(deed)) {
    faults::on_read = [this](int, std::uint64_t, std::uint64_t) { return step(); };
    faults::on_sync = [this](int) { return step(); };
    faults::before_lock = faults::after_lock = [this](const faults::LockCall&) { step(); };
    faults::on_write = [this](int, std::uint64_t, std::uint64_t) { step(); };
  }
  AtEveryStep(const AtEveryStep&) = delete;
  AtEveryStep& operator=(const AtEveryStep&) = delete;
  ~AtEveryStep() { stop(); }
  void stop() {
    faults::on_read = {};
    faults::on_sync = {};
    faults::before_lock = faults::after_lock = {};
    faults::on_write = {};
  }
  [[nodiscard]] int steps() const noexcept { return steps_; }

 private:
  int step() {
    if (inside_) return 0;
    inside_ = true;
    ++steps_;
    deed_();
    inside_ = false;
    return 0;
  }
  std::function<void()> deed_;
  bool inside_ = false;
  int steps_ = 0;
};

}  // namespace

TEST_CASE("what is added at any step of a turn is kept for its epochs, and what is asked is answered") {
  for (const Layout layout : kLayouts) {
    const faults::Scope scope;
    const TempDir dir(memory_folder());
    Filter turner = created(dir.file(), window_options(layout));
    Filter adder = opened(Filter::open(dir.file(), OpenMode::kWrite, {.writeback_check_ms = UINT32_MAX - 1}));
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    const std::uint32_t epochs = epochs_of(turner);
    std::uint64_t keys = 0;
    std::vector<std::uint64_t> first_of_turn;
    for (std::uint64_t turn = 0; turn < 2 * epochs; ++turn) {
      first_of_turn.push_back(keys);
      AtEveryStep steps([&] {
        CHECK(adder.add(key_of(1, keys)).ok());
        ++keys;
        CHECK(adder.add(key_of(2, 0)).ok());  // the same one again and again
        for (std::uint64_t key = first_of_turn.back(); key < keys; ++key) CHECK(reader.contains(key_of(1, key)));
        CHECK(reader.contains(key_of(2, 0)));
      });
      turn_it(turner);
      steps.stop();
      CHECK(steps.steps() > 10);
      // In the worst case a key was added in the epoch that this turn ended.
      const std::uint64_t oldest = turn + 1 < epochs ? 0 : turn + 2 - epochs;
      for (std::uint64_t key = first_of_turn[oldest]; key < keys; ++key) REQUIRE(reader.contains(key_of(1, key)));
    }
  }
}

TEST_CASE("a turn clears, syncs, writes a slot, changes the live page, and writes the slot's time again") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options(Layout::kWindow2));
  add_keys(filter, 1, 0, kSome);
  turn_it(filter);
  Ahead clocks;
  struct Seen {
    std::uint64_t slot, live, keys;
    bool syncing;
    std::uint64_t turned_at, turned_after_boot;
  };
  std::vector<Seen> seen;
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  faults::on_sync = [&](int) {
    const OnDisk disk = look_at(dir.file());
    seen.push_back({disk.newest().epoch, live_epoch(dir.file()), maybes(reader, 1, 0, kSome), disk.syncing,
                    disk.newest().turned_at, disk.newest().turned_after_boot});
    const auto hours = static_cast<std::int64_t>(seen.size());  // each sync takes an hour
    clocks.by(hours, hours);
    return 0;
  };
  turn_it(filter);
  faults::on_sync = {};
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].slot == 1);  // the words were cleared before the first sync
  CHECK(seen[0].live == 3);
  CHECK(seen[0].keys < kSome / 2);
  CHECK(seen[0].syncing);
  CHECK(seen[1].slot == 2);  // the slot is written, and not yet durable
  CHECK(seen[1].live == 3);
  CHECK(seen[1].syncing);
  CHECK(seen[2].slot == 2);  // and once more, with a later time
  CHECK(seen[2].live == 4);
  CHECK(seen[2].syncing);
  for (const std::size_t i : {1U, 2U}) {
    CHECK(seen[i].turned_at >= seen[i - 1].turned_at + std::uint64_t{kHour} * 1'000'000);
    CHECK(seen[i].turned_after_boot >= seen[i - 1].turned_after_boot + std::uint64_t{kHour} * 1'000'000);
  }
  const OnDisk after = look_at(dir.file());
  CHECK(after.newest().turned_after_boot == seen[2].turned_after_boot);
  CHECK_FALSE(after.syncing);
  CHECK(live_epoch(dir.file()) == 4);
}

TEST_CASE("a turner that is stopped keeps others from turning, and not from adding and asking") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options(Layout::kWindow4));
  add_keys(filter, 1, 0, kSome);
  Stopped turner([&] {
    auto own = Filter::open(dir.file(), OpenMode::kWrite);
    int syncs = 0;
    faults::on_sync = [&syncs](int) {
      ++syncs;
      raise(SIGSTOP);
      return 0;
    };
    if (own.ok()) static_cast<void>(own->turn(0));
    faults::on_sync = {};
  });
  for (int stop = 0; stop < 3; ++stop) {
    CAPTURE(stop);
    add_keys(filter, 2, static_cast<std::uint64_t>(stop) * kSome, kSome);
    CHECK(maybes(filter, 2, 0, (static_cast<std::uint64_t>(stop) + 1) * kSome) ==
          (static_cast<std::uint64_t>(stop) + 1) * kSome);
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
    Filter other = opened(stop == 0 ? Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 1})
                                    : Filter::open(dir.file(), OpenMode::kRead));
    if (stop == 0) CHECK(other.turn(0).error().code == Code::kBusy);
    CHECK(answers_no(other));
    other.abandon();
    turner.go_on();
  }
  CHECK(epoch_of(filter) == 1);
  for (std::uint64_t turn = 1; turn < 4; ++turn) {
    CHECK(maybes(filter, 2, 0, 3 * kSome) == 3 * kSome);
    turn_it(filter);
  }
}

TEST_CASE("a turner that is killed while it clears has lost nothing, and the next turn clears again") {
  const TempDir dir(memory_folder());
  Options options = window_options(Layout::kWindow4);
  options.capacity = 4'000'000;  // several pieces
  {
    Filter filter = created(dir.file(), options);
    for (int turn = 0; turn < 4; ++turn) {
      add_keys(filter, static_cast<unsigned>(turn), 0, kSome);
      if (turn != 3) turn_it(filter);
    }
    CHECK(filter.sync().ok());
    const int code = in_child([&] {
      auto own = Filter::open(dir.file(), OpenMode::kWrite);
      faults::before_lock = [&](const faults::LockCall&) {
        if (live_epoch(dir.file()) == 7 && !own->contains(key_of(0, 0))) raise(SIGKILL);
      };
      if (own.ok()) static_cast<void>(own->turn(3));
      return 0;
    });
    CHECK(code == 1000 + SIGKILL);
    CHECK(live_epoch(dir.file()) == 7);  // epoch 3, which ends
    CHECK_FALSE(look_at(dir.file()).syncing);
    CHECK(filter.health() == Code::kOk);
    CHECK(state_of(dir.file()) == FileState::kInUse);
    add_keys(filter, 5, 0, kSome);  // is added to epoch 3
    CHECK(filter.sync().ok());
    REQUIRE(filter.close().ok());
  }
  CHECK(state_of(dir.file()) == FileState::kClean);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(epoch_of(filter) == 3);
  turn_it(filter);
  CHECK(live_epoch(dir.file()) == 8);
  CHECK(maybes(filter, 0, 0, kSome) < kSome / 2);
  for (const unsigned writer : {1U, 2U, 3U, 5U}) CHECK(maybes(filter, writer, 0, kSome) == kSome);
}

namespace {

// What happens while a turn clears.
struct Trouble {
  const char* name;
  Code code;
  std::function<void(const std::string& path)> make;
};

// Unmaps the page that keeps the lock.
void lose_the_sync_lock(const std::string& path) {
  std::array<char, 32> offset{};
  std::snprintf(offset.data(), offset.size(), " ---s %08llx ",
                static_cast<unsigned long long>(region::offset_of_lock_page({format::kSyncLock})));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(offset.data()) == std::string::npos || !line.ends_with(path)) continue;
    munmap(reinterpret_cast<void*>(std::stoull(line, nullptr, 16)), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  }
}

constexpr int kTurned = 200;
constexpr int kAnotherCode = 250;

// For in_child: ends epoch 0, and makes the trouble when the turn asks for the n-th time whether it has its lock.
// Returns how often it asks after that; if it ends the epoch, kTurned and how often it asks.
int turn_in_trouble(const std::string& path, int at, const Trouble& trouble) {
  auto own = Filter::open(path, OpenMode::kWrite);
  if (!own.ok()) return kAnotherCode;
  int looks = -1;  // the first look belongs to taking the lock
  faults::before_lock = [&](const faults::LockCall& made) {
    if (made.command != F_OFD_GETLK || made.byte != static_cast<long>(format::kSyncLock)) return;
    if (++looks == at) trouble.make(path);
  };
  const auto turned = own->turn(0);
  faults::before_lock = {};
  if (turned.ok()) return kTurned + looks;
  return turned.error().code == trouble.code ? looks - at : kAnotherCode;
}

}  // namespace

TEST_CASE("a turner looks after each piece whether it still may clear, and clears no further piece if not") {
  const auto set_state = [](std::uint64_t state) {
    return [state](const std::string& path) { set_live_word(path, look_at(path).live_word | state); };
  };
  const std::array troubles{
      Trouble{"it lost its lock", Code::kLost, lose_the_sync_lock},
      Trouble{"the file was replaced", Code::kSuperseded, set_state(format::LiveWord::kReplaced)},
      Trouble{"the file was poisoned", Code::kPoisoned, set_state(format::LiveWord::kPoisoned)},
      Trouble{
          "the end word was cut", Code::kLost,
          [](const std::string& path) { std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8); }},
  };
  Options options = window_options(Layout::kWindow4);
  options.capacity = 1'500'000;
  for (const Trouble& trouble : troubles) {
    CAPTURE(std::string(trouble.name));
    int pieces = 1;
    for (int look = 1; look <= pieces + 2; look += look == 2 ? pieces : 1) {  // after its wait, and two pieces
      CAPTURE(look);
      const TempDir dir(memory_folder());
      Filter filter = created(dir.file(), options);
      pieces = static_cast<int>((filter.stats({}).body_bytes - 1) >> 20) + 1;
      REQUIRE(pieces > 1);
      CHECK(in_child([&] { return turn_in_trouble(dir.file(), look, trouble); }) == 0);
      const bool began = look != 1 || std::string(trouble.name) == "the end word was cut";  // it looked at that before
      CHECK(live_epoch(dir.file()) == (began ? 1U : 0U));
      filter.abandon();
    }
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), options);
    CHECK(in_child([&] { return turn_in_trouble(dir.file(), kTurned, trouble); }) == kTurned + pieces + 2);
    CHECK(epoch_of(filter) == 1);
  }
}

namespace {

// For a Stopped process: ends an epoch, and stops when it clears, when its first slot is written, when the live page
// has the new epoch, and at its end. An hour later than the first slot says it writes the second one.
void turn_in_stages(const std::string& path) {
  auto own = Filter::open(path, OpenMode::kWrite);
  if (!own.ok()) return;
  const std::uint64_t before = live_epoch(path);
  bool clears = false;
  bool begins = false;
  int syncs = 0;
  const faults::Scope scope;
  faults::before_lock = [&](const faults::LockCall&) {
    if (clears || live_epoch(path) != before + 1) return;
    clears = true;
    raise(SIGSTOP);
  };
  faults::on_sync = [&](int) {
    if (++syncs == 2) raise(SIGSTOP);
    return 0;
  };
  faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
    if (begins || live_epoch(path) != before + 2) return 0;
    begins = true;
    raise(SIGSTOP);
    real_shift += 3600;
    boot_shift += 3600;
    return 0;
  };
  static_cast<void>(own->turn(before / 2));
}

}  // namespace

TEST_CASE("no turn is due at the end of a turn, whatever time its first slot has") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  Stopped turner([&] { turn_in_stages(dir.file()); });
  Ahead clocks;
  clocks.by(2, 2);
  const auto due = [&] {
    const bool it_is = filter.stats({}).turning->due;
    CHECK(reader.stats({}).turning->due == it_is);
    const auto report = inspect(dir.file(), false);
    REQUIRE(report.ok());
    CHECK(report->turning->due == it_is);
    return it_is;
  };
  CHECK(due());  // the epoch that is being ended
  turner.go_on();
  CHECK(look_at(dir.file()).newest().epoch == 1);
  CHECK(epoch_of(filter) == 0);
  CHECK_FALSE(due());
  turner.go_on();
  CHECK(epoch_of(filter) == 1);
  CHECK_FALSE(due());
  turner.go_on();
  CHECK(due());  // an hour after the second slot
}

// A program that asks whether a turn is due, and turns only then, never learned that the file is to be recovered.
TEST_CASE("a process that was killed in a sync keeps no turn from being due, and the turn says that the sync died") {
  for (const bool in_a_turn : {false, true}) {
    CAPTURE(in_a_turn);
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), window_options());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    if (in_a_turn) {
      Stopped turner([&] { turn_in_stages(dir.file()); });
      turner.go_on();
      turner.kill();
      CHECK(look_at(dir.file()).newest().epoch == 1);
      CHECK(epoch_of(filter) == 0);
    } else {
      CHECK(in_child([&] {
              auto own = Filter::open(dir.file(), OpenMode::kWrite);
              faults::on_sync = [](int) { return raise(SIGKILL); };
              return own.ok() && own->sync().ok() ? 0 : 1;
            }) == 1000 + SIGKILL);
    }
    CHECK(look_at(dir.file()).syncing);
    CHECK(filter.health() == Code::kOk);
    Ahead clocks;
    for (const bool later : {false, true}) {
      if (later) clocks.by(2, 2);
      CHECK(filter.stats({}).turning->due == later);
      CHECK(reader.stats({}).turning->due == later);
    }
    const auto turned = filter.turn();
    REQUIRE_FALSE(turned.ok());
    CHECK(turned.error().code == Code::kPoisoned);
    CHECK_MESSAGE(turned.error().message.find("was killed while it synced") != std::string::npos,
                  turned.error().message);
    CHECK(filter.health() == Code::kPoisoned);
  }
}

#if defined(__x86_64__)
namespace {

// The live page of the only reader of a file, which the processor can not read. Each look at it is a fault: the handler
// calls what the test wants to happen before that look, lets the one instruction read (by the CPU's single-step flag),
// and closes the page again. tests/layout/window_test.cpp does so with an epoch word alone.
class WatchedLivePage {
 public:
  explicit WatchedLivePage(const std::string& path) : page_(live_page_of_reader(path)) {
    REQUIRE(page_ != nullptr);
    watched_ = this;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = faulted;
    REQUIRE(sigaction(SIGSEGV, &action, &old_fault_) == 0);
    action.sa_sigaction = stepped;
    REQUIRE(sigaction(SIGTRAP, &action, &old_step_) == 0);
  }
  WatchedLivePage(const WatchedLivePage&) = delete;
  WatchedLivePage& operator=(const WatchedLivePage&) = delete;
  ~WatchedLivePage() {
    sigaction(SIGSEGV, &old_fault_, nullptr);
    sigaction(SIGTRAP, &old_step_, nullptr);
    watched_ = nullptr;
  }

  // Runs `call`, and `before_look(n)` before its n-th look, from 1. Returns the number of looks.
  template <class Call>
  unsigned watch(std::function<void(unsigned)> before_look, Call call) {
    before_look_ = std::move(before_look);
    looks_ = 0;
    mprotect(page_, format::kPageBytes, PROT_NONE);
    call();
    mprotect(page_, format::kPageBytes, PROT_READ);
    return looks_;
  }

 private:
  static constexpr long long kSingleStep = 1 << 8;  // the flag TF

  static std::byte* live_page_of_reader(const std::string& path) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(" r--s 00000000 ") == std::string::npos || !line.ends_with(path)) continue;
      return reinterpret_cast<std::byte*>(std::stoull(line, nullptr, 16)) + format::kLivePageOffset;
    }
    return nullptr;
  }
  static void faulted(int, siginfo_t* info, void* context) {
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    if (at < watched_->page_ || at >= watched_->page_ + format::kPageBytes) {  // as without a handler
      signal(SIGSEGV, SIG_DFL);
      return;
    }
    mprotect(watched_->page_, format::kPageBytes, PROT_READ);
    watched_->before_look_(++watched_->looks_);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kSingleStep;
  }
  static void stepped(int, siginfo_t*, void* context) {
    mprotect(watched_->page_, format::kPageBytes, PROT_NONE);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kSingleStep;
  }

  static inline WatchedLivePage* watched_ = nullptr;
  std::byte* page_;
  unsigned looks_ = 0;
  std::function<void(unsigned)> before_look_;
  struct sigaction old_fault_ {};
  struct sigaction old_step_ {};
};

// Adds the key, kills a process that has cleared the oldest word, and recovers the file.
void add_kill_and_recover(const std::string& path, Filter& writer, std::uint64_t epoch) {
  CHECK(writer.add(key_of(1, 0)).ok());
  const int code = in_child([&] {
    auto own = Filter::open(path, OpenMode::kWrite);
    faults::on_sync = [](int) { return raise(SIGKILL); };
    if (own.ok()) static_cast<void>(own->turn(epoch));
    return 0;
  });
  CHECK(code == 1000 + SIGKILL);
  writer.abandon();
  auto recovered = Filter::open(path, OpenMode::kWrite, {.recover = true});
  CHECK(recovered.ok());
  if (!recovered.ok()) return;
  CHECK(recovered->add(key_of(1, 0)).ok());
  CHECK(recovered->finish_recovery(1).ok());
  CHECK(recovered->health() == Code::kOk);
}

}  // namespace

// The lookup reads the word of now before the key is added there again, and its old word after the turn has cleared
// that. To it the key looks like one that was not there when it began.
TEST_CASE("a lookup that is stopped while a turn is killed and the file is recovered answers no wrong no") {
  for (const Layout layout : kLayouts) {
    CAPTURE(static_cast<int>(layout));
    unsigned looks = 0;
    for (unsigned at = 1; at == 1 || at <= looks; ++at) {
      CAPTURE(at);
      const TempDir dir(memory_folder());
      Filter writer = created(dir.file(), window_options(layout));
      const std::uint64_t epoch = epochs_of(writer) - 1;
      for (std::uint64_t i = 0; i < epoch; ++i) turn_it(writer);
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      WatchedLivePage page(dir.file());
      bool maybe = true;
      looks = page.watch([](unsigned) {}, [&] { maybe = reader.contains(key_of(1, 0)); });
      CHECK_FALSE(maybe);
      CHECK(looks >= 3);  // the epoch, the live word, and the epoch again
      page.watch(
          [&](unsigned look) {
            if (look == at) add_kill_and_recover(dir.file(), writer, epoch);
          },
          [&] { maybe = reader.contains(key_of(1, 0)); });
      CHECK(maybe);
      CHECK(live_epoch(dir.file()) == 2 * epoch + 1);
    }
  }
}
#endif

// --- Slots and live page of different epochs -------------------------------------------------------------------------

TEST_CASE("the table of slots and live pages") {
  const TempDir dir(memory_folder());
  Filter writer = created(dir.file(), window_options());
  for (int i = 0; i < 5; ++i) turn_it(writer);
  const auto state_with = [&](std::uint64_t slot_epoch, std::uint64_t live, bool syncing = false) {
    edit_slots(dir.file(), [&](Slot& slot) { slot.epoch = slot_epoch; });
    set_live_epoch(dir.file(), live);
    set_syncing(dir.file(), syncing);
    return state_of(dir.file());
  };
  CHECK(state_with(5, 10) == FileState::kInUse);
  CHECK(state_with(5, 11) == FileState::kInUse);
  CHECK(state_with(6, 11) == FileState::kUnclean);        // no turn is between its slot and the live page
  CHECK(state_with(6, 11, true) == FileState::kUnclean);  // its process died
  for (const std::uint64_t live : {0U, 8U, 9U, 12U, 13U, 14U}) CHECK(state_with(5, live) == FileState::kUnclean);
  CHECK(state_with(5, 10) == FileState::kInUse);
  REQUIRE(writer.close().ok());
  CHECK(state_with(5, 10) == FileState::kClean);
  CHECK(state_with(5, 11) == FileState::kClean);
  for (const std::uint64_t live : {8U, 9U, 12U, 13U}) CHECK(state_with(5, live) == FileState::kUnclean);
  CHECK(state_with(6, 11) == FileState::kUnclean);
  CHECK(state_with(5, 11) == FileState::kClean);
  leave_behind(dir.file(), 1);
  CHECK(state_with(5, 11) == FileState::kAdoptable);
  CHECK(state_with(5, 12) == FileState::kUnclean);
}

TEST_CASE("between a turn's slot and its live page the file is in use") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  std::vector<FileState> states;
  faults::on_sync = [&](int) {  // locks that this process has are no sign for itself
    states.push_back(static_cast<FileState>(in_child([&] {
      faults::on_sync = {};
      const auto report = inspect(dir.file(), false);
      return report.ok() ? static_cast<int>(report->state) : 99;
    })));
    return 0;
  };
  turn_it(filter);
  faults::on_sync = {};
  CHECK(states == std::vector<FileState>(3, FileState::kInUse));
}

TEST_CASE("a recovery begins with the slot's epoch, and keeps what the marks promise") {
  struct Case {
    std::uint64_t slot, live;
  };
  for (const Case& words : {Case{3, 6}, Case{3, 7}, Case{4, 7}, Case{4, 6}, Case{3, 8}, Case{3, 20}}) {
    const std::uint64_t slot_epoch = words.slot;
    const std::uint64_t live = words.live;
    CAPTURE(slot_epoch);
    CAPTURE(live);
    const TempDir dir(memory_folder());
    {
      Filter filter = created(dir.file(), window_options());
      for (std::uint64_t i = 0; i < 3; ++i) {
        add_keys(filter, 1, i * kSome, kSome);
        CHECK(filter.sync({.owner = 1, .mark = (i + 1) * kSome}).ok());
        turn_it(filter);
      }
      add_keys(filter, 1, 3 * kSome, kSome);
      filter.abandon();
    }
    edit_slots(dir.file(), [&, epoch = slot_epoch](Slot& slot) {
      slot.epoch = epoch;
      slot.place.boot_id[0] ^= 1;  // the power was cut
    });
    set_live_epoch(dir.file(), live);
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
    CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
    CHECK(filter.health() == Code::kRecovering);
    CHECK(filter.turn(slot_epoch).error().code == Code::kRecovering);
    // What an unfinished turn left is kept: a lookup that began before it would else not notice it.
    CHECK(live_epoch(dir.file()) == 2 * slot_epoch + (live == 2 * slot_epoch + 1 ? 1 : 0));
    const std::uint64_t mark = filter.get_mark(1);
    CHECK(mark == 3 * kSome);
    add_keys(filter, 1, mark, kSome);
    CHECK(*filter.finish_recovery(1));
    CHECK(epoch_of(filter) == slot_epoch);
    CHECK(maybes(filter, 1, 0, 4 * kSome) == 4 * kSome);
    for (std::uint64_t i = slot_epoch; i < 7; ++i) turn_it(filter);
    CHECK(maybes(filter, 1, 0, 4 * kSome) == 4 * kSome);  // epoch 7: the word of epoch 0 is the oldest one
    CHECK(answers_no(filter));
  }
}

TEST_CASE("a turn whose sync fails poisons the file, and a recovery is enough") {
  for (int failing = 0; failing < 3; ++failing) {
    CAPTURE(failing);
    const faults::Scope scope;
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), window_options(Layout::kWindow4));
    add_keys(filter, 1, 0, kSome);
    CHECK(filter.sync({.owner = 1, .mark = kSome}).ok());
    int syncs = 0;
    faults::on_sync = [&](int) { return syncs++ == failing ? EIO : 0; };
    CHECK(filter.turn(0).error().code == Code::kPoisoned);
    faults::on_sync = {};
    CHECK(filter.health() == Code::kPoisoned);
    CHECK(filter.turn(0).error().code == Code::kPoisoned);
    CHECK(filter.turn(1).error().code == Code::kPoisoned);
    filter.abandon();
    Filter recovered = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true}));
    CHECK(*recovered.finish_recovery(1));
    CHECK(live_epoch(dir.file()) / 2 == look_at(dir.file()).newest().epoch);
    CHECK(maybes(recovered, 1, 0, kSome) == kSome);
    turn_it(recovered);
    CHECK(maybes(recovered, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a turn that can not have the state lock ends nothing, and can be repeated") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  CHECK(created(dir.file(), window_options(Layout::kWindow4)).close().ok());
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 1}));
  add_keys(filter, 1, 0, kSome);
  {
    const Stopped holder([&] {
      lock_as_stranger(dir.file(), F_WRLCK, F_OFD_SETLK, std::uint64_t{1} << 62, 1);
      raise(SIGSTOP);
    });
    CHECK(filter.turn(0).error().code == Code::kBusy);
  }
  CHECK(filter.health() == Code::kOk);
  CHECK_FALSE(look_at(dir.file()).syncing);
  CHECK(epoch_of(filter) == 0);
  CHECK(live_epoch(dir.file()) == 1);
  turn_it(filter);
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
}

// --- Copies ----------------------------------------------------------------------------------------------------------

namespace {

// Kinds of copies that have an epoch, of a handle, and the copy as a handle.
struct CopyForm {
  const char* name;
  std::function<Result<Filter>(const Filter& from, const std::string& path, const std::string& copy)> make;
};

Result<Filter> saved(const Filter& from, const std::string& copy, const SaveOptions& options) {
  const Error error = from.save(copy, options);
  return error.ok() ? Filter::open(copy, OpenMode::kRead) : Result<Filter>(error);
}

const std::vector<CopyForm>& copy_forms() {
  static const std::vector<CopyForm> kForms{
      {"save", [](const Filter& from, const std::string&, const std::string& copy) { return saved(from, copy, {}); }},
      {"seal", [](const Filter& from, const std::string&,
                  const std::string& copy) { return saved(from, copy, {.sealed = true}); }},
      {"private", [](const Filter&, const std::string& path, const std::string&) {
         return Filter::open(path, OpenMode::kRead, {.map = {.copy = true}});
       }}};
  return kForms;
}

}  // namespace

TEST_CASE("a copy has the epoch of after its last byte, and every key of the window up to the marks") {
  for (const CopyForm& form : copy_forms()) {
    for (const std::uint64_t turns : {0U, 1U, 2U, 3U}) {
      CAPTURE(form.name);
      CAPTURE(turns);
      const faults::Scope scope;
      const TempDir dir(memory_folder());
      Filter filter = created(dir.file(), window_options(Layout::kWindow4));
      for (std::uint64_t i = 0; i < 5; ++i) {
        if (i != 0) turn_it(filter);
        add_keys(filter, static_cast<unsigned>(i), 0, kSome);
      }
      CHECK(filter.sync().ok());
      const std::uint64_t body = 16384;
      Ahead clocks;
      bool done = false;
      faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
        if (done || offset < body || bytes < 1000) return 0;
        done = true;  // the body is being read for the first time
        clocks.by(3, 3);
        for (std::uint64_t i = 0; i < turns; ++i) turn_it(filter);
        return 0;
      };
      auto copy = form.make(filter, dir.file(), dir.file("copy"));
      faults::on_read = {};
      REQUIRE(copy.ok());
      CHECK(done);
      CHECK(epoch_of(*copy) == 4 + turns);
      CHECK(copy->stats({}).turning->turned_at == filter.stats({}).turning->turned_at);
      CHECK(copy->stats({}).turning->due == (turns == 0));
      for (std::uint64_t i = 1 + turns; i < 5; ++i)  // the keys of the copy's window
        CHECK(maybes(*copy, static_cast<unsigned>(i), 0, kSome) == kSome);
      CHECK(maybes(*copy, 0, 0, kSome) < kSome / 2);
      if (std::string(form.name) == "private") continue;
      copy->abandon();
      CHECK(state_of(dir.file("copy")) == FileState::kClean);
      if (std::string(form.name) == "seal") continue;
      Filter further = opened(Filter::open(dir.file("copy"), OpenMode::kWrite));
      turn_it(further);
      for (std::uint64_t i = 2 + turns; i < 5; ++i) CHECK(maybes(further, static_cast<unsigned>(i), 0, kSome) == kSome);
    }
  }
}

TEST_CASE("a copy that is overtaken by turns again and again is refused") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options(Layout::kWindow2));
  bool inside = false;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
    if (inside || offset < 16384 || bytes < 1000) return 0;
    inside = true;
    turn_it(filter);
    inside = false;
    return 0;
  };
  const Error error = filter.save(dir.file("copy"));
  faults::on_read = {};
  CHECK(error.code == Code::kBusy);
  CHECK(error.message.find("epochs ended again and again") != std::string::npos);
  CHECK(dir.names() == std::vector<std::string>{"filter.bf"});
}

TEST_CASE("a copy in memory that is overtaken by turns begins again, and has the keys of its window") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options(Layout::kWindow2));
  int overtaken = 0;
  bool inside = false;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
    if (inside || overtaken == 3 || offset < 16384 || bytes < 1000) return 0;
    inside = true;
    ++overtaken;
    turn_it(filter);
    inside = false;
    return 0;
  };
  auto copy = Filter::open(dir.file(), OpenMode::kRead, {.map = {.copy = true}});
  faults::on_read = {};
  REQUIRE(copy.ok());
  CHECK(overtaken == 3);
  CHECK(epoch_of(*copy) == 3);
}

// It was as it was sealed, and no reader was let in: unclean. The fuzzer of files found it.
TEST_CASE("a sealed file whose live page is of another epoch than its slots is damaged") {
  const TempDir dir(memory_folder());
  {
    Filter filter = created(dir.file(), window_options());
    for (int i = 0; i < 3; ++i) turn_it(filter);
    REQUIRE(filter.save(dir.file("sealed"), {.sealed = true}).ok());
  }
  for (const std::uint64_t live : {6U, 7U, 5U, 8U, 0U}) {
    CAPTURE(live);
    set_live_epoch(dir.file("sealed"), live);
    const auto verified = verify(dir.file("sealed"));
    REQUIRE(verified.ok());
    const bool same = live / 2 == 3;
    CHECK(verified->damaged.size() == (same ? 0 : 1));
    CHECK(Filter::open(dir.file("sealed"), OpenMode::kRead).ok() == same);
    if (same) continue;
    CHECK(verified->damaged.front().offset == kLiveEpoch);
    CHECK(verified->damaged.front().bytes == 8);
  }
}

// It waited for a turn that no process makes, until its time was over: BFS_EBUSY. The fuzzer of files found it.
TEST_CASE("a copy of a clean file whose closer was killed before it cleared syncing waits for no turn") {
  for (const CopyForm& form : copy_forms()) {
    CAPTURE(form.name);
    const TempDir dir(memory_folder());
    {
      Filter filter = created(dir.file(), window_options());
      for (int i = 0; i < 3; ++i) turn_it(filter);
      add_keys(filter, 1, 0, kSome);
      REQUIRE(filter.close().ok());
    }
    set_syncing(dir.file(), 1);
    const std::uint64_t turned_at = look_at(dir.file()).newest().turned_at;
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    const auto copy = form.make(reader, dir.file(), dir.file("copy"));
    REQUIRE(copy.ok());
    CHECK(copy->stats({}).turning->epoch == 3);
    CHECK(copy->stats({}).turning->turned_at == turned_at);
    CHECK(maybes(*copy, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a copy that is made while a turn comes to its end has the time at which its epoch began") {
  for (const CopyForm& form : copy_forms()) {
    for (const int stages : {1, 2}) {  // to the first slot, and to the live page
      bool over = false;
      for (int at = 1; !over; ++at) {
        CAPTURE(form.name);
        CAPTURE(stages);
        CAPTURE(at);
        const faults::Scope scope;
        const TempDir dir(memory_folder());
        const Filter filter = created(dir.file(), window_options(Layout::kWindow4));
        const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const std::uint64_t before = filter.stats({}).turning->turned_at;
        Stopped turner([&] { turn_in_stages(dir.file()); });
        int stages_left = 3;
        const auto go_on = [&](int count) {
          for (; count > 0 && stages_left > 0; --count, --stages_left) turner.go_on();
        };
        int reads = 0;
        faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
          ++reads;
          if (reads == at) go_on(stages);
          if (reads == at + 6) go_on(3);
          return 0;
        };
        const auto copy = form.make(reader, dir.file(), dir.file("copy"));
        faults::on_read = {};
        go_on(3);
        REQUIRE(copy.ok());
        const auto turning = copy->stats({}).turning;
        CHECK(turning->turned_at == (turning->epoch == 0 ? before : filter.stats({}).turning->turned_at));
        over = reads < at;
      }
    }
  }
}

TEST_CASE("a file in memory keeps its epoch, and one whose turn was not finished is copied as it is") {
  const TempDir dir(memory_folder());
  {
    Filter filter = created(dir.file(), window_options());
    for (int i = 0; i < 3; ++i) turn_it(filter);
    add_keys(filter, 1, 0, kSome);
    REQUIRE(filter.close().ok());
  }
  set_live_epoch(dir.file(), 7);
  const std::string bytes = read_bytes(dir.file());
  const auto span = std::as_bytes(std::span(bytes));
  const Filter loaded = opened(Filter::load(span));
  CHECK(maybes(loaded, 1, 0, kSome) == kSome);
  CHECK(loaded.save(dir.file("copy")).ok());
  CHECK(live_epoch(dir.file("copy")) == 7);
  Filter copy = opened(Filter::open(dir.file("copy"), OpenMode::kWrite));
  CHECK(epoch_of(copy) == 3);
  turn_it(copy);
  CHECK(maybes(copy, 1, 0, kSome) == kSome);
}

// --- What there is not -----------------------------------------------------------------------------------------------

TEST_CASE("what windows do not support says so") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  add_keys(filter, 1, 0, kSome);
  const auto says = [](const Error& error, Code code, const char* words) {
    CAPTURE(error.message);
    CHECK(error.code == code);
    CHECK(error.message.find(words) != std::string::npos);
  };
  Options like;
  like.like = dir.file();
  Filter other = created(dir.file("other"), like);
  CHECK(other.stats({}).turning->window_ms == 7 * kHour);
  says(filter.merge(other), Code::kUnsupported, "do not merge");
  const Filter* const both[] = {&filter, &other};
  says(Filter::intersect(both, dir.file("and")), Code::kUnsupported, "have no intersection");
  says(filter.save(dir.file("folded"), {.fpr = 0.1}), Code::kUnsupported, "cannot be folded");
  says(filter.compare(other).error(), Code::kUnsupported, "cannot be compared");
  says(Filter::required_bytes(window_options()).error(), Code::kUnsupported, "only a file has epochs");
  alignas(64) static std::array<std::byte, 1 << 16> buffer;
  says(Filter::format(buffer, window_options()).error(), Code::kUnsupported, "only a file has epochs");
  says(filter.dumped_bytes({.bare = true}).error(), Code::kInvalid, "no room for the length of its window");
  const std::uint64_t needed = filter.dumped_bytes().value();
  REQUIRE(needed <= buffer.size());
  CHECK(filter.dump(buffer).ok());
  const Filter embedded = opened(Filter::wrap_to_read(std::span(buffer).first(needed)));
  CHECK(maybes(embedded, 1, 0, kSome) == kSome);
  CHECK(answers_no(embedded));
  says(embedded.save(dir.file("file")), Code::kUnsupported, "does not say in which epoch");
  says(Filter::wrap(std::span(buffer).first(needed)).error(), Code::kUnsupported, "only a file has epochs");
  says(Filter::load(std::span(buffer).first(needed), OpenMode::kWrite).error(), Code::kUnsupported,
       "only a file has epochs");
  Options no_window = small_options();
  no_window.layout = Layout::kWindow;
  says(Filter::create(dir.file("new"), no_window).error(), Code::kInvalid, "Give the window");
  Options no_layout = small_options();
  no_layout.window_ms = 1;
  CHECK(created(dir.file("usual"), no_layout).shape().layout == Layout::kWindow);
  no_layout.layout = Layout::kBlocked;
  says(Filter::create(dir.file("new"), no_layout).error(), Code::kInvalid, "do not expire");
  Filter blocked = created(dir.file("blocked"));
  says(blocked.turn().error(), Code::kUnsupported, "Make a filter with a window (bf create --window 24h).");
  says(opened(Filter::open(dir.file(), OpenMode::kRead)).turn().error(), Code::kReadOnly, "opened for reading");
  says(Filter(opened(Filter::wrap_to_read(std::span(buffer).first(needed)))).turn().error(), Code::kInvalid, "buffer");
  Options unpublished = window_options();
  unpublished.unpublished = true;
  Filter maker = created(dir.file("unpublished"), unpublished);
  says(maker.turn().error(), Code::kInvalid, "Publish it first");
  CHECK(maker.publish().ok());
  CHECK(opened(Filter::open(dir.file("unpublished"), OpenMode::kRead)).stats({}).turning->turned_at != 0);
}

TEST_CASE("parts are joined in one epoch alone") {
  const TempDir dir(memory_folder());
  std::vector<Filter> parts;
  for (std::uint32_t i = 0; i < 2; ++i) {
    Options options = window_options();
    options.seed = 5;
    options.part = Part{i, 2};
    parts.push_back(created(dir.file("part" + std::to_string(i)), options));
  }
  for (std::uint64_t key = 0; key < kSome; ++key) {
    for (Filter& part : parts) static_cast<void>(part.add(key_of(1, key)));
  }
  turn_it(parts[0]);
  const Filter* const both[] = {&parts[0], &parts[1]};
  const Error error = Filter::join(both, dir.file("whole"));
  CHECK(error.code == Code::kMismatch);
  CHECK(error.message.find("bf turn") != std::string::npos);
  turn_it(parts[1]);
  CHECK(Filter::join(both, dir.file("whole")).ok());
  Filter whole = opened(Filter::open(dir.file("whole"), OpenMode::kWrite));
  CHECK(epoch_of(whole) == 1);
  CHECK(maybes(whole, 1, 0, kSome) == kSome);
  for (int i = 0; i < 6; ++i) turn_it(whole);
  CHECK(maybes(whole, 1, 0, kSome) == kSome);
  turn_it(whole);
  CHECK(maybes(whole, 1, 0, kSome) < kSome / 2);
}

TEST_CASE("parts whose epochs end while they are joined are of one epoch again, or not joined") {
  for (const bool both : {false, true}) {
    CAPTURE(both);
    const faults::Scope scope;
    const TempDir dir(memory_folder());
    std::vector<Filter> parts;
    for (std::uint32_t i = 0; i < 2; ++i) {
      Options options = window_options();
      options.seed = 5;
      options.part = Part{i, 2};
      parts.push_back(created(dir.file("part" + std::to_string(i)), options));
    }
    for (std::uint64_t key = 0; key < kSome; ++key) {
      for (Filter& part : parts) static_cast<void>(part.add(key_of(1, key)));
    }
    bool done = false;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      if (done || offset < 16384 || bytes < 1000) return 0;
      done = true;  // the first body is being read
      turn_it(parts[0]);
      if (both) turn_it(parts[1]);
      return 0;
    };
    const Filter* const sources[] = {&parts[0], &parts[1]};
    const Error error = Filter::join(sources, dir.file("whole"));
    faults::on_read = {};
    CHECK(done);
    CHECK(error.code == (both ? Code::kOk : Code::kMismatch));
    if (!both) continue;
    Filter whole = opened(Filter::open(dir.file("whole"), OpenMode::kWrite));
    CHECK(epoch_of(whole) == 1);
    for (int i = 0; i < 6; ++i) turn_it(whole);
    CHECK(maybes(whole, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("an inspection tells of the epoch") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), window_options());
  add_keys(filter, 1, 0, kSome);
  turn_it(filter);
  const auto report = inspect(dir.file());
  REQUIRE(report.ok());
  CHECK(report->valid());
  REQUIRE(report->turning);
  CHECK(report->turning->epochs == 8);
  CHECK(report->turning->epoch == 1);
  CHECK(report->turning->window_ms == 7 * kHour);
  CHECK_FALSE(report->turning->due);
  CHECK(report->fill->keys_of_epochs[0] == 0);
  CHECK(report->fill->keys_of_epochs[1] > kSome * 0.9);
  CHECK_FALSE(inspect(dir.file())->identity->seal);
}
