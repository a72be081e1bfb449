// Random lives of a file, with power cuts, failed syncs, pages that the system fails to write, killed processes,
// dropped pages, strangers' locks, remounting and recoveries at random, and with adds and questions while a handle
// syncs. No handle and no file that opens ever says no to an acknowledged key. A mark never promises more than is on
// the disk. What a power cut leaves is recovered by adding again what came after the mark. By hand, for longer:
// power_cut_test --lives=100000 --seed=7.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "disk.hpp"
#include "faults.hpp"
#include "format/locks.hpp"
#include "support.hpp"
#include "support/virtual_clock.hpp"
#include "workers.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Returns the descriptors of this process that are open on the file.
std::vector<int> descriptors_of(const std::string& path) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

// Returns the pages that keep the locks of writers: mapped, and never to be touched.
std::vector<std::uintptr_t> lock_pages_of(const std::string& path) {
  std::vector<std::uintptr_t> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" ---s ") != std::string::npos && line.size() > path.size() &&
        line.compare(line.size() - path.size(), path.size(), path) == 0)
      found.push_back(std::stoull(line, nullptr, 16));
  }
  return found;
}

// Returns what is in the second list only.
template <typename Number>
Number new_in(const std::vector<Number>& before, const std::vector<Number>& after, Number none) {
  for (const Number each : after) {
    if (std::find(before.begin(), before.end(), each) == before.end()) return each;
  }
  return none;
}

struct Handle {
  std::unique_ptr<Filter> filter;
  int descriptor = -1;
  std::uintptr_t lock_page = 0;
  bool writing = false;
  bool asks = false;  // with each add
};

enum class Fault { kNone, kFails, kFailsAndDies, kDiesBefore, kDiesAfter };

