// Files whose body grows by slices: growths by any number of handles at any moment, and whatever stops, kills, cuts,
// power cuts and copies there are meanwhile. No key whose add returned is answered no, and the rate is kept.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bytes.hpp"
#include "extension.hpp"
#include "faults.hpp"
#include "format/locks.hpp"
#include "format/sections.hpp"
#include "looks.hpp"
#include "store/file/header.hpp"
#include "support.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;

namespace {

constexpr std::uint64_t kFirst = 64;  // keys of the first slice
constexpr std::uint32_t kTwice = 2;   // growth
constexpr std::uint64_t kNumSlicesAt = format::kLivePageOffset + format::kLiveNumSlicesField.offset;
const OpenOptions kQuiet{.writeback_check_ms = kNeverAsks};  // an add asks the kernel for nothing but a growth

Options growing_options(std::uint64_t first = kFirst, std::uint32_t growth = kTwice) {
  Options options;
  options.layout = Layout::kGrowing;
  options.capacity = first;
  options.capacity_at_most = first * format::times_as_many(growth, kMaxSlices);
  options.seed = 7;
  options.writeback_check_ms = kNeverAsks;
  return options;
}

std::uint64_t word_in(const std::string& bytes, std::uint64_t offset) {
  return base::load<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes.data()) + offset);
}
std::uint64_t slices_of(const std::string& path) {
  std::string word(8, '\0');
  std::ifstream(path, std::ios::binary).seekg(static_cast<std::streamoff>(kNumSlicesAt)).read(word.data(), 8);
  return word_in(word, 0);
}

const std::optional<Secret> kNoSecret;

format::Identity identity_of(const std::string& path) {
  const auto file = region::File::open(path, region::File::Access::kRead);
  REQUIRE(file.ok());
  const auto header = store::checked_header(*file, {.secret = kNoSecret});
  REQUIRE(header.ok());
  return header->identity;
}

// How many keys so many slices are made for.
std::uint64_t room_of(std::uint64_t slices, std::uint64_t first = kFirst, std::uint32_t growth = kTwice) {
  return first * format::times_as_many(growth, static_cast<std::uint32_t>(slices));
}

// The keys of a writer, from 0, whose adds returned.
struct Log {
  std::uint64_t keys = 0;
  unsigned writer = 1;

  bool add(Filter& filter) {
    const Count added = filter.add(key_of(writer, keys));
    if (!added.ok()) return false;
    ++keys;
    return true;
  }
  // Adds until the file has so many slices, or, if the body does not grow, `most` keys.
  void grow_to(Filter& filter, const std::string& path, std::uint64_t slices, std::uint64_t most = 10'000) {
    for (std::uint64_t i = 0; i < most && slices_of(path) < slices; ++i) REQUIRE(add(filter));
  }
  // Adds until the next new key is the one for which the body grows.
  void fill(Filter& filter, const std::string& path) {
    while (filter.stats({}).keys_added < room_of(slices_of(path))) REQUIRE(add(filter));
  }
  [[nodiscard]] bool all_in(const Filter& filter) const { return maybes(filter, writer, 0, keys) == keys; }
};

// Adds until the add for which the body grows, and that one. Returns false where adds are refused.
bool grow_once(Filter& filter, Log& log, const std::string& path) {
  const std::uint64_t before = slices_of(path);
  for (int i = 0; i < 1000 && slices_of(path) == before; ++i) {
    if (!log.add(filter)) return false;
  }
  return true;
}

// Calls `deed(n)` at the n-th call of a growth that goes to the kernel, before it or after it, and not in the deed's
// own calls. Adds of a handle that asks for no failed writes make no other calls.
class AtSteps {
 public:
  explicit AtSteps(std::function<void(int step)> deed) : deed_(std::move(deed)) {
    faults::on_read = [this](int, std::uint64_t, std::uint64_t) { return step(); };
    faults::before_lock = faults::after_lock = [this](const faults::LockCall&) { step(); };
    faults::on_extend = [this](int, std::uint64_t, std::uint64_t) {
      extends = true;
      return step();
    };
    faults::after_extend = [this] {
      step();
      extends = false;
    };
  }
  AtSteps(const AtSteps&) = delete;
  AtSteps& operator=(const AtSteps&) = delete;
  ~AtSteps() { stop(); }
  void stop() {
    faults::on_read = {};
    faults::before_lock = faults::after_lock = {};
    faults::on_extend = {};
    faults::after_extend = {};
  }

  static inline bool extends = false;  // the step is that before the blocks are allocated, or after it

 private:
  int step() {
    if (inside_) return 0;
    inside_ = true;
    deed_(++steps_);
    inside_ = false;
    return 0;
  }
  std::function<void(int)> deed_;
  bool inside_ = false;
  int steps_ = 0;
};

// Calls `test(n)` for n = 1, 2, ... until it returns that there is no n-th step.
void for_each_step(const std::function<bool(int n)>& test, int fewest = 8) {
  int n = 1;
  while (test(n)) ++n;
  CHECK(n > fewest);  // a growth has some steps
}

// The first looks of an add, and the last ones, which are those of the growth. Between them are those at the counters
// of all stripes.
unsigned next_look(unsigned look, unsigned looks) {
  constexpr unsigned kEnds = 12;
  const bool between = look >= kEnds && look + kEnds < looks;
  return look + (between ? std::max(1U, (looks - 2 * kEnds) / 8) : 1);
}

double rate_of(const Filter& filter, std::uint64_t questions) {
  return static_cast<double>(maybes(filter, kNobody, 0, questions)) / static_cast<double>(questions);
}

// The file as a power cut, and another boot, would leave it.
void as_from_another_boot(const std::string& path) {
  edit_slots(path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
}

template <class Number>
Number* shared() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  return static_cast<Number*>(page);
}

}  // namespace

// --- What a growth does ----------------------------------------------------------------------------------------------

