// Any bytes as a filter file (image.hpp): it is opened for reading, for writing, and to be recovered, and opened again.
// Whatever opens can be used, and every key that was added is found from then on.
#include <bfstore/inspect.hpp>

#include "image.hpp"

namespace {

using fuzz::check;
using fuzz::check_code;
using fuzz::KeySet;

// Bits of the input's second byte.
constexpr unsigned kExclusive = 1;
constexpr unsigned kStrict = 2;
constexpr unsigned kPopulate = 4;
constexpr unsigned kRandom = 8;
constexpr unsigned kLimit = 16;
constexpr unsigned kAcceptLoss = 32;
constexpr unsigned kStopRecovering = 64;
constexpr unsigned kFacts = 128;  // rarely: bfs_stats reads /proc/self/smaps, which is long in a sanitizer's process

constexpr std::uint64_t kOwner = 77;
constexpr std::uint64_t kMark = 1000;

std::uint32_t reading(unsigned calls) {
  return BFS_OPEN_READ | ((calls & kStrict) != 0 ? BFS_OPEN_STRICT : 0) |
         ((calls & kPopulate) != 0 ? BFS_OPEN_POPULATE : 0) | ((calls & kRandom) != 0 ? BFS_OPEN_RANDOM : 0);
}

std::uint32_t writing(unsigned calls) {
  return (reading(calls) & ~BFS_OPEN_READ) | ((calls & kExclusive) != 0 ? BFS_OPEN_EXCLUSIVE : BFS_OPEN_WRITE) |
         ((calls & kLimit) != 0 ? BFS_OPEN_LIMIT : 0);
}

std::int32_t read(const char* path, unsigned calls, const KeySet& present) {
  const auto [code, filter] = fuzz::open_file(path, reading(calls));
  if (filter == nullptr) return code;
  fuzz::ask(filter, present);
  if ((calls & kFacts) != 0) fuzz::facts(filter);
  check(bfs_add(filter, "x", 1) < 0, "a reader adds nothing");
  check(bfs_close(filter) == BFS_OK, "a reader closes");
  return code;
}

void sync(bfs_filter* filter) {
  const std::int32_t synced = bfs_sync(filter, kOwner, kMark);
  check_code(synced, "a sync");
  check(synced != BFS_OK || bfs_mark(filter, kOwner) >= kMark, "a mark that was stored");
}

// Every owner of a mark has added again what came after it.
void end_recovery(const char* path, bfs_filter* filter) {
  const auto report = bfstore::inspect(path, false);
  check(report.ok(), "a report on a file that is open");
  bool over = report->marks.empty() && bfs_recovered(filter, kOwner, nullptr) == 1;
  for (const auto& mark : report->marks) {
    const std::int32_t code = bfs_recovered(filter, mark.owner, nullptr);
    check_code(code, "an owner recovered");
    over = code == 1;
  }
  check(over, "a recovery is over when every owner has said so");
}

// What is known of the file.
struct State {
  KeySet present;
  bool in_doubt = false;  // it is to be recovered, or its recovery was begun
  std::int32_t closed = BFS_OK;
};

// Opens for writing, adds, syncs and closes. The code of opening.
std::int32_t write(const char* path, std::uint32_t flags, unsigned calls, State& state) {
  const auto [code, filter] = fuzz::open_file(path, flags);
  if (filter == nullptr) return code;
  if ((flags & BFS_OPEN_ACCEPT_LOSS) != 0) state.in_doubt = false;
  fuzz::add_some(filter, calls, 5, state.present);
  fuzz::ask(filter, state.present);
  sync(filter);
  if (state.in_doubt && (calls & kStopRecovering) == 0) {
    end_recovery(path, filter);
    state.in_doubt = false;
  }
  fuzz::add_some(filter, calls + 5, 3, state.present);
  fuzz::ask(filter, state.present);
  if ((calls & kFacts) != 0) {
    check(fuzz::facts(filter).health == (state.in_doubt ? BFS_ERECOVERING : BFS_OK),
          "it is known whether it is in doubt");
  }
  state.closed = bfs_close(filter);
  check_code(state.closed, "closing");
  const std::int32_t again = read(path, calls & ~kStrict, state.present);
  const std::int32_t expected = state.in_doubt ? BFS_ERECOVERING : BFS_OK;
  if (state.closed == BFS_OK) check(again == expected, "what was closed opens again", again);
  return code;
}

bool needs_recovery(std::int32_t code) {
  return code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING;
}

// Its state can be written a few times or not at all: nothing but the answers is to be relied on.
void use_up(const char* path, unsigned calls, KeySet& present) {
  for (const std::uint32_t how : {0U, BFS_OPEN_RECOVER, BFS_OPEN_ACCEPT_LOSS}) {
    const auto [code, filter] = fuzz::open_file(path, writing(calls) | how);
    if (filter == nullptr) continue;
    fuzz::add_some(filter, calls, 5, present);
    check_code(bfs_sync(filter, kOwner, kMark), "a sync");
    check_code(bfs_recovered(filter, kOwner, nullptr), "an owner recovered");
    fuzz::ask(filter, present);
    check_code(bfs_close(filter), "closing");
  }
  read(path, calls, present);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::ImageFile file;
  const fuzz::Image image = file.put({data, size});
  const unsigned calls = image.calls;
  State state;
  read(file.path(), calls, state.present);
  if (image.used_up) {
    use_up(file.path(), calls, state.present);
    return 0;
  }
  std::int32_t code = write(file.path(), writing(calls), calls, state);
  if (needs_recovery(code)) {
    const std::uint32_t how = (calls & kAcceptLoss) != 0 ? BFS_OPEN_ACCEPT_LOSS : BFS_OPEN_RECOVER;
    state.in_doubt = true;
    code = write(file.path(), writing(calls) | how, calls, state);
    check(!needs_recovery(code), "a file in need of it can be recovered", code);
  }
  if (code == BFS_OK && state.closed == BFS_OK) {
    code = write(file.path(), writing(calls ^ kExclusive) | BFS_OPEN_RECOVER, calls, state);
    check(code == BFS_OK, "what was written once is written again", code);
  }
  return 0;
}
