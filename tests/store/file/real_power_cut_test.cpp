// Power cuts for real: processes use files on a filesystem of the test's own, which loses at a random moment all that
// was not written to its device. Then its journal is replayed under another boot id, and everything that the library
// promises about a power cut must hold.
// By hand, for longer: real_power_cut_test --cycles=1000 --seed=7. A cycle takes about 50 ms.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "base/bytes.hpp"
#include "loop_disk.hpp"
#include "mounts.hpp"
#include "support.hpp"
#include "support/skip.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr unsigned kWriters = 3;
constexpr unsigned kReplacer = 60;  // its keys are the generations of the file that is replaced
constexpr std::uint64_t kCyclesOfALife = 12;

// The knowledge of the processes that the power cut does not take: logs, and what was acknowledged. Nothing is
// acknowledged by a process that has no power any more: a filesystem that is shut down calls a sync that it was about
// to do a success (a folder's on xfs) since there is nothing left to write. A mark of m says that the keys below m - 1
// are durable: 0 would be none.
struct Log {
  std::atomic<std::uint64_t> logged{0};
  std::atomic<std::uint64_t> acknowledged{0};
  std::atomic<std::uint64_t> synced{0};  // the highest mark that a successful sync returned
  std::atomic<std::uint64_t> asked{0};   // the highest mark that a sync was asked for
};

struct Board {
  std::atomic<std::uint32_t> stop{0};
  std::atomic<std::uint32_t> cut{0};  // from now on anything may fail
  std::atomic<std::uint32_t> created{0};
  std::atomic<bool> grows{false};          // the file
  std::atomic<std::uint64_t> replaced{0};  // the last generation that was published
  std::atomic<std::uint64_t> replacing{0};
  std::atomic<std::uint64_t> caught_up{0};  // times that an owner said so
  std::atomic<std::uint64_t> asked{0};      // keys, by the reader
  Log logs[kWriters];
  char complaint[300]{};

  // True if there was power for all that was done before this call.
  [[nodiscard]] bool on() const noexcept { return cut.load() == 0; }
};

Options shape(bool grows) {
  Options options;
  if (grows) {
    options.layout = Layout::kGrowing;
    options.capacity = 200;
    options.capacity_at_most = 273'000;  // 6 times as many in each next slice, and some more
  } else {
    options.capacity = 200'000;
    options.bits_per_key = 16;
  }
  options.lock_timeout_ms = kWaitForEver;  // another writer's sync takes long on a slow machine
  return options;
}

constexpr std::uint64_t kNumSlicesAt = format::kLivePageOffset + format::kLiveNumSlicesField.offset;

// Returns how many slices the live page counts: 0 in a file that does not grow.
std::uint64_t slices_of(const std::string& path) {
  const std::string bytes = read_bytes(path);
  return base::load<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes.data()) + kNumSlicesAt);
}

// --- The processes ---------------------------------------------------------------------------------------------------

// Returns 1 if it is the library's fault, and 0 if the power is cut.
int complain(Board& board, const std::string& what) {
  if (!board.on()) return 0;
  std::snprintf(board.complaint, sizeof board.complaint, "%s", what.c_str());
  return 1;
}

class Writer {
 public:
  Writer(Board& board, std::string path, unsigned number, std::uint64_t seed)
      : board_(board), path_(std::move(path)), number_(number), random_(seed) {}

  int run() {
    while (board_.stop.load() == 0) {
      auto filter = begin();
      if (!filter && (filter.error().code == Code::kBusy || filter.error().code == Code::kNotFound)) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        continue;
      }
      if (!filter) return complain(board_, "open: " + filter.error().message);
      if (const std::string failed = use(*filter); !failed.empty()) return complain(board_, failed);
      if (Error error = filter->close(); !error.ok()) return complain(board_, "close: " + error.message);
    }
    return 0;
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  // The other processes wait until the file's name is durable: before that a power cut may remove file, keys and marks
  // as a whole.
  Result<Filter> begin() {
    if (number_ != 0 && board_.created.load() == 0) return Error{Code::kNotFound, 0, path_ + ": is not made yet"};
    if (board_.created.load() != 0 || std::filesystem::exists(path_)) {
      return Filter::open(path_, chance(6) ? OpenMode::kExclusive : OpenMode::kWrite,
                          {.recover = true, .lock_timeout_ms = kWaitForEver});
    }
    auto made = Filter::create(path_, shape(board_.grows.load()));
    if (made.ok() && board_.on()) board_.created.store(1);
    return made;
  }