TEST_CASE(
    "over all growths every key is found in every way, the slices are as many as the keys need, and the rate is kept") {
  constexpr std::uint64_t kN = 100;
  constexpr std::uint32_t kTenTimes = 10;
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    const TempDir dir(memory_folder());
    CHECK(created(dir.file(), growing_options(kN, kTenTimes)).close().ok());
    Filter filter = opened(Filter::open(dir.file(), mode, kQuiet));
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    const Filter guarded = opened(Filter::open(dir.file(), OpenMode::kRead, {.map = {.guard = true}}));
    Remote far(dir.file());
    CHECK(far.call("open read") == "BFS_OK");
    std::uint64_t keys = 0;
    for (const std::uint64_t times : {1U, 10U, 100U, 1000U}) {
      const std::uint64_t goal = times * kN;
      std::vector<std::string> texts;
      for (; keys < goal; ++keys) {
        if (keys % 1000 < 500) {
          REQUIRE(filter.add(key_of(1, keys)).ok());
        } else {
          texts.push_back(key_of(1, keys));
        }
      }
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      REQUIRE(filter.add_keys(Keys::views(views)).ok());
      CAPTURE(times);
      std::uint64_t slices = 1;
      while (filter.stats({}).keys_added > room_of(slices, kN, kTenTimes)) ++slices;
      CHECK(slices_of(dir.file()) == slices);
      CHECK(room_of(slices - 1, kN, kTenTimes) <= goal);
      const std::uint64_t step = 1 + goal / 20'000;
      for (std::uint64_t i = 0; i < goal; i += step) {
        REQUIRE(reader.contains(key_of(1, i)));
        REQUIRE(guarded.contains(key_of(1, i)));
        REQUIRE(filter.contains(key_of(1, i)));
      }
      CHECK(far.call("ask 1 0 " + std::to_string(std::min<std::uint64_t>(goal, 2000))) ==
            std::to_string(std::min<std::uint64_t>(goal, 2000)));
      CHECK(rate_of(reader, 20'000) < 0.01);
      CHECK(answers_no(guarded));
      const Stats stats = reader.stats({.fill = true});
      CHECK(stats.fill->estimated_fpr < 0.01);
      CHECK(stats.keys_added > goal - goal / 50);
      // A slice has the bits of a blocked filter with a fifth of the rate; there may be one that is nearly empty.
      const double bits =
          8.0 * static_cast<double>(stats.body_bytes) / static_cast<double>(room_of(slices, kN, kTenTimes));
      CHECK(bits < 20);
    }
    REQUIRE(filter.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
    const Filter again = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(maybes(again, 1, 0, keys) == keys);
  }
}

TEST_CASE("keys that are added by the thousand, too, leave no slice with many more keys than it was made for") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    constexpr std::uint64_t kN = 1000;
    const TempDir dir(memory_folder());
    CHECK(created(dir.file(), growing_options(kN, 3)).close().ok());
    Filter filter = opened(Filter::open(dir.file(), mode));
    if (mode == OpenMode::kExclusive) CHECK(filter.use_threads(2).ok());
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < room_of(5, kN, 3); ++i) texts.push_back(key_of(1, i));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    REQUIRE(filter.add_keys(Keys::views(views)).ok());
    CHECK(slices_of(dir.file()) == 5);
    CHECK(maybes(filter, 1, 0, texts.size()) == texts.size());
    CHECK(rate_of(filter, 50'000) < 0.011);
  }
}

TEST_CASE(
    "of four threads that add and four that ask, none finds a key absent, and the body has five slices in the end") {
  // So many keys that a thread which is not let run for some thousand adds of others does not fill a slice with ones:
  // no key would be new any more, and only a new key makes the body grow.
  constexpr std::uint64_t kN = 4000;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), growing_options(kN));
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  std::array<std::atomic<std::uint64_t>, 4> added{};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<unsigned> adding{4};
  std::vector<std::thread> threads;
  const std::uint64_t each = room_of(5, kN) / 4 + 100;
  for (unsigned self = 0; self < 4; ++self) {
    threads.emplace_back([&, self] {
      for (std::uint64_t i = 0; i < each; ++i) {
        if (!filter.add(key_of(self, i)).ok()) ++wrong;
        added[self] = i + 1;
      }
      --adding;
    });
    threads.emplace_back([&, self] {
      std::mt19937_64 random(self);
      do {
        const std::uint64_t known = added[self];
        if (known == 0) continue;
        const std::uint64_t key = random() % 2 == 0 ? known - 1 : random() % known;
        if (!(random() % 2 == 0 ? reader : filter).contains(key_of(self, key))) ++wrong;
      } while (adding != 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  // An add waits for no growth. So a thread that was not let run in one may have left some to these.
  Log more{0, 4};
  more.grow_to(filter, dir.file(), 5);
  CHECK(slices_of(dir.file()) == 5);
  for (unsigned self = 0; self < 4; ++self) CHECK(maybes(reader, self, 0, each) == each);
}

namespace {

struct Shelf {
  std::array<std::atomic<std::uint64_t>, 4> added;  // keys of each adder whose adds returned
  std::array<std::atomic<unsigned>, 4> in_add;      // 1: the adder waits for no lock, and no other process for its own
  std::atomic<unsigned> stop;
  std::atomic<std::uint64_t> wrong;
  std::atomic<std::uint64_t> questions;
};

// An adder opens the file again and again, and adds one by one or many at once. One in four growths finds the disk
// full. It closes nothing, since a kill in the sync of a close, as in that of an open, would leave the file in doubt.
int add_for_ever(const std::string& path, Shelf& shelf, unsigned self, std::uint64_t most) {
  std::mt19937_64 random(static_cast<std::uint64_t>(getpid()));
  faults::on_extend = [&random](int, std::uint64_t, std::uint64_t) { return random() % 4 == 0 ? ENOSPC : 0; };
  while (shelf.added[self] < most) {
    auto filter =
        Filter::open(path, OpenMode::kWrite, {.lock_timeout_ms = kWaitForEver, .writeback_check_ms = kNeverAsks});
    if (!filter.ok()) return 1;
    for (std::uint64_t left = 1 + random() % 300; left > 0 && shelf.added[self] < most;) {
      const std::uint64_t first = shelf.added[self];
      const std::uint64_t count = std::min(random() % 2 == 0 ? 1 : 1 + random() % 100, left);
      std::vector<std::string> texts;
      for (std::uint64_t i = first; i < first + count; ++i) texts.push_back(key_of(self, i));
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      shelf.in_add[self] = 1;
      if (!(count == 1 ? filter->add(texts[0]) : filter->add_keys(Keys::views(views))).ok()) return 2;
      shelf.in_add[self] = 0;
      shelf.added[self] = first + count;
      left -= count;
    }
    filter->abandon();
  }
  while (shelf.stop == 0) usleep(500);
  return 0;
}

// Stops it in an add, or after all of them.
void stop_in_an_add(pid_t adder, Shelf& shelf, unsigned self, std::uint64_t most) {
  for (int status = 0; shelf.stop == 0; usleep(10)) {
    kill(adder, SIGSTOP);
    if (waitpid(adder, &status, WUNTRACED) != adder || !WIFSTOPPED(status)) return;
    if (shelf.in_add[self] != 0 || shelf.added[self] >= most) return;
    kill(adder, SIGCONT);
  }
}

int ask_for_ever(const std::string& path, Shelf& shelf) {
  std::mt19937_64 random(static_cast<std::uint64_t>(getpid()));
  const auto filter = Filter::open(path, OpenMode::kRead, {.lock_timeout_ms = kWaitForEver});
  if (!filter.ok()) return 1;
  while (shelf.stop == 0) {
    const auto writer = static_cast<unsigned>(random() % 4);
    const std::uint64_t known = shelf.added[writer];
    if (known == 0) continue;
    const std::uint64_t key = known - 1 - random() % std::min<std::uint64_t>(known, random() % 2 == 0 ? 50 : known);
    ++shelf.questions;
    if (!filter->contains(key_of(writer, key))) ++shelf.wrong;
  }
  return 0;
}

}  // namespace

// By hand, for longer: --rounds=100 --seed=7, and --keys=1000000 for 10,000 times the keys of the first slice.
TEST_CASE("of four processes that add, are killed and stopped, and four that ask, none finds a key absent") {
  const std::uint64_t seed = first_seed();
  for (std::uint64_t round = 0; round < option("rounds", 1); ++round) {
    const TempDir dir(memory_folder());
    const std::uint64_t each = option("keys", 3000) / 4;
    const std::uint64_t kills = 20;
    std::mt19937_64 random(seed + round);
    CHECK(created(dir.file(), growing_options(100, option("keys", 3000) > 10'000 ? 10 : 2)).close().ok());
    auto* const shelf = shared<Shelf>();
    const auto start = [shelf](const std::function<int()>& body) {
      const pid_t pid = fork();
      REQUIRE(pid >= 0);
      if (pid != 0) return pid;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int outcome = body();
      if (outcome != 0) shelf->stop = 1;
      _exit(outcome);
      return pid;
    };
    const auto start_adder = [&](unsigned self) {
      shelf->in_add[self] = 0;
      return start([&, self] { return add_for_ever(dir.file(), *shelf, self, each); });
    };
    std::vector<pid_t> askers;
    for (int i = 0; i < 4; ++i) askers.push_back(start([&] { return ask_for_ever(dir.file(), *shelf); }));
    std::array<pid_t, 4> adders{};
    for (unsigned self = 0; self < 4; ++self) adders[self] = start_adder(self);
    for (std::uint64_t i = 0; i < kills; ++i) {
      const auto self = static_cast<unsigned>(random() % 4);
      const auto other = static_cast<unsigned>((self + 1 + random() % 3) % 4);
      const std::uint64_t goal = std::min(each * (i + 1) / kills, each - 1);
      // Another adder is stopped until then, anywhere in an add, with the lock of a growth or without.
      stop_in_an_add(adders[other], *shelf, other, each);
      while (shelf->added[self] < goal && shelf->stop == 0) usleep(100);
      kill(adders[other], SIGCONT);
      const pid_t stopped = askers[random() % 4];
      stop_in_an_add(adders[self], *shelf, self, each);
      kill(stopped, SIGSTOP);
      kill_and_wait(adders[self]);
      adders[self] = start_adder(self);
      kill(stopped, SIGCONT);
    }
    for (const auto& added : shelf->added) {
      while (added < each && shelf->stop == 0) usleep(100);
    }
    while (shelf->questions < 1000 && shelf->stop == 0) usleep(100);
    CHECK(shelf->stop == 0);
    shelf->stop = 1;
    for (const pid_t pid : adders) CHECK(wait_for(pid) == 0);
    for (const pid_t pid : askers) CHECK(wait_for(pid) == 0);
    CHECK(shelf->wrong == 0);
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
    for (unsigned self = 0; self < 4; ++self) CHECK(maybes(filter, self, 0, each) == each);
    // How many slices it has now is chance: an add waits for no growth, and a grower that is not let run leaves so many
    // keys to a slice of 100 that no later one is new.
    Log more{0, 4};
    more.grow_to(filter, dir.file(), 5, 100);
    CHECK(more.all_in(filter));
    munmap(shelf, 4096);
  }
}

TEST_CASE("a key that is found in an older slice is not added again") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), growing_options());
  Log log;
  log.grow_to(filter, dir.file(), 3);
  const std::string before = read_bytes(dir.file());
  for (std::uint64_t i = 0; i < log.keys; ++i) CHECK(filter.add(key_of(1, i)).keys() == 0);
  CHECK(read_bytes(dir.file()) == before);
}

// --- Growths in the middle of other things ---------------------------------------------------------------------------

TEST_CASE("what another handle adds, asks and syncs at any step of a growth is as at any other moment") {
  const faults::Scope scope;
  for_each_step([](int n) {
    const TempDir dir(memory_folder());
    Filter grower = created(dir.file(), growing_options());
    Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    Log log;
    Log others;
    bool done = false;
    for (std::uint64_t slices = 1; slices < kMaxSlices; ++slices) {
      log.fill(grower, dir.file());
      const AtSteps steps([&](int step) {
        if (step != n) return;
        done = true;
        for (int i = 0; i < 40; ++i) {
          REQUIRE(other.add(key_of(2, others.keys)).ok());
          ++others.keys;
        }
        CHECK(other.sync({.owner = 2, .mark = others.keys}).ok());
        CHECK(maybes(reader, 2, 0, others.keys) == others.keys);
        CHECK(log.all_in(reader));
      });
      REQUIRE(grow_once(grower, log, dir.file()));
      CHECK(slices_of(dir.file()) == slices + 1);
    }
    for (const Filter* filter : {&std::as_const(grower), &std::as_const(other), &reader}) {
      CHECK(log.all_in(*filter));
      CHECK(maybes(*filter, 2, 0, others.keys) == others.keys);
    }
    CHECK(other.close().ok());
    CHECK(grower.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
    return done;
  });
}

// Other code of the process unmaps the page that keeps the lock, for instance.
TEST_CASE("a grower that loses its lock adds no slice that another process has added") {
  const auto lock_pages = [](const std::string& path) {
    std::set<std::uintptr_t> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(" ---s ") != std::string::npos && line.ends_with(path))
        found.insert(std::stoull(line, nullptr, 16));
    }
    return found;
  };
  const faults::Scope scope;
  for (const bool cuts : {false, true}) {
    int losses = 0;
    for_each_step([&](int n) {
      CAPTURE(cuts);
      CAPTURE(n);
      const TempDir dir(memory_folder());
      CHECK(created(dir.file(), growing_options()).close().ok());
      Filter grower = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));  // with the path in the list of maps
      Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      Log log;
      Log others{0, 2};
      log.fill(grower, dir.file());
      const auto before = lock_pages(dir.file());
      bool reached = false;
      bool lost = false;
      bool tried = false;
      bool answers = true;
      const format::Identity identity = identity_of(dir.file());
      {
        const AtSteps steps([&](int step) {
          tried = true;
          if (step != n) return;
          reached = true;
          // It can not see that it loses the lock between its look at the lock and its store.
          if (cuts && !AtSteps::extends) return;
          for (const std::uintptr_t page : lock_pages(dir.file())) {
            if (before.count(page) == 0) {
              lost = true;
              mmap(reinterpret_cast<void*>(page), 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            }
          }
          if (!lost) return;
          ++losses;
          others.grow_to(other, dir.file(), cuts ? 2 : 3);
          for (int i = 0; i < 10; ++i) others.add(other);
          if (!cuts) return;
          const auto bytes = std::filesystem::file_size(dir.file());
          std::filesystem::resize_file(dir.file(), format::slice_of(identity, 1).body.offset);
          std::filesystem::resize_file(dir.file(), bytes);
          answers = false;
        });
        while (!tried && log.add(grower)) {
        }
      }
      CHECK(slices_of(dir.file()) == (!lost || cuts ? 2 : 3));
      CHECK(log.all_in(reader));
      CHECK(others.all_in(reader));
      CHECK(log.all_in(grower));
      CHECK(answers_no(reader) == answers);
      other.abandon();
      grower.abandon();
      return reached;
    });
    CHECK(losses >= (cuts ? 2 : 4));
  }
}

// It would store the end word of the other's slice again, after a cut that took it.
TEST_CASE(
    "a grower that comes late does not touch the slice of another process, which a foreign program may have cut") {
  const faults::Scope scope;
  for_each_step(
      [](int n) {
        CAPTURE(n);
        const TempDir dir(memory_folder());
        Filter grower = created(dir.file(), growing_options());
        Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
        const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const format::Identity identity = identity_of(dir.file());
        Log log;
        Log others{0, 2};
        log.fill(grower, dir.file());
        bool reached = false;
        {
          const AtSteps steps([&](int step) {
            if (step == 1) {  // before it has the lock
              others.grow_to(other, dir.file(), 2);
              for (int i = 0; i < 10; ++i) others.add(other);
            }
            if (step != n) return;
            reached = true;
            const auto bytes = std::filesystem::file_size(dir.file());
            std::filesystem::resize_file(dir.file(), format::slice_of(identity, 1).body.offset);
            std::filesystem::resize_file(dir.file(), bytes);
          });
          log.add(grower);
        }
        CHECK(slices_of(dir.file()) == 2);
        CHECK(log.all_in(reader));
        CHECK(others.all_in(reader));
        CHECK(answers_no(reader) != reached);
        other.abandon();
        grower.abandon();
        return reached;
      },
      2);
}

TEST_CASE("a foreign program that cuts the file at a step of a growth, and makes it longer again, makes no wrong no") {
  const faults::Scope scope;
  for (const bool guard : {false, true}) {
    for (std::size_t kind = 0; kind < 6; ++kind) {
      for_each_step([&](int n) {
        CAPTURE(kind);
        CAPTURE(n);
        const TempDir dir(memory_folder());
        OpenOptions options = kQuiet;
        options.map.guard = guard;
        CHECK(created(dir.file(), growing_options()).close().ok());
        Filter grower = opened(Filter::open(dir.file(), OpenMode::kWrite, options));
        Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, options));
        const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead, options));
        const format::Identity identity = identity_of(dir.file());
        Log log;
        log.grow_to(grower, dir.file(), 2);
        log.fill(grower, dir.file());
        const format::Slice first = format::slice_of(identity, 0);
        const format::Slice last = format::slice_of(identity, 1);
        const format::Slice next = format::slice_of(identity, 2);
        const std::array cuts{last.end_word.offset,  last.body.offset + 8, first.body.offset + 8,
                              first.end_word.offset, last.end_word.end(),  next.body.offset + 8};
        bool reached = false;
        {
          const AtSteps steps([&](int step) {
            if (step != n) return;
            reached = true;
            const auto bytes = std::filesystem::file_size(dir.file());
            std::filesystem::resize_file(dir.file(), cuts.at(kind));
            if (!guard) std::filesystem::resize_file(dir.file(), std::max(bytes, next.end_word.end()));
          });
          log.add(grower);
          log.add(grower);
        }
        for (int i = 0; i < 20; ++i) {
          log.add(other);
          log.add(grower);
        }
        CHECK(log.all_in(reader));
        CHECK(log.all_in(grower));
        CHECK(log.all_in(other));
        if (kind < 4 && reached) CHECK_FALSE(answers_no(reader));
        const auto again = Filter::open(dir.file(), OpenMode::kRead);
        if (again.ok()) CHECK(log.all_in(*again));
        other.abandon();
        grower.abandon();
        return reached;
      });
    }
  }
}

