// Random lives of a file, with power cuts, failed syncs, killed processes, dropped pages and recoveries at random: no
// handle and no file that opens ever says no to an acknowledged key, a mark never promises more than is on the disk,
// and what a power cut leaves is recovered by adding again what came after the mark. By hand, for longer:
// power_cut_test --lives=100000 --seed=7.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "disk.hpp"
#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// The descriptors of this process that are open on the file.
std::vector<int> descriptors_of(const std::string& path) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

struct Handle {
  std::unique_ptr<Filter> filter;
  int descriptor = -1;
  bool writing = false;
};

enum class Fault { kNone, kFails, kFailsAndDies, kDiesBefore, kDiesAfter };

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed) {
    Options options = small_options();
    options.layout = seed % 2 == 0 ? Layout::kBlocked : Layout::kClassic;
    faults::on_sync = [](int) { return 0; };
    CHECK(created(path_, options).close().ok());
    disk_.emplace(path_);
    faults::on_sync = [this](int descriptor) { return disk_->is_its(descriptor) ? sync() : 0; };
    faults::on_write = [this](int descriptor, std::uint64_t offset, std::uint64_t bytes) {
      if (disk_->is_its(descriptor)) disk_->written(offset, bytes);
    };
  }
  ~Life() {
    fault_ = Fault::kNone;
    while (!handles_.empty()) kill(0);
    graves_.clear();
    ::close(nowhere_);
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      check_handles();
      if (chance(3)) check_power_cut();
    }
  }

  [[nodiscard]] std::uint64_t recoveries() const noexcept { return recoveries_; }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  // In the place of fdatasync.
  int sync() {
    const Fault fault = syncs_left_ == 0 || --syncs_left_ > 0 ? Fault::kNone : fault_;
    if (fault != Fault::kNone && fault != Fault::kFails) died_in_sync_ = true;
    if (fault == Fault::kDiesBefore) throw faults::Killed();
    if (fault == Fault::kFails) {
      disk_->sync_failed();
      return EIO;
    }
    if (fault == Fault::kFailsAndDies) {
      disk_->sync_failed_for_body();
      throw faults::Killed();
    }
    disk_->synced();
    if (fault == Fault::kDiesAfter) throw faults::Killed();
    return 0;
  }

  void step() {
    switch (random_() % 9) {
      case 0:
        return open(OpenMode::kRead);
      case 1:
        return open(chance(4) ? OpenMode::kExclusive : OpenMode::kWrite);
      case 2:
      case 3:
        return add();
      case 4:
        return sync_one();
      case 5:
        return leave();
      case 6:
        return disk_->reclaim();
      case 7:
        return recover();
      default:
        return arm();
    }
  }

  // One of the next syncs goes wrong. What nobody can save is left out: a process that dies with the news of a failed
  // sync can not warn those who have the file open, a dying reader writes nothing, and where poisoning itself can not
  // be written, its page may be dropped like any other.
  void arm() {
    const bool alone = handles_.size() <= 1 && (handles_.empty() || handles_[0].writing);
    std::vector<Fault> faults{Fault::kDiesBefore, Fault::kDiesAfter};
    if (!died_in_sync_) faults.push_back(Fault::kFails);
    if (!died_in_sync_ && alone) faults.push_back(Fault::kFailsAndDies);
    fault_ = faults[random_() % faults.size()];
    syncs_left_ = 1 + random_() % 4;
  }

  void open(OpenMode mode, const OpenOptions& options = {}) {
    if (handles_.size() >= 4) return;
    const bool somebody_to_warn = mode == OpenMode::kRead || !handles_.empty();
    if (fault_ == Fault::kFailsAndDies && somebody_to_warn) fault_ = Fault::kNone;
    const std::vector<int> before = descriptors_of(path_);
    try {
      auto result = Filter::open(path_, mode, options);
      if (!result) return;
      Handle handle{std::make_unique<Filter>(std::move(result).value()), -1, mode != OpenMode::kRead};
      for (const int descriptor : descriptors_of(path_)) {
        if (std::find(before.begin(), before.end(), descriptor) == before.end()) handle.descriptor = descriptor;
      }
      REQUIRE(handle.descriptor >= 0);
      handles_.push_back(std::move(handle));
    } catch (const faults::Killed&) {  // the handle was not there yet, and its descriptor is closed
    }
  }

  // The owner adds again what came after its mark, and says so.
  void recover() {
    const std::size_t before = handles_.size();
    open(OpenMode::kWrite, {.recover = true});
    if (handles_.size() == before) return;
    try {
      if (add_again(*handles_.back().filter)) died_in_sync_ = false;
    } catch (const faults::Killed&) {
      kill(handles_.size() - 1);
    }
  }

  // Whether the recovery is over.
  bool add_again(Filter& filter) const {
    for (std::uint64_t key = filter.mark(1); key < acknowledged_; ++key) {
      if (!filter.add(key_of(1, key)).ok()) return false;
    }
    const auto over = filter.recovered(1);
    return over.ok() && *over;
  }

  void add() {
    for (std::size_t tries = handles_.size(); tries > 0; --tries) {
      Handle& handle = handles_[random_() % handles_.size()];
      if (!handle.writing) continue;
      for (std::uint64_t left = 1 + random_() % 5; left > 0; --left) {
        if (!handle.filter->add(key_of(1, acknowledged_)).ok()) return;
        ++acknowledged_;
      }
      return;
    }
  }

  void sync_one() {
    if (handles_.empty()) return;
    const std::size_t which = random_() % handles_.size();
    try {
      static_cast<void>(handles_[which].filter->sync(1, acknowledged_));
    } catch (const faults::Killed&) {
      kill(which);
    }
  }

  void leave() {
    if (handles_.empty()) return;
    const std::size_t which = random_() % handles_.size();
    if (chance(2)) return kill(which);
    try {
      static_cast<void>(handles_[which].filter->close());
      handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(which));
    } catch (const faults::Killed&) {
      kill(which);
    }
  }

  // The kernel closes its descriptor and nothing else happens. What is left of the handle, on another file now, is
  // cleared away when the life is over.
  void kill(std::size_t which) {
    REQUIRE(dup3(nowhere_, handles_[which].descriptor, O_CLOEXEC) >= 0);
    graves_.push_back(std::move(handles_[which].filter));
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void check_handles() {
    for (const Handle& handle : handles_) REQUIRE(maybes(*handle.filter, 1, 0, acknowledged_) == acknowledged_);
  }

  void check_power_cut() {
    const std::string copy = dir_.file("after.bf");
    const std::string left = disk_->after_power_cut(random_);
    std::ofstream(copy, std::ios::binary) << left;
    const auto after = Filter::open(copy, OpenMode::kRead);
    if (after.ok()) REQUIRE(maybes(*after, 1, 0, acknowledged_) == acknowledged_);
    const OnDisk state = look_at(copy);
    if (state.slots.newest() == nullptr) return;
    const std::uint64_t mark = format::mark_of(*state.slots.newest(), 1);
    check_recovery(copy);
    std::ofstream(copy, std::ios::binary) << left;
    call_clean(copy, state);
    REQUIRE(maybes(opened(Filter::open(copy, OpenMode::kRead)), 1, 0, mark) == mark);
  }

  // The real recovery of what a power cut left.
  void check_recovery(const std::string& copy) {
    Filter filter = opened(Filter::open(copy, OpenMode::kWrite, {.recover = true}));
    if (filter.health() == Code::kRecovering) {
      REQUIRE(maybes(filter, kNobody, 0, 10) == 10);
      REQUIRE(add_again(filter));
      ++recoveries_;
    }
    REQUIRE(maybes(filter, 1, 0, acknowledged_) == acknowledged_);
    REQUIRE(filter.close().ok());
    REQUIRE(maybes(opened(Filter::open(copy, OpenMode::kRead)), 1, 0, acknowledged_) == acknowledged_);
  }

  // So that its bits can be asked.
  static void call_clean(const std::string& copy, const OnDisk& state) {
    for (std::size_t i = 0; i < 2; ++i) {
      format::Slot slot;
      slot.sequence = i + 1;
      const format::SlotPage page = format::encode_slot(slot, state.file_id);
      write_bytes(copy, format::kSlotOffset + i * page.size(),
                  {reinterpret_cast<const char*>(page.data()), page.size()});
    }
    set_live_word(copy, format::healthy_live_word(state.file_id));
  }

  const faults::Scope scope_;
  TempDir dir_{memory_folder()};
  std::string path_ = dir_.file();
  std::mt19937_64 random_;
  std::optional<Disk> disk_;
  std::vector<Handle> handles_;
  std::vector<std::unique_ptr<Filter>> graves_;  // of killed processes
  int nowhere_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::uint64_t acknowledged_ = 0;  // keys 0 .. acknowledged_ - 1 of writer 1
  Fault fault_ = Fault::kNone;
  std::uint64_t syncs_left_ = 0;
  bool died_in_sync_ = false;
  std::uint64_t recoveries_ = 0;
};

