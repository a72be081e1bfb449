// A file that is overwritten, zero-filled or truncated while processes have it open: every answer is maybe, no add is
// accepted, and no process marks the file clean. (Touching pages after the end of a truncated file is SIGBUS, which is
// not tested here.)
#include <doctest/doctest.h>
#include <unistd.h>
#include <bfstore/seal.hpp>

#include <filesystem>
#include <functional>

#include "format/locks.hpp"
#include "format/sections.hpp"
#include "key_calls.hpp"
#include "region/lock.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kWord = format::kLivePageOffset + format::kLiveWordField.offset;
constexpr std::uint64_t kThreeWindows = 700;  // of a batch
constexpr std::uint64_t kHeader = format::kFileHeaderBytes;

struct Damage {
  std::string name;
  std::function<void(const std::string& path)> inflict;
  Code code = Code::kLost;
};

std::uint64_t size_of(const std::string& path) { return std::filesystem::file_size(path); }
std::uint64_t end_of(const std::string& path) { return size_of(path) - format::kEndWordBytes; }
std::uint64_t own_end_word(const std::string& path) { return format::end_word(look_at(path).file_id); }

void cut(const std::string& path, std::uint64_t bytes) {
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(bytes)) == 0);
}

void cut_and_grow(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t all = size_of(path);
  cut(path, bytes);
  cut(path, all);
}

// Makes a filter whose file is as long as the one that is damaged.
std::string other_filter() {
  const TempDir dir;
  CHECK(created(dir.file()).close().ok());
  return read_bytes(dir.file());
}

// Sets one more of the low 32 bits, which are not states.
std::uint64_t with_one_more_bit(std::uint64_t word) {
  std::uint64_t bit = std::uint64_t{1} << 16;
  while ((word & bit) != 0) bit *= 2;
  return word | bit;
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"the live word is zeroed", [](const std::string& path) { write_bytes(path, kWord, std::string(8, '\0')); }},
      {"the live word is overwritten", [](const std::string& path) { write_bytes(path, kWord, "nonsense"); }},
      {"one bit of its id is flipped",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word ^ (1U << 23)); }},
      {"the bit of end words is set",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kNever); }},
      {"a state of a later version is set",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | std::uint64_t{1} << 14); },
       Code::kLater},
      {"the end word is zeroed", [](const std::string& path) { set_word(path, end_of(path), 0); }},
      {"the end word is overwritten", [](const std::string& path) { write_bytes(path, end_of(path), "nonsense"); }},
      {"one bit of the end word is flipped",
       [](const std::string& path) { set_word(path, end_of(path), own_end_word(path) ^ (1U << 23)); }},
      {"the last bytes are cut off", [](const std::string& path) { cut(path, size_of(path) - 4); }},
      {"it is cut in the middle of its last page",
       [](const std::string& path) { cut(path, (size_of(path) & ~4095U) + 1); }},
      {"it is cut behind its header and grown again", [](const std::string& path) { cut_and_grow(path, kHeader); }},
      {"its last page is cut off and grown again",
       [](const std::string& path) { cut_and_grow(path, size_of(path) & ~4095U); }},
      {"its last bytes are cut off and grown again",
       [](const std::string& path) { cut_and_grow(path, size_of(path) - 4); }},
      {"the front of another filter is copied over it",
       [](const std::string& path) { write_bytes(path, 0, other_filter().substr(0, kHeader)); }},
      {"the end of another filter is copied over it",
       [](const std::string& path) { write_bytes(path, kHeader, other_filter().substr(kHeader)); }},
      {"a live word with all bits of its own and another one is copied over it",
       [](const std::string& path) { set_live_word(path, with_one_more_bit(look_at(path).live_word)); }},
      {"an end word with all bits of its own and another one is copied over it",
       [](const std::string& path) { set_word(path, end_of(path), with_one_more_bit(own_end_word(path))); }},
      {"it is replaced",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kReplaced); },
       Code::kSuperseded},
      {"it is superseded",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kSuperseded); },
       Code::kSuperseded},
      {"it is being recovered",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::LiveWord::kRecovering); },
       Code::kRecovering},
      {"everything is zero-filled",
       [](const std::string& path) { write_bytes(path, 0, std::string(read_bytes(path).size(), '\0')); }},
      {"it is truncated to nothing and grown again", [](const std::string& path) { cut_and_grow(path, 0); }},
      {"another filter is copied over it", [](const std::string& path) { write_bytes(path, 0, other_filter()); }}};
  return all;
}

void check_all_maybe(const Filter& filter, Code why) {
  CHECK(filter.health() == why);
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, kNobody, kThreeWindows) == kThreeWindows);
    CHECK(form.ask(filter, 1, kSome) == kSome);
  }
}

}  // namespace

TEST_CASE("after any damage to an open file every form of lookup answers maybe, in readers and writers") {
  for (const Damage& damage : damages()) {
    CAPTURE(damage.name);
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    for (const AskForm& form : ask_forms()) CHECK(form.ask(reader, kNobody, kThreeWindows) < kThreeWindows / 2);
    damage.inflict(dir.file());
    check_all_maybe(reader, damage.code);
    check_all_maybe(writer, damage.code);
  }
}

