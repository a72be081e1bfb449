// Eight processes that add to one file whose keys expire, ask it and end its epochs (window_storm_test.cpp): the memory
// that they share, what a key is owed, and the acts of each.
#pragma once

#include <bfstore/bfstore.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace store_test::window_storm {

// By number. One of the first two adds and one of the first two readers asks at any moment; so it is with the turners.
enum Role : unsigned {
  kAdder,        // one key at a time
  kBatchAdder,   // up to 256 keys at once
  kReopener,     // adds in both ways, syncs, closes, opens again, and ends epochs, too
  kReader,       // one key at a time
  kBatchReader,  // many at once
  kOtherReader,  // in both ways, and opens the file again and again
  kTurner,
  kOtherTurner,
  kProcesses
};
constexpr unsigned kController = kProcesses;  // the test, and a process that recovers the file for it
constexpr unsigned kSeats = kProcesses + 1;
constexpr unsigned kAnyTurner = kSeats;  // of Board::first_turner
constexpr unsigned kNoTurner = kSeats + 1;
constexpr unsigned kOwners = 3;  // the adders: each has a log of its own
constexpr std::uint64_t kLogLength = 1 << 19;
constexpr std::uint64_t kMostAtOnce = 256;
constexpr std::uint64_t kHotKeys = 56;  // that are added again and again, by all

// A key is the number of its writer and its number.
struct Key {
  std::uint32_t writer = 0;
  std::uint32_t number = 0;
};
constexpr std::uint32_t kHot = 100;
constexpr std::uint32_t kNever = 999;  // keys that are never added
std::string text_of(const Key& key);

// What is owed to a key: it is found as long as the epochs of its last add are not over. A chain of adds, each of which
// returned before the one before it expired, is one promise without a gap: so a lookup that took many turns owes the
// key an answer if it began and ended in one chain.
struct Promise {
  std::uint64_t chain = 0;  // 0: the key was not added, or no add of it returned
  std::uint64_t epoch = 0;  // the key's age counts from this one, or from a later one

  static Promise of(std::uint64_t word) noexcept { return {word >> 40, word & ((std::uint64_t{1} << 40) - 1)}; }
  [[nodiscard]] std::uint64_t word() const noexcept { return chain << 40 | epoch; }
};

// What `epochs` epochs of a layout mean (FORMAT.md, "Epochs"). A live epoch is the word of the live page.
class Rules {
 public:
  explicit Rules(std::uint32_t epochs) : epochs_(epochs) {}
  // True if a key whose age counts from that epoch is found: the turn that clears its word has not begun.
  [[nodiscard]] bool is_kept(std::uint64_t epoch, std::uint64_t live) const noexcept {
    return live <= 2 * (epoch + epochs_ - 1);
  }
  // The hot keys that an epoch adds again are those that the turn at its end would clear.
  [[nodiscard]] bool is_due(std::uint64_t hot_key, std::uint64_t epoch) const noexcept {
    return hot_key % (epochs_ - 1) == epoch % (epochs_ - 1);
  }

 private:
  std::uint32_t epochs_;
};

// An add that has begun and not returned. While its process is stopped, the test asks for the keys: one that is
// certainly absent was not added before, so its age counts from a later epoch.
struct Pending {
  std::atomic<std::uint64_t> count{0};
  std::array<Key, kMostAtOnce> keys{};
  std::array<std::atomic<std::uint64_t>, kMostAtOnce> least{};  // the epoch from which each age counts, or a later one
};

struct Log {
  std::atomic<std::uint64_t> written{0};  // keys whose add has begun, or that are given up
  std::array<std::atomic<std::uint64_t>, kLogLength> promises{};
};

// What a process is in the middle of.
enum class Call : std::uint32_t { kNone, kAdd, kAsk, kTurn, kOther };

// What a process is to do with its next call.
enum class Order : std::uint64_t {
  kNone,
  kStopInAdd,       // an adder stops at a look in an add
  kStopInLookup,    // a process stops at a look in a lookup of keys that this epoch adds again
  kStopBeforeLock,  // a turner stops before it has the lock
  kStopInTurn,      // and with the lock, at its n-th step
  kDieInClearing,   // at the n-th step of it
  kDieInSync,       // in the n-th sync
};

enum class Event : unsigned {
  kAdded,
  kAddedAgain,
  kQuestion,      // to a key that is owed an answer at the end of the lookup
  kLongQuestion,  // of these: a turn began or ended meanwhile
  kWrongNo,
  kAskedNever,
  kNeverMaybe,
  kAskedOld,
  kOldMaybe,
  kTurn,
  kTurnOfOthers,
  kOpened,
  kSync,
  kNumber
};

