// Suite part 6: another process truncates, zero-fills and overwrites files under four threads that ask and add, with
// the guard and without. With it no process crashes; without it a process may die of SIGBUS; no thread ever gets a
// wrong "no". The damage that PROMISES.md excludes is done, too. The keys that it affects are left out and counted.
#include <doctest/doctest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfstore/inline.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "layout/layout.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kKeys = 1500;  // of writer 1: there before the damage
constexpr unsigned kThreads = 4;
constexpr std::uint64_t kPassesAfter = 3;  // of every thread over all keys, when the damage is done
constexpr std::uint64_t kHeader = format::kFileHeaderBytes;
constexpr std::uint64_t kPage = 4096;

// Bytes of the file.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct File {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t body = 0;  // where it begins
};

// The damage to do, and the bytes of which PROMISES.md promises nothing afterwards.
struct Plan {
  std::function<void()> inflict;
  Range left_out{};
};

struct Damage {
  std::string name;
  Plan (*plan)(const File& file, std::mt19937_64& random);
};

void cut(const File& file, std::uint64_t bytes) {
  REQUIRE(truncate(file.path.c_str(), static_cast<off_t>(bytes)) == 0);
}

std::uint64_t between(std::mt19937_64& random, std::uint64_t least, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
}

Options options_of(std::uint64_t file_bytes) {
  Options options;
  options.capacity = 4000;
  options.max_bytes = file_bytes;
  return options;
}

// Returns what xfs zeroes before the end word is gone, while truncate() runs: the rest of the page with the new end.
Range late(const File& file, std::uint64_t end) {
  struct statfs facts {};
  REQUIRE(statfs(file.path.c_str(), &facts) == 0);
  return facts.f_type == XFS_SUPER_MAGIC ? Range{end, (end + kPage - 1) / kPage * kPage} : Range{};
}

std::string garbage(std::mt19937_64& random, std::uint64_t bytes) {
  std::string made(bytes, '\0');
  for (char& c : made) c = static_cast<char>(random());
  return made;
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"truncated to nothing", [](const File& file, std::mt19937_64&) { return Plan{[file] { cut(file, 0); }}; }},
      {"truncated in its header",
       [](const File& file, std::mt19937_64& random) {
         const std::uint64_t end = between(random, 1, kHeader);
         return Plan{[=] { cut(file, end); }};
       }},
      {"truncated between two pages of its body",
       [](const File& file, std::mt19937_64& random) {
         const std::uint64_t end = between(random, file.body / kPage, (file.bytes - 1) / kPage) * kPage;
         return Plan{[=] { cut(file, end); }};
       }},
      {"truncated within a page of its body",
       [](const File& file, std::mt19937_64& random) {
         const std::uint64_t end = between(random, file.body, file.bytes - 1);
         return Plan{[=] { cut(file, end); }, late(file, end)};
       }},
      {"truncated to nothing and grown again",
       [](const File& file, std::mt19937_64&) {
         return Plan{[=] {
           cut(file, 0);
           cut(file, file.bytes);
         }};
       }},
      {"truncated in its body and grown again",
       [](const File& file, std::mt19937_64& random) {
         const std::uint64_t end = between(random, kHeader, file.bytes - 1);
         const auto inflict = [=] {
           cut(file, end);
           cut(file, file.bytes);
         };
         return Plan{inflict, late(file, end)};
       }},
      {"its live word zeroed",
       [](const File& file, std::mt19937_64&) { return Plan{[=] { set_live_word(file.path, 0); }}; }},
      {"its header zero-filled",
       [](const File& file, std::mt19937_64&) {
         return Plan{[=] { write_bytes(file.path, 0, std::string(kHeader, '\0')); }};
       }},
      {"zero-filled",
       [](const File& file, std::mt19937_64&) {
         return Plan{[=] { write_bytes(file.path, 0, std::string(file.bytes, '\0')); }};
       }},
      {"overwritten with garbage",
       [](const File& file, std::mt19937_64& random) {
         return Plan{[file, bytes = garbage(random, file.bytes)] { write_bytes(file.path, 0, bytes); }};
       }},
      {"overwritten with another filter",
       [](const File& file, std::mt19937_64&) {
         const TempDir dir(memory_folder());
         CHECK(created(dir.file(), options_of(file.bytes)).close().ok());
         return Plan{[file, bytes = read_bytes(dir.file())] { write_bytes(file.path, 0, bytes); }};
       }},
      {"bits of its body overwritten; not the keys that lie there", [](const File& file, std::mt19937_64& random) {
         const std::uint64_t begin = between(random, file.body, file.bytes - 1);
         const std::uint64_t length = between(random, 1, file.bytes - begin);
         const std::string bytes = random() % 2 == 0 ? std::string(length, '\0') : garbage(random, length);
         return Plan{[=] { write_bytes(file.path, begin, bytes); }, {begin, begin + length}};
       }}};
  return all;
}

