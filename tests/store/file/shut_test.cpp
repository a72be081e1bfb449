// A handle is shut while other threads use it. From then on it answers "maybe" and refuses calls, its keys are in the
// file, and nothing else notices. Without a data race under ThreadSanitizer.
#include <doctest/doctest.h>

#include <unistd.h>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "faults.hpp"
#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Of threads against one handle.
const std::uint64_t kRounds = tests::if_slow(4, 12);

constexpr std::uint64_t kMany = 300;  // for each form of call

// Threads that take a lock again and again may keep another thread from it for seconds, on a slow machine.
constexpr std::uint32_t kPatience = kWaitForEver;

std::string filled(const TempDir& dir, const Options& options = small_options()) {
  Filter filter = created(dir.file(), options);
  add_keys(filter, 1, 0, kMany);
  CHECK(filter.close().ok());
  return dir.file();
}

void check_is_shut(Filter& filter) {
  CHECK(filter.health() == Code::kShut);
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, kNobody, kMany) == kMany);
  }
  for (const AddForm& form : add_forms()) {
    CAPTURE(form.name);
    CHECK(form.add(filter, 5, kMany).code() == Code::kShut);
  }
  CHECK(filter.sync({.owner = 1, .mark = 1}).code == Code::kShut);
  CHECK(filter.drop_owner(1).code == Code::kShut);
  CHECK(filter.finish_recovery(1).error().code == Code::kShut);
  CHECK(filter.is_current().error().code == Code::kShut);
  CHECK(filter.list_marks().error().code == Code::kShut);
  CHECK(filter.get_mark(1) == 0);
  CHECK(filter.stats().shape.num_probes != 0);
}

// Adds in a thread until it is refused; `added` is how many of its keys were not refused.
void add_until_shut(Filter& filter, unsigned writer, std::atomic<std::uint64_t>& added, std::atomic<int>& wrong) {
  for (std::uint64_t i = 0;; ++i) {
    const Count count = filter.add(key_of(writer, i));
    if (!count.ok()) {
      if (count.code() != Code::kShut) ++wrong;
      return;
    }
    added = i + 1;
  }
}

void add_batches_until_shut(Filter& filter, unsigned writer, std::atomic<std::uint64_t>& added,
                            std::atomic<int>& wrong) {
  for (std::uint64_t from = 0;; from += kMany) {
    std::vector<std::uint64_t> digests;
    for (std::uint64_t i = from; i < from + kMany; ++i) digests.push_back(*filter.digest(key_of(writer, i)));
    const Count count = filter.add_keys(Keys::digests(digests));
    if (!count.ok()) {
      if (count.code() != Code::kShut) ++wrong;
      return;
    }
    added = from + kMany;
  }
}

void ask_until(const Filter& filter, const std::atomic<bool>& end, std::atomic<std::uint64_t>& asked,
               std::atomic<int>& wrong) {
  std::vector<std::uint8_t> answers(kMany);
  std::vector<std::uint64_t> digests;
  for (std::uint64_t i = 0; i < kMany; ++i) digests.push_back(*filter.digest(key_of(1, i)));
  while (!end) {
    if (!filter.contains(key_of(1, 7)) || !filter.contains_digest(digests[8])) ++wrong;
    const Count found = filter.contains_keys(Keys::digests(digests), answers);
    if (!found.ok() || found.keys() != kMany) ++wrong;
    static_cast<void>(filter.stats());
    static_cast<void>(filter.is_current());
    static_cast<void>(filter.get_mark(1));
    ++asked;
  }
}

void sync_until_shut(Filter& filter, std::atomic<int>& wrong) {
  for (;;) {
    const Error error = filter.sync({.owner = 3, .mark = 1});
    if (error.code == Code::kShut) return;
    if (!error.ok()) ++wrong;
  }
}

}  // namespace