// Ones and zeros in its bits are no "maybe": the two words alone tell of the damage.
TEST_CASE("after any damage to an open file that was built once every form of lookup answers maybe") {
  for (const Damage& damage : damages()) {
    CAPTURE(damage.name);
    TempDir dir;
    Options options;
    options.layout = Layout::kStatic;
    options.unpublished = true;
    Filter made = created(dir.file(), options);
    for (const AddForm& form : add_forms()) CHECK(form.add(made, 1, kThreeWindows).ok());
    add_keys(made, 1, 0, kThreeWindows);
    REQUIRE(made.publish().ok());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    for (const AskForm& form : ask_forms()) {
      CHECK(form.ask(reader, 1, kThreeWindows) == kThreeWindows);
      CHECK(form.ask(reader, kNobody, kThreeWindows) < kThreeWindows / 2);
    }
    damage.inflict(dir.file());
    check_all_maybe(reader, damage.code);
    check_all_maybe(made, damage.code);
  }
}

// Ids that a caller counts differ in one byte, and every comparison of the two words notices it.
TEST_CASE("another filter that is copied over an open one is noticed, whichever bit of the file_id differs") {
  for (std::size_t byte = 0; byte < sizeof(FileId); ++byte) {
    CAPTURE(byte);
    TempDir dir;
    Options options = small_options();
    options.file_id = FileId{1};
    Filter writer = created(dir.file(), options);
    add_keys(writer, 1, 0, kSome);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    (*options.file_id)[byte] ^= 2;
    CHECK(created(dir.file("other"), options).close().ok());
    write_bytes(dir.file(), 0, read_bytes(dir.file("other")));
    check_all_maybe(reader, Code::kLost);
    check_all_maybe(writer, Code::kLost);
    CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kLost);
    CHECK(writer.close().code == Code::kLost);
    CHECK(read_bytes(dir.file()) == read_bytes(dir.file("other")));
  }
}

TEST_CASE("a file in a later state is refused as it is, even if the process that superseded it was killed") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kSuperseded | std::uint64_t{1} << 6);
  const std::string before = read_bytes(dir.file());
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
    CHECK(open_code(dir.file(), mode) == Code::kLater);
  CHECK(read_bytes(dir.file()) == before);
}

TEST_CASE("after any damage to an open file every form of add is refused and changes nothing") {
  for (const Damage& damage : damages()) {
    CAPTURE(damage.name);
    TempDir dir;
    Filter writer = created(dir.file());
    damage.inflict(dir.file());
    const std::string before = read_bytes(dir.file());
    for (const AddForm& form : add_forms()) {
      CAPTURE(form.name);
      CHECK(form.add(writer, 2, kThreeWindows).code() == damage.code);
    }
    CHECK(read_bytes(dir.file()) == before);
  }
}

TEST_CASE("a file that was damaged while it was open is not synced, not called clean and not opened again") {
  for (const Damage& damage : damages()) {
    CAPTURE(damage.name);
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    damage.inflict(dir.file());
    const bool foreign = damage.name == "another filter is copied over it";
    const std::string before = read_bytes(dir.file());
    if (damage.code != Code::kLost) continue;  // a state: the file is not damaged
    CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kLost);
    CHECK(writer.close().code == Code::kLost);
    CHECK(read_bytes(dir.file()) == before);
    if (!foreign) CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
    if (!foreign) CHECK(open_code(dir.file(), OpenMode::kWrite) != Code::kOk);
  }
}

TEST_CASE("a file that is recovering while a writer has it open is not called clean by its close") {
  TempDir dir;
  Filter writer = created(dir.file());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kRecovering);
  static_cast<void>(writer.close());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kRecovering);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kRecovering);
}

TEST_CASE("the worst state that a live word has is the handle's health") {
  TempDir dir;
  Filter writer = created(dir.file());
  const std::uint64_t word = look_at(dir.file()).live_word;
  const auto health_with = [&](std::uint64_t flags) {
    set_live_word(dir.file(), word | flags);
    return writer.health();
  };
  CHECK(health_with(format::LiveWord::kRecovering) == Code::kRecovering);
  CHECK(health_with(format::LiveWord::kRecovering | format::LiveWord::kSuperseded) == Code::kSuperseded);
  CHECK(health_with(format::LiveWord::kSuperseded | format::LiveWord::kPoisoned) == Code::kPoisoned);
  CHECK(health_with(format::LiveWord::kStates) == Code::kPoisoned);
  CHECK(health_with(0) == Code::kOk);
}

TEST_CASE("an unknown epoch or number of slices stops no open handle, and no process opens the file") {
  for (const format::Field& field : {format::kLiveEpochField, format::kLiveNumSlicesField}) {
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    set_word(dir.file(), format::kLivePageOffset + field.offset, 2);
    CHECK(reader.health() == Code::kOk);
    CHECK(answers_no(reader));
    CHECK(writer.add("a key").ok());
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kReserved);
  }
}

