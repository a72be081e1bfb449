// A file that was unclean or poisoned, until every owner has added again what came after its mark: every handle answers
// "maybe" meanwhile, whichever process is killed when.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "faults.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;
using format::SlotState;

namespace {

const OpenOptions kRecover{.recover = true};
const OpenOptions kAcceptLoss{.accept_loss = true};

// Takes the machine down: then it is another boot, and no process has the file open.
void reboot(const std::string& path) {
  edit_slots(path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
}

// A file whose owners 1 and 2 have marks, and which a power cut left unclean: keys of writer 1 are in it.
struct Unclean {
  explicit Unclean(std::vector<std::uint64_t> owners = {1, 2}) {
    Remote process(path);
    CHECK(process.call("create") == "BFS_OK");
    CHECK(process.call("add 1 0 " + std::to_string(kSome)) == std::to_string(kSome));
    for (const std::uint64_t owner : owners) CHECK(process.call("sync " + std::to_string(owner) + " 100") == "BFS_OK");
    process.kill();
    reboot(path);
    CHECK(state_of(path) == FileState::kUnclean);
  }
  TempDir dir;
  std::string path = dir.file();
};

Filter recoverer(const std::string& path, OpenMode mode = OpenMode::kWrite) {
  return opened(Filter::open(path, mode, kRecover));
}

bool all_maybe(const Filter& filter) { return maybes(filter, kNobody, 0, kSome) == kSome; }

bool recovered(Filter& filter, std::uint64_t owner) {
  const auto over = filter.finish_recovery(owner);
  if (!over.ok()) FAIL(over.error().message);
  return *over;
}

// Another process begins the recovery, says that owner 1 is done, and is killed.
void kill_recoverer(const std::string& path) {
  Remote process(path);
  CHECK(process.call("open recover") == "BFS_OK");
  CHECK(process.call("recovered 1") == "0");
  process.kill();
}

// Checks that the state is "recovering" for every process, and that only a recoverer can open the file.
void check_recovering(const std::string& path) {
  CHECK(state_of(path) == FileState::kRecovering);
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) CHECK(open_code(path, mode) == Code::kRecovering);
  const Code alone = open_code(path, OpenMode::kExclusive);
  CHECK((alone == Code::kRecovering || alone == Code::kBusy));  // the same, or: there is another writer
}

}  // namespace

TEST_CASE("every process answers maybe until every owner of a mark has said that its keys are there") {
  Unclean file;
  Filter filter = recoverer(file.path);
  CHECK(filter.health() == Code::kRecovering);
  CHECK(all_maybe(filter));
  check_recovering(file.path);
  add_keys(filter, 2, 0, kSome);
  CHECK(filter.sync({.owner = 2, .mark = 200}).ok());
  CHECK(all_maybe(filter));
  CHECK_FALSE(recovered(filter, 1));
  CHECK_FALSE(recovered(filter, 77));  // no recovery waits for this one
  CHECK(all_maybe(filter));
  check_recovering(file.path);
  CHECK(recovered(filter, 2));
  CHECK(filter.health() == Code::kOk);
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
  CHECK(maybes(filter, 2, 0, kSome) == kSome);
  CHECK(state_of(file.path) == FileState::kInUse);
  CHECK(open_code(file.path, OpenMode::kWrite) == Code::kOk);
  CHECK(filter.close().ok());
  CHECK(state_of(file.path) == FileState::kClean);
  const Filter reader = opened(Filter::open(file.path, OpenMode::kRead));
  CHECK(answers_no(reader));
  CHECK(reader.get_mark(1) == 100);
  CHECK(reader.get_mark(2) == 200);
}

TEST_CASE("any owner can end the recovery of a file without marks") {
  Unclean file(std::vector<std::uint64_t>{});
  Filter filter = recoverer(file.path, OpenMode::kExclusive);
  CHECK(all_maybe(filter));
  CHECK(recovered(filter, 5));
  CHECK(answers_no(filter));
}

