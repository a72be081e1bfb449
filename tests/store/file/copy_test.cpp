// A filter that is opened as a copy: the bytes that are checked are those that were copied, and later changes of the
// file do not reach it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/bytes.hpp"
#include "faults.hpp"
#include "format/checksums.hpp"
#include "format/sections.hpp"
#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kThreeWindows = 700;  // of a batch
constexpr std::uint64_t kHeader = format::kFileHeaderBytes;
constexpr OpenOptions kCopy{.map = {.copy = true}};

std::string filled(const TempDir& dir, const Options& options = small_options()) {
  Filter filter = created(dir.file(), options);
  for (const AddForm& form : add_forms()) CHECK(form.add(filter, 1, kThreeWindows).ok());
  CHECK(filter.close().ok());
  return dir.file();
}

// Returns the bytes of an embedded filter with that many keys of writer 1, in every form.
std::string embedded(std::uint64_t keys) {
  std::vector<std::byte> memory(*Filter::required_bytes(small_options()) + 64);
  const std::size_t skew = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  const std::span<std::byte> buffer = std::span(memory).subspan(skew, memory.size() - 64);
  Filter made = opened(Filter::format(buffer, small_options()));
  for (const AddForm& form : add_forms()) CHECK(form.add(made, 1, keys).ok());
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

void check_answers(const Filter& filter) {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, 1, kThreeWindows) == kThreeWindows);
    CHECK(form.ask(filter, kNobody, kThreeWindows) < kThreeWindows / 2);
  }
  CHECK(filter.health() == Code::kOk);
}

bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

// Makes a filter whose header promises a body of that many bytes, in a sparse file that has them.
std::string sparse(const TempDir& dir, std::uint64_t body_bytes) {
  const std::string path = filled(dir);
  const std::string header = read_bytes(path).substr(0, kHeader);
  const auto checked =
      format::check_identity(std::as_bytes(std::span(header)), format::Form::kFile, kHeader * 1000, false);
  REQUIRE(checked.identity());
  format::Identity identity = *checked.identity();
  identity.shape.num_bits = body_bytes * 8;
  identity.body_bytes = body_bytes;
  identity.body_offset = format::body_offset_in_file(body_bytes);
  const auto bytes = format::encode_identity(identity);
  write_bytes(path, 0, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::uint64_t end = format::sections_of(identity).end_word.offset;
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(end)) == 0);
  set_word(path, end, format::end_word(identity.file_id));
  return path;
}

// Returns what counts for RLIMIT_DATA, a sanitizer's own memory included.
std::uint64_t data_bytes_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmData:", 0) == 0) return std::stoull(line.substr(7)) * 1024;
  }
  return 0;
}

// Opens the file. `happens` runs once, when the body's bytes are about to be read, or were read.
Code opened_while(const std::string& path, const std::function<void()>& happens, bool afterwards) {
  const faults::Scope scope;
  bool body_is_next = false;
  bool came = false;
  const auto once = [&](bool now) {
    if (!now || came) return;
    came = true;
    happens();
  };
  faults::on_read = [&](int, std::uint64_t offset, std::uint64_t) {
    body_is_next = offset == kHeader;
    once(body_is_next && !afterwards);
    return 0;
  };
  faults::after_read = [&] { once(body_is_next && afterwards); };
  const auto copy = Filter::open(path, OpenMode::kRead, kCopy);
  CHECK(came);
  if (copy.ok()) check_answers(*copy);
  if (!copy.ok()) CHECK(copy.error().message.find(path) != std::string::npos);
  return code_of(copy);
}

}  // namespace

TEST_CASE("a copy answers as before in every form of lookup, whatever happens to its file") {
  const std::vector<std::function<void(const std::string&)>> damages{
      [](const std::string& path) { REQUIRE(truncate(path.c_str(), 0) == 0); },
      [](const std::string& path) { REQUIRE(truncate(path.c_str(), 20'000) == 0); },
      [](const std::string& path) { write_bytes(path, 0, std::string(read_bytes(path).size(), '\0')); },
      [](const std::string& path) { write_bytes(path, 0, std::string(read_bytes(path).size(), 'x')); },
      [](const std::string& path) { REQUIRE(unlink(path.c_str()) == 0); }};
  for (const auto& damage : damages) {
    TempDir dir;
    const std::string path = filled(dir);
    Filter copy = opened(Filter::open(path, OpenMode::kRead, kCopy));
    CHECK_FALSE(is_mapped(path));
    CHECK(*copy.is_current());
    damage(path);
    check_answers(copy);
    CHECK_FALSE(*copy.is_current());
    CHECK(copy.close().ok());
  }
}

TEST_CASE("a copy of a file in use has every key that was added before, and not those that come after") {
  TempDir dir;
  Filter writer = created(dir.file());
  for (const AddForm& form : add_forms()) CHECK(form.add(writer, 1, kThreeWindows).ok());
  const Filter copy = opened(Filter::open(dir.file(), OpenMode::kRead, kCopy));
  add_keys(writer, 2, 0, kSome);
  check_answers(copy);
  CHECK(maybes(copy, 2, 0, kSome) < kSome / 2);
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead, kCopy)), 2, 0, kSome) == kSome);
}

