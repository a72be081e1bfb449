// Two processes at once, at the worst moment: what one does while another is in the middle of opening, replacing,
// closing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "faults.hpp"
#include "store/file/session.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using faults::LockCall;

namespace {

// Returns a hook that does the deed once, when a lock call of that kind is made.
std::function<void(const LockCall&)> once_at(const LockCall& moment, std::function<void()> deed) {
  auto left = std::make_shared<bool>(true);
  return [=](const LockCall& made) {
    if (!*left || made.command != moment.command || made.kind != moment.kind || made.byte != moment.byte) return;
    *left = false;
    deed();
  };
}

const LockCall kTakingTheStateLock{F_OFD_SETLK, F_WRLCK, static_cast<long>(format::kStateLock)};
const LockCall kAskingForWriters{F_OFD_GETLK, F_RDLCK, static_cast<long>(format::kFirstWriterLock)};

void make_unclean(const std::string& path) {
  CHECK(created(path).close().ok());
  leave_behind(path);
  edit_slots(path, [](format::Slot& slot) { slot.place.boot_id[0] ^= 1; });
}

ino_t inode_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_ino;
}

// Returns the locks that another process would find: 0 of the state, 1 of writers (1! all of them), 2 of a sync.
std::string held(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string found;
  const auto look = [&](const char* name, const region::ByteRange& range, const char* whole) {
    struct flock question {};
    question.l_type = F_RDLCK;
    question.l_whence = SEEK_SET;
    question.l_start = static_cast<off_t>(range.first);
    question.l_len = static_cast<off_t>(range.count);
    REQUIRE(fcntl(descriptor, F_OFD_GETLK, &question) == 0);
    if (question.l_type == F_UNLCK) return;
    found += question.l_len == static_cast<off_t>(range.count) ? whole : name;
  };
  look("0", {format::kStateLock}, "0");
  look("1", store::kWriterLocks, "1!");
  look("2", {format::kSyncLock}, "2");
  close(descriptor);
  return found;
}

// Returns the locks that another process would find at every sync of the file in the deed, one word each.
std::string held_during(const std::string& path, const std::function<void()>& deed) {
  const faults::Scope scope;
  std::string words;
  faults::on_sync = [&](int) {
    if (!words.empty()) words.push_back(' ');
    words.append(held(path));
    return 0;
  };
  deed();
  return words;
}

const OpenOptions kImpatient{.lock_timeout_ms = 20};

Options replacing() {
  Options options = small_options();
  options.replace = true;
  return options;
}

}  // namespace

// A writer that is opening the file may yet be refused. A reader that comes then waits, and must not take it for a
// writer that was let in.
// The last part holds the lock of the state, too, and may take long on a slow disk.
TEST_CASE("a file that is being synced is in use, whichever part of the sync is under way") {
  TempDir dir;
  Filter filter = created(dir.file());
  std::string states;
  {
    const faults::Scope scope;
    faults::on_sync = [&](int) {
      states += std::string(file_state_name(inspect(dir.file(), false)->state)) + ", ";
      return 0;
    };
    CHECK(filter.sync({.owner = 1, .mark = 1}).ok());
  }
  CHECK(states == "in use, in use, ");
  CHECK(filter.get_mark(1) == 1);
}

TEST_CASE("an unclean file is refused while another process is being refused it for writing") {
  const faults::Scope scope;
  TempDir dir;
  make_unclean(dir.file());
  std::optional<Code> seen;
  std::optional<FileState> inspected;
  faults::after_lock = once_at(kTakingTheStateLock, [&] {
    seen = code_of(Filter::open(dir.file(), OpenMode::kRead, kImpatient));
    inspected = state_of(dir.file());
  });
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
  CHECK(seen == Code::kBusy);
  CHECK(inspected == FileState::kUnclean);
}

