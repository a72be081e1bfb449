#include "window_storm.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "faults.hpp"
#include "format/locks.hpp"
#include "format/state.hpp"
#include "keys.hpp"
#include "looks.hpp"

namespace store_test::window_storm {

using namespace bfstore;

namespace {

constexpr std::uint64_t kRecent = 1500;     // keys of a log, that are asked for more often
constexpr std::uint32_t kNeverKeys = 4000;  // numbers of such keys
constexpr std::size_t kSyncingAt = 8;
constexpr std::size_t kEpochAt = 16;

// A kill in the middle of a question to the kernel leaves the file unclean: adds ask none.
constexpr std::uint32_t kNeverAsks = UINT32_MAX;

class Views {
 public:
  explicit Views(const KeyList& keys) {
    for (const Key& key : keys) texts_.push_back(text_of(key));
    views_.assign(texts_.begin(), texts_.end());
  }
  [[nodiscard]] Keys keys() const { return Keys::views(views_); }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

bool is_doubt(Code code) { return code == Code::kPoisoned || code == Code::kUnclean || code == Code::kRecovering; }
bool is_reader(unsigned number) { return number >= kReader && number <= kOtherReader; }

// Calls these before a turn first tries to take its lock, at every other call of it that goes to the kernel, and in its
// syncs.
class TurnHooks {
 public:
  TurnHooks(std::function<void()> at_the_lock, std::function<void()> at_a_step, std::function<void()> at_a_sync)
      : before_the_lock_(std::move(at_the_lock)), step_(std::move(at_a_step)), sync_(std::move(at_a_sync)) {
    faults::before_lock = [this](const faults::LockCall& made) {
      if (takes_the_lock(made) && !std::exchange(has_tried_, true)) before_the_lock_();
      step();
    };
    faults::after_lock = [this](const faults::LockCall& made) {
      has_lock_ = has_lock_ || takes_the_lock(made);
      step();
    };
    faults::on_read = [this](int, std::uint64_t, std::uint64_t) {
      step();
      return 0;
    };
    faults::on_write = [this](int, std::uint64_t, std::uint64_t) { step(); };
    faults::on_sync = [this](int) {
      sync_();
      step();
      return 0;
    };
  }
  TurnHooks(const TurnHooks&) = delete;
  TurnHooks& operator=(const TurnHooks&) = delete;
  ~TurnHooks() { const faults::Scope all_works_again; }

 private:
  static bool takes_the_lock(const faults::LockCall& made) {
    return made.command == F_OFD_SETLK && made.kind == F_WRLCK && made.byte == static_cast<long>(format::kSyncLock);
  }
  void step() {
    if (has_lock_) step_();
  }

  std::function<void()> before_the_lock_;
  std::function<void()> step_;
  std::function<void()> sync_;
  bool has_tried_ = false;  // another process may have the lock
  bool has_lock_ = false;
};

}  // namespace

std::string text_of(const Key& key) { return key_of(key.writer, key.number); }

std::atomic<std::uint64_t>* Board::promise_of(const Key& key) noexcept {
  if (key.writer < kOwners) return &logs[key.writer].promises[key.number];
  return key.writer == kHot ? &hot[key.number] : nullptr;
}

LiveEpoch::LiveEpoch(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const page = mmap(nullptr, format::kPageBytes, PROT_READ, MAP_SHARED, descriptor, format::kLivePageOffset);
  close(descriptor);
  if (page == MAP_FAILED) std::abort();
  page_ = static_cast<std::byte*>(page);
}
LiveEpoch::~LiveEpoch() { munmap(page_, format::kPageBytes); }
std::uint64_t LiveEpoch::load() const noexcept {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(page_ + kEpochAt), __ATOMIC_SEQ_CST);
}
bool LiveEpoch::is_syncing() const noexcept {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(page_ + kSyncingAt), __ATOMIC_SEQ_CST) != 0;
}

Process::Process(const World& world, unsigned number, std::uint64_t seed)
    : world_(world),
      board_(world.board),
      number_(number),
      random_(seed),
      mappings_of_others_(mappings_of(world.path)) {}