// A layout that is built once has files that never change.
std::vector<LayoutInfo> layouts_that_take_keys() {
  std::vector<LayoutInfo> all = layouts();
  std::erase_if(all, [](const LayoutInfo& layout) { return layout.can.build; });
  return all;
}

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed), kernels_random_(~seed) {
    Options options = small_options();
    const std::vector<LayoutInfo> all = layouts_that_take_keys();
    options.layout = all[seed % all.size()].layout;
    const LayoutInfo& layout = all[seed % all.size()];
    if (layout.can.expire) {
      options.window_ms = 1;
      turns_left_ = layout.epochs - 2;  // no key expires in a life
    }
    // Two lives of one seed set the same bits, and their writers lock the same bytes: they are alike in every step.
    options.seed = seed;
    faults::random_byte = [this] { return static_cast<std::uint8_t>(kernels_random_()); };
    faults::on_sync = [](int) { return 0; };
    CHECK(created(path_, options).close().ok());
    disk_.emplace(path_);
    faults::filesystem_magic = EXT4_SUPER_MAGIC;
    faults::mount_number = 1;
    faults::after_open = [this](int descriptor) {
      if (disk_->is_its(descriptor)) disk_->opened(descriptor);
    };
    faults::on_sync = [this](int descriptor) { return disk_->is_its(descriptor) ? sync(descriptor) : 0; };
    faults::on_question = [this](int descriptor) { return disk_->is_its(descriptor) ? answer(descriptor) : 0; };
    faults::on_write = [this](int descriptor, std::uint64_t offset, std::uint64_t bytes) {
      if (disk_->is_its(descriptor)) disk_->written(offset, bytes);
    };
  }
  ~Life() {
    fault_ = Fault::kNone;
    while (!handles_.empty()) kill(0);
    graves_.clear();
    for (const int descriptor : closed_) ::close(descriptor);
    ::close(nowhere_);
    if (stranger_ >= 0) ::close(stranger_);
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
  [[nodiscard]] std::uint64_t removes() const noexcept { return removes_; }

 private:
  // All processes of a life are this one, which changes nothing while it waits.
  VirtualClock clock_;

  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  // Replaces fdatasync.
  int sync(int descriptor) {
    Fault fault = syncs_left_ == 0 || --syncs_left_ > 0 ? Fault::kNone : fault_;
    if (asking_ && fault != Fault::kFails) fault = Fault::kNone;
    if (fault != Fault::kNone) harmed_ = true;
    if (fault != Fault::kNone && fault != Fault::kFails) died_in_sync_ = true;
    if (fault == Fault::kDiesBefore) throw faults::Killed();
    if (fault == Fault::kFailsAndDies) {
      disk_->sync_failed_for_body();
      disk_->tells(descriptor);
      throw faults::Killed();
    }
    if (fault == Fault::kFails) {
      disk_->sync_failed();
    } else {
      disk_->synced();
    }
    if (fault == Fault::kDiesAfter) throw faults::Killed();
    act_beside_a_sync();
    return answer(descriptor);
  }

  // The disk is done, and the handle that syncs is not told yet. Another thread, of that handle or of another process,
  // asks the kernel or adds a key. No step of a life comes at such a moment, for each waits for the one before it.
  void act_beside_a_sync() {
    if (!in_sync_one_ || chance(2)) return;
    in_sync_one_ = false;  // a question may sync, too: no thread acts during that sync
    const Handle& handle = handles_[random_() % handles_.size()];
    const bool adds = handle.writing && chance(2);
    asking_ = true;
    std::thread([&] {
      if (!adds) {
        static_cast<void>(handle.filter->is_current());
      } else if (handle.filter->add(key_of(1, acknowledged_)).ok()) {
        ++acknowledged_;
      }
    }).join();
    asking_ = false;
  }

  // Returns what the system says about failures, once each. The process that gets the answer may die of it.
  int answer(int descriptor) {
    if (!disk_->tells(descriptor)) return 0;
    if (dies_of_the_answer_) {
      bytes_at_death_ = read_bytes(path_);
      lay_to_rest(0);
    } else {
      untold_ = false;
      // It stores its doubt. Where the word said so before, no byte changes, by which the model knows a dirty page.
      disk_->written(format::kLivePageOffset, sizeof(std::uint64_t));
    }
    return EIO;
  }

  void step() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time that passes, for writers that ask the kernel
    switch (random_() % 15) {
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
        return reclaim();
      case 7:
        return recover();
      case 8:
        return fail_to_write_back();
      case 9:
        return ask();
      case 10:
        return die_of_the_answer();
      case 11:
        return remount();
      case 12:
        return lock_as_a_stranger();
      case 13:
        return remove();
      default:
        return arm();
    }
  }

  // One of the next syncs fails. Cases that no process can save are left out: a process that dies with the news of a
  // failed sync cannot warn those that have the file open, a dying reader writes nothing, and if poisoning itself
  // cannot be written, its page may be dropped like any other.
  void arm() {
    if (untold_) return;
    const bool alone = handles_.size() <= 1 && (handles_.empty() || handles_[0].writing);
    std::vector<Fault> faults{Fault::kDiesBefore, Fault::kDiesAfter};
    if (!died_in_sync_) faults.push_back(Fault::kFails);
    if (!died_in_sync_ && alone) faults.push_back(Fault::kFailsAndDies);
    fault_ = faults[random_() % faults.size()];
    syncs_left_ = 1 + random_() % 4;
  }

  // Between a failure and the first question of a process that has the file open, dropped pages are missed: PROMISES.md
  // says so. The page that says that the file is in doubt may be among them. A process that opens it asks first.
  void reclaim() {
    if (untold_ && !handles_.empty()) ask();
    if (!untold_ || handles_.empty()) disk_->reclaim();
  }

  // A case that no process can save is left out here, too: that the poisoning also fails.
  void fail_to_write_back() {
    fault_ = Fault::kNone;
    disk_->write_back_failed(random_);
    untold_ = harmed_ = true;
  }

  // health() would not ask: it reads memory alone.
  void ask() {
    if (handles_.empty()) return;
    asking_ = true;
    static_cast<void>(handles_[random_() % handles_.size()].filter->is_current());
    asking_ = false;
  }

  // If other processes have the file open, they learn of the failure only when they ask. And if a stranger keeps the
  // sync lock from it, a process that is killed in that moment takes the answer along. PROMISES.md says so.
  void die_of_the_answer() {
    if (handles_.size() != 1 || !handles_[0].writing || stranger_ >= 0) return;
    fail_to_write_back();
    dies_of_the_answer_ = true;
    bytes_at_death_.clear();
    ask();
    dies_of_the_answer_ = false;
    if (bytes_at_death_.empty()) return;
    write_bytes(path_, 0, bytes_at_death_);  // what was done after the death
    bury(0);
  }

  // Mounts the filesystem again in the same boot, when no process has the file open.
  void remount() {
    if (handles_.size() > 1) return;
    if (!handles_.empty()) kill(0);
    if (stranger_ >= 0) lock_as_a_stranger();
    disk_->remounted(random_);
    ++faults::mount_number;
    untold_ = false;
  }

  // A program that may read the file takes a shared lock, or releases it.
  void lock_as_a_stranger() {
    if (stranger_ >= 0) {
      ::close(std::exchange(stranger_, -1));
      return;
    }
    stranger_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct flock request {};
    request.l_type = F_RDLCK;
    request.l_whence = SEEK_SET;
    const std::array starts{std::uint64_t{0}, format::kSyncLock, format::kFirstWriterLock};
    request.l_start = static_cast<off_t>(starts[random_() % starts.size()]);
    request.l_len = static_cast<off_t>(request.l_start == 0 ? 0 : format::kNumWriterLocks);
    static_cast<void>(fcntl(stranger_, F_OFD_SETLK, &request));
  }

  void open(OpenMode mode, OpenOptions options = {}) {
    if (handles_.size() >= 4) return;
    options.lock_timeout_ms = 0;
    options.writeback_check_ms = chance(2) ? 0 : kNeverAsks;
    const bool somebody_to_warn = mode == OpenMode::kRead || !handles_.empty();
    if (fault_ == Fault::kFailsAndDies && somebody_to_warn) fault_ = Fault::kNone;
    const bool dirty = look_at(path_).says_dirty();
    const std::vector<int> before = descriptors_of(path_);
    const std::vector<std::uintptr_t> pages_before = lock_pages_of(path_);
    try {
      auto result = Filter::open(path_, mode, options);
      if (!result) return;
      Handle handle{std::make_unique<Filter>(std::move(result).value()), new_in(before, descriptors_of(path_), -1),
                    new_in(pages_before, lock_pages_of(path_), std::uintptr_t{0}), mode != OpenMode::kRead,
                    options.writeback_check_ms == 0};
      REQUIRE_FALSE((untold_ && dirty && !options.recover));  // a process that may write has asked
      REQUIRE(handle.descriptor >= 0);
      REQUIRE((handle.lock_page != 0) == handle.writing);
      handles_.push_back(std::move(handle));
    } catch (const faults::Killed&) {  // the handle was not there yet, and its descriptor is closed
    }
  }

  // The owner adds again what came after its mark, and says so.
  void recover() {
    const std::size_t before = handles_.size();
    open(OpenMode::kWrite, {.recover = true});
    if (handles_.size() == before) return;
    // A recovery that begins writes all pages again. What the system failed to write before it does not matter any
    // more, even if the only process that was told of it has died.
    if (handles_.back().filter->health() == Code::kRecovering) untold_ = false;
    try {
      if (!add_again(*handles_.back().filter)) return;
      died_in_sync_ = untold_ = false;
      if (handles_.size() == 1) harmed_ = false;  // others may learn later of what failed before
    } catch (const faults::Killed&) {
      kill(handles_.size() - 1);
    }
  }

  // Returns whether the recovery is over.
  bool add_again(Filter& filter) const {
    for (std::uint64_t key = filter.get_mark(1); key < acknowledged_; ++key) {
      if (!filter.add(key_of(1, key)).ok()) return false;
    }
    const auto over = filter.finish_recovery(1);
    return over.ok() && *over;
  }

  void add() {
    for (std::size_t tries = handles_.size(); tries > 0; --tries) {
      Handle& handle = handles_[random_() % handles_.size()];
      if (!handle.writing) continue;
      for (std::uint64_t left = 1 + random_() % 5; left > 0; --left) {
        asking_ = true;
        const Count added = handle.filter->add(key_of(1, acknowledged_));
        asking_ = false;
        if (!added.ok()) return;
        REQUIRE_FALSE((untold_ && handle.asks && added.keys() == 1));
        ++acknowledged_;
      }
      return;
    }
  }

  // Removes a key, if the filter can. A remove that is refused may have taken the key all the same.
  void remove() {
    for (std::size_t tries = handles_.size(); tries > 0 && acknowledged_ > 0; --tries) {
      Handle& handle = handles_[random_() % handles_.size()];
      if (!handle.writing) continue;
      for (std::uint64_t left = 1 + random_() % 5; left > 0; --left) {
        const std::uint64_t key = random_() % acknowledged_;
        if (removed_.count(key) != 0) return;
        asking_ = true;
        const Count removed = handle.filter->remove(key_of(1, key));
        asking_ = false;
        if (removed.code() != Code::kUnsupported) removed_.insert(key);
        if (!removed.ok()) return;
        ++removes_;
      }
      return;
    }
  }

  // Returns whether no key that was added, and not removed, is called absent.
  bool has_all(const Filter& filter, std::uint64_t count) const {
    for (std::uint64_t key = 0; key < count; ++key) {
      if (removed_.count(key) == 0 && !filter.contains(key_of(1, key))) return false;
    }
    return true;
  }

  void sync_one() {
    if (handles_.empty()) return;
    const std::size_t which = random_() % handles_.size();
    in_sync_one_ = true;
    try {
      if (turns_left_ > 0 && chance(2)) {
        --turns_left_;
        static_cast<void>(handles_[which].filter->turn(handles_[which].filter->stats({}).turning->epoch));
      } else {
        static_cast<void>(handles_[which].filter->sync({.owner = 1, .mark = acknowledged_}));
      }
    } catch (const faults::Killed&) {
      kill(which);
    }
    in_sync_one_ = false;
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

  // The kernel closes its descriptors, and nothing else happens. What is left of the handle, on another file now, is
  // removed when the life is over.
  void kill(std::size_t which) {
    lay_to_rest(which);
    bury(which);
  }
  void lay_to_rest(std::size_t which) {
    const Handle& handle = handles_[which];
    REQUIRE(dup3(nowhere_, handle.descriptor, O_CLOEXEC) >= 0);
    closed_.push_back(handle.descriptor);
    if (handle.lock_page == 0) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const there = reinterpret_cast<void*>(handle.lock_page);
    REQUIRE(mmap(there, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == there);
  }
  void bury(std::size_t which) {
    graves_.push_back(std::move(handles_[which].filter));
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void check_handles() {
    for (const Handle& handle : handles_) {
      REQUIRE(has_all(*handle.filter, acknowledged_));
      REQUIRE((harmed_ || handle.filter->health() != Code::kPoisoned));
    }
  }

  void check_power_cut() {
    const std::string copy = dir_.file("after.bf");
    const std::string left = disk_->after_power_cut(random_);
    std::ofstream(copy, std::ios::binary) << left;
    const auto after = Filter::open(copy, OpenMode::kRead, {.lock_timeout_ms = 0});  // no process changes the copy
    if (after.ok()) REQUIRE(has_all(*after, acknowledged_));
    const OnDisk state = look_at(copy);
    if (state.slots.newest() == nullptr) return;
    const std::uint64_t mark = format::mark_of(*state.slots.newest(), 1);
    check_recovery(copy);
    std::ofstream(copy, std::ios::binary) << left;
    call_clean(copy, state);
    REQUIRE(has_all(opened(Filter::open(copy, OpenMode::kRead)), mark));
  }

  // The real recovery of what a power cut left.
  void check_recovery(const std::string& copy) {
    Filter filter = opened(Filter::open(copy, OpenMode::kWrite, {.recover = true}));
    if (filter.health() == Code::kRecovering) {
      REQUIRE(maybes(filter, kNobody, 0, 10) == 10);
      const Code refused = filter.remove(key_of(1, 0)).code();
      REQUIRE((refused == Code::kRecovering || refused == Code::kUnsupported));
      REQUIRE(add_again(filter));
      ++recoveries_;
    }
    REQUIRE(has_all(filter, acknowledged_));
    REQUIRE(filter.close().ok());
    REQUIRE(has_all(opened(Filter::open(copy, OpenMode::kRead)), acknowledged_));
  }

  // Marks the copy clean, so that its bits can be asked.
  static void call_clean(const std::string& copy, const OnDisk& state) {
    for (std::size_t i = 0; i < 2; ++i) {
      format::Slot slot;
      slot.sequence = i + 1;
      const format::SlotPage page = format::encode_slot(slot, state.file_id);
      write_bytes(copy, format::kSlotOffset + i * page.size(),
                  {reinterpret_cast<const char*>(page.data()), page.size()});
    }
    set_live_word(copy, format::LiveWord::healthy(state.file_id).bits);
    set_word(copy, format::kLivePageOffset + format::kLiveEpochField.offset, 0);  // that of the slots
  }

  const faults::Scope scope_;
  TempDir dir_{memory_folder()};
  std::string path_ = dir_.file();
  std::mt19937_64 random_;
  std::mt19937_64 kernels_random_;  // what the library gets from the kernel
  std::optional<Disk> disk_;
  std::vector<Handle> handles_;
  std::vector<std::unique_ptr<Filter>> graves_;  // filters of killed processes
  std::vector<int> closed_;                      // their descriptors
  int nowhere_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::uint64_t acknowledged_ = 0;   // keys 0 .. acknowledged_ - 1 of writer 1 ...
  std::set<std::uint64_t> removed_;  // ... less these
  std::uint64_t removes_ = 0;
  std::uint32_t turns_left_ = 0;
  Fault fault_ = Fault::kNone;
  std::uint64_t syncs_left_ = 0;
  bool died_in_sync_ = false;
  bool untold_ = false;       // the system failed to write pages, and has told no process that lives
  bool harmed_ = false;       // since the file was made or recovered, something happened for which it may be poisoned
  bool in_sync_one_ = false;  // and no thread has acted during that sync yet
  bool asking_ = false;       // no process dies of a sync that comes of a question: no exception gets out of that
  bool dies_of_the_answer_ = false;
  std::string bytes_at_death_;
  int stranger_ = -1;  // the descriptor of a stranger with a shared lock
  std::uint64_t recoveries_ = 0;
};

// Leaves the file as a process that is killed leaves it.
void leave_open(const std::string& path) {
  Filter filter = opened(Filter::open(path, OpenMode::kWrite));
  add_keys(filter, 1, 0, kSome);
  const std::string left = read_bytes(path);
  CHECK(filter.close().ok());
  write_bytes(path, 0, left);
}

// Returns a hook that does no sync, and tells the model disk of it.
std::function<int(int)> told_to(Disk& disk) {
  return [&disk](int descriptor) {
    if (disk.is_its(descriptor)) disk.synced();
    return 0;
  };
}

}  // namespace

TEST_CASE("no life of a file, with power cuts, failed syncs and kills, ends in a wrong no") {
  // A life in eight removes keys, as it takes a counting filter without doubt. Few lives may have none: 200 more have
  // some.
  constexpr std::uint64_t kSparesAtMost = 200;
  const std::uint64_t first = first_seed();
  const std::uint64_t lives = option("lives", tests::if_slow(100, 300));
  std::uint64_t recoveries = 0;
  std::uint64_t removes = 0;
  const auto met = [&] { return removes > lives / 100 && recoveries > lives; };
  std::uint64_t lived = 0;
  for (; lived < lives || (lived < lives + kSparesAtMost && !met()); ++lived) {
    const std::uint64_t seed = first + lived;
    CAPTURE(seed);
    Life life(seed);
    life.live(60);
    recoveries += life.recoveries();
    removes += life.removes();
  }
  std::printf("%lu lives, %lu recoveries, %lu removes\n", lived, recoveries, removes);
  CHECK(met());
}

TEST_CASE("the dirty state of a file is on the disk, not only in memory, when open returns") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  Disk disk(dir.file());
  faults::on_sync = told_to(disk);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(look(disk.durable()).says_dirty());
  CHECK(look(disk.durable()).newest().place.boot_id == boot_id_here());
}

