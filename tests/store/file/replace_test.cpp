// A new file replaces one that others have open: no process continues with the old one without learning of it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

Options replacing() {
  Options options = small_options();
  options.replace = true;
  return options;
}

Options replacing_later() {
  Options options = replacing();
  options.unpublished = true;
  return options;
}

bool current(const Filter& filter) {
  const auto answer = filter.is_current();
  if (!answer.ok()) FAIL(answer.error().message);
  return *answer;
}

void check_superseded(const Filter& reader) {
  CHECK(reader.health() == Code::kSuperseded);
  for (const AskForm& form : ask_forms()) CHECK(form.ask(reader, kNobody, kSome) == kSome);
}

// A first page that this version refuses, or believes wrongly. The handles that are open do not look at it.
struct FirstPage {
  std::string name;
  std::uint64_t offset;
  std::string bytes;
};

std::vector<FirstPage> bad_first_pages() {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  return {{"of a later version", format::kVersionMajorField.offset, std::string("\x03", 1)},
          {"with another seed", format::kSeedField.offset, "damaged!"},
          {"of zeros", 0, std::string(format::kPageBytes, '\0')},
          {"of another filter", 0, read_bytes(dir.file()).substr(0, format::kPageBytes)}};
}

// Closes every descriptor of this process that leads to the file, as a program does that closes a number twice. Returns
// the last of them, or -1.
int close_descriptors_of(const std::string& path) {
  int last = -1;
  for (int number = 3; number < 256; ++number) {
    std::error_code failed;
    const auto there = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), failed);
    if (!failed && there == path && close(number) == 0) last = number;
  }
  return last;
}

}  // namespace

TEST_CASE("handles of a file that was replaced answer maybe, its writers are refused, and both see that it is gone") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(current(writer));
  CHECK(current(reader));
  Filter fresh = created(dir.file(), replacing());
  add_keys(fresh, 2, 0, kSome);
  CHECK_FALSE(current(writer));
  CHECK_FALSE(current(reader));
  CHECK(current(fresh));
  check_superseded(reader);
  check_superseded(writer);
  for (const AddForm& form : add_forms()) CHECK(form.add(writer, 3, 100).code() == Code::kSuperseded);
  CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kSuperseded);
  CHECK(writer.close().ok());
  const Filter again = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(maybes(again, 2, 0, kSome) == kSome);
  CHECK(maybes(again, 1, 0, kSome) < kSome / 2);
}

TEST_CASE("a writer that did not hear that its file was replaced hears it when it closes or is shut") {
  const auto replaced_after = [](const auto& hears, const auto& leaves) {
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    Filter fresh = created(dir.file(), replacing());
    hears(writer);
    return leaves(writer).code;
  };
  const auto nothing = [](const Filter&) {};
  const auto close = [](Filter& writer) { return writer.close(); };
  const auto shut = [](Filter& writer) { return writer.shut(); };
  CHECK(replaced_after(nothing, close) == Code::kSuperseded);
  CHECK(replaced_after(nothing, shut) == Code::kSuperseded);
  const auto adds = [](Filter& writer) { CHECK(writer.add("k").code() == Code::kSuperseded); };
  const auto syncs = [](Filter& writer) { CHECK(writer.sync().code == Code::kSuperseded); };
  const auto asks = [](const Filter& writer) { CHECK_FALSE(current(writer)); };
  const auto looks = [](const Filter& writer) { CHECK(writer.health() == Code::kSuperseded); };
  CHECK(replaced_after(adds, close) == Code::kOk);
  CHECK(replaced_after(syncs, close) == Code::kOk);
  CHECK(replaced_after(asks, close) == Code::kOk);
  CHECK(replaced_after(looks, shut) == Code::kOk);
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(created(dir.file(), replacing()).close().ok());
  CHECK(reader.close().ok());
}

TEST_CASE("a process that supersedes first refuses the writers, then adds their last keys, then publishes") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  Filter fresh = created(dir.file(), replacing_later());
  add_keys(fresh, 1, 0, kSome / 2);
  CHECK(current(writer));
  CHECK(answers_no(reader));
  CHECK(fresh.supersede().ok());
  CHECK(fresh.supersede().ok());
  check_superseded(reader);
  CHECK_FALSE(current(reader));
  CHECK(writer.add(key_of(1, kSome)).code() == Code::kSuperseded);
  CHECK(writer.sync({.owner = 1, .mark = 1}).code == Code::kSuperseded);  // does not wait either
  const Error refused = Filter::open(dir.file(), OpenMode::kRead).error();
  CHECK(refused.code == Code::kSuperseded);
  CHECK(refused.message.find("another process") == std::string::npos);  // it is this one
  CHECK(state_of(dir.file()) == FileState::kSuperseded);
  CHECK(writer.close().ok());  // does not wait for the process that replaces it
  add_keys(fresh, 1, kSome / 2, kSome / 2);
  CHECK(fresh.publish().ok());
  const Filter again = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(maybes(again, 1, 0, kSome) == kSome);
  CHECK(answers_no(again));
}