  // Returns what went wrong, or nothing.
  std::string use(Filter& filter) {
    if (std::string failed = catch_up(filter); !failed.empty()) return failed;
    for (std::uint64_t left = random_() % 600; left > 0 && board_.stop.load() == 0; --left) {
      const std::uint64_t next = log_.acknowledged.load();
      log_.logged.store(next + 1);
      if (const Count added = filter.add(key_of(number_, next)); !added.ok()) return code_name(added.code());
      if (!board_.on()) return {};
      log_.acknowledged.store(next + 1);
      if (!chance(40)) continue;
      if (std::string failed = sync(filter); !failed.empty()) return failed;
    }
    return {};
  }

  // Adds everything after the mark again, if the file is being recovered. Then stores a mark, so that the next recovery
  // waits for this owner.
  std::string catch_up(Filter& filter) {
    const std::uint64_t mark = filter.get_mark(number_);
    if (mark < log_.synced.load())
      return "mark " + std::to_string(mark) + " after " + std::to_string(log_.synced.load());
    if (filter.health() != Code::kRecovering) return sync(filter);
    for (std::uint64_t i = mark == 0 ? 0 : mark - 1; i < log_.logged.load(); ++i) {
      if (const Count added = filter.add(key_of(number_, i)); !added.ok()) return code_name(added.code());
    }
    const auto over = filter.finish_recovery(number_);
    if (!over.ok()) return "recovered: " + over.error().message;
    board_.caught_up.fetch_add(1);
    return sync(filter);
  }

  std::string sync(Filter& filter) {
    const std::uint64_t mark = log_.acknowledged.load() + 1;
    log_.asked.store(mark);
    if (Error error = filter.sync({.owner = number_, .mark = mark}); !error.ok()) return "sync: " + error.message;
    if (board_.on()) log_.synced.store(mark);
    return {};
  }

  Board& board_;
  std::string path_;
  unsigned number_;
  std::mt19937_64 random_;
  Log& log_ = board_.logs[number_];
};