// The places at which a handle looks at its file are also those at which it stores to it: the new end word, and the
// number of slices.
TEST_CASE("an adder that is stopped anywhere in an add while others grow the body has added its key") {
  unsigned looks = 0;
  for (unsigned n = 0; n <= looks; n = next_look(n, looks)) {  // first counts them
    for (const std::uint64_t growths : {1U, 3U}) {
      const TempDir dir(memory_folder());
      Filter other = created(dir.file(), growing_options());
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      Log log;
      log.fill(other, dir.file());
      const auto others = mappings_of(dir.file());
      Filter adder = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
      Count added = std::uint64_t{0};
      const unsigned now = watch_looks(
          dir.file(), others,
          [&](unsigned look) {
            if (look == n) log.grow_to(other, dir.file(), 1 + growths);
          },
          [&] { added = adder.add(key_of(2, 0)); });
      if (n == 0) looks = now;
      CHECK(added.ok());
      CHECK(reader.contains(key_of(2, 0)));
      CHECK(log.all_in(reader));
      CHECK(log.all_in(adder));
      CHECK(adder.close().ok());
      CHECK(other.close().ok());
      CHECK(state_of(dir.file()) == FileState::kClean);
    }
  }
}

TEST_CASE("a reader that is stopped anywhere in a lookup while the body grows finds every key that was there before") {
  for (const bool at_once : {false, true}) {
    for (std::uint64_t slices = 1; slices <= 3; ++slices) {
      unsigned looks = 1;
      for (unsigned n = 1; n <= looks; ++n) {
        const TempDir dir(memory_folder());
        Filter adder = created(dir.file(), growing_options());
        Log log;
        log.grow_to(adder, dir.file(), slices);
        for (int i = 0; i < 10; ++i) REQUIRE(log.add(adder));
        const auto others = mappings_of(dir.file());
        const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        const std::string text = key_of(1, log.keys - 1);
        const std::array<std::string_view, 1> views{text};
        std::array<std::uint8_t, 1> answer{};
        const unsigned now = watch_looks(
            dir.file(), others,
            [&](unsigned look) {
              if (look == n) log.grow_to(adder, dir.file(), slices + 2);
            },
            [&] {
              if (at_once) {
                static_cast<void>(reader.contains_keys(Keys::views(views), answer));
              } else {
                answer[0] = reader.contains(text) ? 1 : 0;
              }
            });
        looks = std::max(looks, now);
        CHECK(answer[0] == 1);
        CHECK(log.all_in(reader));
      }
    }
  }
}