TEST_CASE("the dirty state of a file is on the disk after one opening failed and the next one worked") {
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

TEST_CASE("the dirty state of a file is on the disk when open adopts it from a process that died in opening it") {
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
  CHECK(filter.sync({.owner = 1, .mark = kSome}).ok());
  CHECK(disk.durable().substr(format::kFileHeaderBytes) == body);
  CHECK(format::mark_of(look(disk.durable()).newest(), 1) == kSome);
  add_keys(filter, 2, 0, kSome);
  CHECK(filter.close().ok());
  CHECK(look(disk.durable()).slots.clean());
  CHECK(disk.durable().substr(format::kFileHeaderBytes) == read_bytes(dir.file()).substr(format::kFileHeaderBytes));
}

// Until the file has its name, a power cut leaves none of it. From then on it leaves what was synced before.
TEST_CASE(
    "a file that is built once is on the disk as a whole before it has its name, and its name before publish ends") {
  for (const bool replaces : {false, true}) {
    CAPTURE(replaces);
    const faults::Scope scope;
    TempDir dir(memory_folder());
    Options options;
    options.layout = Layout::kStatic;
    options.unpublished = true;
    options.replace = true;
    if (replaces) {
      CHECK(created(dir.file()).close().ok());
    }
    Filter filter = created(dir.file(), options);
    add_keys(filter, 1, 0, kSome);
    std::map<int, std::string> on_disk;  // of each descriptor
    std::string when_named;
    int folder_syncs = 0;
    faults::on_sync = [&](int descriptor) {
      on_disk[descriptor] = read_bytes("/proc/self/fd/" + std::to_string(descriptor));
      return 0;
    };
    faults::before_naming = [&] {
      for (const auto& [descriptor, bytes] : on_disk) {
        if (bytes.size() > when_named.size()) when_named = bytes;
      }
      folder_syncs = 0;
    };
    faults::on_folder_sync = [&] {
      ++folder_syncs;
      return 0;
    };
    REQUIRE(filter.publish().ok());
    CHECK(folder_syncs > 0);
    const std::string copy = dir.file("after.bf");
    std::ofstream(copy, std::ios::binary) << when_named;
    CHECK(verify(copy)->damaged.empty());
    for (const std::string& path : {copy, dir.file()}) {
      const Filter reader = opened(Filter::open(path, OpenMode::kRead, {.verify = true}));
      CHECK(maybes(reader, 1, 0, kSome) == kSome);
      CHECK(answers_no(reader));
    }
    CHECK(read_bytes(dir.file()).substr(format::kFileHeaderBytes) == when_named.substr(format::kFileHeaderBytes));
  }
}

TEST_CASE("a failed write of the system poisons the file, whatever the errno of the device is") {
  for (const int failed : {EIO, ENOSPC, ENODATA, ETIMEDOUT, ENOLINK, EREMOTEIO, EILSEQ}) {
    CAPTURE(failed);
    const faults::Scope scope;
    TempDir dir(memory_folder());
    Filter filter = created(dir.file());
    faults::on_question = [&](int) { return failed; };
    static_cast<void>(filter.is_current());
    CHECK(filter.health() == Code::kPoisoned);
    faults::on_question = [](int) { return 0; };
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kPoisoned);
  }
}

