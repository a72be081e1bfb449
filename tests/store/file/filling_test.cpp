// A file that has its name before it has every key: "maybe" from every handle in every process until its builder says
// that all keys are there, whatever is killed, lost or poisoned meanwhile; and then answers.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <array>
#include <cstring>
#include <fstream>
#include <random>

#include "disk.hpp"
#include "faults.hpp"
#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using format::LiveWord;
using format::Slot;
using format::SlotState;

namespace {

constexpr unsigned kOld = 1;  // the rows that were there before: their keys are the builder's
constexpr unsigned kNew = 2;  // rows that other writers add meanwhile

Options to_be_filled(Layout layout = Layout::kBlocked) {
  Options options = small_options();
  options.layout = layout;
  options.filling = true;
  return options;
}

bool all_maybe(const Filter& filter) {
  return filter.health() == Code::kFilling && maybes(filter, kNobody, 0, kSome) == kSome;
}

bool is_filled(const Filter& filter) {
  return filter.health() == Code::kOk && answers_no(filter) && maybes(filter, kOld, 0, kSome) == kSome;
}

bool says_filling(const std::string& path) {
  const OnDisk disk = look_at(path);
  return disk.newest().filling && (disk.live_word & LiveWord::kFilling) != 0;
}

// A closed file that is filling, with half of its old keys.
struct Begun {
  Begun() {
    Filter builder = created(path, to_be_filled());
    add_keys(builder, kOld, 0, kSome / 2);
    CHECK(builder.sync({.owner = kOld, .mark = kSome / 2}).ok());
    CHECK(builder.close().ok());
    CHECK(says_filling(path));
  }
  // Opens the builder again, which continues where it was.
  [[nodiscard]] Filter builder(const OpenOptions& options = {}) const {
    Filter filter = opened(Filter::open(path, OpenMode::kWrite, options));
    add_keys(filter, kOld, kSome / 2, kSome / 2);
    return filter;
  }
  TempDir dir{memory_folder()};
  std::string path = dir.file();
};

void put_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void reboot(const std::string& path) {
  edit_slots(path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
}

Filter recovered(const std::string& path) {
  Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
  CHECK(filter.health() == Code::kRecovering);
  const std::vector<OwnerMark> marks = filter.list_marks().value();
  for (const OwnerMark& mark : marks) CHECK(filter.finish_recovery(mark.owner).ok());
  CHECK(filter.finish_recovery(kNobody).value());
  return filter;
}

// Asks in every form for keys that were never added.
std::vector<std::uint64_t> maybes_in_every_form(const Filter& filter) {
  std::vector<std::uint64_t> found;
  for (const AskForm& form : ask_forms()) found.push_back(form.ask(filter, kNobody, kSome));
  return found;
}

}  // namespace

TEST_CASE("every lookup is maybe until the filling is finished, and from then on all handles answer") {
  for (const Layout layout : {Layout::kBlocked, Layout::kClassic}) {
    const TempDir dir(memory_folder());
    Filter builder = created(dir.file(), to_be_filled(layout));
    Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    Remote far(dir.file());
    CHECK(far.call("open write") == "BFS_OK");
    CHECK(far.call("add 2 0 100") == "100");
    add_keys(builder, kOld, 0, kSome);
    add_keys(writer, kNew, 100, 100);
    CHECK(writer.sync({.owner = kNew, .mark = 100}).ok());  // other writers' syncs do not end it
    for (const Filter* each : {&std::as_const(builder), &std::as_const(writer), &reader}) {
      CHECK(all_maybe(*each));
      for (const std::uint64_t maybe : maybes_in_every_form(*each)) CHECK(maybe == kSome);
    }
    CHECK(far.call("health") == "BFS_EFILLING");
    CHECK(far.call("ask 999 0 200") == "200");
    CHECK(builder.finish_filling().ok());
    CHECK_FALSE(look_at(dir.file()).newest().filling);
    for (const Filter* each : {&std::as_const(builder), &std::as_const(writer), &reader}) {
      CHECK(is_filled(*each));
      CHECK(maybes(*each, kNew, 0, kSome) == kSome);
      for (const std::uint64_t maybe : maybes_in_every_form(*each)) CHECK(maybe < kSome / 2);
    }
    CHECK(far.call("health") == "BFS_OK");
    CHECK(std::stoi(far.call("ask 999 0 200")) < 100);
    CHECK(far.call("ask 1 0 200") == "200");
    CHECK(is_filled(opened(Filter::open(dir.file(), OpenMode::kRead))));
    CHECK(writer.get_mark(kNew) == 100);
  }
}

TEST_CASE("the last close leaves a clean file that is filling, and the builder continues with it") {
  const Begun file;
  CHECK(state_of(file.path) == FileState::kClean);
  const Filter reader = opened(Filter::open(file.path, OpenMode::kRead));
  CHECK(all_maybe(reader));
  Filter builder = file.builder();
  CHECK(builder.get_mark(kOld) == kSome / 2);
  CHECK(all_maybe(builder));
  CHECK(builder.finish_filling().ok());
  CHECK(is_filled(reader));
  CHECK(builder.close().ok());
  CHECK(state_of(file.path) == FileState::kClean);
  CHECK(is_filled(reader));
  CHECK(is_filled(opened(Filter::open(file.path, OpenMode::kWrite))));
}

TEST_CASE("a filling is finished by writers alone, as often as they like, and by no buffer, reader or forked child") {
  const Begun file;
  Filter reader = opened(Filter::open(file.path, OpenMode::kRead));
  CHECK(reader.finish_filling().code == Code::kReadOnly);
  CHECK(says_filling(file.path));
  Filter builder = file.builder();
  CHECK(in_child([&] { return builder.finish_filling().code == Code::kForked ? 0 : 1; }) == 0);
  CHECK(says_filling(file.path));
  CHECK(builder.finish_filling().ok());
  CHECK(builder.finish_filling().ok());
  CHECK(is_filled(reader));
  Filter other = created(file.dir.file("other"));
  CHECK(other.finish_filling().ok());
  CHECK(other.health() == Code::kOk);
  alignas(64) std::array<std::byte, 4096> buffer{};
  Options few;
  few.capacity = 100;
  Filter small = opened(Filter::format(buffer, few));
  CHECK(small.finish_filling().code == Code::kInvalid);
}

TEST_CASE("a filter without a name or without a file is never filling") {
  const TempDir dir;
  Options options = to_be_filled();
  options.unpublished = true;
  CHECK(code_of(Filter::create(dir.file(), options)) == Code::kInvalid);
  CHECK(dir.names().empty());
}

TEST_CASE("a file that is filling is not sealed, and a filter like it has only its shape") {
  const Begun file;
  CHECK(seal(file.path, file.dir.file("sealed")).code == Code::kFilling);
  {
    const Filter builder = file.builder();
    CHECK(seal(file.path, file.dir.file("sealed")).code == Code::kFilling);
  }
  CHECK(file.dir.names().size() == 1);
  Options like;
  like.like = file.path;
  CHECK(created(file.dir.file("like"), like).health() == Code::kOk);
  Filter builder = file.builder();
  CHECK(builder.finish_filling().ok());
  CHECK(builder.close().ok());
  CHECK(seal(file.path, file.dir.file("sealed")).ok());
  CHECK(is_filled(opened(Filter::open(file.dir.file("sealed"), OpenMode::kRead))));
}

TEST_CASE("a private copy of a file that is filling is maybe for good") {
  const Begun file;
  OpenOptions copied;
  copied.map.copy = true;
  const Filter copy = opened(Filter::open(file.path, OpenMode::kRead, copied));
  Filter builder = file.builder();
  CHECK(builder.finish_filling().ok());
  CHECK(all_maybe(copy));
  CHECK(is_filled(opened(Filter::open(file.path, OpenMode::kRead, copied))));
}

TEST_CASE("adds continue while a file is filling, and are refused for any other state, which is reported first") {
  const Begun file;
  Filter builder = file.builder();
  const std::uint64_t filling = look_at(file.path).live_word;
  for (const auto& [bit, code] :
       {std::pair(LiveWord::kPoisoned, Code::kPoisoned), std::pair(LiveWord::kSuperseded, Code::kSuperseded),
        std::pair(LiveWord::kRecovering, Code::kRecovering)}) {
    set_live_word(file.path, filling | bit);
    CHECK(builder.health() == code);
    CHECK(builder.add("refused").code() == code);
    CHECK(builder.add_keys(Keys::views(std::vector<std::string_view>{"refused"})).code() == code);
  }
  set_live_word(file.path, filling);
  CHECK(builder.add("taken").keys() == 1);
}

TEST_CASE("builders and writers that are killed leave a file that is adopted, and filling") {
  const TempDir dir(memory_folder());
  Remote builder(dir.file());
  Remote writer(dir.file());
  CHECK(builder.call("create-filling") == "BFS_OK");
  CHECK(writer.call("open write") == "BFS_OK");
  CHECK(builder.call("add 1 0 100") == "100");
  builder.kill();
  CHECK(writer.call("health") == "BFS_EFILLING");
  CHECK(writer.call("add 2 0 200") == "200");
  writer.kill();
  CHECK(state_of(dir.file()) == FileState::kAdoptable);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(all_maybe(reader));
  Remote next(dir.file());
  CHECK(next.call("open write") == "BFS_OK");
  CHECK(next.call("health") == "BFS_EFILLING");
  CHECK(next.call("add 1 100 100") == "100");
  CHECK(next.call("filled") == "BFS_OK");
  CHECK(is_filled(reader));
  next.kill();
  CHECK(state_of(dir.file()) == FileState::kAdoptable);
  CHECK(is_filled(opened(Filter::open(dir.file(), OpenMode::kWrite))));
  CHECK(maybes(reader, kNew, 0, kSome) == kSome);
}

// A process dies in a system call of finish_filling(), before or after it is done.
TEST_CASE("a kill at any step of finishing leaves a file that is maybe, refused, or filled") {
  std::size_t filled = 0;
  std::size_t steps = 0;
  for (bool reached = true; reached; ++steps) {
    const Begun file;
    const Filter reader = opened(Filter::open(file.path, OpenMode::kRead));
    const int ended = in_child([&] {
      auto builder = Filter::open(file.path, OpenMode::kWrite);
      if (!builder) return 1;
      for (std::uint64_t i = kSome / 2; i < kSome; ++i) {
        if (!builder->add(key_of(kOld, i)).ok()) return 2;
      }
      std::size_t left = steps;
      const auto die = [&left] {
        if (left-- == 0) _exit(99);
      };
      faults::on_sync = [&die](int) { return die(), 0; };
      faults::on_write = [&die](int, std::uint64_t, std::uint64_t) { die(); };
      faults::after_lock = [&die](const faults::LockCall&) { die(); };
      faults::on_read = [&die](int, std::uint64_t, std::uint64_t) { return die(), 0; };
      if (!builder->finish_filling().ok()) return 3;
      _exit(0);
    });
    reached = ended == 99;
    REQUIRE((reached || ended == 0));
    const OnDisk disk = look_at(file.path);
    const bool word_says_it = (disk.live_word & LiveWord::kFilling) != 0;
    CHECK((word_says_it || !disk.newest().filling));  // the slot is written first
    CHECK((word_says_it ? all_maybe(reader) : is_filled(reader)));
    auto again = Filter::open(file.path, OpenMode::kWrite);
    if (again) {
      CHECK(again->health() == (word_says_it ? Code::kFilling : Code::kOk));
    } else {
      CHECK(code_of(again) == Code::kUnclean);
      again = recovered(file.path);
      CHECK(again->health() == (disk.newest().filling ? Code::kFilling : Code::kOk));
      filled += disk.newest().filling ? 0U : 1U;
    }
    CHECK(again->finish_filling().ok());
    CHECK(is_filled(*again));
  }
  CHECK(steps > 8);
  CHECK(filled > 0);
}

// A power cut at each step of finishing leaves any of the sectors that changed since the last sync. What was not synced
// is not added again.
TEST_CASE("no power cut makes a filter say that it is filled before every key is on the disk") {
  const Begun file;
  std::mt19937_64 random(13);
  std::vector<std::string> images;
  std::string last;
  {
    const faults::Scope scope;
    Filter builder = opened(Filter::open(file.path, OpenMode::kWrite));
    Disk disk(file.path);
    const auto cut = [&] {
      for (int i = 0; i < 8; ++i) images.push_back(disk.after_power_cut(random));
    };
    add_keys(builder, kOld, kSome / 2, kSome / 2);
    faults::on_sync = [&](int) {
      CHECK(all_maybe(builder));  // until the slot is on the disk
      cut();
      disk.synced();
      cut();
      return 0;
    };
    faults::on_write = [&](int descriptor, std::uint64_t offset, std::uint64_t bytes) {
      if (disk.is_its(descriptor)) disk.written(offset, bytes);
      cut();
    };
    CHECK(builder.finish_filling().ok());
    cut();
    last = disk.durable();
    builder.abandon();
  }
  images.push_back(last);
  std::size_t filled = 0;
  for (const std::string& image : images) {
    const std::string path = file.dir.file("image");
    put_file(path, image);
    CHECK(open_code(path, OpenMode::kRead) == Code::kUnclean);
    const Filter filter = recovered(path);
    CHECK(says_filling(path) == (filter.health() == Code::kFilling));
    if (filter.health() == Code::kFilling) {
      CHECK(all_maybe(filter));
    } else {
      CHECK(is_filled(filter));
      ++filled;
    }
    REQUIRE(unlink(path.c_str()) == 0);
  }
  CHECK(filled > 0);
  CHECK(filled < images.size());
  put_file(file.dir.file("last"), last);
  CHECK(is_filled(recovered(file.dir.file("last"))));  // the word of the live page was not on the disk yet
}

TEST_CASE("a recovery leaves a file that is filling, and waits for owners of marks as always") {
  const Begun file;
  {
    const Filter abandoned = file.builder();
    copy_file(file.path, file.dir.file("copy"));
  }
  const std::string copy = file.dir.file("copy");
  CHECK(open_code(copy, OpenMode::kRead) == Code::kUnclean);
  const Filter filter = recovered(copy);
  CHECK(all_maybe(filter));
  CHECK(state_of(copy) == FileState::kInUse);
  CHECK(all_maybe(opened(Filter::open(copy, OpenMode::kRead))));
}

TEST_CASE("a filling that is finished while a file is recovered leaves it recovering") {
  const Begun file;
  {
    Remote builder(file.path);
    CHECK(builder.call("open write") == "BFS_OK");
    builder.kill();
  }
  reboot(file.path);
  Filter filter = file.builder({.recover = true});
  CHECK(filter.health() == Code::kRecovering);
  CHECK(filter.finish_filling().ok());
  CHECK(filter.health() == Code::kRecovering);
  CHECK(maybes(filter, kNobody, 0, kSome) == kSome);
  CHECK(filter.finish_recovery(kOld).value());
  CHECK(is_filled(filter));
}

TEST_CASE("a sync that fails poisons a file that is filling, and it is filling after its recovery") {
  for (const int failing : {1, 2}) {  // the sync of the keys, and that of the slot
    const Begun file;
    {
      int syncs = 0;  // until the builder is closed
      const faults::Scope scope;
      Filter builder = file.builder();
      faults::on_sync = [&](int) { return ++syncs >= failing ? EIO : 0; };
      CHECK(builder.finish_filling().code == Code::kPoisoned);
      CHECK(builder.health() == Code::kPoisoned);
      CHECK(builder.add("more").code() == Code::kPoisoned);
      CHECK(builder.finish_filling().code == Code::kPoisoned);
    }
    CHECK(open_code(file.path, OpenMode::kRead) == Code::kPoisoned);
    Filter filter = recovered(file.path);
    const bool still = filter.health() == Code::kFilling;
    CHECK((still || is_filled(filter)));
    CHECK((still || failing == 2));
    add_keys(filter, kOld, 0, kSome);
    CHECK(filter.finish_filling().ok());
    CHECK(is_filled(filter));
  }
}

TEST_CASE("a live word that is ahead of the slots is from another moment, so the file is unclean") {
  const Begun file;
  set_live_word(file.path, look_at(file.path).live_word & ~LiveWord::kFilling);
  CHECK(state_of(file.path) == FileState::kUnclean);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(open_code(file.path, mode) == Code::kUnclean);
  const Filter filter = recovered(file.path);
  CHECK(all_maybe(filter));
  CHECK(says_filling(file.path));
}

TEST_CASE("a live word that is older than the slots is maybe, until the next sync or close") {
  for (const bool syncs : {true, false}) {
    const Begun file;
    CHECK(file.builder().finish_filling().ok());
    CHECK(state_of(file.path) == FileState::kClean);
    set_live_word(file.path, look_at(file.path).live_word | LiveWord::kFilling);
    const Filter reader = opened(Filter::open(file.path, OpenMode::kRead));
    CHECK(all_maybe(reader));
    Filter writer = opened(Filter::open(file.path, OpenMode::kWrite));
    CHECK(all_maybe(writer));
    CHECK((syncs ? writer.sync() : writer.close()).ok());
    CHECK(is_filled(reader));
  }
}

// --- A lookup that is held up ----------------------------------------------------------------------------------------

namespace {

// The page of the live word is taken away from the handle, at once or when the first bit is read. At the first access
// to it a signal handler adds every key and ends the filling, in a mapping of its own.
struct HeldUp {
  char* page = nullptr;
  char* body = nullptr;
  std::byte* own = nullptr;
  std::uint64_t body_bytes = 0;
  bool came = false;
} held_up;

void finish_it(int /*signal*/, siginfo_t* where, void* /*context*/) {
  auto* const at = static_cast<char*>(where->si_addr);
  if (at >= held_up.body && at < held_up.body + held_up.body_bytes) {
    mprotect(held_up.body, held_up.body_bytes, PROT_READ);
    mprotect(held_up.page, format::kPageBytes, PROT_NONE);
    return;
  }
  if (held_up.came || at < held_up.page || at >= held_up.page + format::kPageBytes) {
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  held_up.came = true;
  std::memset(held_up.own + format::kFileHeaderBytes, 0xff, held_up.body_bytes);
  auto* const live = reinterpret_cast<std::uint64_t*>(held_up.own + format::kLivePageOffset);
  __atomic_fetch_and(live, ~LiveWord::kFilling, __ATOMIC_SEQ_CST);
  mprotect(held_up.page, format::kPageBytes, PROT_READ);
}

char* mapped_at(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) return reinterpret_cast<char*>(std::stoull(line, nullptr, 16));
  }
  return nullptr;
}

// Returns whether lookups of that form find every key.
bool finds_all_that_came_meanwhile(const Options& options, const AskForm& form, bool when_bits_are_read) {
  const TempDir dir(memory_folder());
  CHECK(created(dir.file(), options).close().ok());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  char* const theirs = mapped_at(dir.file());
  REQUIRE(theirs != nullptr);
  const std::uint64_t length = read_bytes(dir.file()).size();
  const int descriptor = open(dir.file().c_str(), O_RDWR | O_CLOEXEC);
  void* const own = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  REQUIRE(own != MAP_FAILED);
  held_up = {theirs + format::kLivePageOffset, theirs + format::kFileHeaderBytes, static_cast<std::byte*>(own),
             reader.stats().body_bytes, false};
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = finish_it;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGSEGV, &action, &before) == 0);
  REQUIRE((when_bits_are_read ? mprotect(held_up.body, held_up.body_bytes, PROT_NONE)
                              : mprotect(held_up.page, format::kPageBytes, PROT_NONE)) == 0);
  const bool found = form.ask(reader, kNobody, kSome) == kSome;
  CHECK((held_up.came || when_bits_are_read));  // a lookup that looks before it reads bits reads none then
  sigaction(SIGSEGV, &before, nullptr);
  REQUIRE(mprotect(held_up.body, held_up.body_bytes, PROT_READ) == 0);
  REQUIRE(mprotect(held_up.page, format::kPageBytes, PROT_READ) == 0);
  munmap(own, length);
  CHECK(reader.health() == (held_up.came ? Code::kOk : Code::kFilling));
  return found;
}

}  // namespace