// --- Kills -----------------------------------------------------------------------------------------------------------

namespace {

// What is in the file after a process died in the middle of a growth: each key whose add returned, and slices that each
// process can go on with.
void check_left_behind(const std::string& path, const Filter& onlooker, std::uint64_t keys) {
  CHECK(maybes(onlooker, 1, 0, keys) == keys);
  CHECK(state_of(path) == FileState::kAdoptable);
  Filter next = opened(Filter::open(path, OpenMode::kWrite, kQuiet));
  Log log{keys};
  CHECK(log.all_in(next));
  for (std::uint64_t slices = slices_of(path) + 1; slices <= kMaxSlices; ++slices) {
    REQUIRE(grow_once(next, log, path));
    CHECK(slices_of(path) == slices);
  }
  CHECK(next.stats({}).keys_added <= room_of(5));
  CHECK(log.all_in(onlooker));
  CHECK(next.close().ok());
  CHECK(state_of(path) == FileState::kClean);
  CHECK(log.all_in(opened(Filter::open(path, OpenMode::kRead))));
}

// Keys of writer 1 whose adds returned, before a child died or was done.
struct Lived {
  std::uint64_t keys;
  bool died;
};

Lived add_in_child(const std::string& path, std::uint64_t most, const std::function<void(Filter&, Log&)>& act) {
  auto* const keys = shared<std::atomic<std::uint64_t>>();
  const int outcome = in_child([&] {
    auto filter = Filter::open(path, OpenMode::kWrite, kQuiet);
    if (!filter.ok()) return 1;
    Log log;
    while (log.keys < most) {
      if (!log.add(*filter)) return 2;
      keys->store(log.keys);
    }
    act(*filter, log);
    return 0;
  });
  const Lived lived{keys->load(), outcome == 1000 + SIGKILL};
  munmap(keys, 4096);
  CHECK((outcome == 0 || lived.died));
  return lived;
}

}  // namespace