TEST_CASE("an unclean file is refused while it is being replaced") {
  const faults::Scope scope;
  TempDir dir;
  make_unclean(dir.file());
  Options options = replacing();
  options.unpublished = true;
  Filter fresh = created(dir.file(), options);
  CHECK(fresh.supersede().ok());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kSuperseded);
  CHECK(fresh.publish().ok());
  CHECK(open_code(dir.file(), OpenMode::kRead) == Code::kOk);
}

// No process has synced what the killed writer left: a writer on its way in may be refused the file, or fail, or die.
// The reader waits for it.
TEST_CASE("a reader does not mistake a writer that is still being admitted for one that has the file") {
  for (const bool strict : {false, true}) {
    const faults::Scope scope;
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    leave_behind(dir.file());
    int syncs = 0;
    faults::on_sync = [&](int) { return ++syncs, 0; };
    std::optional<Code> seen;
    faults::after_lock = once_at(kTakingTheStateLock, [&] {
      seen = code_of(Filter::open(dir.file(), OpenMode::kRead, {.strict = strict, .lock_timeout_ms = 20}));
    });
    CHECK(code_of(Filter::open(dir.file(), OpenMode::kWrite, {.strict = true})) == Code::kUnclean);
    CHECK(seen == Code::kBusy);
    CHECK(syncs == 0);
  }
}

TEST_CASE("a file whose writer died in a sync is refused while another process is being refused it") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  set_syncing(dir.file());
  std::optional<Code> seen;
  faults::after_lock =
      once_at(kTakingTheStateLock, [&] { seen = code_of(Filter::open(dir.file(), OpenMode::kRead, kImpatient)); });
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
  CHECK(seen == Code::kBusy);
}

TEST_CASE("a reader opens a file whose last writer closes between the two looks at it") {
  const faults::Scope scope;
  TempDir dir;
  std::optional<Filter> writer = created(dir.file());
  faults::before_lock = once_at(kAskingForWriters, [&] { writer.reset(); });
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  CHECK_FALSE(writer.has_value());
}

TEST_CASE("a reader opens a file whose writers change between the two looks at it") {
  const faults::Scope scope;
  TempDir dir;
  std::optional<Filter> writer = created(dir.file());
  std::optional<Filter> next;
  faults::before_lock = once_at(kAskingForWriters, [&] {
    writer.reset();
    faults::after_lock = once_at(kAskingForWriters, [&] { next = opened(Filter::open(dir.file(), OpenMode::kWrite)); });
  });
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  CHECK(next.has_value());
}

// The bytes that the reader read first say that a sync is under way. The locks, asked later, say that no process syncs.
TEST_CASE("a reader opens a file whose last writer syncs and closes between the two looks at it") {
  const faults::Scope scope;
  TempDir dir;
  std::optional<Filter> writer = created(dir.file());
  set_syncing(dir.file());
  faults::before_lock = once_at(kAskingForWriters, [&] {
    set_syncing(dir.file(), false);
    writer.reset();
  });
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  CHECK_FALSE(writer.has_value());
}

TEST_CASE("a reader that comes while the file is being replaced opens the new one") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  Options options = replacing();
  options.unpublished = true;
  Filter fresh = created(dir.file(), options);
  add_keys(fresh, 1, 0, kSome);
  CHECK(fresh.supersede().ok());
  faults::before_lock = once_at(kAskingForWriters, [&] { CHECK(fresh.publish().ok()); });
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

// One replacing process was killed, and the next one is done before the reader can say that the file continues.
TEST_CASE("a file that was replaced does not continue because its first replacer was killed") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const Filter stays = opened(Filter::open(dir.file(), OpenMode::kRead));
  set_live_word(dir.file(), look_at(dir.file()).live_word | format::LiveWord::kSuperseded);
  faults::before_lock = once_at(kTakingTheStateLock, [&] { CHECK(created(dir.file(), replacing()).close().ok()); });
  CHECK(answers_no(opened(Filter::open(dir.file(), OpenMode::kRead))));
  CHECK(stays.health() == Code::kSuperseded);
  CHECK(maybes(stays, kNobody, 0, 100) == 100);
}

