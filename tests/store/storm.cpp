#include "storm.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>

#include "faults.hpp"

namespace store_test::storm {

using namespace bfstore;

namespace {

constexpr std::uint64_t kQuestions = 50;

// By number. There are three that write by any means, one that is often in a sync, and one for each other deed.
enum Role : unsigned {
  kWriter,
  kLosesDescriptors,
  kExclusiveWriter,
  kSyncer,
  kReader,
  kOtherReader,
  kRebuilder,
  kSealer
};

bool read_lock(int descriptor, int command, off_t from, off_t length) {
  struct flock request {};
  request.l_type = F_RDLCK;
  request.l_whence = SEEK_SET;
  request.l_start = from;
  request.l_len = length;
  return fcntl(descriptor, command, &request) == 0;
}

}  // namespace

Options options(bool grows) {
  Options all;
  all.hash = Hash::kExternal;
  if (grows) {
    all.layout = Layout::kGrowing;
    all.capacity = 500;
    all.capacity_at_most = 170'500;  // 4 times as many in each next slice
  } else {
    all.num_bits = 1 << 22;
    all.num_probes = 6;
  }
  return all;
}

// splitmix64's finalizer.
std::uint64_t digest_of(unsigned owner, std::uint64_t key) noexcept {
  std::uint64_t x = (std::uint64_t{owner} << 32 | key) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

Process::Process(Board& board, std::string path, const Mischief& mischief, unsigned number, std::uint64_t seed)
    : board_(board),
      path_(std::move(path)),
      second_name_(path_ + ".second"),
      mischief_(mischief),
      number_(number),
      random_(seed) {}

void Process::run(Event first) {
  for (bool begun = false; !stopped(); begun = true) {
    begun ? act() : aim_at(first);
    board_.acts[number_].fetch_add(1);
    pause(2000);
  }
}

// Tries to cause the event, which also depends on what the other processes do.
void Process::aim_at(Event event) {
  switch (event) {
    case Event::kAcknowledged:
    case Event::kSync:
      return write(OpenMode::kWrite, 20);
    case Event::kExclusive:
      return write(OpenMode::kExclusive, 1500);
    case Event::kQuestion:
      return read(false, false);
    case Event::kCopy:
      return read(true, false);
    case Event::kSave:
      return read(one_in(2), true);
    case Event::kRebuild:
      return rebuild(GivesUp::kNever);
    case Event::kGivenUp:
      return rebuild(one_in(2) ? GivesUp::kBeforeSuperseding : GivesUp::kBeforePublishing);
    case Event::kSeal:
      return seal_in_place();
    case Event::kRecovery:
      return mischief_.deaths ? recover_from_a_death() : act();
    case Event::kLink:
      return mischief_.links ? link() : act();
    case Event::kForeignLock:
      return mischief_.foreign_locks ? lock_as_a_stranger() : act();
    case Event::kForeignClose:
      return mischief_.foreign_closes ? write_and_lose_descriptors() : act();
    case Event::kWrongNo:
    case Event::kNumber:
      return act();
  }
}

void Process::act() {
  switch (number_) {
    case kWriter:
    case kLosesDescriptors:
      return write(OpenMode::kWrite, 1500);
    case kExclusiveWriter:
      return write(one_in(2) ? OpenMode::kExclusive : OpenMode::kWrite, 1500);
    case kSyncer:
      return write(OpenMode::kWrite, 20);
    case kRebuilder:
      rebuild();
      return pause(300'000);
    case kSealer:
      if (mischief_.links) link();
      if (mischief_.foreign_locks) lock_as_a_stranger();
      if (one_in(3)) seal_in_place();
      return pause(20'000);
    default:
      return read(one_in(4), one_in(4));
  }
}

// --- Writers ---------------------------------------------------------------------------------------------------------

void Process::write(OpenMode mode, unsigned adds_a_sync) {
  auto filter = Filter::open(a_name(), mode, opening());
  if (!filter) return mend(filter.error().code);
  if (mode == OpenMode::kExclusive) count(Event::kExclusive);
  if (mischief_.foreign_closes && number_ == kLosesDescriptors && one_in(2)) lose_descriptors(*filter);
  add_and_ask(*filter, adds_a_sync);
  content(filter->close().code);
}

// Adds and asks until something is refused. Another file may have the place of this one, or may not get it: a caller
// may try again.
void Process::add_and_ask(Filter& filter, unsigned adds_a_sync) {
  std::uint64_t patience = below(4);
  for (std::uint64_t i = 0, most = 200 + below(2000); i < most && !stopped(); ++i) {
    if (!add_next(filter)) {
      if (patience-- == 0) return;
      pause(5000);
    }
    if (i % 64 == 0) ask(filter, some_acknowledged(), "a writer");
    if (one_in(adds_a_sync) && !sync(filter)) return;
  }
}

void Process::write_and_lose_descriptors() {
  auto filter = Filter::open(path_, OpenMode::kWrite);
  if (!filter) return mend(filter.error().code);
  lose_descriptors(*filter);
  content(filter->close().code);
}

// Loses all descriptors. The process continues to add for a while, because it does not know. The numbers are used
// again, here by another handle.
void Process::lose_descriptors(Filter& filter) {
  add_next(filter);
  close_all_descriptors();
  for (int i = 0; i < 1000 && !stopped() && add_next(filter); ++i) {
    if (i % 20 == 0) pause(2000);
  }
  if (one_in(2)) return;
  auto other = Filter::open(path_, OpenMode::kWrite, opening());
  if (!content(other ? Code::kOk : other.error().code)) return;
  add_and_ask(filter, 1500);
  content(filter.close().code);
  filter = std::move(*other);
}

// Adds one key or many.
bool Process::add_next(Filter& filter) {
  Log& log = board_.logs[number_];
  const std::uint64_t from = log.written.load();
  const std::uint64_t batch = one_in(64) ? 64 : 1;
  if (from + batch > kLogLength) return true;  // from now on it only asks and syncs
  Digests digests;
  for (std::uint64_t key = from; key < from + batch; ++key) digests.push_back(digest_of(number_, key));
  log.written.store(from + batch);
  const Count added = batch == 1 ? filter.add_digest(digests[0]) : filter.add_keys(Keys::digests(digests));
  if (!content(added.code())) return false;
  for (std::uint64_t key = from; key < from + batch; ++key) log.acknowledged[key].store(1);
  count(Event::kAcknowledged, batch);
  return true;
}

// Every key before the mark was added, or will never be acknowledged.
bool Process::sync(Filter& filter) {
  if (!content(filter.sync({.owner = number_, .mark = board_.logs[number_].written.load()}).code)) return false;
  count(Event::kSync);
  return true;
}

// A writer that may not have the file does this.
void Process::mend(Code code) {
  content(code);
  const bool sealed = code == Code::kSealed;
  if (!sealed && code != Code::kPoisoned && code != Code::kRecovering && code != Code::kUnclean) return;
  if (sealed || one_in(4)) {
    if (one_in(4)) rebuild();
  } else {
    recover();
  }
}

// Starts a process without a log, which opens the file and dies in the middle of a sync.
void Process::recover_from_a_death() {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return;
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    auto filter = Filter::open(path_, OpenMode::kWrite);
    faults::on_sync = [](int) { return raise(SIGKILL); };
    if (filter) static_cast<void>(filter->sync());
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  recover();
}

void Process::recover() {
  auto filter = Filter::open(path_, OpenMode::kWrite, {.recover = true});
  if (!content(filter ? Code::kOk : filter.error().code)) return;
  const bool recovering = filter->health() == Code::kRecovering;
  bool over = false;
  for (unsigned owner = 0; owner < kProcesses; ++owner) {
    if (!replay(*filter, owner)) return;
    const auto said = filter->finish_recovery(owner);
    if (!content(said.ok() ? Code::kOk : said.error().code)) return;
    over = over || *said;
  }
  if (recovering && over) count(Event::kRecovery);
  ask(*filter, some_acknowledged(), "a recoverer");
  content(filter->close().code);
}

// Adds again what came after the owner's mark.
bool Process::replay(Filter& filter, unsigned owner) {
  return content(filter.add_keys(Keys::digests(digests_of(owner, filter.get_mark(owner)))).code());
}

// Returns the digests of all keys in the owner's log, from that one on.
Process::Digests Process::digests_of(unsigned owner, std::uint64_t from) const {
  Digests digests;
  for (std::uint64_t key = from, end = board_.logs[owner].written.load(); key < end; ++key)
    digests.push_back(digest_of(owner, key));
  return digests;
}

// --- Rebuilding and sealing ------------------------------------------------------------------------------------------

void Process::rebuild() {
  rebuild(one_in(8) ? GivesUp::kBeforeSuperseding : one_in(8) ? GivesUp::kBeforePublishing : GivesUp::kNever);
}

void Process::rebuild(GivesUp when) {
  Options replacing = options(one_in(2));
  replacing.replace = true;
  replacing.unpublished = true;
  auto fresh = Filter::create(path_, replacing);
  if (!content(fresh ? Code::kOk : fresh.error().code) || !catch_up(*fresh)) return;
  if (when == GivesUp::kBeforeSuperseding) return count(Event::kGivenUp);
  if (!content(fresh->supersede().code)) return;
  if (mischief_.closes_in_rebuilds && one_in(8)) close_all_descriptors();
  if (!catch_up(*fresh)) return;
  if (when == GivesUp::kBeforePublishing) return count(Event::kGivenUp);
  if (!content(fresh->publish().code)) return;
  count(Event::kRebuild);
  ask(*fresh, some_acknowledged(), "a rebuilder");
}

// Adds all of the logs anew. A key that was added before changes nothing.
bool Process::catch_up(Filter& fresh) {
  for (unsigned owner = 0; owner < kProcesses; ++owner) {
    if (!content(fresh.add_keys(Keys::digests(digests_of(owner, 0))).code())) return false;
  }
  return true;
}

// There is seldom a moment without a writer: it tries again for a while.
void Process::seal_in_place() {
  Code code = Code::kBusy;
  for (int i = 0; i < 100 && code == Code::kBusy && !stopped(); ++i) {
    code = seal(path_, path_, {.replace = true}).code;
    content(code);
    pause(1000);
  }
  if (code == Code::kOk) count(Event::kSeal);
  const auto verified = Filter::open(path_, OpenMode::kRead, {.verify = true});
  if (content(verified ? Code::kOk : verified.error().code)) ask(*verified, some_acknowledged(), "a verifier");
}

// --- Readers ---------------------------------------------------------------------------------------------------------

// A copy has what was acknowledged before it was made. A handle that is not current answers "maybe" for ever. A reader
// that has not asked whether it is current continues.
void Process::read(bool copy, bool saves) {
  const Digests before = some_acknowledged();
  const auto filter = Filter::open(a_name(), OpenMode::kRead, {.map = {.copy = copy}});
  if (!content(filter ? Code::kOk : filter.error().code)) return;
  if (copy) count(Event::kCopy);
  if (saves) save(*filter, copy ? before : some_acknowledged());
  for (int i = 0, most = copy ? 4 : 200; i < most && !stopped(); ++i) {
    ask(*filter, copy ? before : some_acknowledged(), copy ? "a copy" : "a reader");
    if (copy || i % 32 != 31 || !one_in(4)) continue;
    const auto current = filter->is_current();
    if (!content(current.ok() ? Code::kOk : current.error().code) || !*current) return;
  }
}

// Saves while others add, replace and seal: what was acknowledged before is in the new file, and in bytes.
void Process::save(const Filter& filter, const Digests& before) {
  const std::string name = path_ + ".saved" + std::to_string(number_);
  if (!content(filter.save(name, {.replace = true}).code)) return;
  const auto saved = Filter::open(name, OpenMode::kRead);
  if (!content(saved ? Code::kOk : saved.error().code)) return;
  ask(*saved, before, "a saved file");
  const auto bytes = filter.dumped_bytes();
  if (!content(bytes ? Code::kOk : bytes.error().code)) return;
  std::vector<std::byte> dumped(*bytes);
  if (!content(filter.dump(dumped).code)) return;
  const auto loaded = Filter::load(dumped);
  if (!content(loaded ? Code::kOk : loaded.error().code)) return;
  ask(*loaded, before, "a dumped filter");
  count(Event::kSave);
}

// Returns digests from all logs, old ones and those that are just being added.
Process::Digests Process::some_acknowledged() {
  Digests digests;
  for (std::uint64_t i = 0; i < kQuestions; ++i) {
    const auto owner = static_cast<unsigned>(below(kProcesses));
    const Log& log = board_.logs[owner];
    const std::uint64_t written = log.written.load();
    if (written == 0) continue;
    const std::uint64_t key = one_in(2) ? below(written) : written - 1 - below(std::min<std::uint64_t>(written, 100));
    if (log.acknowledged[key].load() != 0) digests.push_back(digest_of(owner, key));
  }
  return digests;
}

// Asks one by one or all at once.
void Process::ask(const Filter& filter, const Digests& acknowledged, const char* name) {
  std::vector<std::uint8_t> answers(acknowledged.size());
  if (one_in(2)) {
    static_cast<void>(filter.contains_keys(Keys::digests(acknowledged), answers));
  } else {
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = filter.contains_digest(acknowledged[i]) ? 1 : 0;
  }
  count(Event::kQuestion, answers.size());
  const auto noes = static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), 0));
  if (noes == 0) return;
  if (board_.count(Event::kWrongNo) < 10) {
    std::fprintf(stderr, "process %u, %s: %lu wrong noes to %zu questions, then %s\n", number_, name, noes,
                 answers.size(), code_name(filter.health()));
  }
  count(Event::kWrongNo, noes);
}

// Returns the number of acknowledged keys that are lost. If the file cannot be opened, all are. Its second name may be
// the name of one that was replaced. A rebuilder that was killed right before it renamed leaves a file with two names
// that is refused for good: it is to be rebuilt.
std::uint64_t Process::lost() {
  auto filter = Filter::open(path_, OpenMode::kRead);
  for (int i = 0; i < 10 && !filter; ++i) {
    filter.error().code == Code::kSuperseded ? rebuild(GivesUp::kNever) : recover();
    filter = Filter::open(path_, OpenMode::kRead);
  }
  if (!filter) std::printf("at the end: %s\n", filter.error().message.c_str());
  const auto second = Filter::open(second_name_, OpenMode::kRead);
  std::uint64_t lost = 0;
  for (unsigned owner = 0; owner < kProcesses; ++owner) {
    for (std::uint64_t key = 0; key < kLogLength; ++key) {
      if (board_.logs[owner].acknowledged[key].load() == 0) continue;
      const std::uint64_t digest = digest_of(owner, key);
      if (!filter || !filter->contains_digest(digest) || (second && !second->contains_digest(digest))) ++lost;
    }
  }
  return lost;
}

// --- Mischief --------------------------------------------------------------------------------------------------------

void Process::link() {
  unlink(second_name_.c_str());
  if (::link(path_.c_str(), second_name_.c_str()) == 0) count(Event::kLink);
}

// Closes all descriptors from 3 up, as a part of the program may do that does not know the library.
void Process::close_all_descriptors() {
  static_cast<void>(close_range(3, ~0U, 0));
  count(Event::kForeignClose);
}

// If a writer has a byte for itself, locks another byte.
void Process::lock_as_a_stranger() {
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const int command = one_in(2) ? F_SETLK : F_OFD_SETLK;
  if (read_lock(descriptor, command, 0, 0) || read_lock(descriptor, command, static_cast<off_t>(below(4)), 1)) {
    count(Event::kForeignLock);
    pause(5000);
  }
  close(descriptor);
}

// --- Small things ----------------------------------------------------------------------------------------------------

const std::string& Process::a_name() { return mischief_.links && one_in(4) ? second_name_ : path_; }

// Returns options, some of which wait.
OpenOptions Process::opening() {
  OpenOptions all;
  if (one_in(4)) all.lock_timeout_ms = static_cast<std::uint32_t>(below(5));
  return all;
}

void Process::pause(std::uint64_t most_microseconds) { usleep(static_cast<useconds_t>(below(most_microseconds))); }

void Process::count(Event event, std::uint64_t times) {
  board_.events[static_cast<std::size_t>(event)].fetch_add(times);
}

bool Process::content(Code code) {
  board_.calls[number_].fetch_add(1);
  if (code == Code::kOk) return true;
  ++board_.refusals.at(static_cast<std::size_t>(-static_cast<std::int32_t>(code)));
  return false;
}

}  // namespace store_test::storm