TEST_CASE("a grower is killed at each call of a growth, and the next process goes on") {
  const faults::Scope scope;
  for (const std::uint64_t slices : {1U, 3U}) {
    for_each_step([&](int n) {
      CAPTURE(n);
      const TempDir dir(memory_folder());
      Log log;
      {
        Filter filter = created(dir.file(), growing_options());
        log.grow_to(filter, dir.file(), slices);
        log.fill(filter, dir.file());
        CHECK(filter.close().ok());
      }
      const Filter onlooker = opened(Filter::open(dir.file(), OpenMode::kRead));
      const Lived lived = add_in_child(dir.file(), log.keys, [&](Filter& filter, Log& own) {
        const AtSteps steps([n](int step) {
          if (step == n) kill(getpid(), SIGKILL);
        });
        grow_once(filter, own, dir.file());
        filter.abandon();
      });
      CHECK(lived.keys == log.keys);
      check_left_behind(dir.file(), onlooker, log.keys);
      return lived.died;
    });
  }
}

TEST_CASE("a grower is killed at its looks at the file, which are its stores, too, and the next process goes on") {
  auto* const looks = shared<std::atomic<unsigned>>();
  for (unsigned n = 0; n <= *looks; n = next_look(n, *looks)) {  // first counts them
    CAPTURE(n);
    const TempDir dir(memory_folder());
    Log log;
    {
      Filter filter = created(dir.file(), growing_options());
      log.fill(filter, dir.file());
      CHECK(filter.close().ok());
    }
    const Filter onlooker = opened(Filter::open(dir.file(), OpenMode::kRead));
    const auto others = mappings_of(dir.file());
    const Lived lived = add_in_child(dir.file(), log.keys, [&](Filter& filter, Log& own) {
      const std::string key = key_of(1, own.keys);
      const unsigned seen = watch_looks(
          dir.file(), others,
          [&](unsigned look) {
            if (look == n) kill(getpid(), SIGKILL);
          },
          [&] { static_cast<void>(filter.add(key)); });
      if (n == 0) *looks = seen;
      filter.abandon();
    });
    CHECK(lived.died == (n != 0));
    check_left_behind(dir.file(), onlooker, log.keys);
  }
  munmap(looks, 4096);
}

TEST_CASE("each call of a growth fails, and the add has its key") {
  const faults::Scope scope;
  for (const int failed : {ENOSPC, EIO, EINTR, EOPNOTSUPP, EFBIG}) {
    const TempDir dir(memory_folder());
    Filter filter = created(dir.file(), growing_options());
    Log log;
    log.fill(filter, dir.file());
    const auto bytes = std::filesystem::file_size(dir.file());
    int asked = 0;
    faults::on_extend = [&](int, std::uint64_t, std::uint64_t) {
      ++asked;
      return failed == EINTR && asked > 1 ? 0 : failed;
    };
    for (int i = 0; i < 50; ++i) REQUIRE(log.add(filter));
    CHECK(asked > 0);
    CHECK(log.all_in(filter));
    if (failed != EINTR) {
      CHECK(slices_of(dir.file()) == 1);
      CHECK(std::filesystem::file_size(dir.file()) == bytes);
    }
    CHECK(filter.sync().ok());
    faults::on_extend = {};
    REQUIRE(grow_once(filter, log, dir.file()));  // there is room again
    CHECK(slices_of(dir.file()) >= 2);
    CHECK(filter.close().ok());
    CHECK(log.all_in(opened(Filter::open(dir.file(), OpenMode::kRead))));
  }
}

// --- Recoveries and power cuts ---------------------------------------------------------------------------------------

namespace {

// Recovers the file as owner 1: adds again the keys after the mark. Calls `between` before each key, and before the
// end.
void recover(
    const std::string& path, std::uint64_t keys, const std::function<void()>& between = [] {}) {
  Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.recover = true, .writeback_check_ms = kNeverAsks}));
  for (std::uint64_t key = filter.get_mark(1); key < keys; ++key) {
    between();
    REQUIRE(filter.add(key_of(1, key)).ok());
  }
  between();
  const auto over = filter.finish_recovery(1);
  REQUIRE(over.ok());
  REQUIRE(*over);
  REQUIRE(filter.close().ok());
}

// True if the end word of the last slice that the live page counts is there.
bool last_is_there(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const format::Identity identity = identity_of(path);
  const auto last = static_cast<std::uint32_t>(word_in(bytes, kNumSlicesAt)) - 1;
  const format::Section end_word = format::slice_of(identity, last).end_word;
  return end_word.end() <= bytes.size() && word_in(bytes, end_word.offset) == format::end_word(identity.file_id, last);
}

// A disk image: which pages are those of now, and the others are those of the last sync.
class PowerCuts {
 public:
  PowerCuts(std::string path, std::uint64_t seed)
      : path_(std::move(path)), durable_(read_bytes(path_)), random_(seed), after_(dir_.file()) {}

  void synced() { durable_ = read_bytes(path_); }
  [[nodiscard]] std::uint64_t images() const noexcept { return images_; }

  // Tries images of this moment, at which adds of so many keys have returned.
  void try_some(std::uint64_t keys) {
    const std::string now = read_bytes(path_);
    std::vector<std::size_t> dirty;
    for (std::size_t at = 0; at < now.size(); at += 4096) {
      if (at >= durable_.size() || now.compare(at, 4096, durable_, at, 4096) != 0) dirty.push_back(at);
    }
    const std::uint64_t all = (std::uint64_t{1} << dirty.size()) - 1;
    REQUIRE(dirty.size() < 32);
    std::set<std::uint64_t> chosen{0, all};
    for (std::size_t i = 0; i < dirty.size(); ++i) {
      const bool is_live_page = dirty[i] == format::kLivePageOffset;
      if (is_live_page) chosen.insert({std::uint64_t{1} << i, all ^ (std::uint64_t{1} << i)});
    }
    for (int i = 0; i < 3; ++i) chosen.insert(random_() & all);
    for (const std::uint64_t choice : chosen) {
      const bool longer = choice == all || random_() % 2 == 0;
      std::string image = longer ? durable_ + std::string(now.size() - durable_.size(), '\0') : durable_;
      for (std::size_t i = 0; i < dirty.size(); ++i) {
        const std::size_t bytes = std::min<std::size_t>(4096, now.size() - dirty[i]);
        if ((choice >> i & 1) != 0 && dirty[i] < image.size()) image.replace(dirty[i], bytes, now, dirty[i], bytes);
      }
      check(image, keys);
    }
  }