// Shared by the asking process and the one that does the damage.
struct Board {
  std::atomic<std::uint64_t> passes[kThreads];
  std::atomic<std::uint64_t> noes{0};      // about keys that were never added
  std::atomic<std::uint64_t> wrong{0};     // "no" about keys that are there
  std::atomic<std::uint64_t> refused{0};   // adds
  std::atomic<std::uint64_t> left_out{0};  // keys that nothing is promised about
  Range left_out_bytes{};                  // set before the damage is done
  std::atomic<std::uint32_t> stop{0};
};

// The exit codes of the asking process.
enum Ending { kGood = 0, kNotOpened = 10, kSyncedWhatWasCut = 11, kClosedWhatWasCut = 12 };

// Four threads with one handle, each asking in a form of its own; the first one adds, too.
class Askers {
 public:
  Askers(Filter& filter, Board& board, const File& file) : filter_(filter), board_(board), file_(file) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      there_.push_back(*filter.digest(key_of(1, i)));
      absent_.push_back(*filter.digest(key_of(kNobody, i)));
    }
  }

  void run(bool adds) {
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < kThreads; ++number) {
      threads.emplace_back([this, number, adds] {
        for (std::uint64_t pass = 0; board_.stop.load() == 0; ++pass) {
          judge(there_, ask(number, there_), board_.wrong);
          judge(absent_, ask(number, absent_), board_.noes);
          if (adds && number == 0) add_one();
          board_.passes[number].store(pass + 1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    judge(acknowledged_, ask(0, acknowledged_), board_.wrong);
  }

 private:
  [[nodiscard]] std::vector<std::uint8_t> ask(unsigned form, const std::vector<std::uint64_t>& digests) const {
    std::vector<std::uint8_t> answers(digests.size(), 0);
    const Lookup lookup = filter_.lookup();
    for (std::size_t i = 0; form < 2 && i < digests.size(); ++i)
      answers[i] = (form == 0 ? filter_.contains_digest(digests[i]) : lookup.contains_digest(digests[i])) ? 1 : 0;
    if (form == 2) static_cast<void>(filter_.contains_keys(Keys::digests(digests), answers));
    if (form == 3) {
      std::vector<std::uint32_t> indices(digests.size());
      const Count maybes = filter_.select_keys(Keys::digests(digests), indices);
      for (std::uint64_t i = 0; maybes.ok() && i < maybes.keys(); ++i) answers[indices[i]] = 1;
    }
    return answers;
  }

  void judge(const std::vector<std::uint64_t>& digests, const std::vector<std::uint8_t>& answers,
             std::atomic<std::uint64_t>& noes) const {
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (answers[i] != 0) continue;
      ++(nothing_is_promised_of(digests[i]) ? board_.left_out : noes);
    }
  }

  [[nodiscard]] bool nothing_is_promised_of(std::uint64_t digest) const {
    const Shape& shape = filter_.shape();
    const layout::Geometry geometry = layout::row_of(shape.layout).geometry(shape.num_bits, shape.num_probes);
    const auto elsewhere = [this](std::uint64_t bit) {
      const std::uint64_t byte = file_.body + bit / 8;
      return byte < board_.left_out_bytes.begin || byte >= board_.left_out_bytes.end;
    };
    using layout::Blocked;
    using layout::Classic;
    if (shape.layout == Layout::kStatic) return is_in_a_damaged_shard(geometry, digest);
    if (shape.layout == Layout::kClassic)
      return !Classic::each_probe(geometry, Classic::locate(geometry, digest), elsewhere);
    return !Blocked::each_probe(geometry, Blocked::locate(geometry, digest), elsewhere);
  }

  // A key's seed and thresholds are in its shard, too.
  [[nodiscard]] bool is_in_a_damaged_shard(const layout::Geometry& geometry, std::uint64_t digest) const {
    const std::uint64_t number = digest >> 1 >> (63 - geometry.shards.bits);
    const std::uint64_t begin = file_.body + number * geometry.shards.bytes;
    return begin < board_.left_out_bytes.end && begin + geometry.shards.bytes > board_.left_out_bytes.begin;
  }

  // Adds a key. If it is acknowledged, it has to be answered "maybe" from then on.
  void add_one() {
    const std::uint64_t digest = *filter_.digest(key_of(2, added_++));
    if (filter_.add_digest(digest).ok()) {
      acknowledged_.push_back(digest);
    } else {
      ++board_.refused;
    }
  }

  Filter& filter_;
  Board& board_;
  const File& file_;
  std::vector<std::uint64_t> there_;
  std::vector<std::uint64_t> absent_;
  std::uint64_t added_ = 0;
  std::vector<std::uint64_t> acknowledged_;
};

// Runs in the asking process.
int ask_until_told(const File& file, Board& board, bool guard, bool writes) {
  std::signal(SIGBUS, SIG_DFL);  // a sanitizer has one of its own
  auto filter = Filter::open(file.path, writes ? OpenMode::kWrite : OpenMode::kRead, {.map = {.guard = guard}});
  if (!filter) return kNotOpened;
  Askers(*filter, board, file).run(writes);
  std::error_code ignored;
  const bool shorter = std::filesystem::file_size(file.path, ignored) < file.bytes;
  if (writes && shorter && filter->sync({.owner = 1, .mark = 1}).ok()) return kSyncedWhatWasCut;
  return filter->close().ok() && writes && shorter ? kClosedWhatWasCut : kGood;
}

struct Tally {
  std::uint64_t rounds = 0;
  std::uint64_t built = 0;  // of these with a file that is built once
  std::uint64_t died = 0;
  std::uint64_t left_out = 0;
};

class Round {
 public:
  Round(std::uint64_t number, std::uint64_t seed)
      : random_(seed * 1'000'003 + number),
        dir_(number % 4 == 3 ? std::filesystem::temp_directory_path().string() : memory_folder()),
        writes_(number % 2 == 1),
        is_built_(number % 4 == 2) {
    void* const shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    board_ = new (shared) Board;
    Options options = options_of(random_() % 3 == 0 ? std::uint64_t{5} << 20 : 24'000 + random_() % 100'000);
    if (random_() % 3 == 0) options.layout = Layout::kClassic;
    options.seed = random_();
    if (is_built_) options.layout = Layout::kStatic;
    options.unpublished = is_built_;
    Filter filter = created(dir_.file(), options);
    add_keys(filter, 1, 0, kKeys);
    if (is_built_) REQUIRE(filter.publish().ok());
    file_ = {dir_.file(), std::filesystem::file_size(dir_.file()),
             format::body_offset_in_file(filter.stats().body_bytes)};
    REQUIRE(filter.close().ok());
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() { munmap(board_, sizeof(Board)); }

  void run(const Damage& damage, bool guard, Tally& tally) {
    const Plan plan = damage.plan(file_, random_);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) _exit(ask_until_told(file_, *board_, guard, writes_));
    wait_for_passes(1);
    CHECK(board_->noes.load() > 0);  // answers are answers, before
    board_->left_out_bytes = plan.left_out;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 2000));
    plan.inflict();
    wait_for_passes(kPassesAfter);
    board_->stop.store(1);
    const int ending = ended_ ? ending_ : wait_for(pid_);
    CAPTURE(ending);
    CHECK((ending == kGood || (!guard && ending == 1000 + SIGBUS)));
    CHECK(board_->wrong.load() == 0);
    ++tally.rounds;
    tally.built += is_built_ ? 1 : 0;
    tally.died += ending == kGood ? 0 : 1;
    tally.left_out += board_->left_out.load();
  }

 private:
  // Waits until every thread has asked for everything `passes` times from now on, or the process has ended.
  void wait_for_passes(std::uint64_t passes) {
    for (std::atomic<std::uint64_t>& done : board_->passes) {
      const std::uint64_t wanted = done.load() + passes + 1;  // the one that is under way does not count
      while (!ended_ && done.load() < wanted) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        siginfo_t gone{};
        if (waitid(P_PID, static_cast<id_t>(pid_), &gone, WEXITED | WNOHANG | WNOWAIT) != 0 || gone.si_pid == 0)
          continue;
        ended_ = true;
        ending_ = wait_for(pid_);
      }
    }
  }

  std::mt19937_64 random_;
  TempDir dir_;
  bool writes_;
  bool is_built_;  // and no process writes to it
  Board* board_ = nullptr;
  File file_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int ending_ = 0;
};

