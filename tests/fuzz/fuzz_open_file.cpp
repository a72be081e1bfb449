// Takes any bytes as a filter file (image.hpp). Opens it for reading, for writing, and to recover it, and opens it
// again. What opens can be used, and every key that was added is found from then on. For a sealed file everything is
// known: the damage, and each answer. What opens is also sealed, and truncated under open handles, which must bear it.
#include <unistd.h>
#include <bfstore/inspect.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../support/abi_calls.h"
#include "image.hpp"

namespace {

using fuzz::check;
using fuzz::check_code;
using fuzz::KeySet;

// Bits of the input's second byte and its third one.
constexpr unsigned kExclusive = 1;
constexpr unsigned kStrict = 2;
constexpr unsigned kPopulate = 4;
constexpr unsigned kRandom = 8;
constexpr unsigned kLimit = 16;
constexpr unsigned kAcceptLoss = 32;
constexpr unsigned kStopRecovering = 64;
constexpr unsigned kFacts = 128;  // rarely: bfs_stats reads /proc/self/smaps, which is long in a sanitizer's process

constexpr unsigned kCopy = 256;
constexpr unsigned kGuard = 512;
constexpr unsigned kSealIt = 1024;
constexpr unsigned kCutOff = 2048;
constexpr unsigned kCutPages = 7U << 12;  // how many pages are left
constexpr unsigned kTurn = 1U << 15;

constexpr std::uint64_t kOwner = 77;
constexpr std::uint64_t kMark = 1000;

std::uint64_t reading(unsigned calls) {
  return BFS_READ | ((calls & kGuard) != 0 ? BFS_GUARD : 0) | ((calls & kStrict) != 0 ? BFS_STRICT : 0) |
         ((calls & kPopulate) != 0 ? BFS_POPULATE : 0) | ((calls & kRandom) != 0 ? BFS_RANDOM : 0);
}

std::uint64_t writing(unsigned calls) {
  return (reading(calls) & ~BFS_READ) | ((calls & kExclusive) != 0 ? BFS_EXCLUSIVE : BFS_WRITE) |
         ((calls & kLimit) != 0 ? BFS_LIMIT : 0);
}

std::int32_t read(const char* path, unsigned calls, const KeySet& present) {
  const auto [code, filter, needs_secret, rule] =
      fuzz::open_file(path, reading(calls) | ((calls & kCopy) != 0 ? BFS_PRIVATE : 0));
  if (filter == nullptr) return code;
  fuzz::ask(filter, present);
  if ((calls & kFacts) != 0) fuzz::facts(filter);
  check(bfs_add(filter, "x", 1) < 0, "a reader adds nothing");
  check(bfs_close(filter, nullptr) == BFS_OK, "a reader closes");
  return code;
}

void sync(bfs_filter* filter) {
  const std::int32_t synced = sync_at(filter, kOwner, 0, kMark, nullptr);
  check_code(synced, "a sync");
  check(synced != BFS_OK || bfs_get_mark(filter, kOwner, 0) >= kMark, "a mark that was stored");
}

// Says for every owner of a mark that it has added again what came after the mark.
void end_recovery(const char* path, bfs_filter* filter) {
  const auto report = bfstore::inspect(path, false);
  check(report.ok(), "a report on a file that is open");
  bool over = report->marks.empty() && bfs_finish_recovery(filter, kOwner, nullptr) == 1;
  for (const auto& mark : report->marks) {
    const std::int32_t code = bfs_finish_recovery(filter, mark.owner, nullptr);
    check_code(code, "an owner recovered");
    over = code == 1;
  }
  check(over, "a recovery is over when every owner has said so");
}

// The known state of the file.
struct State {
  KeySet present;
  bool in_doubt = false;  // it is to be recovered, or its recovery was begun
  std::int32_t closed = BFS_OK;
};

// Ends the epoch of a file whose keys expire, if nothing forbids it. Each of the few turns of a run leaves the keys of
// the session before its own, but in the layout with two epochs: there `before` have had a turn already.
void turn(bfs_filter* filter, const KeySet& before, State& state) {
  const bfs_statistics said = fuzz::facts(filter);
  check(bfs_turn(filter, said.epoch + 1, nullptr) != 1, "an epoch that is not the file's does not end");
  const std::int32_t turned = bfs_turn(filter, said.epoch, nullptr);
  check_code(turned, "a turn");
  check(said.epochs != 0 || turned < 0, "keys that do not expire have no epochs", turned);
  if (turned != 1) return;
  check(!state.in_doubt, "no epoch ends in a recovery");
  check(fuzz::facts(filter).epoch == said.epoch + 1, "a turn begins the next epoch");
  if (said.epochs == 2) {
    for (const std::size_t key : before) state.present.erase(key);
  }
}

void check_health(const char* path, bfs_filter* filter, const State& state) {
  const auto report = bfstore::inspect(path, false);
  check(report.ok(), "a report on a file that is open");
  const std::int32_t otherwise = report->filling ? BFS_EFILLING : BFS_OK;
  const std::int32_t health = fuzz::facts(filter).health;
  check(health == (state.in_doubt ? BFS_ERECOVERING : otherwise), "it is known whether it is in doubt", health);
}

// Opens for writing, adds, syncs and closes. Returns the code of opening.
std::int32_t write(const char* path, std::uint64_t flags, unsigned calls, State& state) {
  const auto [code, filter, needs_secret, rule] = fuzz::open_file(path, flags);
  if (filter == nullptr) return code;
  if ((flags & BFS_ACCEPT_LOSS) != 0) state.in_doubt = false;
  const KeySet before = state.present;
  fuzz::add_some(filter, calls, 5, state.present);
  fuzz::ask(filter, state.present);
  fuzz::remove_some(filter, calls, 2, state.present);
  sync(filter);
  if (state.in_doubt && (calls & kStopRecovering) == 0) {
    end_recovery(path, filter);
    state.in_doubt = false;
  }
  if ((calls & kTurn) != 0) turn(filter, before, state);
  fuzz::add_some(filter, calls + 5, 3, state.present);
  fuzz::ask(filter, state.present);
  fuzz::remove_some(filter, calls + 4, 2, state.present);
  if ((calls & kFacts) != 0) check_health(path, filter, state);
  state.closed = bfs_close(filter, nullptr);
  check_code(state.closed, "closing");
  const std::int32_t again = read(path, calls & ~kStrict, state.present);
  const std::int32_t expected = state.in_doubt ? BFS_ERECOVERING : BFS_OK;
  if (state.closed == BFS_OK) check(again == expected, "what was closed opens again", again);
  return code;
}

bool needs_recovery(std::int32_t code) {
  return code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING;
}

// Uses a file whose state can be written only a few times or not at all: only its answers are reliable.
void use_up(const char* path, unsigned calls, KeySet& present) {
  for (const std::uint64_t how : {0ULL, BFS_RECOVER, BFS_ACCEPT_LOSS}) {
    const auto [code, filter, needs_secret, rule] = fuzz::open_file(path, writing(calls) | how);
    if (filter == nullptr) continue;
    fuzz::add_some(filter, calls, 5, present);
    check_code(sync_at(filter, kOwner, 0, kMark, nullptr), "a sync");
    check_code(bfs_finish_recovery(filter, kOwner, nullptr), "an owner recovered");
    fuzz::ask(filter, present);
    check_code(bfs_close(filter, nullptr), "closing");
  }
  read(path, calls, present);
}

// Returns many digests, those of keys among them. Returns zeros, one for each key, if the filter takes no digests.
std::vector<std::uint64_t> some_digests(const bfs_filter* filter) {
  constexpr std::uint64_t kOthers = 64;
  std::vector<std::uint64_t> digests;
  if (!fuzz::takes_digests(filter)) return std::vector<std::uint64_t>(fuzz::kKeys);
  for (std::uint64_t i = 1; i <= kOthers; ++i) digests.push_back(0x9e3779b97f4a7c15U * i);
  for (std::size_t i = 0; i < fuzz::kKeys; ++i) {
    std::uint64_t digest = fuzz::digest(i);
    bfs_digest(filter, fuzz::key(i).data(), fuzz::key(i).size(), &digest);
    digests.push_back(digest);
  }
  return digests;
}

std::vector<std::uint8_t> answers_to(const bfs_filter* filter, const std::vector<std::uint64_t>& digests) {
  std::vector<std::uint8_t> answers(digests.size());
  if (!fuzz::takes_digests(filter)) {
    for (std::size_t i = 0; i < fuzz::kKeys; ++i)
      answers[i] = bfs_contains(filter, fuzz::key(i).data(), fuzz::key(i).size()) != 0 ? 1 : 0;
    return answers;
  }
  check(contains_digests(filter, digests.data(), digests.size(), answers.data()) >= 0, "digests are answered");
  return answers;
}

// Checks the answers, and closes the handle.
void check_answers(bfs_filter* filter, const fuzz::Sealed& sealed, bool tolerated) {
  const std::vector<std::uint64_t> digests = some_digests(filter);
  const std::vector<std::uint8_t> answers = answers_to(filter, digests);
  for (std::size_t i = 0; fuzz::takes_digests(filter) && i < digests.size(); ++i) {
    check((answers[i] != 0) == sealed.may_have(digests[i], tolerated), "a sealed file answers what its bits say",
          static_cast<std::int64_t>(i));
  }
  bfs_close(filter, nullptr);
}

// Checks that bfs_verify reports the damage that exists. Returns the number of damaged ranges.
std::int64_t verify(const char* path, const fuzz::Sealed& sealed) {
  std::array<bfs_range, 2> first{};
  const std::int64_t found = bfs_verify(path, 0, first.data(), first.size(), nullptr);
  check_code(found, "verifying");
  if (found < 0) return found;
  check(found == static_cast<std::int64_t>(sealed.damaged().size()), "every damage is found, and no other", found);
  for (std::size_t i = 0; i < std::min(first.size(), sealed.damaged().size()); ++i) {
    check(first[i].offset == sealed.damaged()[i].offset && first[i].bytes == sealed.damaged()[i].bytes,
          "damage is where it is", static_cast<std::int64_t>(first[i].offset));
  }
  return found;
}

void check_sealed(const char* path, const fuzz::Sealed& sealed, unsigned calls) {
  const std::uint64_t how = reading(calls & ~kStrict) | ((calls & kCopy) != 0 ? BFS_PRIVATE : 0);
  const auto plain = fuzz::open_file(path, how);
  const std::int64_t damaged = verify(path, sealed);
  if (plain.filter != nullptr) check(damaged >= 0, "what opens is verified", damaged);
  if (damaged == 0 && plain.code != BFS_ESECRET && !sealed.replaced())
    check(plain.filter != nullptr, "what is as it was sealed opens", plain.code);
  if (plain.filter == nullptr) return;
  check_answers(plain.filter, sealed, false);
  const auto verified = fuzz::open_file(path, how | BFS_VERIFY);
  check(verified.code == (damaged == 0 ? BFS_OK : BFS_EDAMAGED), "what is damaged is refused", verified.code);
  if (verified.filter != nullptr) check_answers(verified.filter, sealed, false);
  const auto tolerant = fuzz::open_file(path, how | BFS_TOLERATE_DAMAGE);
  check(tolerant.filter != nullptr, "damage is tolerated", tolerant.code);
  check_answers(tolerant.filter, sealed, true);
  const auto writer = fuzz::open_file(path, writing(calls));
  check(writer.code == sealed.writing_code(), "a sealed file is never written to", writer.code);
}

// Seals the image, if it can be read. Checks that the sealed file answers as the image does.
void seal(const char* path, const std::optional<fuzz::Sealed>& image) {
  const std::string to = fuzz::scratch("sealed.bf");
  unlink(to.c_str());
  const auto plain = fuzz::open_file(path, BFS_READ);
  bfs_error error = fuzz::no_error();
  const bool opens = plain.filter != nullptr;  // with or without the secret
  const std::int32_t code = opens ? bfs_copy(plain.filter, to.c_str(), BFS_SEALED, nullptr, &error)
                                  : seal_with(path, to.c_str(), 0, 0, &error);
  check_code(code, "sealing");
  check(code == BFS_OK || (code == error.code && error.message[0] != '\0'), "sealing says why not", code);
  const bool filling = plain.filter != nullptr && bfs_health(plain.filter) == BFS_EFILLING;
  const bool whole = !image || image->damaged().empty();
  if (filling) {
    check(code == BFS_EFILLING, "what is still being filled is not sealed", code);
  } else if (plain.code != BFS_ESECRET) {
    check((code == BFS_OK) == (plain.filter != nullptr && whole), "what opens is sealed", code);
  }
  const auto sealed = code == BFS_OK ? fuzz::Sealed::read(to.c_str()) : std::nullopt;
  check(sealed ? sealed->damaged().empty() : code != BFS_OK && access(to.c_str(), F_OK) != 0, "a seal, or no file");
  if (sealed && plain.filter != nullptr) {
    check(bfs_verify(to.c_str(), 0, nullptr, 0, nullptr) == 0, "what was sealed just now is whole");
    check_answers(fuzz::open_file(to.c_str(), BFS_READ | BFS_VERIFY).filter, *sealed, false);
    const std::vector<std::uint64_t> digests = some_digests(plain.filter);
    const auto answers = answers_to(plain.filter, digests);
    for (std::size_t i = 0; fuzz::takes_digests(plain.filter) && i < digests.size(); ++i) {
      check((answers[i] != 0) == sealed->may_have(digests[i], false), "a sealed copy has the bits of its source");
    }
    const auto writer = fuzz::open_file(to.c_str(), BFS_WRITE);
    check(writer.code == BFS_ESEALED, "a sealed file is never written to", writer.code);
  }
  bfs_close(plain.filter, nullptr);
}

std::string bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Checks that the bytes of the image are loaded only if a process that has this file alone could open it, and that they
// answer alike.
void load(const char* path) {
  const std::string bytes = bytes_of(path);
  bfs_filter* loaded = nullptr;
  bfs_error error = fuzz::no_error();
  for (const void* secret : {static_cast<const void*>(nullptr), fuzz::secret()}) {
    const std::int32_t code =
        open_memory_with(bytes.data(), bytes.size(), BFS_READ | BFS_PRIVATE, secret, &loaded, &error);
    loaded = fuzz::made(code, loaded, error).filter;
    if (code != BFS_ESECRET) break;
  }
  if (loaded == nullptr) return;
  const auto reader = fuzz::open_file(path, BFS_READ | BFS_STRICT);
  const bool embedded = bytes[bfstore::format::kFormField.offset] != 1;  // a file never has this form
  if (!embedded) {
    check(reader.filter != nullptr, "what is loaded opens", reader.code);
    const std::vector<std::uint64_t> digests = some_digests(reader.filter);
    check(answers_to(loaded, digests) == answers_to(reader.filter, digests), "loaded bytes answer as the file does");
    const std::string copy = fuzz::scratch("saved.bf");
    unlink(copy.c_str());
    check(bfs_copy(reader.filter, copy.c_str(), 0, nullptr, nullptr) == BFS_OK, "a clean file is saved");
    const auto saved = fuzz::open_file(copy.c_str(), BFS_READ);
    check(saved.filter != nullptr, "what was saved opens", saved.code);
    check(answers_to(saved.filter, digests) == answers_to(loaded, digests), "a saved file answers as its source does");
    bfs_close(saved.filter, nullptr);
  }
  bfs_close(reader.filter, nullptr);
  bfs_close(loaded, nullptr);
}

// Cuts the file under a copy and a guarded handle. The copy answers as before, the guarded handle gives no new no, and
// neither ends the process.
void cut_off(const char* path, unsigned calls) {
  const auto guarded = fuzz::open_file(path, BFS_READ | BFS_GUARD);
  if (guarded.filter == nullptr) return;
  const auto copy = fuzz::open_file(path, BFS_READ | BFS_PRIVATE);
  check(copy.filter != nullptr, "what opens is copied", copy.code);
  const std::vector<std::uint64_t> digests = some_digests(guarded.filter);
  const std::vector<std::uint8_t> before = answers_to(guarded.filter, digests);
  check(answers_to(copy.filter, digests) == before, "a copy answers as the file does");
  const auto left = static_cast<off_t>((calls & kCutPages) / (kCutPages & -kCutPages) * bfstore::format::kPageBytes);
  check(truncate(path, left) == 0, "a file that can be cut off");
  check(answers_to(copy.filter, digests) == before, "a copy is out of reach");
  const std::vector<std::uint8_t> after = answers_to(guarded.filter, digests);
  for (std::size_t i = 0; i < digests.size(); ++i) check(after[i] >= before[i], "what was cut off is in doubt");
  bfs_close(copy.filter, nullptr);
  bfs_close(guarded.filter, nullptr);
}

// Opens to write, recovers if need be, closes, and opens again.
void write_and_write_again(const char* path, unsigned calls, State& state) {
  std::int32_t code = write(path, writing(calls), calls, state);
  if (needs_recovery(code)) {
    const std::uint32_t how = (calls & kAcceptLoss) != 0 ? BFS_ACCEPT_LOSS : BFS_RECOVER;
    state.in_doubt = true;
    code = write(path, writing(calls) | how, calls, state);
    check(!needs_recovery(code), "a file in need of it can be recovered", code);
  }
  if (code == BFS_OK && state.closed == BFS_OK) {
    code = write(path, writing(calls ^ kExclusive) | BFS_RECOVER, calls, state);
    check(code == BFS_OK, "what was written once is written again", code);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::ImageFile file;
  const fuzz::Image image = file.put({data, size});
  const unsigned calls = image.calls;
  const char* path = file.path();
  State state;
  load(path);
  read(path, calls, state.present);
  const auto sealed = fuzz::Sealed::read(path);
  if (sealed) {
    check_sealed(path, *sealed, calls);
  } else if ((calls & kFacts) != 0) {
    check(bfs_verify(path, 0, nullptr, 0, nullptr) < 0, "what is not sealed is not verified");
    check(fuzz::open_file(path, BFS_READ | BFS_VERIFY).filter == nullptr, "what is not sealed has no checksums");
  }
  if ((calls & kSealIt) != 0) seal(path, sealed);
  if (image.used_up) {
    use_up(path, calls, state.present);
  } else {
    write_and_write_again(path, calls, state);
  }
  if ((calls & kSealIt) != 0 && !state.present.empty() && !state.in_doubt) seal(path, sealed);
  if ((calls & kCutOff) != 0) cut_off(path, calls);
  return 0;
}