TEST_CASE("threads ask, add and sync while the handle is shut: keys that were not refused are in the clean file") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      TempDir dir(memory_folder());
      Options roomy = small_options();
      roomy.capacity = 2'000'000;
      const std::string path = filled(dir, roomy);
      Filter filter = opened(Filter::open(
          path, mode, {.map = {.guard = round % 2 == 1}, .lock_timeout_ms = kPatience, .writeback_check_ms = 0}));
      std::atomic<std::uint64_t> asked{0};
      std::atomic<std::uint64_t> singles{0};
      std::atomic<std::uint64_t> batches{0};
      std::atomic<int> wrong{0};
      std::atomic<bool> end{false};
      std::vector<std::thread> threads;
      threads.emplace_back([&] { add_until_shut(filter, 2, singles, wrong); });
      threads.emplace_back([&] { add_batches_until_shut(filter, 3, batches, wrong); });
      threads.emplace_back([&] { ask_until(filter, end, asked, wrong); });
      threads.emplace_back([&] { sync_until_shut(filter, wrong); });
      while (singles < 50 || batches == 0) std::this_thread::yield();
      CHECK(filter.shut().ok());
      CHECK_FALSE(look_at(path).says_dirty());
      CHECK(filter.shut().ok());
      for (const std::uint64_t so_far = asked; asked < so_far + 2;) std::this_thread::yield();
      end = true;
      for (std::thread& thread : threads) thread.join();
      CHECK(wrong == 0);
      CHECK(state_of(path) == FileState::kClean);
      check_is_shut(filter);
      CHECK(filter.close().ok());
      const Filter reader = opened(Filter::open(path, OpenMode::kRead));
      CHECK(answers_no(reader));
      CHECK(maybes(reader, 1, 0, kMany) == kMany);
      CHECK(maybes(reader, 2, 0, singles) == singles);
      CHECK(maybes(reader, 3, 0, batches) == batches);
    }
  }
}

TEST_CASE("every add that is not refused comes before the sync of the handle that is shut") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    const faults::Scope scope;
    TempDir dir;
    Filter filter = opened(Filter::open(filled(dir), mode));
    std::vector<Code> in_the_sync;
    faults::on_sync = [&](int) {
      in_the_sync.push_back(filter.health());
      if (mode == OpenMode::kWrite) in_the_sync.push_back(filter.add("a late key").code());
      return 0;
    };
    CHECK(filter.shut().ok());
    CHECK(in_the_sync.size() >= 2);
    for (const Code code : in_the_sync) CHECK(code == Code::kShut);
  }
}

TEST_CASE("a reader that is shut, of a mapping, of a copy or of a range, answers maybe, and no other handle notices") {
  TempDir dir;
  const std::string path = filled(dir);
  const std::string before = read_bytes(path);
  for (const MapOptions map : {MapOptions{}, MapOptions{.guard = true}, MapOptions{.copy = true}}) {
    Filter reader = opened(Filter::open(path, OpenMode::kRead, {.map = map}));
    const Filter other = opened(Filter::open(path, OpenMode::kRead));
    CHECK(answers_no(reader));
    CHECK(reader.shut().ok());
    CHECK(reader.shut().ok());
    check_is_shut(reader);
    CHECK(answers_no(other));
    CHECK(*other.is_current());
    CHECK(reader.close().ok());
  }
  CHECK(read_bytes(path) == before);
}

TEST_CASE("a handle that was shut answers maybe whatever happens to the end of its file") {
  TempDir dir;
  const std::string path = filled(dir);
  const std::uint64_t end = std::filesystem::file_size(path) - 8;
  const std::uint64_t own = format::end_word(look_at(path).file_id);
  Filter reader = opened(Filter::open(path, OpenMode::kRead));
  CHECK(reader.shut().ok());
  for (const std::uint64_t word : {std::uint64_t{0}, own ^ format::LiveWord::kNever, ~own}) {
    set_word(path, end, word);
    check_is_shut(reader);
  }
  REQUIRE(truncate(path.c_str(), format::kFileHeaderBytes) == 0);
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(end + 8)) == 0);
  check_is_shut(reader);
}