TEST_CASE("a recoverer that is killed leaves a file that is still recovering, and all owners begin again") {
  Unclean file;
  kill_recoverer(file.path);
  check_recovering(file.path);
  CHECK(look_at(file.path).newest().recovered != 0);
  Filter filter = recoverer(file.path);
  CHECK(look_at(file.path).newest().recovered == 0);
  CHECK_FALSE(recovered(filter, 2));
  CHECK(all_maybe(filter));
  CHECK(recovered(filter, 1));
  CHECK(answers_no(filter));
}

TEST_CASE("a power cut in a recovery leaves a file that is still recovering, and all owners begin again") {
  Unclean file;
  kill_recoverer(file.path);
  reboot(file.path);
  set_live_word(file.path, format::LiveWord::healthy(look_at(file.path).file_id).bits);  // its page was not written
  check_recovering(file.path);
  Filter filter = recoverer(file.path);
  CHECK_FALSE(recovered(filter, 2));
  CHECK(recovered(filter, 1));
}

TEST_CASE("a recovery that is closed continues where it was, even on another machine") {
  Unclean file;
  {
    Filter filter = recoverer(file.path);
    add_keys(filter, 3, 0, kSome);
    CHECK_FALSE(recovered(filter, 1));
    CHECK(filter.close().ok());
  }
  CHECK(look_at(file.path).newest().state == SlotState::kPaused);
  check_recovering(file.path);
  copy_file(file.path, file.dir.file("copy.bf"));
  check_recovering(file.dir.file("copy.bf"));
  Filter filter = recoverer(file.dir.file("copy.bf"));
  CHECK(all_maybe(filter));
  CHECK(recovered(filter, 2));
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 3, 0, kSome) == kSome);
}

// No process knows what is on the disk: what was added again before is needed again.
TEST_CASE("a recovery that was closed begins again if the file was poisoned, or a process died in a sync of it") {
  for (const bool poisoned : {true, false}) {
    Unclean file;
    {
      Filter filter = recoverer(file.path);
      CHECK_FALSE(recovered(filter, 1));
      CHECK(filter.close().ok());
    }
    if (poisoned) {
      set_live_word(file.path, look_at(file.path).live_word | format::LiveWord::kPoisoned);
    } else {
      set_syncing(file.path);
    }
    Filter filter = recoverer(file.path);
    CHECK(look_at(file.path).newest().recovered == 0);
    CHECK_FALSE(recovered(filter, 2));
    CHECK(all_maybe(filter));
    CHECK(recovered(filter, 1));
    CHECK(answers_no(filter));
  }
}

TEST_CASE("a recovery waits for an owner that is known by its epoch alone") {
  Unclean file;
  edit_slots(file.path, [](Slot& slot) { slot.lanes[1] = {.owner = 2, .epoch = 9}; });
  Filter filter = recoverer(file.path);
  CHECK_FALSE(recovered(filter, 1));
  CHECK(all_maybe(filter));
  CHECK(recovered(filter, 2));
  CHECK(answers_no(filter));
}

TEST_CASE("a recovery does not wait for an owner that was dropped, before or after the others have finished it") {
  for (const bool before : {true, false}) {
    Unclean file;
    Filter filter = recoverer(file.path);
    if (before) {
      CHECK(filter.drop_owner(2).ok());
      CHECK(all_maybe(filter));
      CHECK(recovered(filter, 1));
    } else {
      CHECK_FALSE(recovered(filter, 1));
      CHECK(all_maybe(filter));
      CHECK(filter.drop_owner(2).ok());
    }
    CHECK(answers_no(filter));
    CHECK(look_at(file.path).newest().recovered == 0);
    CHECK(filter.list_marks()->size() == 1);
    CHECK(filter.close().ok());
    CHECK(state_of(file.path) == FileState::kClean);
  }
}