TEST_CASE("a copy has the marks that the file had when it was copied, whatever is synced later") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.sync({.owner = 1, .mark = kSome}).ok());
  const Filter copy = opened(Filter::open(dir.file(), OpenMode::kRead, kCopy));
  add_keys(writer, 1, kSome, kSome);
  CHECK(writer.sync({.owner = 1, .mark = 2 * kSome}).ok());
  CHECK(writer.sync({.owner = 2, .mark = 7}).ok());
  CHECK(copy.get_mark(1) == kSome);
  CHECK(copy.get_mark(2) == 0);
  const auto marks = copy.list_marks();
  REQUIRE(marks.ok());
  REQUIRE(marks->size() == 1);
  CHECK(marks->front().mark == kSome);
  CHECK(writer.close().ok());
  REQUIRE(unlink(dir.file().c_str()) == 0);
  CHECK(copy.get_mark(1) == kSome);
}

TEST_CASE("a copy is for reading only, and is refused where the file would be") {
  TempDir dir;
  const std::string path = filled(dir);
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(code_of(Filter::open(path, mode, kCopy)) == Code::kInvalid);
  Options options = small_options();
  options.map.copy = true;
  CHECK(code_of(Filter::create(dir.file("new"), options)) == Code::kInvalid);
  Filter copy = opened(Filter::open(path, OpenMode::kRead, {.map = {.populate = true, .guard = true, .copy = true}}));
  check_answers(copy);
  CHECK(copy.add("a key").code() == Code::kReadOnly);
  CHECK(copy.sync({.owner = 1, .mark = 1}).code == Code::kReadOnly);
  CHECK(created(path + ".left").close().ok());
  leave_behind(path + ".left");
  edit_slots(path + ".left", [](format::Slot& slot) { slot.place.boot_id = {}; });
  CHECK(code_of(Filter::open(path + ".left", OpenMode::kRead, kCopy)) == Code::kUnclean);
  set_live_word(path, 0);
  CHECK(code_of(Filter::open(path, OpenMode::kRead, kCopy)) != Code::kOk);
}

TEST_CASE("a change of a file while it is copied is noticed") {
  const auto flag = [](const std::string& path, std::uint64_t bits) {
    set_live_word(path, look_at(path).live_word | bits);
  };
  for (const bool afterwards : {false, true}) {
    CAPTURE(afterwards);
    TempDir dir;
    const std::string path = filled(dir);
    const std::string whole = read_bytes(path);
    const auto code = [&](const std::function<void()>& happens) {
      const Code outcome = opened_while(path, happens, afterwards);
      REQUIRE(truncate(path.c_str(), 0) == 0);
      write_bytes(path, 0, whole);
      return outcome;
    };
    CHECK(code([&] { flag(path, format::LiveWord::kPoisoned); }) == Code::kPoisoned);
    CHECK(code([&] { flag(path, format::LiveWord::kRecovering); }) == Code::kRecovering);
    CHECK(code([&] { flag(path, format::LiveWord::kSuperseded); }) == Code::kOk);  // copied again: no replacer lives
    CHECK(code([&] { REQUIRE(truncate(path.c_str(), kHeader + 4096) == 0); }) == Code::kLost);
    CHECK(code([&] { REQUIRE(truncate(path.c_str(), 0) == 0); }) == Code::kLost);
    CHECK(code([&] { write_bytes(path, 0, std::string(whole.size(), '\0')); }) == Code::kLost);
  }
}