// The lookup read its bits before the key came, and the words when the filling was over: a wrong no.
TEST_CASE("a lookup that is held up while the last keys are added does not miss them") {
  for (const Layout layout : {Layout::kBlocked, Layout::kClassic}) {
    for (const AskForm& form : ask_forms()) {
      CAPTURE(form.name);
      CHECK(finds_all_that_came_meanwhile(to_be_filled(layout), form, false));
      CHECK(finds_all_that_came_meanwhile(to_be_filled(layout), form, true));
    }
  }
}

TEST_CASE("a lookup by positions that is held up while the last keys are added does not miss them") {
  const AskForm one_by_one{"one by one", [](const Filter& filter, unsigned writer, std::uint64_t count) {
                             std::uint64_t maybes = 0;
                             for (std::uint64_t i = 0; i < count; ++i)
                               maybes += filter.contains(key_of(writer, i)) ? 1U : 0U;
                             return maybes;
                           }};
  const AskForm at_once{"at once", [](const Filter& filter, unsigned writer, std::uint64_t count) {
                          std::vector<std::string> keys;
                          for (std::uint64_t i = 0; i < count; ++i) keys.push_back(key_of(writer, i));
                          const std::vector<std::string_view> views(keys.begin(), keys.end());
                          std::vector<std::uint8_t> answers(count);
                          return filter.contains_keys(Keys::views(views), answers).keys();
                        }};
  Options options = to_be_filled(Layout::kClassic);
  options.hash = Hash::kDcso;
  for (const AskForm& form : {one_by_one, at_once}) {
    CAPTURE(form.name);
    CHECK(finds_all_that_came_meanwhile(options, form, false));
    CHECK(finds_all_that_came_meanwhile(options, form, true));
  }
}

TEST_CASE("a file that is filling is neither saved, dumped nor loaded from its bytes") {
  const Begun begun;
  const TempDir other;
  const auto bytes = read_bytes(begun.path);
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  CHECK(Filter::load(all).error().code == Code::kFilling);
  const Filter reader = opened(Filter::open(begun.path, OpenMode::kRead));
  CHECK(reader.save(other.file()).code == Code::kFilling);
  CHECK(other.names().empty());
  const auto size = reader.dumped_bytes();
  CHECK(size.error().code == Code::kFilling);
}