// An owner that is forgotten has not said that its keys are there.
TEST_CASE("a recovery is not over because all owners were dropped") {
  Unclean file;
  Filter filter = recoverer(file.path);
  CHECK(filter.drop_owner(1).ok());
  CHECK(filter.drop_owner(2).ok());
  CHECK(all_maybe(filter));
  check_recovering(file.path);
  CHECK(recovered(filter, 3));
  CHECK(answers_no(filter));
}

TEST_CASE("a recovery waits for an owner that takes the place of one that was dropped") {
  Unclean file;
  Filter filter = recoverer(file.path);
  CHECK_FALSE(recovered(filter, 1));
  CHECK(filter.sync({.owner = 3, .epoch = 1}).ok());
  CHECK(filter.drop_owner(1).ok());
  CHECK(filter.sync({.owner = 4, .epoch = 1}).ok());
  CHECK_FALSE(recovered(filter, 2));
  CHECK_FALSE(recovered(filter, 3));
  CHECK(all_maybe(filter));
  CHECK(recovered(filter, 4));
  CHECK(answers_no(filter));
}

TEST_CASE("several processes recover one file together") {
  Unclean file;
  Remote first(file.path);
  Remote second(file.path);
  CHECK(first.call("open recover") == "BFS_OK");
  CHECK(second.call("open recover") == "BFS_OK");
  CHECK(first.call("recovered 1") == "0");
  CHECK(first.call("close") == "BFS_OK");
  const Report report = inspect(file.path, false).value();
  for (const OwnerMark& mark : report.marks) CHECK(mark.recovered == (mark.owner == 1));
  check_recovering(file.path);
  CHECK(second.call("ask 999 0 100") == "100");
  CHECK(second.call("recovered 2") == "1");
  CHECK(second.call("close") == "BFS_OK");
  CHECK(state_of(file.path) == FileState::kClean);
}

TEST_CASE("a reader that has the file open answers maybe while it is recovered, and what is right afterwards") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(answers_no(reader));
  reboot(dir.file());
  Filter filter = recoverer(dir.file());
  CHECK(reader.health() == Code::kRecovering);
  CHECK(all_maybe(reader));
  CHECK(recovered(filter, 0));
  CHECK(reader.health() == Code::kOk);
  CHECK(answers_no(reader));
}

