#include "store/file/sync.hpp"

#include <new>

#include "base/fail.hpp"
#include "store/file/refusals.hpp"
#include "store/file/turn.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::kSyncLock;
using format::Slot;
using format::SlotState;

// The first half of a sync.
struct Synced {
  Error error;
  std::uint32_t num_slices = 1;  // that it made durable, whatever was added meanwhile
};

// Makes durable what was added. Leaves *syncing* set, which store_slot() clears. If there may be other writers, the
// caller holds the sync lock.
Synced sync_body(const OpenFile& opened) {
  if (Error error = opened.check_file_is_whole(); !error.ok()) return {error};
  const bool died = opened.live_word().begin_sync();
  if (opened.live_word().load().has(format::LiveWord::kPoisoned)) return {earlier_sync(opened.file())};
  if (died) return {fail(Code::kPoisoned, opened.file().path() + ": a process was killed while it synced")};
  const std::uint32_t num_slices = opened.num_slices();  // before the bits of keys that the call covers are written
  return {opened.file().sync(), num_slices};
}

// The file may have been cut before the sync, or while this process synced or waited for a lock. Nothing is stored in
// it then.
Error lost_meanwhile(const OpenFile& opened, const Error& body_synced) {
  if (body_synced.code == Code::kLost || body_synced.code == Code::kFault) return body_synced;
  return opened.check_words();
}

// Without the state lock no slot is written. A sync that failed leaves *syncing* set, so that the next process that
// looks knows.
Error not_stored(const OpenFile& opened, const Error& body_synced, const Error& no_lock) {
  if (Error lost = lost_meanwhile(opened, body_synced); !lost.ok()) return lost;
  if (body_synced.ok()) {
    opened.live_word().end_sync();
    return no_lock;
  }
  opened.live_word().set(format::LiveWord::kPoisoned);
  return body_synced;
}

// A file that a writer has open is never clean.
Error written_over(const OpenFile& opened) {
  return fail(Code::kPoisoned,
              opened.file().path() + ": another program wrote a clean copy over it while it was open (cp)");
}

// Does the second half of a sync, under the state lock: writes the slot that says what the first half made true.
// `anew`: writes both slots, for a file that no other process has. `then` is done when the slot is durable, before
// *syncing* is cleared.
Error store_slot(const OpenFile& opened, const Synced& body, const SlotUpdate& update, bool anew = false,
                 const std::function<Error()>& then = {}) try {
  const Error& body_synced = body.error;
  if (Error lost = lost_meanwhile(opened, body_synced); !lost.ok()) return lost;
  if (!body_synced.ok()) return opened.poison(body_synced);
  // A process that supersedes the file holds this lock until another file has its name. No process reads the slot after
  // that.
  if (opened.replaced()) {
    opened.live_word().end_sync();
    return superseded(opened.file());
  }
  const auto evidence = opened.evidence_under_lock();
  if (!evidence) return opened.poison(evidence.error());
  if (evidence->slots.newest() == nullptr) return opened.poison(opened.refuse(FileState::kUnknown, *evidence));
  if (format::is_poisoned(*evidence->slots.newest()))  // and the system dropped the live page that said so
    return opened.poison(earlier_sync(opened.file()));
  if (!anew && evidence->slots.clean()) return opened.poison(written_over(opened));
  Slot slot = *evidence->slots.newest();
  std::uint64_t over = 0;
  if (opened.identity().growth) slot.num_slices = body.num_slices;
  const Error refused = update(slot, over);
  if (refused.ok()) {
    Error error = anew ? opened.write_first_slots(slot) : opened.write_slot(evidence->slots, slot);
    if (error.ok() && then) error = then();
    if (!error.ok()) return opened.poison(error);
  }
  opened.live_word().clear(over | settled_by(slot));
  opened.live_word().end_sync();
  return refused;
} catch (const std::bad_alloc&) {
  static_cast<void>(not_stored(opened, body.error, {}));
  throw;
}

void begin_now(Slot& slot) noexcept {
  const Times moment = now();
  slot.turned_at = moment.since_1970;
  slot.turned_after_boot = moment.after_boot;
}

// This process may have been stopped between the slot and the live page. What was added meanwhile is of the epoch
// before, and the slot's time would let it expire too early. Not inlined: the evidence is large.
[[gnu::noinline]] Error correct_time(const OpenFile& opened) {
  const auto evidence = opened.evidence_under_lock();
  if (!evidence) return evidence.error();
  if (evidence->slots.newest() == nullptr) return opened.refuse(FileState::kUnknown, *evidence);
  Slot slot = *evidence->slots.newest();
  begin_now(slot);
  return opened.write_slot(evidence->slots, slot);
}

}  // namespace

// No process adds to the new epoch before the slot that names it is durable. So no key that is in it is in a word that
// a recovery takes for the oldest one.
Error sync_and_begin_epoch(const OpenFile& opened, std::uint64_t epoch) {
  const Synced body = sync_body(opened);
  const auto state_lock = opened.take(kStateLock);
  if (!state_lock) return not_stored(opened, body.error, state_lock.error());
  const auto begin = [epoch](Slot& slot, std::uint64_t&) {
    slot.epoch = epoch;
    begin_now(slot);
    return Error{};
  };
  const auto then = [&opened, epoch] {
    opened.live_word().begin_epoch(epoch);
    return correct_time(opened);
  };
  Error stored = store_slot(opened, body, begin, false, then);
  return stored.ok() && opened.faulted() ? unreadable(opened.file()) : stored;
}

Error sync_and_store(const OpenFile& opened, const SlotUpdate& update) {
  const auto sync_lock = opened.take(kSyncLock);
  if (!sync_lock) return sync_lock.error();
  const Synced body = sync_body(opened);
  const auto state_lock = opened.take(kStateLock);
  if (!state_lock) return not_stored(opened, body.error, state_lock.error());
  Error stored = store_slot(opened, body, update);
  return stored.ok() && opened.faulted() ? unreadable(opened.file()) : stored;
}

Error sync_and_mark_clean(const OpenFile& opened) {
  return store_slot(opened, sync_body(opened), [](Slot& slot, std::uint64_t&) {
    const bool unfinished = slot.state == SlotState::kRecovering;
    slot.state = unfinished ? SlotState::kPaused : SlotState::kClean;
    return Error{};
  });
}

// Equal filters are then equal files, whichever process and machine made them. Only a dirty slot needs a place.
Error sync_and_mark_new(const OpenFile& opened) {
  const auto settle = [&opened](Slot& slot, std::uint64_t&) {
    opened.gather_counters();
    slot.state = SlotState::kClean;
    format::move_to(slot, {});
    return Error{};
  };
  return store_slot(opened, sync_body(opened), settle, true);
}

}  // namespace bfstore::store