// Syncs are not done in earnest, and are told to the disk.
std::function<int(int)> told_to(Disk& disk) {
  return [&disk](int descriptor) {
    if (disk.is_its(descriptor)) disk.synced();
    return 0;
  };
}

}  // namespace

TEST_CASE("no life of a file, with power cuts, failed syncs and kills, ends in a wrong no") {
  const std::uint64_t first = option("seed", 1);
  const std::uint64_t lives = option("lives", 600);
  std::uint64_t recoveries = 0;
  for (std::uint64_t seed = first; seed < first + lives; ++seed) {
    CAPTURE(seed);
    Life life(seed);
    life.live(60);
    recoveries += life.recoveries();
  }
  CHECK(recoveries > lives);  // several of what power cuts leave in a life are unclean
}

TEST_CASE("that a file is dirty is on the disk, not only in memory, when open returns") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  Disk disk(dir.file());
  faults::on_sync = told_to(disk);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(look(disk.durable()).says_dirty());
  CHECK(look(disk.durable()).newest().boot_id == boot_id_here());
}

TEST_CASE("that a file is dirty is on the disk after opening it failed once and worked then") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  Disk disk(dir.file());
  faults::on_sync = [&](int) {
    disk.sync_failed();
    return EIO;
  };
  CHECK_FALSE(Filter::open(dir.file(), OpenMode::kWrite).ok());
  faults::on_sync = told_to(disk);
  const auto filter = Filter::open(dir.file(), OpenMode::kWrite);
  if (filter.ok()) CHECK(look(disk.durable()).says_dirty());
}