 private:
  void check(const std::string& image, std::uint64_t keys) {
    ++images_;
    std::ofstream(after_, std::ios::binary | std::ios::trunc) << image;
    as_from_another_boot(after_);
    const OnDisk found = look(image);
    const bool clean = found.slots.clean();
    const Code code = open_code(after_, OpenMode::kRead);
    if (clean && code == Code::kOk) {
      const Filter reader = opened(Filter::open(after_, OpenMode::kRead));
      const std::uint64_t mark = format::mark_of(found.newest(), 1);
      CHECK(maybes(reader, 1, 0, mark) == mark);
      return;
    }
    REQUIRE((code == Code::kUnclean || code == Code::kRecovering || code == Code::kPoisoned));
    REQUIRE(open_code(after_, OpenMode::kWrite) == code);
    const std::uint64_t kept =
        std::max<std::uint64_t>(found.newest().num_slices, last_is_there(after_) ? slices_of(after_) : 0);
    bool begun = false;
    recover(after_, keys, [&] {
      if (!begun) REQUIRE(slices_of(after_) == kept);
      begun = true;
    });
    Log log{keys};
    Filter next = opened(Filter::open(after_, OpenMode::kWrite, kQuiet));
    REQUIRE(log.all_in(next));
    REQUIRE(answers_no(next));
    for (std::uint64_t slices = slices_of(after_) + 1; slices <= 4; ++slices) REQUIRE(grow_once(next, log, after_));
    REQUIRE(log.all_in(next));
    REQUIRE(next.close().ok());
  }

  std::string path_;
  std::string durable_;
  std::mt19937_64 random_;
  TempDir dir_{memory_folder()};
  std::string after_;
  std::uint64_t images_ = 0;
};

}  // namespace

namespace {

void cut_at_each_step(std::uint64_t seed) {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  faults::on_sync = [](int) { return 0; };
  Options options = growing_options();
  options.seed = seed;
  Filter filter = created(dir.file(), options);
  PowerCuts cuts(dir.file(), seed);
  Log log;
  for (std::uint64_t slices = 1; slices <= 3; ++slices) {
    log.fill(filter, dir.file());
    const auto try_some = [&] {
      std::function<int(int)> syncs;
      syncs.swap(faults::on_sync);
      std::function<void(int, std::uint64_t, std::uint64_t)> writes;
      writes.swap(faults::on_write);
      faults::on_sync = [](int) { return 0; };
      cuts.try_some(log.keys);
      syncs.swap(faults::on_sync);
      writes.swap(faults::on_write);
    };
    {
      const AtSteps steps([&](int step) {
        if (step % 2 == 0) try_some();
      });
      REQUIRE(grow_once(filter, log, dir.file()));
    }
    try_some();
    for (int i = 0; i < 20; ++i) REQUIRE(log.add(filter));
    try_some();
    faults::on_write = [&](int, std::uint64_t, std::uint64_t) { try_some(); };
    faults::on_sync = [&](int) {
      try_some();
      cuts.synced();
      return 0;
    };
    REQUIRE(filter.sync({.owner = 1, .mark = log.keys}).ok());
    faults::on_write = {};
    faults::on_sync = [&](int) {
      cuts.synced();
      return 0;
    };
    try_some();
  }
  CHECK(cuts.images() > 100);
  filter.abandon();
}

}  // namespace

// By hand, for longer: a life for every 100 of --rounds.
TEST_CASE("after a power cut at any step of a growth, or of a sync after it, an owner has every key again") {
  const std::uint64_t seed = first_seed();
  for (std::uint64_t life = 0; life <= option("rounds", 1) / 100; ++life) {
    CAPTURE(seed + life);
    cut_at_each_step(seed + life);
  }
}

// The body grows while the sync runs, and keys are added to the new slice: the slot must not count it.
TEST_CASE("a slot counts no slice that was added while the body was synced") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), growing_options());
  Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
  Log log;
  log.fill(filter, dir.file());
  std::string durable;
  bool first = true;
  faults::on_sync = [&](int) {
    if (std::exchange(first, false)) {
      durable = read_bytes(dir.file());
      log.grow_to(other, dir.file(), 2);
    }
    return 0;
  };
  const std::uint64_t mark = log.keys;
  CHECK(filter.sync({.owner = 1, .mark = mark}).ok());
  CHECK(slices_of(dir.file()) == 2);
  CHECK(look_at(dir.file()).newest().num_slices == 1);
  // The slot, and the live page or not, and nothing else since.
  const std::string now = read_bytes(dir.file());
  for (const bool live_page : {false, true}) {
    std::string image = durable;
    image.replace(format::kSlotOffset, 2 * 4096, now, format::kSlotOffset, 2 * 4096);
    if (live_page) image.replace(format::kLivePageOffset, 4096, now, format::kLivePageOffset, 4096);
    std::ofstream(dir.file("after"), std::ios::binary | std::ios::trunc) << image;
    as_from_another_boot(dir.file("after"));
    recover(dir.file("after"), log.keys);
    CHECK(log.all_in(opened(Filter::open(dir.file("after"), OpenMode::kRead))));
  }
  CHECK(filter.sync({.owner = 1, .mark = mark}).ok());
  CHECK(look_at(dir.file()).newest().num_slices == 2);
  faults::on_sync = [](int) { return 0; };  // the handles end after what the one before uses
}

namespace {

// Leaves a file in doubt, with more slices than its slot counts. `keys`: those whose adds returned.
Log leave_grown(const std::string& path, const Options& options = growing_options()) {
  Log log;
  Filter filter = created(path, options);
  log.grow_to(filter, path, 2);
  REQUIRE(filter.sync({.owner = 1, .mark = log.keys}).ok());
  log.grow_to(filter, path, 3);
  for (int i = 0; i < 10; ++i) REQUIRE(log.add(filter));
  filter.abandon();
  CHECK(look_at(path).newest().num_slices == 2);
  return log;
}

}  // namespace

// The file as a process sees it that knows other facts about its inode: in a sandbox that refuses some calls, say.
void as_another_inode(const std::string& path) {
  edit_slots(path, [](Slot& slot) { slot.place.inode_mark ^= 2; });
}

TEST_CASE("a recovery keeps the number of slices that are there, also of a file that comes from another place") {
  const std::array<std::function<void(const std::string&)>, 3> accidents{
      as_from_another_boot, as_another_inode, [](const std::string& path) { set_syncing(path); }};
  for (const auto& accident : accidents) {
    const TempDir dir(memory_folder());
    const Log log = leave_grown(dir.file());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    accident(dir.file());
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
    {
      const faults::Scope scope;
      const AtSteps steps([&](int) { REQUIRE(log.all_in(reader)); });
      recover(dir.file(), log.keys, [&] { CHECK(slices_of(dir.file()) == 3); });
    }
    CHECK(log.all_in(reader));
    CHECK(log.all_in(opened(Filter::open(dir.file(), OpenMode::kRead))));
  }
}

TEST_CASE("a file from another boot whose last slices are not on its disk is recovered, and one of this boot is lost") {
  for (const bool elsewhere : {false, true}) {
    for (const bool shorter : {false, true}) {
      const TempDir dir(memory_folder());
      const Log log = leave_grown(dir.file());
      const format::Identity identity = identity_of(dir.file());
      const auto bytes = std::filesystem::file_size(dir.file());
      std::filesystem::resize_file(dir.file(), format::slice_of(identity, 1).end_word.end());
      if (!shorter) std::filesystem::resize_file(dir.file(), bytes);
      elsewhere ? as_from_another_boot(dir.file()) : as_another_inode(dir.file());
      for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite})
        CHECK(open_code(dir.file(), mode) == (elsewhere ? Code::kUnclean : Code::kLiveWord));
      if (!elsewhere) {
        CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true})) == Code::kLiveWord);
        continue;
      }
      recover(dir.file(), log.keys);
      CHECK(log.all_in(opened(Filter::open(dir.file(), OpenMode::kRead))));
      // And where the slices of the slot are not there, it is lost.
      std::filesystem::resize_file(dir.file(), format::slice_of(identity, 1).end_word.offset);
      CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kLiveWord);
    }
  }
}