// The looks at the file before and after find nothing. In between the kernel dropped pages, and a recovery added their
// keys.
TEST_CASE("a body that was copied while the file was poisoned and recovered is copied again") {
  for (const bool closes : {false, true}) {
    CAPTURE(closes);
    TempDir dir;
    const std::string path = filled(dir);
    Filter recoverer = opened(Filter::open(path, OpenMode::kWrite));
    const std::string whole = read_bytes(path);
    const faults::Scope scope;
    int stage = 0;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      if (stage != 0 || offset != kHeader || bytes <= 8) return 0;
      stage = 1;
      write_bytes(path, kHeader, std::string(whole.size() - kHeader - 4096, '\0'));
      stage = 2;
      return 0;
    };
    faults::after_read = [&] {
      if (stage != 2) return;
      stage = 3;
      faults::on_sync = [](int) { return EIO; };
      CHECK(recoverer.sync({.owner = 1, .mark = 1}).code == Code::kPoisoned);
      faults::on_sync = nullptr;
      CHECK(recoverer.close().code == Code::kPoisoned);
      recoverer = opened(Filter::open(path, OpenMode::kWrite, {.recover = true}));
      for (const AddForm& form : add_forms()) CHECK(form.add(recoverer, 1, kThreeWindows).ok());
      CHECK(*recoverer.finish_recovery(1));
      if (closes) CHECK(recoverer.close().ok());
    };
    const Filter copy = opened(Filter::open(path, OpenMode::kRead, kCopy));
    CHECK(stage == 3);
    check_answers(copy);
  }
}

TEST_CASE("a copy that is opened during a sync waits for the result of the sync") {
  TempDir dir;
  const std::string path = filled(dir);
  Filter writer = opened(Filter::open(path, OpenMode::kWrite));
  const faults::Scope scope;
  std::atomic<int> outcome{-1};
  std::atomic<bool> hangs{false};
  faults::on_sync = [&](int) {
    hangs = true;
    while (outcome < 0) std::this_thread::yield();
    return outcome.load();
  };
  std::thread syncer([&] { CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kPoisoned); });
  while (!hangs) std::this_thread::yield();
  CHECK(code_of(Filter::open(path, OpenMode::kRead, {.map = {.copy = true}, .lock_timeout_ms = 30})) == Code::kBusy);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    outcome = EIO;
  });
  CHECK(code_of(Filter::open(path, OpenMode::kRead, kCopy)) == Code::kPoisoned);
  later.join();
  syncer.join();
}

// The checksums of the chunks match what was copied, and their own checksum is in the header, which was read before.
TEST_CASE("a sealed file with other bytes while its body was copied is damaged, though its bytes are right by now") {
  TempDir dir;
  const std::string path = dir.file("sealed.bf");
  REQUIRE(seal(filled(dir), path, {}).ok());
  const std::string whole = read_bytes(path);
  const auto checked =
      format::check_identity(std::as_bytes(std::span(whole)), format::Form::kFile, whole.size(), false);
  const format::Identity identity = checked.identity().value();
  const format::Sections sections = format::sections_of(identity);
  std::string forged = whole;
  std::fill_n(forged.begin() + static_cast<std::ptrdiff_t>(sections.body.offset), sections.body.bytes, '\0');
  for (std::uint64_t number = 0; number < identity.seal->num_chunks; ++number) {
    const format::Section chunk = format::chunk_of(identity, number);
    const auto bytes = std::as_bytes(std::span(forged)).subspan(chunk.offset, chunk.bytes);
    const std::uint64_t checksum = format::chunk_checksum(bytes, number, identity);
    base::store(std::as_writable_bytes(std::span(forged)).data() + sections.checksums.offset + number * 8, checksum);
  }
  for (const bool comes_back : {true, false}) {
    const faults::Scope scope;
    bool copies = false;
    faults::on_read = [&](int, std::uint64_t offset, std::uint64_t bytes) {
      copies = offset == kHeader && bytes > sections.body.bytes;
      if (copies) write_bytes(path, 0, forged);
      return 0;
    };
    faults::after_read = [&] {
      if (copies && comes_back) write_bytes(path, 0, whole);
      copies = false;
    };
    CHECK(code_of(Filter::open(path, OpenMode::kRead, {.map = {.copy = true}, .verify = true})) == Code::kDamaged);
  }
}

TEST_CASE("a body that cannot be read is an error with its errno") {
  TempDir dir;
  const std::string path = filled(dir);
  const faults::Scope scope;
  faults::on_read = [](int, std::uint64_t offset, std::uint64_t) { return offset == kHeader ? EIO : 0; };
  const auto failed = Filter::open(path, OpenMode::kRead, kCopy);
  REQUIRE(code_of(failed) == Code::kSystem);
  CHECK(failed.error().os_errno == EIO);
}

