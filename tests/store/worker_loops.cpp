// Workers that continue by themselves until they are told to stop, are done, or are killed.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "keys.hpp"
#include "workers.hpp"

namespace store_test {

using namespace bfstore;

namespace {

// On a slow machine or disk another process may hold a lock for longer than the default waits.
constexpr std::uint32_t kPatience = kWaitForEver;

// Says what went wrong where a person sees it. Returns 1, the exit code of a worker that is not content.
int complain(const std::string& what, const Error& error = {}) {
  std::fprintf(stderr, "worker: %s: %s\n", what.c_str(), error.message.c_str());
  return 1;
}

// Adds the next keys, one by one or all at once. Returns how many were new, or -1.
std::int64_t add_next(Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t batch) {
  if (batch == 1) return filter.add(key_of(writer, from)).raw();
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < batch; ++i) keys.push_back(key_of(writer, from + i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  return filter.add_keys(Keys::views(views)).raw();
}

}  // namespace

Board* map_board(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor, sizeof(Board)) == 0) {
    memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  close(descriptor);
  return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
}

std::uint64_t packed(std::uint64_t acknowledged, std::uint64_t certainly_new) noexcept {
  return certainly_new << 32 | acknowledged;
}

int run_add(const std::vector<std::string>& words) {
  Board* board = map_board(words[2]);
  const auto number = static_cast<unsigned>(std::stoul(words[3]));
  const std::uint64_t batch = std::stoull(words[4]);
  // A kill in the middle of a question to the kernel leaves the file unclean (FORMAT.md, "States and events").
  auto filter =
      Filter::open(words[1], OpenMode::kWrite, {.lock_timeout_ms = kPatience, .writeback_check_ms = kNeverAsks});
  if (!filter) return complain("open", filter.error());
  Progress& mine = board->workers.at(number);
  std::uint64_t acknowledged = mine.acknowledged();
  std::uint64_t certainly_new = mine.certainly_new();
  mine.adding.store(1);
  while (board->stop.load(std::memory_order_relaxed) == 0) {
    const std::int64_t added = add_next(*filter, number, acknowledged, batch);
    if (added < 0) return complain("add");
    acknowledged += batch;
    certainly_new += static_cast<std::uint64_t>(added);
    mine.word.store(packed(acknowledged, certainly_new), std::memory_order_release);
  }
  mine.adding.store(0);
  const Error closed = filter->close();
  return closed.ok() ? 0 : complain("close", closed);
}

namespace {

// An owner's mark says how many keys came before it; 1 is for none.
std::uint64_t mark_at(std::uint64_t keys) noexcept { return keys + 1; }

// Adds again what came after the mark, and finishes the recovery. Returns false if another process has to leave first.
bool recover(Filter& filter, unsigned owner, std::uint64_t acknowledged) {
  const std::uint64_t mark = filter.get_mark(owner);
  for (std::uint64_t key = mark == 0 ? 0 : mark - 1; key < acknowledged; ++key) {
    if (!filter.add(key_of(owner, key)).ok()) return false;
  }
  return filter.finish_recovery(owner).ok();
}

// Adds and syncs until it is told to stop, or the file is in doubt because another worker was killed in a sync.
void add_and_sync(Filter& filter, unsigned owner, Board& board) {
  Progress& mine = board.workers.at(owner);
  std::uint64_t acknowledged = mine.acknowledged();
  while (board.stop.load(std::memory_order_relaxed) == 0) {
    for (int i = 0; i < 20; ++i) {
      if (!filter.add(key_of(owner, acknowledged)).ok()) return;
      mine.word.store(packed(++acknowledged, 0), std::memory_order_release);
    }
    if (!filter.sync({.owner = owner, .mark = mark_at(acknowledged)}).ok()) return;
  }
}

}  // namespace

int run_live(const std::vector<std::string>& words) {
  Board* board = map_board(words[2]);
  const auto owner = static_cast<unsigned>(std::stoul(words[3]));
  Progress& mine = board->workers.at(owner);
  while (board->stop.load(std::memory_order_relaxed) == 0) {
    auto filter = Filter::open(words[1], OpenMode::kWrite, {.recover = true});
    mine.adding.store(1);
    if (!filter) {
      const Code code = filter.error().code;  // another one has yet to leave, or recovers it just now
      if (code != Code::kBusy && code != Code::kRecovering && code != Code::kPoisoned)
        return complain("open", filter.error());
      usleep(500);
      continue;
    }
    const std::uint64_t acknowledged = mine.acknowledged();
    const bool recovering = filter->health() == Code::kRecovering;
    if (recovering && !recover(*filter, owner, acknowledged)) continue;
    if (filter->sync({.owner = owner, .mark = mark_at(acknowledged)}).ok()) add_and_sync(*filter, owner, *board);
  }
  return 0;
}

int run_churn(const std::vector<std::string>& words) {
  const std::string& mode = words[2];
  const bool reading = mode == "read";
  const auto wanted = reading ? OpenMode::kRead : mode == "write" ? OpenMode::kWrite : OpenMode::kExclusive;
  const std::uint64_t rounds = std::stoull(words[3]);
  for (std::uint64_t round = 0; round < rounds;) {
    auto filter = Filter::open(words[1], wanted, {.lock_timeout_ms = kPatience});
    const bool busy = !filter && filter.error().code == Code::kBusy;
    if (busy && mode == "write") continue;  // an exclusive writer has it: not for long
    ++round;
    if (busy && mode == "exclusive") continue;
    if (!filter) return complain("open " + mode, filter.error());
    if (maybes(*filter, 1, 0, kSome) != kSome) return complain("a wrong no");
    if (!reading && !filter->add(key_of(2, round - 1)).ok()) return complain("add");
    if (const Error closed = filter->close(); !closed.ok()) return complain("close", closed);
  }
  return 0;
}

int run_create(const std::vector<std::string>& words) {
  Options options;
  options.max_bytes = std::uint64_t{40} << 20;
  options.capacity = 1'000'000;
  options.replace = words[2] == "replace";
  auto filter = Filter::create(words[1], options);
  if (!filter) return complain("create", filter.error());
  const Error closed = filter->close();
  return closed.ok() ? 0 : complain("close", closed);
}

int run_sync(const std::vector<std::string>& words) {
  const auto owner = static_cast<unsigned>(std::stoul(words[2]));
  const std::uint64_t rounds = std::stoull(words[3]);
  auto filter = Filter::open(words[1], OpenMode::kWrite, {.lock_timeout_ms = kPatience});
  if (!filter) return complain("open", filter.error());
  for (std::uint64_t mark = 1; mark <= rounds; ++mark) {
    if (!filter->add(key_of(owner, mark)).ok()) return complain("add");
    if (const Error synced = filter->sync({.owner = owner, .mark = mark}); !synced.ok())
      return complain("sync", synced);
    if (filter->get_mark(owner) != mark) return complain("another mark than the one just stored");
  }
  const Error closed = filter->close();
  return closed.ok() ? 0 : complain("close", closed);
}

}  // namespace store_test