// It would miss a key in a slice that it saw go and come back.
TEST_CASE("a reader that is stopped anywhere in a lookup through a recovery finds every key") {
  const faults::Scope scope;
  for (int stop_at = 1; stop_at < 60; stop_at += 3) {
    bool stopped_in_time = true;
    unsigned looks = 1;
    for (unsigned n = 1; n <= looks; n += 2) {
      const TempDir dir(memory_folder());
      Log log = leave_grown(dir.file());
      const auto others = mappings_of(dir.file());
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      set_syncing(dir.file());
      auto* const begun = shared<std::atomic<int>>();
      Stopped recoverer([&] {
        int steps = 0;
        const auto stop = [&] {
          if (++steps == stop_at) raise(SIGSTOP);
        };
        faults::on_write = [&](int, std::uint64_t, std::uint64_t) { stop(); };
        faults::before_lock = faults::after_lock = [&](const faults::LockCall&) { stop(); };
        faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
          stop();
          return 0;
        };
        auto filter = Filter::open(dir.file(), OpenMode::kWrite, {.recover = true, .writeback_check_ms = kNeverAsks});
        if (!filter.ok()) return;
        for (std::uint64_t i = 0; i < 200 && slices_of(dir.file()) < 3; ++i)
          static_cast<void>(filter->add(key_of(3, i)));
        for (std::uint64_t key = filter->get_mark(1); key < log.keys; ++key)
          static_cast<void>(filter->add(key_of(1, key)));
        static_cast<void>(filter->finish_recovery(1));
        begun->store(steps >= stop_at ? 1 : 2);
        if (steps < stop_at) return;
        faults::on_write = {};
        faults::before_lock = faults::after_lock = {};
        faults::on_read = {};
        filter->abandon();
      });
      stopped_in_time = begun->load() == 0;
      const std::string last = key_of(1, log.keys - 1);
      bool maybe = true;
      const unsigned now = watch_looks(
          dir.file(), others,
          [&](unsigned look) {
            if (look == n && stopped_in_time) recoverer.go_on();
          },
          [&] { maybe = reader.contains(last); });
      looks = std::max(looks, now);
      CHECK(maybe);
      if (stopped_in_time && begun->load() == 0) recoverer.go_on();
      munmap(begun, 4096);
      if (!stopped_in_time) break;
    }
    if (!stopped_in_time) break;
  }
}

// --- Copies, and files that replace others ---------------------------------------------------------------------------

namespace {

struct CopyForm {
  const char* name;
  std::function<Result<Filter>(const Filter& from, const std::string& path, const std::string& copy)> make;
};

const std::vector<CopyForm>& copy_forms() {
  static const std::vector<CopyForm> kForms{
      {"save",
       [](const Filter& from, const std::string&, const std::string& copy) -> Result<Filter> {
         const Error error = from.save(copy);
         return error.ok() ? Filter::open(copy, OpenMode::kRead) : Result<Filter>(error);
       }},
      {"private", [](const Filter&, const std::string& path, const std::string&) {
         return Filter::open(path, OpenMode::kRead, {.map = {.copy = true}});
       }}};
  return kForms;
}

}  // namespace

TEST_CASE(
    "a copy that is made while the body grows has each key that was there before, and each that its marks cover") {
  const faults::Scope scope;
  for (const CopyForm& form : copy_forms()) {
    for (const std::uint64_t slices : {1U, 2U}) {
      for_each_step([&](int n) {
        CAPTURE(std::string(form.name));
        CAPTURE(n);
        const TempDir dir(memory_folder());
        CHECK(created(dir.file(), growing_options()).close().ok());
        Filter adder = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
        const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
        Log log;
        log.grow_to(adder, dir.file(), slices);
        log.fill(adder, dir.file());
        REQUIRE(adder.sync({.owner = 1, .mark = log.keys}).ok());
        for (int i = 0; i < 3 && slices_of(dir.file()) == slices; ++i) log.add(adder);
        const std::uint64_t before = log.keys;
        bool reached = false;
        bool inside = false;
        int reads = 0;
        const auto grow = [&] {
          if (inside || ++reads != n) return;
          inside = reached = true;
          log.grow_to(adder, dir.file(), slices + 2);
          for (int i = 0; i < 10; ++i) log.add(adder);
          CHECK(adder.sync({.owner = 1, .mark = log.keys}).ok());
          inside = false;
        };
        faults::on_read = [&](int, std::uint64_t, std::uint64_t) {
          grow();
          return 0;
        };
        faults::after_read = grow;
        auto copy = form.make(reader, dir.file(), dir.file("copy"));
        faults::on_read = {};
        faults::after_read = {};
        REQUIRE(copy.ok());
        CHECK(maybes(*copy, 1, 0, before) == before);
        const std::uint64_t mark = copy->get_mark(1);
        CHECK(mark > 0);
        CHECK(maybes(*copy, 1, 0, mark) == mark);
        CHECK(answers_no(*copy));
        if (std::string(form.name) == "save") {
          CHECK(copy->close().ok());
          CHECK(state_of(dir.file("copy")) == FileState::kClean);
          CHECK(look_at(dir.file("copy")).newest().num_slices == slices_of(dir.file("copy")));
          Filter further = opened(Filter::open(dir.file("copy"), OpenMode::kWrite, kQuiet));
          Log own{before};
          own.grow_to(further, dir.file("copy"), 5);
          CHECK(own.all_in(further));
        }
        return reached;
      });
    }
  }
}

TEST_CASE("a filter that is loaded from a file's bytes has all of its slices, takes keys, and does not grow") {
  const TempDir dir(memory_folder());
  Log log;
  {
    Filter filter = created(dir.file(), growing_options());
    log.grow_to(filter, dir.file(), 3);
    CHECK(filter.close().ok());
  }
  const std::string bytes = read_bytes(dir.file());
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    Filter loaded = opened(Filter::load(std::as_bytes(std::span(bytes)), mode));
    CHECK(log.all_in(loaded));
    CHECK(answers_no(loaded));
    if (mode == OpenMode::kRead) continue;
    Log more = log;
    for (int i = 0; i < 500; ++i) REQUIRE(more.add(loaded));
    CHECK(more.all_in(loaded));
    CHECK(loaded.save(dir.file("saved")).ok());
    CHECK(slices_of(dir.file("saved")) == 3);
    CHECK(more.all_in(opened(Filter::open(dir.file("saved"), OpenMode::kRead))));
  }
  for (const std::uint64_t cut : {8U, 4096U}) {
    const auto shorter = std::as_bytes(std::span(bytes).first(bytes.size() - cut));
    CHECK(code_of(Filter::load(shorter)) != Code::kOk);
  }
}

