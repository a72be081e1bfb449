#include "store/file/writeback.hpp"

#include "base/fail.hpp"
#include "store/file/adoption.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {

using base::fail;
using region::ScopedLock;

namespace {

// An add waits for no lock: the bit in the live word, which is set already, is enough for now.
void poison_if(const OpenFile& opened, const Error& failed) {
  if (failed.ok()) return;
  if (const auto state_lock = ScopedLock::try_take(opened.file(), format::kStateLock); state_lock && *state_lock)
    static_cast<void>(opened.poison(failed));
}

}  // namespace

// Sets the live word before anything that needs memory.
Error told_of_failure(const OpenFile& opened, int os_errno) {
  if (os_errno == 0) return {};
  opened.live_word().set(format::LiveWord::kPoisoned);
  return writeback_failed(opened.file(), os_errno);
}

// The kernel reports a failure to a description once, and never to a description that is opened later. So this
// sets *syncing* before it asks, and the caller holds the sync lock, as in a sync. If the process is killed after it
// got the answer, *syncing* stays set, and the next process that asks poisons the file.
Error ask_the_kernel(const OpenFile& opened) {
  if (opened.live_word().begin_sync()) {
    opened.live_word().set(format::LiveWord::kPoisoned);
    return fail(Code::kPoisoned, opened.file().path() + ": a writer was killed while it synced");
  }
  const int failed = opened.failed_writeback();
  if (failed == 0) opened.live_word().end_sync();
  return told_of_failure(opened, failed);
}

// If another process is syncing, that process gets the failure.
void ask_as_writer(const OpenFile& opened) {
  const auto sync_lock = ScopedLock::try_take(opened.file(), format::kSyncLock);
  if (!sync_lock) return;
  const bool idle = sync_lock->has_value();
  if (!idle) {  // another program may hold the lock; *syncing* without the sync lock would look like a sync that died
    const auto syncer = locked_by_other(opened.file(), {format::kSyncLock});
    if (!syncer.ok() || *syncer) return;
  }
  poison_if(opened, idle ? ask_the_kernel(opened) : told_of_failure(opened, opened.failed_writeback()));
}

void ask_as_reader(const OpenFile& opened) {
  const int failed = opened.failed_writeback();
  if (failed == 0) return;
  Opening options;
  options.without_secret = options.any_filesystem = true;
  options.lock_timeout_ms = opened.lock_timeout_ms();
  const Error told = write_down(opened, writeback_failed(opened.file(), failed), options);
  if (told.code != Code::kPoisoned) opened.poison_for_this_handle();
}

// A poisoned file is not asked again: its *syncing* stays set.
Error settle_as_writer(const OpenFile& opened) {
  const auto sync_lock = opened.take(format::kSyncLock);
  if (!sync_lock) return sync_lock.error();
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  if (!opened.live_word().load().has(format::LiveWord::kPoisoned)) poison_if(opened, ask_the_kernel(opened));
  return {};
}

// *Syncing* is set before the kernel is asked, and cleared after the answer is in the file.
Result<FileState> state_after_syncs(const OpenFile& opened) {
  for (region::Patience patience(opened.lock_timeout_ms());;) {
    const auto evidence = opened.look();
    if (!evidence) return evidence.error();
    const FileState state = judge(*evidence);
    if (state == FileState::kUnclean && evidence->changing)
      return busy(opened.file(), {format::kStateLock}, "another process is opening or closing it");
    const bool syncing = state == FileState::kInUse && evidence->syncing;
    if (!syncing) return state;
    if (!patience.wait()) return busy(opened.file(), {format::kSyncLock}, "another process is syncing it");
  }
}

Error not_asked(const OpenFile& opened) {
  return fail(Code::kBusy, opened.file().path() +
                               ": not closed, and a handle that writes nothing cannot ask the kernel whether it has "
                               "all pages. Copy it when its writers have closed it, or by another handle.");
}

// A handle that writes nothing does not ask, so it believes only bits that no process writes. If the system had failed
// to write a page of a clean file, the file would not be clean.
Error settle_as_reader(const OpenFile& opened) {
  ask_as_reader(opened);
  const auto state = state_after_syncs(opened);
  if (!state.ok()) return state.error();
  const bool in_use = *state == FileState::kInUse || *state == FileState::kAdoptable;
  if (in_use && opened.no_write()) return not_asked(opened);
  if (*state != FileState::kUnclean) return {};
  return fail(Code::kUnclean, opened.file().path() +
                                  ": not copied, for it is not closed, and no living writer vouches for it (one was "
                                  "killed while it synced, for instance). Recover it (bf recover) or rebuild it.");
}

}  // namespace bfstore::store