void Process::run() {
  // It takes the words of a line one by one: most readers can be stopped between two of them.
  if (number_ < kReader ? one_in(2) : !one_in(4)) setenv("BFSTORE_FORCE_ISA", "scalar", 1);
  const OpenMode mode = is_reader(number_) ? OpenMode::kRead : OpenMode::kWrite;
  const bool reopens = number_ == kReopener || number_ == kOtherReader;
  while (!stopped()) {
    if (board_.doubt.load() != 0) {
      usleep(500);
      continue;
    }
    board_.calls[number_].store(Call::kOther);
    auto filter = Filter::open(world_.path, mode, {.lock_timeout_ms = kWaitForEver, .writeback_check_ms = kNeverAsks});
    board_.calls[number_].store(Call::kNone);
    if (!content(filter ? Code::kOk : filter.error().code)) continue;
    count(Event::kOpened);
    const std::uint64_t most = reopens ? 1 + below(40) : UINT64_MAX;
    const bool leaves_doubt = !is_reader(number_);
    for (std::uint64_t i = 0; i < most && !stopped() && !(leaves_doubt && board_.doubt.load() != 0); ++i) act(*filter);
    board_.calls[number_].store(Call::kOther);
    board_.doubt.load() != 0 ? filter->abandon() : static_cast<void>(content(filter->close().code));
    board_.calls[number_].store(Call::kNone);
  }
}

void Process::act(Filter& filter) {
  const bool at_once = number_ == kBatchAdder || number_ == kBatchReader ||
                       ((number_ == kReopener || number_ == kOtherReader) && one_in(2));
  if (number_ < kOwners) {
    if (number_ == kReopener) turn(filter);
    add_something(filter, at_once);
    if (number_ == kReopener ? one_in(8) : one_in(500)) sync(filter);
    if (one_in(4) || order().first == Order::kStopInLookup) ask_something(filter, at_once);
  } else if (is_reader(number_)) {
    ask_something(filter, at_once);
  } else {
    turn(filter);
    ask_something(filter, at_once);
    usleep(200);
  }
  board_.acts[number_].fetch_add(1);
}

// --- Adds ------------------------------------------------------------------------------------------------------------

bool Process::add_something(Filter& filter, bool at_once) {
  if (std::exchange(counted_epoch_, epoch()) != epoch()) new_keys_ = 0;
  const bool may_stop = order().first == Order::kStopInAdd;
  const std::uint64_t refresh = board_.refresh.load();
  if (refresh != refreshed_ && refresh == epoch() + 1 && !may_stop) {
    if (!add_hot(filter, at_once)) return false;
    refreshed_ = refresh;
    return true;
  }
  const std::uint64_t most = !at_once ? 1 : one_in(4) ? kMostAtOnce : 64;
  const std::uint64_t written = board_.logs[number_].written.load();
  if ((may_stop || new_keys_ < world_.new_keys_of_an_epoch) && written + most <= kLogLength)
    return add_new(filter, 1 + below(most), at_once);
  usleep(100);
  if (written == 0) return true;
  const std::uint64_t number = written - 1 - below(std::min(written, kRecent));
  return add(filter, {{number_, static_cast<std::uint32_t>(number)}}, at_once);  // again, or what was given up
}

bool Process::add_new(Filter& filter, std::uint64_t count, bool at_once) {
  const std::uint64_t first = board_.logs[number_].written.fetch_add(count);
  KeyList keys;
  for (std::uint64_t i = first; i < first + count; ++i) keys.push_back({number_, static_cast<std::uint32_t>(i)});
  new_keys_ += count;
  return add(filter, keys, at_once);
}

KeyList Process::due_hot_keys() const {
  KeyList keys;
  for (std::uint32_t i = 0; i < kHotKeys; ++i) {
    if (world_.rules.is_due(i, epoch())) keys.push_back({kHot, i});
  }
  return keys;
}

bool Process::add_hot(Filter& filter, bool at_once) {
  const KeyList keys = due_hot_keys();
  if (at_once) return add(filter, keys, true);
  return std::all_of(keys.begin(), keys.end(), [&](const Key& key) { return add(filter, {key}, false); });
}

bool Process::add(Filter& filter, const KeyList& keys, bool at_once) {
  Pending& pending = board_.pending[number_];
  const std::uint64_t before = epoch();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    pending.keys[i] = keys[i];
    pending.least[i].store(before);
  }
  pending.count.store(keys.size());
  const Views views(keys);
  const std::string text = text_of(keys.front());
  Code code = Code::kOk;
  stoppable(Call::kAdd, keys.size(),
            [&] { code = at_once ? filter.add_keys(views.keys()).code() : filter.add(text).code(); });
  const std::uint64_t live = world_.live.load();
  if (code == Code::kOk) {
    for (std::size_t i = 0; i < keys.size(); ++i) promise(keys[i], pending.least[i].load(), live);
  }
  pending.count.store(0);
  return content(code);
}

// The add has returned, and the live epoch was loaded after that.
void Process::promise(const Key& key, std::uint64_t epoch, std::uint64_t live_after) {
  std::atomic<std::uint64_t>& word = *board_.promise_of(key);
  std::uint64_t old_word = word.load();
  Promise fresh;
  do {
    const Promise old = Promise::of(old_word);
    const bool unbroken = old.chain != 0 && world_.rules.is_kept(old.epoch, live_after);
    fresh = {old.chain + (unbroken ? 0 : 1), std::max(old.epoch, epoch)};
  } while (!word.compare_exchange_strong(old_word, fresh.word()));
  count(Promise::of(old_word).chain == 0 ? Event::kAdded : Event::kAddedAgain);
}