TEST_CASE("a poisoned file is recovered when its writers are gone, and every byte of it is written again") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.sync({.owner = 1, .mark = 7}).ok());
  faults::on_sync = [](int) { return EIO; };
  CHECK(writer.sync({.owner = 1, .mark = 8}).code == Code::kPoisoned);
  faults::on_sync = nullptr;
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, kRecover)) == Code::kBusy);
  CHECK(writer.close().code == Code::kPoisoned);
  CHECK(state_of(dir.file()) == FileState::kPoisoned);
  Filter filter = recoverer(dir.file());
  CHECK(all_maybe(filter));
  CHECK(filter.get_mark(1) == 7);
  CHECK(recovered(filter, 1));
  CHECK(answers_no(filter));
  CHECK(filter.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

// The body has several of the pieces in which a recovery reads and writes it: a piece brings back its own bits alone.
TEST_CASE("a file that is cut between any two steps of a recovery does not get its end word back") {
  const faults::Scope scope;
  TempDir dir;
  Options options;
  options.capacity = kSome;
  options.max_bytes = std::uint64_t{6} << 20;
  Filter writer = created(dir.file(), options);
  add_keys(writer, 1, 0, kSome);
  REQUIRE(writer.sync({.owner = 1, .mark = kSome}).ok());
  const std::string copy = dir.file("copy");
  OpenOptions recovering = kRecover;
  recovering.map.guard = true;
  for (std::uint64_t cut_at = 0;; ++cut_at) {
    CAPTURE(cut_at);
    std::filesystem::remove(copy);
    std::filesystem::copy_file(dir.file(), copy);  // of a file in use
    CHECK(state_of(copy) == FileState::kUnclean);
    std::uint64_t reads = 0;
    faults::after_read = [&] {
      if (reads++ == cut_at) REQUIRE(::truncate(copy.c_str(), 3 << 20) == 0);
    };
    auto filter = Filter::open(copy, OpenMode::kWrite, recovering);
    faults::after_read = nullptr;
    if (reads <= cut_at) {
      REQUIRE(filter.ok());
      CHECK(cut_at > 8);
      return;
    }
    if (!filter.ok()) continue;
    static_cast<void>(filter->finish_recovery(1));
    CHECK(maybes(*filter, 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a recovery whose first sync fails leaves a poisoned file, and can be begun again") {
  const faults::Scope scope;
  for (int fatal = 1; fatal <= 2; ++fatal) {  // the slot's sync, the body's sync
    CAPTURE(fatal);
    Unclean file;
    int calls = 0;
    faults::on_sync = [&](int) { return ++calls == fatal ? EIO : 0; };
    CHECK(code_of(Filter::open(file.path, OpenMode::kWrite, kRecover)) == Code::kPoisoned);
    faults::on_sync = nullptr;
    CHECK(state_of(file.path) == FileState::kPoisoned);
    CHECK(open_code(file.path, OpenMode::kRead) == Code::kPoisoned);
    Filter filter = recoverer(file.path);
    CHECK_FALSE(recovered(filter, 1));
    CHECK(recovered(filter, 2));
    CHECK(answers_no(filter));
  }
}

// A slot that was poisoned says dirty, as that of a recovery that is over does.
TEST_CASE("a recovery that was poisoned is not over, though the live page that said so was dropped") {
  const faults::Scope scope;
  Unclean file;
  Filter first = recoverer(file.path);
  Filter second = recoverer(file.path);
  faults::on_sync = [failed = false](int) mutable { return std::exchange(failed, true) ? 0 : EIO; };
  CHECK(first.finish_recovery(1).error().code == Code::kPoisoned);
  faults::on_sync = nullptr;
  CHECK(look_at(file.path).newest().state == SlotState::kDirty);
  set_live_word(file.path, look_at(file.path).live_word & ~format::LiveWord::kPoisoned);
  set_syncing(file.path, false);
  for (const std::uint64_t owner : {1U, 2U}) {
    const auto over = second.finish_recovery(owner);
    REQUIRE_FALSE(over.ok());
    CHECK(over.error().code == Code::kPoisoned);
    CHECK(all_maybe(first));
    CHECK(all_maybe(second));
  }
  first.abandon();
  CHECK_FALSE(second.close().ok());
  CHECK_FALSE(look_at(file.path).slots.clean());
}

TEST_CASE("a recoverer that is killed in any sync leaves nothing that answers no") {
  const faults::Scope scope;
  for (int fatal = 1; fatal <= 6; ++fatal) {
    CAPTURE(fatal);
    Unclean file;
    const int code = in_child([&] {
      int calls = 0;
      faults::on_sync = [&](int) -> int {
        if (++calls == fatal) _exit(77);
        return 0;
      };
      auto filter = Filter::open(file.path, OpenMode::kWrite, kRecover);
      if (!filter || !filter->finish_recovery(1).ok() || !filter->finish_recovery(2).ok()) return 1;
      return 0;
    });
    CHECK((code == 77 || fatal > 5));
    if (code != 77) break;
    const FileState state = state_of(file.path);
    CHECK((state == FileState::kRecovering || state == FileState::kUnclean));
    CHECK(open_code(file.path, OpenMode::kRead) != Code::kOk);
    Filter filter = recoverer(file.path);
    CHECK(all_maybe(filter));
    CHECK_FALSE(recovered(filter, 2));
    CHECK(recovered(filter, 1));
    CHECK(answers_no(filter));
  }
}

// A power cut would bring the recovery back, and with it the keys that are not there.
TEST_CASE("no process answers no again before the end of a recovery is on the disk") {
  const faults::Scope scope;
  for (const OpenOptions& options : {kRecover, kAcceptLoss}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    const Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
    reboot(dir.file());
    int syncs = 0;
    faults::on_sync = [&](int) {
      ++syncs;
      CHECK(reader.health() == Code::kRecovering);
      CHECK(all_maybe(reader));
      return 0;
    };
    Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, options));
    if (options.recover) CHECK(recovered(filter, 1));
    CHECK(syncs >= 3);
    faults::on_sync = nullptr;
    CHECK(answers_no(reader));
  }
}

TEST_CASE("a writer that accepts the loss uses the file at once") {
  Unclean file;
  Filter filter = opened(Filter::open(file.path, OpenMode::kWrite, kAcceptLoss));
  CHECK(answers_no(filter));
  CHECK(maybes(filter, 1, 0, kSome) == kSome);
  CHECK(filter.get_mark(1) == 100);
  CHECK(state_of(file.path) == FileState::kInUse);
  CHECK(filter.close().ok());
  CHECK(state_of(file.path) == FileState::kClean);
}

TEST_CASE("a recovery that was begun can be ended by accepting the loss") {
  Unclean file;
  CHECK(recoverer(file.path).close().ok());
  check_recovering(file.path);
  CHECK(answers_no(opened(Filter::open(file.path, OpenMode::kWrite, kAcceptLoss))));
  CHECK(state_of(file.path) == FileState::kClean);
}

TEST_CASE("a file that needs no recovery is opened as always") {
  TempDir dir;
  Filter writer = created(dir.file());
  for (const OpenOptions& options : {kRecover, kAcceptLoss}) {
    Filter beside = opened(Filter::open(dir.file(), OpenMode::kWrite, options));
    CHECK(beside.health() == Code::kOk);
    CHECK(answers_no(beside));
    CHECK(recovered(beside, 1));
  }
  CHECK(writer.close().ok());
  CHECK(answers_no(recoverer(dir.file())));
  leave_behind(dir.file());
  CHECK(answers_no(recoverer(dir.file())));
}

TEST_CASE("a recovery needs a handle that may write, and excludes accepting the loss") {
  Unclean file;
  CHECK(code_of(Filter::open(file.path, OpenMode::kRead, kRecover)) == Code::kInvalid);
  CHECK(code_of(Filter::open(file.path, OpenMode::kRead, kAcceptLoss)) == Code::kInvalid);
  CHECK(code_of(Filter::open(file.path, OpenMode::kWrite, {.recover = true, .accept_loss = true})) == Code::kInvalid);
  CHECK(state_of(file.path) == FileState::kUnclean);
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Filter reader = opened(Filter::open(dir.file(), OpenMode::kRead));
  CHECK(reader.finish_recovery(1).error().code == Code::kReadOnly);
}

TEST_CASE("a file that cannot be recovered is refused: an overwritten live word, a header without slots") {
  Unclean file;
  set_live_word(file.path, 0);
  CHECK(code_of(Filter::open(file.path, OpenMode::kWrite, kRecover)) == Code::kLiveWord);
  CHECK(code_of(Filter::open(file.path, OpenMode::kWrite, kAcceptLoss)) == Code::kLiveWord);
  Unclean other;
  write_bytes(other.path, format::kSlotOffset, std::string(2 * format::kPageBytes, '\0'));
  CHECK(code_of(Filter::open(other.path, OpenMode::kWrite, kRecover)) == Code::kSlots);
}

TEST_CASE("a strict opening finds a file that a killed process left unclean, for reading and for writing") {
  const OpenOptions strict{.strict = true};
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kRead, strict)) == Code::kUnclean);
  CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, strict)) == Code::kUnclean);
  CHECK(state_of(dir.file()) == FileState::kAdoptable);
  Filter filter = opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true, .strict = true}));
  CHECK(all_maybe(filter));
  CHECK(opened(Filter::open(dir.file(), OpenMode::kWrite, {.recover = true, .strict = true})).health() ==
        Code::kRecovering);
  CHECK(recovered(filter, 0));
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead, strict))));  // in use
  CHECK(filter.close().ok());
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kWrite, strict))));
}