TEST_CASE("a file that is superseded at any step of a growth has every key whose add was not refused") {
  const faults::Scope scope;
  for_each_step([](int n) {
    const TempDir dir(memory_folder());
    CHECK(created(dir.file(), growing_options()).close().ok());
    Filter grower = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
    Filter other = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
    Log log;
    log.fill(grower, dir.file());
    Options options = growing_options();
    options.replace = true;
    options.unpublished = true;
    Filter fresh = created(dir.file(), options);
    bool reached = false;
    {
      const AtSteps steps([&](int step) {
        if (step != n) return;
        reached = true;
        CHECK(fresh.supersede().ok());
      });
      grow_once(grower, log, dir.file());
      log.add(other);
    }
    if (!reached) CHECK(fresh.supersede().ok());
    CHECK_FALSE(grower.add(key_of(2, 0)).ok());
    // The process that replaces the file reads its bytes.
    const std::uint64_t slices = slices_of(dir.file());
    for (std::uint64_t key = 0; key < log.keys; ++key) REQUIRE(grower.contains(key_of(1, key)));
    { Filter dropped = std::move(fresh); }
    CHECK(slices_of(dir.file()) == slices);
    CHECK(log.all_in(grower));
    CHECK(answers_no(grower));
    CHECK(grower.close().ok());
    CHECK(other.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
    return reached;
  });
}

// cp of a file in use, or a snapshot of pages of two moments.
TEST_CASE(
    "a mixture of two moments with other slices in its slots than in its live page is unclean, and can be recovered") {
  const TempDir dir(memory_folder());
  Log log;
  std::string early;
  {
    Filter filter = created(dir.file(), growing_options());
    log.grow_to(filter, dir.file(), 2);
    REQUIRE(filter.sync({.owner = 1, .mark = log.keys}).ok());
    REQUIRE(filter.close().ok());
    early = read_bytes(dir.file());
    filter = opened(Filter::open(dir.file(), OpenMode::kWrite, kQuiet));
    log.grow_to(filter, dir.file(), 3);
    REQUIRE(filter.sync({.owner = 1, .mark = log.keys}).ok());
    REQUIRE(filter.close().ok());
  }
  const std::string late = read_bytes(dir.file());
  const auto page_of = [](std::string& into, const std::string& from, std::uint64_t at, std::uint64_t pages) {
    into.replace(at, pages * 4096, from, at, pages * 4096);
  };
  for (const bool late_slots : {false, true}) {
    for (const bool accept_loss : {false, true}) {
      CAPTURE(late_slots);
      std::string mixed = late;
      page_of(mixed, late_slots ? early : late, format::kLivePageOffset, 1);
      page_of(mixed, late_slots ? late : early, format::kSlotOffset, 2);
      write_bytes(dir.file(), 0, mixed);
      CHECK(state_of(dir.file()) == FileState::kUnclean);
      CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
      CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
      if (accept_loss) {
        Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.accept_loss = true}));
        CHECK(log.all_in(filter));
        CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
        continue;
      }
      recover(dir.file(), log.keys);
      CHECK(log.all_in(opened(Filter::open(dir.file(), OpenMode::kRead))));
    }
  }
}

// --- Handles that end, and what does not grow ------------------------------------------------------------------------

// Its growth counted a slice after the last slot was written: the file was unclean, though no process had died.
TEST_CASE("a handle that is shut, or published, at any step of a growth in another thread leaves a clean file") {
  const faults::Scope scope;
  for (const bool publishes : {false, true}) {
    for_each_step([&](int n) {
      CAPTURE(publishes);
      CAPTURE(n);
      const TempDir dir(memory_folder());
      Options options = growing_options();
      options.unpublished = publishes;
      Filter filter = created(dir.file(), options);
      Log log;
      while (filter.stats({}).keys_added < kFirst) REQUIRE(log.add(filter));
      std::thread ending;
      std::atomic<bool> ended{false};
      bool reached = false;
      {
        const AtSteps steps([&](int step) {
          if (step != n) return;
          reached = true;
          ending = std::thread([&] {
            CHECK((publishes ? filter.publish() : filter.shut()).ok());
            ended = true;
          });
          // It ends now if it waits for nothing.
          for (int i = 0; i < 10 && !ended; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        for (int i = 0; i < 4 && !reached && log.add(filter); ++i) {
        }
        if (ending.joinable()) ending.join();
      }
      if (!reached) CHECK((publishes ? filter.publish() : filter.shut()).ok());
      CHECK(state_of(dir.file()) == FileState::kClean);
      CHECK(look_at(dir.file()).newest().num_slices == slices_of(dir.file()));
      CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kFirst - 2) == kFirst - 2);
      return reached;
    });
  }
}

TEST_CASE("a forked child does not grow its parent's file, and the parent does") {
  const TempDir dir(memory_folder());
  Filter filter = created(dir.file(), growing_options());
  Log log;
  log.fill(filter, dir.file());
  CHECK(in_child([&] {
          for (std::uint64_t i = 0; i < 50; ++i) {
            if (filter.add(key_of(2, i)).code() != Code::kForked) return 1;
          }
          return log.all_in(filter) ? 0 : 2;
        }) == 0);
  CHECK(slices_of(dir.file()) == 1);
  REQUIRE(grow_once(filter, log, dir.file()));
  CHECK(slices_of(dir.file()) == 2);
}

TEST_CASE("a hard limit is that of the slices that there can be") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Options options = growing_options();
  options.hard_limit = true;
  Filter filter = created(dir.file(), options);
  Log log;
  while (log.add(filter)) REQUIRE(log.keys < 10'000);
  CHECK(slices_of(dir.file()) == 5);
  CHECK(filter.stats({}).keys_added == room_of(5));
  CHECK(filter.add(key_of(1, log.keys)).code() == Code::kFull);

  // No room on the disk: it is full with the slices that it has.
  Filter small = created(dir.file("small"), options);
  faults::on_extend = [](int, std::uint64_t, std::uint64_t) { return ENOSPC; };
  Log few;
  while (few.add(small)) REQUIRE(few.keys < 10'000);
  CHECK(small.stats({}).keys_added == kFirst);
  faults::on_extend = {};
  CHECK(few.add(small));
  CHECK(slices_of(dir.file("small")) == 2);
}

// The adds were refused, though there was room for more slices.
TEST_CASE(
    "a hard limit refuses no key while another process adds a slice, and lets in no more keys than that one has") {
  const faults::Scope scope;
  const TempDir dir(memory_folder());
  Options options = growing_options();
  options.hard_limit = true;
  Filter filter = created(dir.file(), options);
  Log log;
  log.fill(filter, dir.file());
  Stopped grower([&] {
    auto own = Filter::open(dir.file(), OpenMode::kWrite, kQuiet);
    faults::on_extend = [](int, std::uint64_t, std::uint64_t) {
      raise(SIGSTOP);
      return 0;
    };
    for (std::uint64_t i = 0; own.ok() && i < 10; ++i) static_cast<void>(own->add(key_of(2, i)));
    faults::on_extend = {};
    own->abandon();
  });
  CHECK(slices_of(dir.file()) == 1);
  while (log.add(filter)) REQUIRE(log.keys < 10'000);
  CHECK(slices_of(dir.file()) == 1);
  CHECK(filter.stats({}).keys_added == room_of(2));
  grower.go_on();
  CHECK(slices_of(dir.file()) >= 2);
  CHECK(log.add(filter));
  CHECK(log.all_in(filter));
}