TEST_CASE("a kernel that cannot be asked for failed writes counts as having none") {
  for (const int failed : {ENOSYS, EPERM, EINVAL}) {
    const faults::Scope scope;
    TempDir dir(memory_folder());
    const Filter filter = created(dir.file());
    bool asked = false;
    faults::on_question = [&](int) {
      asked = true;
      return failed;
    };
    CHECK(filter.is_current().ok());
    CHECK(asked);
    CHECK(filter.health() == Code::kOk);
  }
}

// The thread that asks would get the failure, and not the one that syncs, which would store the mark. And it would take
// the flag of that sync for the flag of a process that was killed.
TEST_CASE("a thread that asks the kernel while another one syncs takes no failure from it, and makes none") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  bool untold = false;
  bool beside = true;  // the filter's destructor syncs, too
  const auto answer = [&](int) { return std::exchange(untold, false) ? EIO : 0; };
  Filter filter = created(dir.file());
  add_keys(filter, 1, 0, kSome);
  faults::on_question = answer;
  faults::on_sync = [&](int descriptor) {
    if (std::exchange(beside, false)) std::thread([&] { static_cast<void>(filter.is_current()); }).join();
    return answer(descriptor);
  };
  CHECK(filter.sync({.owner = 1, .mark = 1}).ok());
  beside = untold = true;
  CHECK(filter.sync({.owner = 1, .mark = kSome}).code == Code::kPoisoned);
  CHECK(format::mark_of(look_at(dir.file()).newest(), 1) == 1);
}