TEST_CASE("a damaged live word is named when the file is opened") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  set_live_word(dir.file(), 0);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(dir.file(), mode);
    REQUIRE(code_of(refused) == Code::kLiveWord);
    CHECK(refused.error().message.find(dir.file()) != std::string::npos);
  }
}

TEST_CASE("a file that was cut anywhere after its header and grown again answers maybe in every form and process") {
  TempDir dir;
  Filter made = created(dir.file());
  for (const AddForm& form : add_forms()) CHECK(form.add(made, 1, kThreeWindows).ok());
  CHECK(made.close().ok());
  const std::string whole = read_bytes(dir.file());
  const std::uint64_t step = (whole.size() - kHeader) / 23;
  constexpr std::uint64_t kNotCompared = 3;  // bytes of the end word, in a page without bits
  for (std::uint64_t at = kHeader; at < whole.size() - kNotCompared; at += step | 1) {
    CAPTURE(at);
    {
      Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      Remote other(dir.file());
      CHECK(other.call("open read") == "BFS_OK");
      CHECK(answers_no(reader));
      cut_and_grow(dir.file(), at);
      check_all_maybe(reader, Code::kLost);
      check_all_maybe(writer, Code::kLost);
      CHECK(other.call("ask 1 0 100") == "100");
      CHECK(other.call("ask 999 0 100") == "100");
      CHECK(other.call("health") == "BFS_ELOST");
      CHECK(writer.add("a key").code() == Code::kLost);
      CHECK_FALSE(*writer.is_current());
      CHECK_FALSE(*reader.is_current());
      CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kLost);
      CHECK(writer.close().code == Code::kLost);
    }
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive})
      CHECK(open_code(dir.file(), mode) == Code::kLiveWord);
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true})) == Code::kLiveWord);
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, {.map = {.copy = true}})) == Code::kLiveWord);
    const auto report = inspect(dir.file());
    REQUIRE(report.ok());
    CHECK(report->problems.size() == 1);
    CHECK(report->problems.at(0).code == Code::kLiveWord);
    write_bytes(dir.file(), 0, whole);
  }
}

TEST_CASE("a file whose end is damaged says when it is opened that it was cut or overwritten") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  cut_and_grow(dir.file(), kHeader);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive}) {
    const auto refused = Filter::open(dir.file(), mode);
    REQUIRE(code_of(refused) == Code::kLiveWord);
    CHECK(refused.error().message.find(dir.file()) != std::string::npos);
    CHECK(refused.error().message.find("cut or overwritten") != std::string::npos);
  }
}

TEST_CASE("a sealed file that was cut in its body or its checksums and grown again answers maybe") {
  TempDir dir;
  Filter made = created(dir.file("from"));
  for (const AddForm& form : add_forms()) CHECK(form.add(made, 1, kThreeWindows).ok());
  CHECK(made.close().ok());
  CHECK(seal(dir.file("from"), dir.file()).ok());
  const std::string whole = read_bytes(dir.file());
  for (const std::uint64_t at : {kHeader, kHeader + 100, whole.size() - 16, whole.size() - 8, whole.size() - 4}) {
    CAPTURE(at);
    {
      const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
      CHECK(answers_no(reader));
      cut_and_grow(dir.file(), at);
      check_all_maybe(reader, Code::kLost);
      CHECK_FALSE(*reader.is_current());
    }
    CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kLiveWord);
    write_bytes(dir.file(), 0, whole);
  }
}

TEST_CASE("closing a file that was truncated to nothing is an error and no signal") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child([&] {
          auto writer = Filter::open(dir.file(), OpenMode::kWrite);
          if (!writer || truncate(dir.file().c_str(), 0) != 0) return 10;
          if (writer->sync().code != Code::kLost) return 11;
          return writer->close().code == Code::kLost ? 0 : 12;
        }) == 0);
}

TEST_CASE("other processes answer maybe after damage, too") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Remote reader(dir.file());
  Remote writer(dir.file());
  CHECK(reader.call("open read") == "BFS_OK");
  CHECK(writer.call("open write") == "BFS_OK");
  CHECK(reader.call("ask 999 0 100") == "0");
  set_live_word(dir.file(), 0);
  CHECK(reader.call("ask 999 0 100") == "100");
  CHECK(reader.call("health") == "BFS_ELOST");
  CHECK(writer.call("add 1 0 1") == "BFS_ELOST");
  CHECK(writer.call("close") == "BFS_ELOST");
  CHECK(reader.call("ask 999 0 100") == "100");
}

TEST_CASE("the flag of a sync under way puts nothing in doubt") {
  TempDir dir;
  Filter writer = created(dir.file());
  const region::File syncing = region::File::open(dir.file(), region::File::Access::kReadWrite).value();
  REQUIRE(region::try_lock(syncing, format::kSyncLock).value());  // otherwise it is the flag of a process that died
  set_syncing(dir.file());
  CHECK(writer.health() == Code::kOk);
  CHECK(answers_no(writer));
  CHECK(writer.add("a key").ok());
  set_syncing(dir.file(), false);
}