TEST_CASE("that a file is dirty is on the disk when open adopts what a process left that died while it opened it") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  Disk disk(dir.file());
  faults::on_sync = [&](int) -> int { throw faults::Killed(); };
  CHECK_THROWS_AS(static_cast<void>(Filter::open(dir.file(), OpenMode::kWrite)), faults::Killed);
  faults::on_sync = told_to(disk);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(look(disk.durable()).says_dirty());
}

TEST_CASE("a sync has the keys on the disk before the mark, and close before it says clean") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  Disk disk(dir.file());
  faults::on_sync = told_to(disk);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(filter, 1, 0, kSome);
  const std::string body = read_bytes(dir.file()).substr(format::kFileHeaderBytes);
  CHECK(disk.durable().substr(format::kFileHeaderBytes) != body);
  CHECK(filter.sync(1, kSome).ok());
  CHECK(disk.durable().substr(format::kFileHeaderBytes) == body);
  CHECK(format::mark_of(look(disk.durable()).newest(), 1) == kSome);
  add_keys(filter, 2, 0, kSome);
  CHECK(filter.close().ok());
  CHECK(look(disk.durable()).slots.clean());
  CHECK(disk.durable().substr(format::kFileHeaderBytes) == read_bytes(dir.file()).substr(format::kFileHeaderBytes));
}
