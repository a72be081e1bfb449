// A storm (storm_test.cpp): the memory that its processes share, and the acts of each on one file.
#pragma once

#include <bfstore/bfstore.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace store_test::storm {

constexpr unsigned kProcesses = 8;
constexpr std::uint64_t kLogLength = 1 << 17;

// The keys of one process, and of those that take its number when it was killed. A key is in the log before it is
// added.
struct Log {
  std::atomic<std::uint64_t> written{0};
  std::array<std::atomic<std::uint8_t>, kLogLength> acknowledged{};  // 1: its add returned ok
};

enum class Event : unsigned {
  kAcknowledged,
  kQuestion,
  kWrongNo,
  kRebuild,
  kGivenUp,
  kSeal,
  kRecovery,
  kSync,
  kExclusive,
  kCopy,
  kSave,
  kLink,
  kForeignLock,
  kForeignClose,
  kNumber,
};

// Memory that all processes map; all zero at first.
struct Board {
  std::array<Log, kProcesses> logs;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Event::kNumber)> events{};
  std::array<std::atomic<std::uint64_t>, 128> refusals{};      // how often a call ended with the code -i
  std::array<std::atomic<std::uint64_t>, kProcesses> acts{};   // that processes of this number have completed
  std::array<std::atomic<std::uint64_t>, kProcesses> calls{};  // of the library that have returned to them
  std::atomic<std::uint32_t> stop{0};

  [[nodiscard]] std::uint64_t count(Event event) const noexcept {
    return events[static_cast<std::size_t>(event)].load();
  }
};

// The acts of strangers on the file and the processes; each can be left out (--links=0).
struct Mischief {
  bool links = true;               // the file has a second name, which some open
  bool foreign_locks = true;       // read locks on the whole file by a process that may only read
  bool foreign_closes = true;      // all descriptors of a writer are closed under the library
  bool closes_in_rebuilds = true;  // foreign closes between superseding and publishing, too
  bool deaths = true;              // processes die in syncs
};

// Of a file that does not grow, or of one that grows three or four times before all logs are full.
bfstore::Options options(bool grows);
std::uint64_t digest_of(unsigned owner, std::uint64_t key) noexcept;

// One process of the storm. It obeys one file's rules: a log, marks, and a recovery where one is needed.
class Process {
 public:
  Process(Board& board, std::string path, const Mischief& mischief, unsigned number, std::uint64_t seed);

  // Runs until the board says stop, or the process is killed. It begins with what leads to the event. Must not use
  // doctest.
  void run(Event first);
  // For the end: opens the file, and recovers it if it has to. Returns how many acknowledged keys it says no to.
  std::uint64_t lost();

 private:
  using Digests = std::vector<std::uint64_t>;

  void aim_at(Event event);
  void act();
  void write(bfstore::OpenMode mode, unsigned adds_a_sync);
  void add_and_ask(bfstore::Filter& filter, unsigned adds_a_sync);
  void write_and_lose_descriptors();
  void lose_descriptors(bfstore::Filter& filter);
  bool add_next(bfstore::Filter& filter);
  bool sync(bfstore::Filter& filter);
  void read(bool copy, bool saves);
  void save(const bfstore::Filter& filter, const Digests& before);
  // The moment when a rebuilder gives up.
  enum class GivesUp { kNever, kBeforeSuperseding, kBeforePublishing };
  void rebuild();
  void rebuild(GivesUp when);
  bool catch_up(bfstore::Filter& fresh);
  void seal_in_place();
  void recover();
  void recover_from_a_death();
  bool replay(bfstore::Filter& filter, unsigned owner);
  void mend(bfstore::Code code);
  void link();
  void close_all_descriptors();
  void lock_as_a_stranger();

  [[nodiscard]] Digests digests_of(unsigned owner, std::uint64_t from) const;
  [[nodiscard]] Digests some_acknowledged();
  void ask(const bfstore::Filter& filter, const Digests& acknowledged, const char* name);
  [[nodiscard]] const std::string& a_name();
  [[nodiscard]] bfstore::OpenOptions opening();
  [[nodiscard]] bool stopped() const noexcept { return board_.stop.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  [[nodiscard]] bool one_in(std::uint64_t times) { return below(times) == 0; }
  void pause(std::uint64_t most_microseconds);
  void count(Event event, std::uint64_t times = 1);
  // Counts the code. Returns whether it is kOk.
  bool content(bfstore::Code code);

  Board& board_;
  std::string path_;
  std::string second_name_;
  Mischief mischief_;
  unsigned number_;
  std::mt19937_64 random_;
};

}  // namespace store_test::storm