TEST_CASE("a sparse file that is larger than memory is refused before anything is read or reserved") {
  TempDir dir(memory_folder());
  const std::string path = sparse(dir, std::uint64_t{1} << 45);
  const auto refused = Filter::open(path, OpenMode::kRead, kCopy);
  REQUIRE(code_of(refused) == Code::kNoMemory);
  CHECK(refused.error().message.find(path) != std::string::npos);
  const std::uint64_t bytes = (std::uint64_t{1} << 45) + format::kEndWordBytes;
  CHECK(refused.error().message.find(std::to_string(bytes)) != std::string::npos);
}

TEST_CASE("a header that promises more than the file has is refused before memory is asked for") {
  TempDir dir;
  const std::string path = sparse(dir, std::uint64_t{1} << 40);
  REQUIRE(truncate(path.c_str(), kHeader * 2) == 0);
  CHECK(code_of(Filter::open(path, OpenMode::kRead, kCopy)) == Code::kBody);
}

TEST_CASE("a copy that the process may not have memory for is an error") {
  TempDir dir(memory_folder());
  const std::string path = sparse(dir, std::uint64_t{256} << 20);
  CHECK(in_child([&] {
          const rlim_t most = data_bytes_now() + (std::uint64_t{128} << 20);
          const struct rlimit little { most, most };
          if (setrlimit(RLIMIT_DATA, &little) != 0) return 100;
          const auto refused = Filter::open(path, OpenMode::kRead, kCopy);
          return refused.ok() ? 101 : static_cast<int>(-static_cast<std::int32_t>(refused.error().code));
        }) == -static_cast<std::int32_t>(Code::kNoMemory));
}

TEST_CASE("a range of a file can be copied, too") {
  TempDir dir;
  const std::string bytes = embedded(kThreeWindows);
  for (const std::uint64_t offset : {0U, 64U, 4160U, 3145792U}) {
    CAPTURE(offset);
    std::ofstream(dir.file(), std::ios::binary) << std::string(offset, 'x') << bytes;
    const Filter copy = opened(Filter::open_range(dir.file(), offset, 0, {.map = {.copy = true}}));
    CHECK_FALSE(is_mapped(dir.file()));
    REQUIRE(truncate(dir.file().c_str(), 0) == 0);
    check_answers(copy);
  }
}

TEST_CASE("a range that is truncated or cannot be read while it is copied is an error") {
  TempDir dir;
  std::ofstream(dir.file(), std::ios::binary) << embedded(10);
  const std::string whole = read_bytes(dir.file());
  const auto opened_while = [&](const std::function<int()>& happens) {
    const faults::Scope scope;
    unsigned reads = 0;  // of the identity, of the end word, and then of everything
    faults::on_read = [&](int, std::uint64_t, std::uint64_t) { return ++reads < 3 ? 0 : happens(); };
    return code_of(Filter::open_range(dir.file(), 0, 0, {.map = {.copy = true}}));
  };
  CHECK(opened_while([] { return 0; }) == Code::kOk);
  CHECK(opened_while([] { return EIO; }) == Code::kSystem);
  CHECK(opened_while([&] { return truncate(dir.file().c_str(), static_cast<off_t>(whole.size() / 2)); }) ==
        Code::kLost);
}

// The header is brought into memory by a call that can fail, whatever is opened: a signal would be no error.
TEST_CASE("a file that is truncated after its header was checked is an error when it is opened, and no signal") {
  for (const bool range : {false, true}) {
    CAPTURE(range);
    TempDir dir;
    const std::string path = filled(dir);
    if (range) std::ofstream(path, std::ios::binary) << embedded(10);
    for (const MapOptions& map : {MapOptions{}, MapOptions{.populate = true}, MapOptions{.guard = true}}) {
      const std::string whole = read_bytes(path);
      for (const bool after_the_end_word : {false, true}) {
        const faults::Scope scope;
        bool now = false;
        faults::on_read = [&](int, std::uint64_t, std::uint64_t bytes) {
          now = (bytes == format::kEndWordBytes) == after_the_end_word;
          return 0;
        };
        faults::after_read = [&] { REQUIRE((!now || truncate(path.c_str(), 0) == 0)); };
        const auto refused =
            range ? Filter::open_range(path, 0, 0, {.map = map}) : Filter::open(path, OpenMode::kRead, {.map = map});
        CHECK(code_of(refused) == (after_the_end_word ? Code::kFault : Code::kLiveWord));
        faults::after_read = nullptr;
        write_bytes(path, 0, whole);
      }
    }
  }
}
