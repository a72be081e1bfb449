// A file that is overwritten, zero-filled or truncated under those who have it open: every answer is maybe, nothing
// more is taken, and nobody calls the file clean. (Touching pages behind the end of a truncated file is SIGBUS: not
// here.)
#include <doctest/doctest.h>
#include <unistd.h>

#include <functional>

#include "forms.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr std::uint64_t kWord = format::kLivePageOffset + format::kLiveWordField.offset;
constexpr std::uint64_t kThreeWindows = 700;  // of a batch

struct Damage {
  std::string name;
  std::function<void(const std::string& path)> inflict;
  Code code = Code::kLost;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"the live word is zeroed", [](const std::string& path) { write_bytes(path, kWord, std::string(8, '\0')); }},
      {"the live word is overwritten", [](const std::string& path) { write_bytes(path, kWord, "nonsense"); }},
      {"one bit of its id is flipped",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word ^ (1U << 13)); }},
      {"the number of slices is another",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word + (std::uint64_t{1} << 48)); }},
      {"an unknown state bit is set",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | std::uint64_t{1} << 37); }},
      {"it is superseded",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::kLiveSuperseded); },
       Code::kSuperseded},
      {"it is being recovered",
       [](const std::string& path) { set_live_word(path, look_at(path).live_word | format::kLiveRecovering); },
       Code::kRecovering},
      {"everything is zero-filled",
       [](const std::string& path) { write_bytes(path, 0, std::string(read_bytes(path).size(), '\0')); }},
      {"it is truncated to nothing and grown again",
       [](const std::string& path) {
         const auto bytes = static_cast<off_t>(read_bytes(path).size());
         REQUIRE(truncate(path.c_str(), 0) == 0);
         REQUIRE(truncate(path.c_str(), bytes) == 0);
       }},
      {"another filter is copied over it", [](const std::string& path) {
         TempDir dir;
         CHECK(created(dir.file()).close().ok());
         write_bytes(path, 0, read_bytes(dir.file()));
       }}};
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
    const bool word_is_own = (look_at(dir.file()).live_word & ~format::kLiveStates) ==
                             format::healthy_live_word(look_at(dir.file()).file_id);
    const bool foreign = damage.name == "another filter is copied over it";
    const std::string before = read_bytes(dir.file());
    if (word_is_own && !foreign) continue;  // superseded and recovering are states of a later version
    CHECK(writer.sync(1, 1).code == Code::kLost);
    CHECK(writer.close().code == Code::kLost);
    CHECK(read_bytes(dir.file()) == before);
    if (!foreign) CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
    if (!foreign) CHECK(open_code(dir.file(), OpenMode::kWrite) != Code::kOk);
  }
}

TEST_CASE("a file that is recovering while a writer has it open is not called clean by its close") {
  TempDir dir;
  Filter writer = created(dir.file());
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::kLiveRecovering);
  static_cast<void>(writer.close());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kRecovering);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kRecovering);
}

TEST_CASE("of several things that a live word says, the worst is the handle's health") {
  TempDir dir;
  Filter writer = created(dir.file());
  const std::uint64_t word = look_at(dir.file()).live_word;
  const auto health_with = [&](std::uint64_t flags) {
    set_live_word(dir.file(), word | flags);
    return writer.health();
  };
  CHECK(health_with(format::kLiveRecovering) == Code::kRecovering);
  CHECK(health_with(format::kLiveRecovering | format::kLiveSuperseded) == Code::kSuperseded);
  CHECK(health_with(format::kLiveSuperseded | format::kLivePoisoned) == Code::kPoisoned);
  CHECK(health_with(format::kLiveStates) == Code::kPoisoned);
  CHECK(health_with(0) == Code::kOk);
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

TEST_CASE("other processes answer maybe, too") {
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
  const std::uint64_t word = look_at(dir.file()).live_word;
  set_live_word(dir.file(), word | format::kLiveSyncing);
  CHECK(writer.health() == Code::kOk);
  CHECK(answers_no(writer));
  CHECK(writer.add("a key").ok());
  set_live_word(dir.file(), word);
}
