#include "store/file/writers.hpp"

#include "base/fail.hpp"
#include "store/file/adoption.hpp"
#include "store/file/recovery.hpp"
#include "store/file/refusals.hpp"
#include "store/file/sync.hpp"
#include "store/file/writeback.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::kSyncLock;
using region::MappedLock;
using region::Patience;
using region::ScopedLock;

// Returns the role, unless there was an error.
Result<Role> as(Role role, Error error) { return error.ok() ? Result<Role>(role) : std::move(error); }

// For a writer that joins live writers. If *syncing* is set and no process holds the sync lock, the process that synced
// is dead, and only it knew whether the sync worked. The system may also have failed to write pages since the last
// sync. In both cases the file is poisoned, so the other writers learn of it. While a sync is under way, the writer
// that joins asks later, when it adds, syncs or closes, because the question needs the sync lock.
Error check_beside_live_writers(const OpenFile& opened) {
  for (Patience patience(opened.lock_timeout_ms());;) {
    const auto sync_lock = ScopedLock::try_take(opened.file(), kSyncLock);
    if (!sync_lock) return sync_lock.error();
    if (*sync_lock) {
      if (Error error = opened.check_words(); !error.ok()) return error;
      const Error failed = ask_the_kernel(opened);
      return failed.ok() ? failed : opened.poison(failed);
    }
    const auto syncer = locked_by_other(opened.file(), {kSyncLock});
    if (!syncer.ok()) return syncer.error();
    if (*syncer) return {};  // the process that syncs lives; otherwise another program holds the lock
    if (!patience.wait())
      return busy(opened.file(), {kSyncLock}, "a program that is not a writer of filters locks the file");
  }
}

Result<Role> enter(const OpenFile& opened, const Evidence& evidence, const Opening& options) {
  const FileState state = judge(evidence);
  if (!evidence.live_word.is_understood(opened.identity().file_id)) return opened.refuse(state, evidence);
  if (Error error = opened.file().may_write_up_to(format::kFileHeaderBytes); !error.ok()) return error;
  switch (state) {
    case FileState::kClean:
      if (Error error = opened.own_blocks(); !error.ok()) return error;
      return as(Role::kWriter, opened.begin_dirty(evidence));
    case FileState::kInUse:
      return as(Role::kWriter, check_beside_live_writers(opened));
    case FileState::kAdoptable:
      if (!options.strict) return as(Role::kWriter, adopt(opened, evidence));
      break;
    case FileState::kRecovering:
      if (!options.recover || !recovering_here(evidence)) break;
      if (!evidence.writer_alive) break;
      return as(Role::kRecoverer, check_beside_live_writers(opened));
    default:
      break;
  }
  const bool lost = state == FileState::kUnknown || state == FileState::kSuperseded;
  if (lost || !(options.recover || options.accept_loss)) return opened.refuse(state, evidence);
  return as(Role::kRecoverer, recover(opened, evidence, options.accept_loss));
}

// For a writer that leaves while others stay. Its description may be the last one to which the system would report a
// failure: a reader that could not write it to the file may have got it first, and descriptions that are opened after
// that do not get it. The last writer learns of it from its own sync.
Error ask_before_leaving(const OpenFile& opened, const MappedLock& writers_lock) {
  const auto others = writers_lock.others(opened.file());
  const bool known = opened.live_word().load().has(format::LiveWord::kPoisoned);
  if (!others.ok() || !*others || known) return {};
  const auto sync_lock = opened.take(kSyncLock);
  if (Error error = opened.check_words(); !error.ok()) return error;
  const Error failed = sync_lock ? ask_the_kernel(opened) : told_of_failure(opened, opened.failed_writeback());
  if (failed.ok()) return {};
  const auto state_lock = opened.take(kStateLock);
  return state_lock ? opened.poison(failed) : failed;
}

// If two writers close at once, each releases the writers' lock before the state lock. Otherwise each would believe
// that the other continues, and neither would write clean.
Error leave_last(const OpenFile& opened, const MappedLock& writers_lock) {
  const auto others = writers_lock.others(opened.file());
  if (!others.ok()) return others.error();
  if (*others) return {};
  const auto sync_lock = opened.take(kSyncLock);  // no other writer can want it now
  return sync_lock ? sync_and_mark_clean(opened) : sync_lock.error();
}

}  // namespace

Result<MappedLock> hold_writers_lock(const OpenFile& opened, Writers kind) {
  return kind == Writers::kAlone ? MappedLock::take_all(opened.file(), kWriterLocks, opened.lock_timeout_ms())
                                 : MappedLock::take_one(opened.file(), kWriterLocks, opened.lock_timeout_ms());
}

// Takes the writers' lock last, because it proves that its owner was let in.
Result<std::optional<Joined>> join(const OpenFile& opened, Writers kind, const Opening& options) {
  const auto state_lock = opened.take(kStateLock);
  if (!state_lock) return state_lock.error();
  if (!opened.file().has_its_path()) return std::optional<Joined>();
  const auto writer_alive = locked_by_other(opened.file(), kWriterLocks);
  if (!writer_alive.ok()) return writer_alive.error();
  if (*writer_alive && kind == Writers::kAlone)
    return busy(opened.file(), kWriterLocks, "another writer has it open",
                "Close that writer, or open the file for shared writing.");
  auto evidence = opened.evidence_under_lock();
  if (!evidence) return evidence.error();
  evidence->writer_alive = *writer_alive;
  if (Error error = go_on(opened, *evidence); !error.ok()) return error;
  const auto role = enter(opened, *evidence, options);
  if (!role) return role.error();
  auto held = hold_writers_lock(opened, kind);
  if (!held) return held.error();
  return std::optional<Joined>({*role, std::move(*held)});
}

// A file that is being replaced stays as it is: the process that replaces it holds the state lock until it is gone. If
// it is not replaced after all, it is as if this process had been killed.
Error leave(const OpenFile& opened, MappedLock& writers_lock) {
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  if (Error error = writers_lock.check(opened.file()); !error.ok()) return error;
  if (opened.live_word().load().has(format::LiveWord::kGone)) return {};
  if (Error error = ask_before_leaving(opened, writers_lock); !error.ok()) return error;
  const auto state_lock = opened.take(kStateLock);
  if (!state_lock) return state_lock.error();
  Error outcome = leave_last(opened, writers_lock);
  writers_lock = {};
  return outcome;
}

}  // namespace bfstore::store