TEST_CASE("after a power cut the other name of a file that was replaced is not used") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  CHECK(created(dir.file()).close().ok());
  std::filesystem::create_hard_link(dir.file(), dir.file("other.bf"));
  Disk disk(dir.file("other.bf"));
  Options options = small_options();
  options.replace = true;
  faults::on_sync = told_to(disk);
  Filter next = created(dir.file(), options);
  std::ofstream(dir.file("after.bf"), std::ios::binary) << disk.durable();
  CHECK(open_code(dir.file("after.bf"), OpenMode::kRead) == Code::kSuperseded);
  CHECK(open_code(dir.file("after.bf"), OpenMode::kWrite) == Code::kSuperseded);
}

// A reader that may not write it down learns of the failure, and then no new description does.
TEST_CASE("a writer that closes before others asks the kernel, because it may be the last one that learns") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  Filter first = created(dir.file());
  add_keys(first, 1, 0, kSome);
  Disk disk(dir.file());
  faults::after_open = [&](int descriptor) { disk.opened(descriptor); };
  faults::on_question = [&](int descriptor) { return disk.tells(descriptor) ? EIO : 0; };
  faults::on_sync = [&](int descriptor) {
    disk.synced();
    return disk.tells(descriptor) ? EIO : 0;
  };
  disk.sync_failed();
  const int reader = ::open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
  faults::after_open(reader);
  CHECK(disk.tells(reader));
  Filter second = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(first.close().code == Code::kPoisoned);
  CHECK(second.health() == Code::kPoisoned);
  ::close(reader);
}

// The system may have failed to write some of it when it was unmounted, and forgotten that.
TEST_CASE("a dirty file whose filesystem was mounted anew since is unclean") {
  const faults::Scope scope;
  TempDir dir(memory_folder());
  faults::filesystem_magic = EXT4_SUPER_MAGIC;
  faults::mount_number = 7;
  CHECK(created(dir.file()).close().ok());
  leave_open(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
  faults::mount_number = 8;
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kUnclean);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
}