TEST_CASE("a range that is shut answers maybe") {
  TempDir dir;
  std::vector<std::byte> memory(*Filter::required_bytes(small_options()) + 64);
  const auto skew = (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  const std::span bytes(memory.data() + skew, memory.size() - 64);
  {
    Filter made = opened(Filter::format(bytes, small_options()));
    add_keys(made, 1, 0, kSome);
    const Error refused = made.shut();
    CHECK(refused.code == Code::kInvalid);
    CHECK(answers_no(made));
  }
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::uint64_t offset : {0U, 64U, 4032U, 8192U}) {
    std::ofstream(dir.file()).close();
    write_bytes(dir.file(), offset, text);
    for (const bool copy : {false, true}) {
      Filter range = opened(Filter::open_range(dir.file(), offset, 0, {.map = {.copy = copy}}));
      CHECK(answers_no(range));
      CHECK(maybes(range, 1, 0, kSome) == kSome);
      CHECK(range.shut().ok());
      CHECK(range.shut().ok());
      CHECK(range.health() == Code::kShut);
      CHECK(range.is_current().error().code == Code::kShut);
      for (const AskForm& form : ask_forms()) CHECK(form.ask(range, kNobody, kMany) == kMany);
    }
    ::unlink(dir.file().c_str());
  }
}

TEST_CASE("after one of two handles is shut, the other one asks and adds as before, and closes the file clean") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter one = opened(Filter::open(path, OpenMode::kWrite));
  Filter other = opened(Filter::open(path, OpenMode::kWrite));
  add_keys(one, 2, 0, kSome);
  CHECK(one.shut().ok());
  check_is_shut(one);
  CHECK(look_at(path).says_dirty());
  CHECK(answers_no(other));
  CHECK(maybes(other, 2, 0, kSome) == kSome);
  add_keys(other, 3, 0, kSome);
  CHECK(other.sync({.owner = 9, .mark = 9}).ok());
  CHECK(one.close().ok());
  CHECK(look_at(path).says_dirty());
  CHECK(other.close().ok());
  CHECK(state_of(path) == FileState::kClean);
  const Filter reader = opened(Filter::open(path, OpenMode::kExclusive));  // no lock stayed behind
  CHECK(maybes(reader, 2, 0, kSome) + maybes(reader, 3, 0, kSome) == 2 * kSome);
}

TEST_CASE("a handle that was shut releases its locks before it is closed, and counts stay in the file") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter shut = opened(Filter::open(path, OpenMode::kExclusive));
  const std::uint64_t counted = shut.stats().keys_added;
  CHECK(shut.shut().ok());
  CHECK(shut.stats().keys_added == counted);
  CHECK(shut.use_threads(2).code == Code::kShut);
  Filter next = opened(Filter::open(path, OpenMode::kExclusive));
  CHECK(next.stats().keys_added == counted);
  add_keys(next, 2, 0, kSome);
  CHECK(shut.close().ok());
  CHECK(look_at(path).says_dirty());
  CHECK(next.close().ok());
  CHECK((look_at(path).live_word & format::LiveWord::kStates) == 0);
  CHECK_FALSE(look_at(path).syncing);
}

TEST_CASE("a sync that fails while a handle is shut is reported, and poisons the file") {
  const faults::Scope scope;
  TempDir dir;
  const std::string path = filled(dir);
  Filter filter = opened(Filter::open(path, OpenMode::kWrite));
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  add_keys(filter, 2, 0, kSome);
  faults::on_sync = [](int) { return EIO; };
  const Error outcome = filter.shut();
  CHECK(outcome.code == Code::kPoisoned);
  CHECK(outcome.os_errno == EIO);
  faults::on_sync = nullptr;
  check_is_shut(filter);
  CHECK(reader.health() == Code::kPoisoned);
  CHECK(filter.close().ok());
  CHECK(open_code(path, OpenMode::kRead) == Code::kPoisoned);
}

TEST_CASE("a handle of a file that was cut is shut without a signal, and the file is not marked clean") {
  for (const bool guard : {false, true}) {
    TempDir dir(memory_folder());
    const std::string path = filled(dir);
    Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.map = {.guard = guard}}));
    Filter reader = opened(Filter::open(path, OpenMode::kRead, {.map = {.guard = guard}}));
    CHECK(::truncate(path.c_str(), 4096) == 0);
    CHECK(filter.shut().code == Code::kLost);
    CHECK(filter.health() == Code::kShut);
    CHECK(filter.close().ok());
    CHECK(reader.shut().ok());
    CHECK(reader.health() == Code::kShut);
  }
}