// Asks for keys that were acknowledged before it asks, again and again, and opens the file now and then.
int read_on(Board& board, const std::string& path, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (board.stop.load() == 0) {
    const auto filter = Filter::open(path, OpenMode::kRead);
    for (int i = 0; filter.ok() && i < 300 && board.stop.load() == 0; ++i) {
      const auto number = static_cast<unsigned>(random() % kWriters);
      const std::uint64_t acknowledged = board.logs[number].acknowledged.load();
      if (acknowledged == 0) continue;
      const std::uint64_t key = random() % acknowledged;
      if (!filter->contains(key_of(number, key))) {  // wrong after the cut, too
        std::snprintf(board.complaint, sizeof board.complaint,
                      "a reader is told that key %llu of %llu of %u is not there", static_cast<unsigned long long>(key),
                      static_cast<unsigned long long>(acknowledged), number);
        return 1;
      }
      board.asked.fetch_add(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return 0;
}

// Replaces one file by the next, again and again. Each has one key, its generation.
int replace(Board& board, const std::string& path) {
  Options options = small_options();
  options.replace = true;
  options.unpublished = true;
  while (board.stop.load() == 0) {
    const std::uint64_t generation = board.replaced.load() + 1;
    auto filter = Filter::create(path, options);
    if (!filter) return complain(board, "create to replace: " + filter.error().message);
    if (!filter->add(key_of(kReplacer, generation)).ok()) return complain(board, "add to what replaces");
    board.replacing.store(generation);
    if (Error error = filter->publish(); !error.ok()) return complain(board, "publish: " + error.message);
    if (board.on()) board.replaced.store(generation);
  }
  return 0;
}

pid_t start(const std::function<int()>& body) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGBUS, SIG_DFL);  // a process may end so after the cut; a sanitizer would report it
  _exit(body());
}

// --- Cycles ----------------------------------------------------------------------------------------------------------

class Cuts {
 public:
  Cuts(LoopDisk& disk, std::string boots, std::uint64_t seed) : disk_(disk), boots_(std::move(boots)), random_(seed) {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    board_ = static_cast<Board*>(memory);
  }
  ~Cuts() {
    end_children();
    munmap(board_, sizeof(Board));
  }
  Cuts(const Cuts&) = delete;
  Cuts& operator=(const Cuts&) = delete;

  void live(std::uint64_t cycles) {
    new (board_) Board();
    board_->grows.store(chance(2));
    for (const std::string& each : {path(), replaced()}) std::filesystem::remove(each);
    disk_.settle();
    for (std::uint64_t i = 0; i < cycles; ++i) {
      CAPTURE(i);
      cycle();
    }
    if (board_->created.load() != 0) recover_all();
    sums_["owners that caught up in the writers"] += board_->caught_up.load();
    sums_["keys asked for by the reader"] += board_->asked.load();
    sums_["files replaced"] += board_->replaced.load();
    for (const Log& log : board_->logs) sums_["keys acknowledged"] += log.acknowledged.load();
  }

  // A run that lacks one of these has tested nothing.
  [[nodiscard]] std::string not_met() const {
    std::string words;
    for (const char* wanted : {"found clean", "found unclean", "found recovering", "keys lost, to be added again",
                               "owners that caught up in the writers", "keys asked for by the reader", "files replaced",
                               "found with more than one durable slice"}) {
      const auto found = sums_.find(wanted);
      if (found == sums_.end() || found->second == 0) words += std::string(words.empty() ? "" : ", ") + wanted;
    }
    return words;
  }
  [[nodiscard]] std::string sums() const {
    std::string words;
    for (const auto& [name, count] : sums_) words += "\n  " + name + ": " + std::to_string(count);
    return words;
  }

 private:
  [[nodiscard]] std::string path() const { return disk_.path() + "/filter.bf"; }
  [[nodiscard]] std::string replaced() const { return disk_.path() + "/replaced.bf"; }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  void doze(unsigned most_microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % (most_microseconds + 1)));
  }

  void cycle() {
    start_children();
    if (chance(2)) wait_for_adds(random_() % 300);
    doze(chance(4) ? 40'000 : 8'000);
    const bool orderly = chance(3);
    if (orderly) stop_writers();
    const bool only_killed = !orderly && chance(6);
    if (!only_killed) {
      board_->cut.store(1);
      REQUIRE(disk_.cut());
      doze(500);
    }
    end_children();
    const std::string complaint = board_->complaint;
    REQUIRE(complaint == "");
    if (only_killed) {
      ++sums_["only killed"];
      return judge();
    }
    ++sums_[orderly ? "cuts after the writers had closed" : "cuts beside writers"];
    REQUIRE(disk_.unmount());
    REQUIRE(new_boot(boots_));
    REQUIRE(disk_.mount());
    judge();
  }

  // Waits for `count` more adds: otherwise the writers of a busy machine may not do anything before the cut. If they
  // cannot add, the cut comes all the same.
  void wait_for_adds(std::uint64_t count) const {
    const auto acknowledged = [this] {
      std::uint64_t sum = 0;
      for (const Log& log : board_->logs) sum += log.acknowledged.load();
      return sum;
    };
    const std::uint64_t wanted = acknowledged() + count;
    for (int i = 0; i < 10'000 && acknowledged() < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void start_children() {
    board_->stop.store(0);
    board_->cut.store(0);
    for (unsigned i = 0; i < kWriters; ++i) {
      const std::uint64_t seed = random_();
      children_.push_back(start([=, this] { return Writer(*board_, path(), i, seed).run(); }));
    }
    const std::uint64_t seed = random_();
    children_.push_back(start([=, this] { return read_on(*board_, path(), seed); }));
    children_.push_back(start([this] { return replace(*board_, replaced()); }));
  }

  void stop_writers() {
    board_->stop.store(1);
    for (const pid_t pid : children_) CHECK(wait_for(pid) == 0);
    children_.clear();
  }

  // Ends those that still live. The others died of SIGBUS, or gave up, when nothing could be read or written any more.
  void end_children() {
    board_->cut.store(1);
    board_->stop.store(1);
    for (const pid_t pid : children_) ::kill(pid, SIGKILL);
    for (const pid_t pid : children_) wait_for(pid);
    children_.clear();
  }

  bool all_there(const Filter& filter) const {
    for (unsigned i = 0; i < kWriters; ++i) {
      const std::uint64_t acknowledged = board_->logs[i].acknowledged.load();
      if (maybes(filter, i, 0, acknowledged) != acknowledged) return false;
    }
    return true;
  }

  // Checks what a process finds after the power cut.
  void judge() {
    judge_replaced();
    if (!std::filesystem::exists(path())) {
      CHECK(board_->created.load() == 0);
      ++sums_["absent"];
      return;
    }
    if (board_->created.exchange(1) == 0) disk_.settle();  // for the same reason
    const auto reader = Filter::open(path(), OpenMode::kRead);
    ++sums_[std::string("found ") + file_state_name(state_of(path()))];
    if (reader.ok()) {
      CHECK(all_there(*reader));
    } else {
      const Code code = reader.error().code;
      CAPTURE(reader.error().message);
      CHECK((code == Code::kUnclean || code == Code::kPoisoned || code == Code::kRecovering));
    }
    judge_marks();
  }

  void judge_replaced() {
    const std::uint64_t last = board_->replaced.load();
    const std::uint64_t next = board_->replacing.load();
    if (!std::filesystem::exists(replaced())) {
      CHECK(last == 0);
      return;
    }
    const Filter filter = opened(Filter::open(replaced(), OpenMode::kRead));
    const bool has_last = last != 0 && filter.contains(key_of(kReplacer, last));
    const bool has_next = filter.contains(key_of(kReplacer, next));
    CHECK((has_last || has_next));
    if (has_last) return;
    disk_.settle();  // it was found, so it counts from now on; its publisher may not have lived to sync it
    board_->replaced.store(next);
  }

  // Checks that the keys below the file's marks are in it, whatever its state is.
  void judge_marks() {
    const OnDisk now = look_at(path());
    REQUIRE(now.slots.newest() != nullptr);
    const std::uint32_t num_slices = now.slots.newest()->num_slices;
    sums_["found with more than one durable slice"] += num_slices > 1 ? 1U : 0U;
    sums_["found with slices that are not durable"] += slices_of(path()) > num_slices ? 1U : 0U;
    const std::string copy = boots_ + "/copy.bf";
    copy_file(path(), copy);
    call_clean(copy, now.file_id, num_slices);
    const Filter bits = opened(Filter::open(copy, OpenMode::kRead));
    for (unsigned i = 0; i < kWriters; ++i) {
      const Log& log = board_->logs[i];
      const std::uint64_t mark = format::mark_of(*now.slots.newest(), i);
      CHECK(mark >= log.synced.load());
      CHECK(mark <= log.asked.load());
      if (mark != 0) CHECK(maybes(bits, i, 0, mark - 1) == mark - 1);
      const std::uint64_t acknowledged = log.acknowledged.load();
      sums_["keys lost, to be added again"] += acknowledged - maybes(bits, i, 0, acknowledged);
    }
    CHECK(answers_no(bits));
  }

  // Marks the copy clean, so that the bits of its durable slices can be asked.
  void call_clean(const std::string& copy, const format::FileId& file_id, std::uint32_t num_slices) const {
    for (std::size_t i = 0; i < 2; ++i) {
      format::Slot slot;
      slot.sequence = i + 1;
      slot.num_slices = num_slices;
      const format::SlotPage page = format::encode_slot(slot, file_id);
      write_bytes(copy, format::kSlotOffset + i * page.size(),
                  {reinterpret_cast<const char*>(page.data()), page.size()});
    }
    set_live_word(copy, format::LiveWord::healthy(file_id).bits);
    if (board_->grows.load()) set_word(copy, kNumSlicesAt, num_slices);
  }

  // Recovers the file: each owner adds again what came after its mark, and nothing else is needed.
  void recover_all() {
    Filter filter = opened(Filter::open(path(), OpenMode::kWrite, {.recover = true}));
    const bool needed = filter.health() == Code::kRecovering;
    for (unsigned i = 0; needed && i < kWriters; ++i) {
      const std::uint64_t mark = filter.get_mark(i);
      const std::uint64_t from = mark == 0 ? 0 : mark - 1;
      const std::uint64_t logged = board_->logs[i].logged.load();
      if (logged > from) add_keys(filter, i, from, logged - from);
      CHECK(filter.finish_recovery(i).ok());
    }
    if (needed) ++sums_["recovered at the end of a life"];
    CHECK(filter.health() == Code::kOk);
    CHECK(all_there(filter));
    CHECK(answers_no(filter));
    CHECK(filter.close().ok());
    CHECK(all_there(opened(Filter::open(path(), OpenMode::kRead))));
  }

  LoopDisk& disk_;
  std::string boots_;  // a folder that no power cut touches
  std::mt19937_64 random_;
  Board* board_ = nullptr;
  std::vector<pid_t> children_;
  std::map<std::string, std::uint64_t> sums_;
};

