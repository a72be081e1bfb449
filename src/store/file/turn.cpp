#include "store/file/turn.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "sizing/epochs.hpp"
#include "store/file/refusals.hpp"
#include "store/file/sync.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using region::MappedLock;

constexpr std::uint64_t kNanosecondsInMs = 1'000'000;
constexpr std::uint64_t kPieceWords = (std::uint64_t{1} << 20) / 8;  // between two looks at the lock

std::uint64_t nanoseconds_on(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

const layout::Row& row_of(const OpenFile& opened) noexcept { return layout::row_of(opened.identity().shape.layout); }

Error poison_under_lock(const OpenFile& opened, const Error& cause) {
  const auto state_lock = opened.take(format::kStateLock);
  if (state_lock) return opened.poison(cause);
  opened.live_word().set(format::LiveWord::kPoisoned);
  return cause;
}

// The caller holds the sync lock, so a process that set *syncing* is dead. No other process changes the slots, except
// for one that poisons the file.
Error check_may_turn(const OpenFile& opened, const Evidence& evidence) {
  const std::string& path = opened.file().path();
  if (evidence.slots.newest() == nullptr)
    return poison_under_lock(opened, opened.refuse(FileState::kUnknown, evidence));
  const format::Slot& newest = *evidence.slots.newest();
  if (evidence.live_word.has(format::LiveWord::kPoisoned) || format::is_poisoned(newest))
    return earlier_sync(opened.file());
  const bool begun = newest.state == format::SlotState::kRecovering || newest.state == format::SlotState::kPaused;
  if (begun || evidence.live_word.has(format::LiveWord::kRecovering))
    return fail(Code::kRecovering, path + ": no epoch ends in a recovery. Finish the recovery first.");
  if (evidence.syncing)
    return poison_under_lock(opened, fail(Code::kPoisoned, path + ": a process was killed while it synced"));
  if (in_one_epoch(evidence)) return {};
  return poison_under_lock(opened, fail(Code::kPoisoned, path + ": its live page is of another epoch than its slots"));
}

// Returns the epoch that is to end, if one is. Not inlined: the evidence is large.
[[gnu::noinline]] Result<std::optional<std::uint64_t>> epoch_to_end(const OpenFile& opened,
                                                                    std::optional<std::uint64_t> from) {
  const auto evidence = opened.evidence_under_lock();
  if (!evidence) return evidence.error();
  if (Error error = check_may_turn(opened, *evidence); !error.ok()) return error;
  const format::Slot& newest = *evidence->slots.newest();
  const std::uint64_t length = sizing::epoch_ms(*opened.identity().window_ms, row_of(opened).info.epochs);
  const bool over = from ? newest.epoch == *from : is_turn_due(newest, evidence->place.boot_id, length);
  return over ? std::optional(newest.epoch) : std::nullopt;
}

// A turner that lost its lock would clear what others add after the next turn.
Error check_may_clear(const OpenFile& opened, const MappedLock& sync_lock) {
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  if (Error error = sync_lock.check(opened.file()); !error.ok()) return error;
  if (opened.replaced()) return superseded(opened.file());
  if (!opened.live_word().load().has(format::LiveWord::kPoisoned)) return {};
  return earlier_sync(opened.file());
}

// Clears the word of that epoch in each line. The fence comes between the epoch of the live page and the first word: a
// lookup that finds a cleared word notices that a turn has begun.
Error clear(const OpenFile& opened, std::uint64_t epoch, const MappedLock& sync_lock) {
  auto* const words = reinterpret_cast<std::uint64_t*>(opened.body());
  const std::uint64_t num_words = opened.identity().body_bytes / sizeof *words;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint64_t first = 0; first < num_words; first += kPieceWords) {
    if (Error error = check_may_clear(opened, sync_lock); !error.ok()) return error;
    row_of(opened).clear(words + first, std::min(kPieceWords, num_words - first), epoch);
  }
  return check_may_clear(opened, sync_lock);
}

}  // namespace

Times now() noexcept { return {nanoseconds_on(CLOCK_REALTIME), nanoseconds_on(CLOCK_BOOTTIME)}; }

bool is_turn_due(const format::Slot& slot, const format::BootId& boot_id, std::uint64_t epoch_ms) noexcept {
  const Times moment = now();
  const bool same_boot = slot.turned_after_boot != 0 && boot_id != format::BootId{} && slot.place.boot_id == boot_id;
  const std::uint64_t began = same_boot ? slot.turned_after_boot : slot.turned_at;
  const std::uint64_t is = same_boot ? moment.after_boot : moment.since_1970;
  return is >= began && (is - began) / kNanosecondsInMs >= epoch_ms;
}

// *Syncing* is not set while words are cleared: a process that dies then has lost nothing, and the next turn clears
// them again.
Result<bool> turn(const OpenFile& opened, std::optional<std::uint64_t> from) {
  const auto sync_lock = MappedLock::take_byte(opened.file(), format::kSyncLock, opened.lock_timeout_ms());
  if (!sync_lock) return sync_lock.error();
  if (sync_lock->ends_with()) {
    return fail(Code::kUnsupported, opened.file().path() +
                                        ": on an overlay filesystem, where other code of this process can end the lock "
                                        "of a turn. Copy it to another filesystem.");
  }
  if (Error error = check_may_clear(opened, *sync_lock); !error.ok()) return error;
  const auto ended = epoch_to_end(opened, from);
  if (!ended) return ended.error();
  if (!*ended) return false;
  if (!opened.live_word().begin_clearing(**ended))
    return poison_under_lock(opened, fail(Code::kPoisoned, opened.file().path() + ": its epoch changed in a turn"));
  if (Error error = clear(opened, **ended + 1, *sync_lock); !error.ok()) return error;
  if (Error error = sync_and_begin_epoch(opened, **ended + 1); !error.ok()) return error;
  return true;
}

}  // namespace bfstore::store