TEST_CASE("a handle whose guard met a fault is shut, and says that the file is not as it was") {
  TempDir dir(memory_folder());
  const std::string path = filled(dir);
  Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.map = {.guard = true}}));
  const std::string whole = read_bytes(path);
  CHECK(::truncate(path.c_str(), 16384) == 0);
  CHECK(filter.contains(key_of(1, 0)));
  write_bytes(path, 16384, whole.substr(16384));
  CHECK(filter.shut().code == Code::kFault);
  CHECK(filter.health() == Code::kShut);
  CHECK(look_at(path).says_dirty());
}

TEST_CASE("a child shuts its own copy of a handle alone") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter filter = opened(Filter::open(path, OpenMode::kWrite));
  Filter reader = opened(Filter::open(path, OpenMode::kRead));
  CHECK(in_child([&] {
          if (!filter.shut().ok() || !reader.shut().ok()) return 1;
          if (filter.health() != Code::kShut || reader.health() != Code::kShut) return 2;
          return filter.contains("nobody's key") && reader.contains("nobody's key") ? 0 : 3;
        }) == 0);
  CHECK(answers_no(filter));
  CHECK(answers_no(reader));
  CHECK(look_at(path).says_dirty());
  add_keys(filter, 2, 0, kSome);
  CHECK(filter.close().ok());
  CHECK(maybes(reader, 2, 0, kSome) == kSome);
}

TEST_CASE("a recoverer that is shut leaves the file recovering, as one that is closed does") {
  TempDir dir;
  const std::string path = filled(dir);
  edit_slots(path, [](format::Slot& slot) {
    slot.state = format::SlotState::kDirty;
    slot.place.boot_id[0] ^= 1;
  });
  CHECK(state_of(path) == FileState::kUnclean);
  Filter filter = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
  add_keys(filter, 2, 0, kSome);
  CHECK(filter.shut().ok());
  check_is_shut(filter);
  CHECK(open_code(path, OpenMode::kRead) == Code::kRecovering);
  Filter next = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
  CHECK(*next.finish_recovery());
  CHECK(answers_no(next));
  CHECK(maybes(next, 2, 0, kSome) == kSome);
}

TEST_CASE("an unpublished filter that is shut is not published any more, and the file that it superseded continues") {
  TempDir dir;
  const std::string path = filled(dir);
  const Filter reader = opened(Filter::open(path, OpenMode::kRead));
  Options options = small_options();
  options.replace = options.unpublished = true;
  Filter made = created(path, options);
  CHECK(made.supersede().ok());
  CHECK(reader.health() == Code::kSuperseded);
  CHECK(made.shut().ok());
  CHECK(reader.health() == Code::kOk);
  CHECK(made.health() == Code::kShut);
  CHECK(made.add("key").code() == Code::kShut);
  CHECK(made.publish().code == Code::kShut);
  CHECK(made.supersede().code == Code::kShut);
  CHECK(made.close().ok());
  CHECK(dir.names().size() == 1);
  CHECK(answers_no(reader));
}

// The live page was once taken from the lookups, and with it a page of the body where one page has both. And a check of
// the file's pages read what the other thread was just mapping.
TEST_CASE("a handle that is shut in the middle of a copy says so, and copies nothing") {
  TempDir dir;
  const std::string path = filled(dir);
  REQUIRE(seal(path, dir.file("sealed")).ok());
  const auto shut_while = [&](Filter filter, bool saves) {
    const faults::Scope scope;
    bool was_shut = false;
    const auto shut = [&] {
      if (std::exchange(was_shut, true)) return;
      CHECK(filter.shut().ok());
    };
    faults::on_write = [&](int, std::uint64_t offset, std::uint64_t) {
      if (offset == format::kFileHeaderBytes) shut();
    };
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      if (!saves && offset == format::kFileHeaderBytes && bytes > 8) shut();
      return 0;
    };
    std::vector<std::byte> buffer(300'000);
    const Error error = saves ? filter.save(dir.file("copy")) : filter.dump(buffer);
    CHECK((was_shut || !saves));  // a copy in memory is not read from the file
    CHECK(error.code == (was_shut ? Code::kShut : Code::kOk));
    CHECK(Filter::load(buffer).ok() == error.ok() * !saves);
    CHECK(filter.shut().ok());
    CHECK(filter.save(dir.file("copy")).code == Code::kShut);
    CHECK(filter.dump(buffer).code == Code::kShut);
    CHECK(filter.dumped_bytes().error().code == Code::kShut);
    CHECK_FALSE(std::filesystem::exists(dir.file("copy")));
  };
  for (const bool saves : {false, true}) {
    CAPTURE(saves);
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
      shut_while(opened(Filter::open(path, mode)), saves);
    shut_while(opened(Filter::open(path, OpenMode::kRead, {.map = {.copy = true}})), saves);
    shut_while(opened(Filter::open(dir.file("sealed"), OpenMode::kRead)), saves);
    shut_while(opened(Filter::open(dir.file("sealed"), OpenMode::kRead, {.tolerate_damage = true})), saves);
    shut_while(opened(Filter::open(path, OpenMode::kRead, {.follow = true})), saves);
    Options options = small_options();
    options.unpublished = true;
    shut_while(created(dir.file("new"), options), saves);
  }
}