TEST_CASE("a reader that cannot sync the file that it adopts does not poison the file that replaced it") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file("other.bf")).close().ok());
  CHECK(created(dir.file()).close().ok());
  leave_behind(dir.file());
  bool failed = false;
  faults::on_sync = [&](int) {
    if (failed) return 0;
    failed = true;
    REQUIRE(rename(dir.file("other.bf").c_str(), dir.file().c_str()) == 0);
    return EIO;
  };
  CHECK(open_code(dir.file(), OpenMode::kRead) != Code::kOk);
  CHECK(failed);
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a writer that waits while the file is replaced opens the new one") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  const ino_t old = inode_of(dir.file());
  faults::before_lock = once_at(kTakingTheStateLock, [&] { CHECK(created(dir.file(), replacing()).close().ok()); });
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  CHECK(inode_of(dir.file()) != old);
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.close().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a writer that waits while the file is replaced opens the new one though the old has another name") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  REQUIRE(link(dir.file().c_str(), dir.file("second name").c_str()) == 0);
  faults::before_lock = once_at(kTakingTheStateLock, [&] { CHECK(created(dir.file(), replacing()).close().ok()); });
  Filter writer = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(writer, 1, 0, kSome);
  CHECK(writer.close().ok());
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
}

TEST_CASE("a writer that waits while the file is removed gets no file") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  faults::before_lock = once_at(kTakingTheStateLock, [&] { unlink(dir.file().c_str()); });
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kNotFound);
}

// Its caller would cut its log, and the new file has none of it.
TEST_CASE("a sync that waits while its file is replaced stores no mark, and says so") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  REQUIRE(link(dir.file().c_str(), dir.file("old").c_str()) == 0);
  add_keys(writer, 1, 0, kSome);
  faults::before_lock = once_at(kTakingTheStateLock, [&] { CHECK(created(dir.file(), replacing()).close().ok()); });
  CHECK(writer.sync({.owner = 1, .mark = kSome}).code == Code::kSuperseded);
  CHECK(writer.get_mark(1) == 0);
  CHECK_FALSE(look_at(dir.file("old")).syncing);
}

TEST_CASE("a sync that waits for a replacement that does not come stores its mark") {
  const faults::Scope scope;
  TempDir dir;
  Filter writer = created(dir.file());
  add_keys(writer, 1, 0, kSome);
  faults::before_lock = once_at(kTakingTheStateLock, [&] {
    Options options = replacing();
    options.unpublished = true;
    CHECK(created(dir.file(), options).supersede().ok());
  });
  CHECK(writer.sync({.owner = 1, .mark = kSome}).ok());
  CHECK(writer.get_mark(1) == kSome);
}

// A power cut would remove the name, and with it what another process has synced.
TEST_CASE("no process is admitted to write before a new file's name is durable") {
  const faults::Scope scope;
  TempDir dir;
  std::vector<std::string> locks;
  faults::on_folder_sync = [&] {
    locks.push_back(held(dir.file()));
    return 0;
  };
  for (const bool unpublished : {false, true}) {
    Options options = replacing();
    options.unpublished = unpublished;
    Filter filter = created(dir.file(), options);
    if (unpublished) CHECK(filter.publish().ok());
  }
  CHECK(locks == std::vector<std::string>{"01", "0"});
  CHECK(held(dir.file()) == "");
}