bool Process::sync(Filter& filter) {
  board_.calls[number_].store(Call::kOther);
  const Error error = filter.sync({.owner = number_, .mark = board_.logs[number_].written.load() + 1});
  board_.calls[number_].store(Call::kNone);
  if (!content(error.code)) return false;
  count(Event::kSync);
  return true;
}

// --- Lookups ---------------------------------------------------------------------------------------------------------

KeyList Process::some_keys() {
  KeyList keys;
  for (int i = 0; i < 40; ++i) {
    const auto owner = static_cast<std::uint32_t>(below(kOwners));
    const std::uint64_t written = board_.logs[owner].written.load();
    const std::uint64_t kind = below(8);
    if (kind == 0) {
      keys.push_back({kNever, static_cast<std::uint32_t>(below(kNeverKeys))});
    } else if (kind < 3) {
      keys.push_back({kHot, static_cast<std::uint32_t>(below(kHotKeys))});
    } else if (written != 0) {
      const std::uint64_t number = kind == 3 ? below(written) : written - 1 - below(std::min(written, kRecent));
      keys.push_back({owner, static_cast<std::uint32_t>(number)});
    }
  }
  return keys;
}

void Process::ask_something(const Filter& filter, bool at_once) {
  if (order().first != Order::kStopInLookup) {
    ask(filter, some_keys(), at_once);
    return;
  }
  KeyList due = due_hot_keys();
  std::shuffle(due.begin(), due.end(), random_);
  due.resize(std::min<std::size_t>(due.size(), at_once ? 8 : 1));
  ask(filter, due, at_once);
}

std::uint64_t Process::ask(const Filter& filter, const KeyList& keys, bool at_once) {
  if (!at_once && keys.size() > 1) {
    std::uint64_t wrong = 0;
    for (const Key& key : keys) wrong += ask(filter, {key}, false);
    return wrong;
  }
  if (keys.empty()) return 0;
  const auto promise_now = [&](const Key& key) {
    const std::atomic<std::uint64_t>* const word = board_.promise_of(key);
    return word == nullptr ? Promise{} : Promise::of(word->load());
  };
  std::vector<Promise> before;
  for (const Key& key : keys) before.push_back(promise_now(key));
  const Views views(keys);
  const std::string text = text_of(keys.front());
  std::vector<std::uint8_t> answers(keys.size());
  const std::uint64_t live_before = world_.live.load();
  stoppable(Call::kAsk, keys.size(), [&] {
    if (at_once) {
      static_cast<void>(filter.contains_keys(views.keys(), answers));
    } else {
      answers[0] = filter.contains(text) ? 1 : 0;
    }
  });
  const std::uint64_t live_after = world_.live.load();
  const bool without_doubt = filter.health() == Code::kOk;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Promise after = promise_now(keys[i]);
    const bool maybe = answers[i] != 0;
    if (keys[i].writer == kNever && without_doubt) {
      count(Event::kAskedNever);
      count(Event::kNeverMaybe, maybe ? 1 : 0);
    } else if (before[i].chain != 0 && before[i].chain == after.chain &&
               world_.rules.is_kept(after.epoch, live_after)) {
      count(Event::kQuestion);
      count(Event::kLongQuestion, live_before != live_after ? 1 : 0);
      if (maybe) continue;
      ++wrong;
      count(Event::kWrongNo);
      if (board_.count(Event::kWrongNo) > 10) continue;
      std::fprintf(stderr, "process %u: a wrong no to %s, of epoch %lu: asked from %lu to %lu (half epochs), %s\n",
                   number_, text_of(keys[i]).c_str(), after.epoch, live_before, live_after,
                   at_once ? "at once" : "one by one");
    } else if (after.chain != 0 && !world_.rules.is_kept(after.epoch + 10, live_before) && without_doubt) {
      count(Event::kAskedOld);
      count(Event::kOldMaybe, maybe ? 1 : 0);
    }
  }
  return wrong;
}

// --- Turns and recoveries --------------------------------------------------------------------------------------------