// Each waits for a lock of the handle, and neither may wait with a lock that the other one wants.
TEST_CASE("a filter that is the only writer is shut while it is merged with itself") {
  TempDir dir;
  const faults::Scope scope;
  Filter filter = opened(Filter::open(filled(dir), OpenMode::kExclusive, {.lock_timeout_ms = kPatience}));
  std::thread shutter;
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
    if (offset != format::kFileHeaderBytes || bytes <= 8 || shutter.joinable()) return 0;
    shutter = std::thread([&] { CHECK(filter.shut().ok()); });
    while (filter.health() != Code::kShut) std::this_thread::yield();
    return 0;
  };
  CHECK(filter.merge(filter).code == Code::kShut);
  REQUIRE(shutter.joinable());
  shutter.join();
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a handle that is shut while the kernel reads its words for a copy says so") {
  TempDir dir;
  const std::string path = filled(dir);
  std::vector<std::byte> buffer(300'000);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    int looks = 0;
    for (int last = 1; last == 1 || looks >= last - 1; ++last) {
      CAPTURE(last);
      const faults::Scope scope;
      Filter filter = opened(Filter::open(path, mode));
      looks = 0;
      faults::before_look = [&] {
        if (++looks == last) CHECK(filter.shut().ok());
      };
      std::fill(buffer.begin(), buffer.end(), std::byte{0});
      const Code code = filter.dump(buffer).code;
      CHECK(code == (looks < last ? Code::kOk : Code::kShut));
      CHECK(Filter::load(buffer).ok() == (code == Code::kOk));
      faults::before_look = nullptr;
    }
    CHECK(looks == 4);  // two words, before the bits and after them
  }
}

TEST_CASE("threads save and dump while the handle is shut: a copy is whole, or the error says that it was shut") {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      TempDir dir(memory_folder());
      const std::string path = filled(dir);
      Filter filter =
          opened(Filter::open(path, mode, {.map = {.guard = round % 2 == 1}, .lock_timeout_ms = kPatience}));
      std::atomic<int> copies{0};
      std::atomic<int> wrong{0};
      const auto work = [&](const auto& copy) {
        for (;;) {
          const Error error = copy();
          if (error.ok()) ++copies;
          if (error.code == Code::kShut) return;
          if (!error.ok()) {
            ++wrong;
            return;
          }
        }
      };
      std::vector<std::thread> threads;
      threads.emplace_back([&] {
        work([&] { return filter.save(dir.file("copy"), {.replace = true, .lock_timeout_ms = kPatience}); });
      });
      threads.emplace_back([&] {
        std::vector<std::byte> buffer(300'000);
        work([&] {
          std::fill(buffer.begin(), buffer.end(), std::byte{0});
          const Error error = filter.dump(buffer);
          const auto loaded = Filter::load(buffer);
          if (loaded.ok() != error.ok() || (loaded.ok() && maybes(*loaded, 1, 0, kMany) != kMany)) ++wrong;
          return error;
        });
      });
      while (copies < 3 && wrong == 0) std::this_thread::yield();
      CHECK(filter.shut().ok());
      for (std::thread& thread : threads) thread.join();
      CHECK(wrong == 0);
      CHECK(filter.close().ok());
      CHECK(state_of(path) == FileState::kClean);
    }
  }
}