// Memory that all processes map; all zero at first.
struct Board {
  std::array<Log, kOwners> logs;
  std::array<std::atomic<std::uint64_t>, kHotKeys> hot{};
  std::array<Pending, kSeats> pending;
  std::array<std::atomic<Call>, kSeats> calls{};
  std::array<std::atomic<std::uint64_t>, kSeats> acts{};    // that processes of this number have completed
  std::array<std::atomic<std::uint64_t>, kSeats> orders{};  // an Order, and 256 * n
  std::atomic<std::uint64_t> refresh{0};           // 1 more than the epoch whose hot keys are to be added again
  std::atomic<std::uint64_t> goal{0};              // the epoch that is to be made the current one
  std::atomic<unsigned> first_turner{kAnyTurner};  // which alone may turn now
  std::atomic<std::uint32_t> doubt{0};             // a process found the file in doubt
  std::atomic<std::uint32_t> stop{0};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Event::kNumber)> events{};
  std::array<std::atomic<std::uint64_t>, 128> refusals{};  // how often a call ended with the code -i

  [[nodiscard]] std::uint64_t count(Event event) const noexcept {
    return events[static_cast<std::size_t>(event)].load();
  }
  std::atomic<std::uint64_t>* promise_of(const Key& key) noexcept;  // nullptr: a key that is never added
};

// The epoch of a file's live page, read without the library.
class LiveEpoch {
 public:
  explicit LiveEpoch(const std::string& path);
  LiveEpoch(const LiveEpoch&) = delete;
  LiveEpoch& operator=(const LiveEpoch&) = delete;
  ~LiveEpoch();
  [[nodiscard]] std::uint64_t load() const noexcept;
  [[nodiscard]] bool is_syncing() const noexcept;

 private:
  std::byte* page_;
};

// What all processes know.
struct World {
  Board& board;
  const LiveEpoch& live;
  Rules rules;
  std::string path;
  std::uint64_t new_keys_of_an_epoch;  // of each adder
};

using KeyList = std::vector<Key>;

// One process. It must not use doctest.
class Process {
 public:
  Process(const World& world, unsigned number, std::uint64_t seed);
  // Runs until the board says stop, or it is killed.
  void run();
  // Recovers the file: adds again what comes after each mark, and the hot keys. Returns whether the recovery is over.
  // Dies in sync number `last_sync`, from 1; 0: in none.
  bool recover(std::uint64_t last_sync);
  // Asks for each key, one by one or all at once. Counts the answers, and returns how many are wrong.
  std::uint64_t ask(const bfstore::Filter& filter, const KeyList& keys, bool at_once);

 private:
  void act(bfstore::Filter& filter);
  bool add_something(bfstore::Filter& filter, bool at_once);
  bool add(bfstore::Filter& filter, const KeyList& keys, bool at_once);
  bool add_new(bfstore::Filter& filter, std::uint64_t count, bool at_once);
  bool add_hot(bfstore::Filter& filter, bool at_once);
  void promise(const Key& key, std::uint64_t epoch, std::uint64_t live_after);
  void ask_something(const bfstore::Filter& filter, bool at_once);
  void turn(bfstore::Filter& filter);
  bool sync(bfstore::Filter& filter);
  // Makes the call, and stops at one of its looks if that was ordered.
  void stoppable(Call kind, std::uint64_t keys, const std::function<void()>& call);

  [[nodiscard]] KeyList some_keys();
  [[nodiscard]] KeyList due_hot_keys() const;
  [[nodiscard]] std::uint64_t epoch() const noexcept { return world_.live.load() / 2; }
  [[nodiscard]] std::pair<Order, std::uint64_t> order() const noexcept;
  void order_is_done() noexcept { board_.orders[number_].store(0); }
  [[nodiscard]] bool stopped() const noexcept { return board_.stop.load() != 0; }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  [[nodiscard]] bool one_in(std::uint64_t times) { return below(times) == 0; }
  void count(Event event, std::uint64_t times = 1);
  bool content(bfstore::Code code);

  const World& world_;
  Board& board_;
  unsigned number_;
  std::mt19937_64 random_;
  std::set<std::size_t> mappings_of_others_;  // that a parent made before the fork
  std::uint64_t counted_epoch_ = 0;
  std::uint64_t new_keys_ = 0;         // in that epoch
  std::uint64_t refreshed_ = 0;        // as in Board::refresh
  std::uint64_t looks_of_a_key_ = 10;  // in the last call whose looks were counted
};

}  // namespace store_test::window_storm