TEST_CASE("a file that was superseded and not replaced continues") {
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  {
    Filter fresh = created(dir.file(), replacing_later());
    CHECK(fresh.supersede().ok());
    CHECK(writer.add(key_of(2, 0)).code() == Code::kSuperseded);
  }
  CHECK(writer.health() == Code::kOk);
  CHECK(current(writer));
  add_keys(writer, 2, 0, kSome);
  CHECK(answers_no(writer));
  CHECK(writer.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a file that is cut when it was superseded is replaced, or left alone, without a signal") {
  for (const bool publishes : {true, false}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    CHECK(in_child([&] {
            auto fresh = Filter::create(dir.file(), replacing_later());
            if (!fresh || !fresh->supersede().ok() || truncate(dir.file().c_str(), 0) != 0) return 10;
            if (publishes && !fresh->publish().ok()) return 11;
            return fresh->close().ok() ? 0 : 12;
          }) == 0);
    CHECK(open_code(dir.file(), OpenMode::kRead) == (publishes ? Code::kOk : Code::kTooShort));
  }
}

TEST_CASE("a kill between superseding a file and replacing it leaves a file that continues when it is opened") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kRead}) {
    TempDir dir;
    Filter writer = created(dir.file());
    add_keys(writer, 1, 0, kSome);
    CHECK(in_child([&] {
            auto fresh = Filter::create(dir.file(), replacing_later());
            if (!fresh || !fresh->supersede().ok()) return 1;
            _exit(0);
          }) == 0);
    check_superseded(writer);
    CHECK(state_of(dir.file()) == FileState::kSuperseded);
    const Filter next = opened(Filter::open(dir.file(), mode));
    CHECK(answers_no(next));
    CHECK(maybes(next, 1, 0, kSome) == kSome);
    CHECK(writer.health() == Code::kOk);
    CHECK(state_of(dir.file()) == FileState::kInUse);
  }
}

TEST_CASE("a reader that may not write waits for a process that may, after a replacer was killed") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(dir.file(), std::filesystem::perms(0444));
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kSuperseded);
  CHECK(in_child([&] {
          if (!become_nobody()) return 20;
          return Filter::open(dir.file(), OpenMode::kRead).error().code == Code::kSuperseded ? 0 : 21;
        }) == 0);
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kWrite))));
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
}

TEST_CASE("an exclusive writer is replaced as any other") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter alone = opened(Filter::open(dir.file(), OpenMode::kExclusive));
  CHECK(created(dir.file(), replacing()).close().ok());
  CHECK(alone.add(key_of(1, 1)).code() == Code::kSuperseded);
  CHECK(alone.close().ok());
}