void Process::turn(Filter& filter) {
  const unsigned first = board_.first_turner.load();
  const std::uint64_t from = epoch();
  if (from >= board_.goal.load() || (first != kAnyTurner && first != number_)) return;
  const auto [what, n] = order();
  const auto stop = [this](Call call) {
    board_.calls[number_].store(call);
    kill(getpid(), SIGSTOP);
    board_.calls[number_].store(Call::kTurn);
  };
  std::uint64_t steps = 0;
  std::uint64_t syncs = 0;
  board_.calls[number_].store(Call::kTurn);
  Result<bool> turned = false;
  {
    const TurnHooks hooks(
        [&, what = what] {
          if (what == Order::kStopBeforeLock) stop(Call::kNone);
        },
        [&, what = what, n = n] {
          const bool clears = world_.live.load() % 2 == 1 && !world_.live.is_syncing();
          if (what == Order::kStopInTurn && ++steps == n) stop(Call::kTurn);
          if (what == Order::kDieInClearing && clears && ++steps == n) kill(getpid(), SIGKILL);
        },
        [&, what = what, n = n] {
          if (what == Order::kDieInSync && ++syncs == n) kill(getpid(), SIGKILL);
        });
    turned = filter.turn(from);
  }
  board_.calls[number_].store(Call::kNone);
  if (what > Order::kStopInLookup) order_is_done();
  if (content(turned.ok() ? Code::kOk : turned.error().code)) count(*turned ? Event::kTurn : Event::kTurnOfOthers);
}

bool Process::recover(std::uint64_t last_sync) {
  std::uint64_t syncs = 0;
  if (last_sync != 0) {
    faults::on_sync = [&syncs, last_sync](int) { return ++syncs == last_sync ? kill(getpid(), SIGKILL) : 0; };
  }
  auto filter = Filter::open(world_.path, OpenMode::kWrite, {.recover = true, .lock_timeout_ms = kWaitForEver});
  if (!content(filter ? Code::kOk : filter.error().code)) return false;
  KeyList again;
  for (std::uint32_t owner = 0; owner < kOwners; ++owner) {
    const std::uint64_t mark = filter->get_mark(owner);
    const auto written = static_cast<std::uint32_t>(board_.logs[owner].written.load());
    for (auto i = static_cast<std::uint32_t>(mark == 0 ? 0 : mark - 1); i < written; ++i) again.push_back({owner, i});
  }
  for (std::uint32_t i = 0; i < kHotKeys; ++i) again.push_back({kHot, i});
  again.erase(std::remove_if(again.begin(), again.end(),
                             [&](const Key& key) {
                               const Promise promise = Promise::of(board_.promise_of(key)->load());
                               return promise.chain == 0 || !world_.rules.is_kept(promise.epoch, world_.live.load());
                             }),
              again.end());
  for (std::size_t i = 0; i < again.size(); i += kMostAtOnce) {
    const auto first = again.begin() + static_cast<std::ptrdiff_t>(i);
    const auto length = static_cast<std::ptrdiff_t>(std::min<std::size_t>(kMostAtOnce, again.size() - i));
    if (!add(*filter, KeyList(first, first + length), true)) return false;
  }
  for (std::uint64_t owner = 0; owner < kOwners && filter->health() == Code::kRecovering; ++owner) {
    const auto over = filter->finish_recovery(owner);
    if (!content(over.ok() ? Code::kOk : over.error().code)) return false;
  }
  return filter->health() == Code::kOk && content(filter->close().code);
}

// --- Small things ----------------------------------------------------------------------------------------------------

void Process::stoppable(Call kind, std::uint64_t keys, const std::function<void()>& call) {
  board_.calls[number_].store(kind);
  const Order wanted = kind == Call::kAdd ? Order::kStopInAdd : Order::kStopInLookup;
  if (order().first == wanted) {
    const std::uint64_t at = 1 + below(looks_of_a_key_ * keys);
    const auto stop = [at](unsigned look) {
      if (look == at) kill(getpid(), SIGSTOP);
    };
    const unsigned looks = watch_looks(world_.path, mappings_of_others_, stop, call);
    looks_of_a_key_ = std::max<std::uint64_t>((looks + keys - 1) / keys, 3);
    order_is_done();
  } else {
    call();
  }
  board_.calls[number_].store(Call::kNone);
}

std::pair<Order, std::uint64_t> Process::order() const noexcept {
  const std::uint64_t word = board_.orders[number_].load();
  return {static_cast<Order>(word % 256), word / 256};
}

void Process::count(Event event, std::uint64_t times) {
  if (times != 0) board_.events[static_cast<std::size_t>(event)].fetch_add(times);
}

// Counts the code. A writer that finds the file in doubt says so: it has to be recovered.
bool Process::content(Code code) {
  if (code == Code::kOk) return true;
  board_.refusals.at(static_cast<std::size_t>(-static_cast<std::int32_t>(code))).fetch_add(1);
  if (is_doubt(code) && !is_reader(number_)) board_.doubt.store(1);
  return false;
}

}  // namespace store_test::window_storm