// The second file replaces the first one's, which a process writes to by then: that writer learns of it.
TEST_CASE("when two processes replace a file at once, the first one's writer learns of the second one") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  std::optional<Filter> first;
  const auto at_the_old_file = once_at(kTakingTheStateLock, [&] { first = created(dir.file(), replacing()); });
  bool own_lock_taken = false;  // the process that gives the new file its name takes that file's lock first
  faults::before_lock = [&](const LockCall& made) {
    if (own_lock_taken) at_the_old_file(made);
    own_lock_taken = own_lock_taken ||
                     (made.command == F_OFD_SETLK && made.kind == F_WRLCK && made.byte == kTakingTheStateLock.byte);
  };
  Filter second = created(dir.file(), replacing());
  REQUIRE(first.has_value());
  CHECK(first->add(key_of(1, 0)).code() == Code::kSuperseded);
  CHECK(first->close().ok());
  add_keys(second, 1, 0, kSome);
  CHECK(maybes(opened(Filter::open(dir.file(), OpenMode::kRead)), 1, 0, kSome) == kSome);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("an exclusive writer and a shared one that come at once do not both get in") {
  const faults::Scope scope;
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  std::optional<Filter> shared;
  faults::before_lock =
      once_at(kTakingTheStateLock, [&] { shared = opened(Filter::open(dir.file(), OpenMode::kWrite)); });
  CHECK(open_code(dir.file(), OpenMode::kExclusive) == Code::kBusy);
  REQUIRE(shared.has_value());
  CHECK(shared->close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

TEST_CASE("a writer that joins while the last one is about to close keeps the file dirty") {
  const faults::Scope scope;
  TempDir dir;
  Filter closing = created(dir.file());
  std::optional<Filter> joined;
  faults::before_lock =
      once_at(kTakingTheStateLock, [&] { joined = opened(Filter::open(dir.file(), OpenMode::kWrite)); });
  CHECK(closing.close().ok());
  CHECK(state_of(dir.file()) == FileState::kInUse);
  CHECK(look_at(dir.file()).says_dirty());
  REQUIRE(joined.has_value());
  CHECK(joined->close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}

// FORMAT.md, "Locks", says which.
TEST_CASE("every sync is done under the locks that it needs, and no lock stays") {
  TempDir dir;
  const std::string path = dir.file();
  std::optional<Filter> filter;
  CHECK(created(path).close().ok());
  CHECK(held(path) == "");
  CHECK(held_during(path, [&] { filter = opened(Filter::open(path, OpenMode::kWrite)); }) == "0");
  CHECK(held(path) == "1");
  CHECK(held_during(path, [&] { CHECK(filter->sync({.owner = 1, .mark = 1}).ok()); }) == "12 012");
  CHECK(held(path) == "1");
  CHECK(held_during(path, [&] { CHECK(filter->close().ok()); }) == "012 012");
  CHECK(held(path) == "");
  CHECK(held_during(path, [&] { filter = opened(Filter::open(path, OpenMode::kExclusive)); }) == "0");
  CHECK(held(path) == "1!");
  CHECK(filter->close().ok());
  CHECK(held(path) == "");
  leave_behind(path);
  CHECK(held_during(path, [&] { CHECK(open_code(path, OpenMode::kRead) == Code::kOk); }) == "02");
  const std::string adopting = held_during(path, [&] { filter = opened(Filter::open(path, OpenMode::kWrite)); });
  CHECK(adopting.rfind("02", 0) == 0);
  CHECK(held(path) == "1");
}

TEST_CASE("a refused or failed opening leaves no lock") {
  TempDir dir;
  make_unclean(dir.file());
  CHECK(open_code(dir.file(), OpenMode::kWrite) == Code::kUnclean);
  CHECK(held(dir.file()) == "");
  CHECK(created(dir.file("other.bf")).close().ok());
  const faults::Scope scope;
  faults::on_sync = [](int) { return EIO; };
  CHECK(open_code(dir.file("other.bf"), OpenMode::kWrite) != Code::kOk);
  CHECK(held(dir.file("other.bf")) == "");
}

TEST_CASE("when two writers close at once, the last one marks the file clean") {
  TempDir dir;
  Filter one = created(dir.file());
  Filter two = opened(Filter::open(dir.file(), OpenMode::kWrite));
  add_keys(one, 1, 0, kSome);
  const faults::Scope scope;
  faults::after_lock =
      once_at({F_OFD_SETLK, F_UNLCK, static_cast<long>(format::kStateLock)}, [&] { CHECK(two.close().ok()); });
  CHECK(one.close().ok());
  CHECK(state_of(dir.file()) == FileState::kClean);
}