TEST_CASE("a file that is no filter is replaced without being touched, and a folder is not replaced") {
  TempDir dir;
  std::ofstream(dir.file()) << std::string(40'000, 'x');
  std::filesystem::create_hard_link(dir.file(), dir.file("other"));
  CHECK(created(dir.file(), replacing()).close().ok());
  CHECK(read_bytes(dir.file("other")) == std::string(40'000, 'x'));
  CHECK(code_of(Filter::create(dir.path(), replacing())) == Code::kNotRegular);
}

// Small numbers of 64 bits, where a filter has its live page.
TEST_CASE("a file of numbers that look like a live word, but for their other bytes, is not written to") {
  const std::array<std::array<std::uint64_t, 4>, 3> pages{{{21, 1, 99, 7}, {0x10001, 0, 0, 1}, {0x10001, 1, 0, 1}}};
  for (const auto& page : pages) {
    TempDir dir;
    std::ofstream(dir.file()) << std::string(40'000, '\0');
    for (std::size_t i = 0; i < page.size(); ++i) set_word(dir.file(), format::kLivePageOffset + 8 * i, page[i]);
    set_word(dir.file(), format::kLivePageOffset + format::kPageBytes - 8, 5);
    const std::string before = read_bytes(dir.file());
    {
      Filter fresh = created(dir.file(), replacing_later());
      CHECK(fresh.supersede().ok());
      CHECK(read_bytes(dir.file()) == before);
    }
    CHECK(read_bytes(dir.file()) == before);
    std::filesystem::create_hard_link(dir.file(), dir.file("other"));
    CHECK(created(dir.file(), replacing()).close().ok());
    CHECK(read_bytes(dir.file("other")) == before);
  }
}

TEST_CASE("only a filter that is to replace a file supersedes it") {
  TempDir dir;
  Filter filter = created(dir.file());
  CHECK(filter.supersede().code == Code::kInvalid);
  Options unpublished = small_options();
  unpublished.unpublished = true;
  CHECK(created(dir.file("b.bf"), unpublished).supersede().code == Code::kInvalid);
  CHECK(filter.health() == Code::kOk);
}

TEST_CASE("a file that other programs removed or renamed is not current") {
  TempDir dir;
  const Filter filter = created(dir.file());
  std::filesystem::rename(dir.file(), dir.file("moved"));
  CHECK_FALSE(current(filter));
  CHECK(answers_no(filter));
  std::filesystem::rename(dir.file("moved"), dir.file());
  CHECK(current(filter));
}

// Its writers' keys are in no log that the owner of the new file replayed. So the owner gets an error, and supersedes
// them, too.
TEST_CASE("a file that was moved to the name after the old one was superseded is superseded before it is replaced") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter fresh = created(dir.file(), replacing_later());
  add_keys(fresh, 1, 0, kSome);
  CHECK(fresh.supersede().ok());
  Filter writer = created(dir.file("other.bf"));
  std::filesystem::rename(dir.file("other.bf"), dir.file());
  Filter late = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(late, 2, 0, kSome);
  CHECK(fresh.publish().code == Code::kBusy);
  add_keys(late, 2, kSome, kSome);
  CHECK(late.sync({.owner = 2, .mark = 2 * kSome}).ok());
  CHECK(fresh.publish().code == Code::kBusy);  // as often as it is called
  CHECK(fresh.supersede().ok());
  CHECK(late.add(key_of(2, 2 * kSome)).code() == Code::kSuperseded);
  check_superseded(writer);
  add_keys(fresh, 2, 0, 2 * kSome);
  CHECK(fresh.publish().ok());
  check_superseded(late);
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(maybes(reader, 1, 0, kSome) == kSome);
  CHECK(maybes(reader, 2, 0, 2 * kSome) == 2 * kSome);
}

// A process that superseded a free name was told of no writers. A file that is there later has some.
TEST_CASE("a name that was free when it was superseded is not taken from a file that another process made there") {
  for (const bool moved : {false, true}) {
    CAPTURE(moved);
    TempDir dir;
    Filter fresh = created(dir.file(), replacing_later());
    add_keys(fresh, 1, 0, kSome);
    CHECK(fresh.supersede().ok());
    Filter other = created(moved ? dir.file("other.bf") : dir.file());
    if (moved) std::filesystem::rename(dir.file("other.bf"), dir.file());
    add_keys(other, 2, 0, kSome);
    CHECK(other.sync({.owner = 2, .mark = kSome}).ok());
    CHECK(fresh.publish().code == Code::kBusy);
    CHECK(fresh.publish().code == Code::kBusy);
    CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 2, 0, kSome) == kSome);
    CHECK(fresh.supersede().ok());
    check_superseded(other);
    add_keys(fresh, 2, 0, kSome);
    CHECK(fresh.publish().ok());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    CHECK(maybes(reader, 1, 0, kSome) == kSome);
    CHECK(maybes(reader, 2, 0, kSome) == kSome);
  }
}

TEST_CASE("a name that was free when it was superseded, and still is, is given") {
  TempDir dir;
  Filter fresh = created(dir.file(), replacing_later());
  add_keys(fresh, 1, 0, kSome);
  CHECK(fresh.supersede().ok());
  CHECK(fresh.supersede().ok());
  CHECK(fresh.publish().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a name that a superseded file lost, and no file has, is published to after another call") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter fresh = created(dir.file(), replacing_later());
  add_keys(fresh, 1, 0, kSome);
  CHECK(fresh.supersede().ok());
  std::filesystem::rename(dir.file(), dir.file("moved.bf"));
  CHECK(fresh.publish().code == Code::kBusy);
  CHECK(fresh.publish().code == Code::kBusy);
  CHECK(fresh.supersede().ok());
  CHECK(fresh.publish().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(answers_no(opened(Filter::open(dir.file("moved.bf"), OpenMode::kRead))));
}

TEST_CASE("the writer of a file that was moved to the name, and is replaced without a supersede, learns of it") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter fresh = created(dir.file(), replacing_later());
  Filter writer = created(dir.file("other.bf"));
  std::filesystem::rename(dir.file("other.bf"), dir.file());
  CHECK(fresh.publish().ok());
  check_superseded(writer);
  CHECK(writer.add(key_of(1, 1)).code() == Code::kSuperseded);
}

// Such handles once continued with the old file: keys that were in the new file alone were answered "no".
TEST_CASE("handles of a file whose first page is damaged, or of a later version, learn that it is replaced") {
  for (const FirstPage& page : bad_first_pages()) {
    CAPTURE(page.name);
    TempDir dir;
    Filter writer = created(dir.file());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    write_bytes(dir.file(), page.offset, page.bytes);
    CHECK(answers_no(reader));
    Filter fresh = created(dir.file(), replacing());
    add_keys(fresh, 2, 0, kSome);
    check_superseded(reader);
    check_superseded(writer);
    CHECK(writer.add(key_of(3, 0)).code() == Code::kSuperseded);
  }
}

TEST_CASE("handles of a file of a later layout, whose first page is damaged, learn that it is replaced") {
  TempDir dir;
  const Filter writer = created(dir.file());
  set_word(dir.file(), format::kLivePageOffset + format::kLiveEpochField.offset, 3'000'000'000);
  set_word(dir.file(), format::kLivePageOffset + format::kLiveNumSlicesField.offset, 8);
  write_bytes(dir.file(), 0, std::string(format::kPageBytes, '\0'));
  CHECK(created(dir.file(), replacing()).close().ok());
  check_superseded(writer);
}

TEST_CASE("a file with a damaged first page continues after it was superseded and not replaced") {
  for (const FirstPage& page : bad_first_pages()) {
    CAPTURE(page.name);
    TempDir dir;
    const Filter writer = created(dir.file());
    write_bytes(dir.file(), page.offset, page.bytes);
    {
      Filter fresh = created(dir.file(), replacing_later());
      CHECK(fresh.supersede().ok());
      check_superseded(writer);
    }
    CHECK(writer.health() == Code::kOk);
    CHECK(answers_no(writer));
  }
}

// A later version may keep its live word elsewhere, or give it another meaning: its handles cannot be told.
TEST_CASE("a file of a later version without a live word of this one is not replaced while a writer has it open") {
  TempDir dir;
  Filter writer = created(dir.file());
  write_bytes(dir.file(), format::kVersionMajorField.offset, std::string("\x03", 1));
  set_live_word(dir.file(), 0);
  const std::string before = read_bytes(dir.file());
  CHECK(code_of(Filter::create(dir.file(), replacing())) == Code::kBusy);
  CHECK(read_bytes(dir.file()) == before);
  writer.abandon();
  CHECK(created(dir.file(), replacing()).close().ok());
}

// The lock was gone with the descriptor, and the number led to the same file again. So another process continued with
// the old file, had its adds acknowledged, and the new file, which lacked them, replaced it.
TEST_CASE("no process adds to a superseded file though other code closed the descriptors of it, and none replaces it") {
  for (const bool number_is_used_again : {false, true}) {
    CAPTURE(number_is_used_again);
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    CHECK(in_child([&] {
            auto fresh = Filter::create(dir.file(), replacing_later());
            if (!fresh || !fresh->supersede().ok()) return 1;
            const int number = close_descriptors_of(dir.file());
            if (number < 0) return 2;
            if (number_is_used_again) {
              const int own = open(dir.file().c_str(), O_RDONLY | O_CLOEXEC);
              if (own != number && (dup2(own, number) != number || close(own) != 0)) return 3;
            }
            if (in_child([&] {
                  auto late = Filter::open(dir.file(), OpenMode::kWrite, {.lock_timeout_ms = 50});
                  return late.ok() && late->add(key_of(2, 0)).ok() ? 1 : 0;
                }) != 0)
              return 4;
            if (fresh->publish().code != Code::kLost) return 5;
            return fresh->close().ok() ? 0 : 6;
          }) == 0);
    Filter old = opened(Filter::open(dir.file(), OpenMode::kWrite));
    add_keys(old, 2, 0, kSome);
    CHECK(answers_no(old));
  }
}

// Without the folder nothing is known of the name. That is not another file there.
TEST_CASE("a name whose folder other code closed after it was superseded is lost, and not another program's") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(in_child([&] {
          auto fresh = Filter::create(dir.file(), replacing_later());
          if (!fresh || !fresh->supersede().ok()) return 1;
          if (close_descriptors_of(dir.path()) < 0) return 2;
          if (fresh->publish().code != Code::kLost) return 3;
          return fresh->publish().code == Code::kLost ? 0 : 4;
        }) == 0);
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kOk);
  CHECK(dir.names().size() == 1);
}