std::string workshop;  // a folder in memory, for images, boot ids and copies

// Returns a filesystem of this type, or the test is skipped.
std::unique_ptr<LoopDisk> disk_of(const std::string& type, std::uint64_t bytes) {
  std::string why;
  auto disk = LoopDisk::make(type, workshop, bytes, why);
  if (disk != nullptr && !disk->cut()) {
    disk.reset();
    why = type + " can not be shut down";
  }
  if (disk == nullptr) {
    tests::skip_case(why);
    return nullptr;
  }
  REQUIRE(disk->unmount());
  REQUIRE(disk->mount());
  return disk;
}

void cut_so_often(const std::string& type, std::uint64_t bytes, std::uint64_t cycles) {
  const auto disk = disk_of(type, bytes);
  if (disk == nullptr) return;
  const std::uint64_t seed = first_seed();
  Cuts cuts(*disk, workshop, seed);
  const bool must_meet_all = cycles >= 20;
  // The speed of the machine also decides what is met.
  const std::uint64_t most = must_meet_all ? 5 * cycles : cycles;
  std::uint64_t done = 0;
  while (done < cycles || (done < most && !cuts.not_met().empty())) {
    CAPTURE(seed);
    CAPTURE(done);
    const std::uint64_t life = std::min(kCyclesOfALife, most - done);
    cuts.live(life);
    done += life;
  }
  MESSAGE(type << ", " << done << " cycles:" << cuts.sums());
  if (must_meet_all) CHECK(cuts.not_met() == "");
}

}  // namespace

TEST_CASE("after a real power cut on ext4 every key up to the marks is there, and no process gets a wrong no") {
  cut_so_often("ext4", std::uint64_t{64} << 20, option("cycles", 40));
}

TEST_CASE("after a real power cut on xfs every key up to the marks is there, and no process gets a wrong no") {
  cut_so_often("xfs", std::uint64_t{320} << 20, option("cycles", 20));
}

int main(int count, char** values) {
  take_options(count, values);
  const TempDir dir(memory_folder());
  if (!own_mounts() || !new_boot(dir.path())) {
    std::printf("SKIP: nothing can be mounted here: %s\n", std::strerror(errno));
    return 77;
  }
  workshop = dir.path();
  doctest::Context context(count, values);
  return context.run();
}