const std::uint64_t kRounds = tests::if_slow(24, 48);

void damage_so_many(std::uint64_t rounds, bool guard) {
  const std::uint64_t seed = first_seed();
  std::map<std::string, Tally> tallies;
  for (std::uint64_t number = 0; number < rounds; ++number) {
    const Damage& damage = damages()[number % damages().size()];
    CAPTURE(damage.name);
    CAPTURE(number);
    Round round(number / damages().size() + number * 7, seed);
    round.run(damage, guard, tallies[damage.name]);
  }
  std::uint64_t built = 0;
  for (const auto& each : tallies) built += each.second.built;
  CHECK((built > 0 || rounds < 4));
  std::printf("%s a guard:\n", guard ? "with" : "without");
  for (const auto& [name, tally] : tallies) {
    std::printf("  %4lu times (%lu of a static filter) %s: %lu processes died, %lu noes left out\n", tally.rounds,
                tally.built, name.c_str(), tally.died, tally.left_out);
  }
}

}  // namespace

TEST_CASE("with a guard no damage under four threads ends the process or makes a wrong no") {
  damage_so_many(option("rounds", kRounds), true);
}

TEST_CASE("without a guard damage under four threads is SIGBUS at worst, and no wrong no") {
  damage_so_many(option("rounds", kRounds), false);
}
