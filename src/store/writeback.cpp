#include "store/writeback.hpp"

#include "base/fail.hpp"
#include "store/adoption.hpp"
#include "store/refusals.hpp"

namespace bfstore::store {

using base::fail;
using region::ScopedLock;

// Sets the live word before anything that needs memory.
Error told_of_failure(const OpenFile& opened, int os_errno) {
  if (os_errno == 0) return {};
  opened.live_word().set(format::LiveWord::kPoisoned);
  return writeback_failed(opened.file(), os_errno);
}

// Whether the system failed to write a page. It tells one description of a failure once, and never a description that
// is opened later. So this works like a sync, under the sync lock, and a process that is killed when it has the answer
// leaves *syncing* to the next one.
Error ask_the_kernel(const OpenFile& opened) {
  if (opened.live_word().set(format::LiveWord::kSyncing).has(format::LiveWord::kSyncing)) {
    opened.live_word().set(format::LiveWord::kPoisoned);
    return fail(Code::kPoisoned, opened.file().path() + ": a writer was killed while it synced");
  }
  const int failed = opened.failed_writeback();
  if (failed == 0) opened.live_word().clear(format::LiveWord::kSyncing);
  return told_of_failure(opened, failed);
}

// If another process is syncing, that process gets the failure.
void ask_as_writer(const OpenFile& opened) {
  const auto sync_lock = ScopedLock::try_take(opened.file(), format::kSyncLock);
  if (!sync_lock) return;
  const bool idle = sync_lock->has_value();
  if (!idle) {  // a stranger may hold the lock; *syncing* without the sync lock would look like a sync that died
    const auto syncer = locked_by_other(opened.file(), {format::kSyncLock});
    if (!syncer.ok() || *syncer) return;
  }
  const Error failed = idle ? ask_the_kernel(opened) : told_of_failure(opened, opened.failed_writeback());
  if (failed.ok()) return;
  // An add waits for no lock: the bit in the live word is enough for now.
  if (const auto state_lock = ScopedLock::try_take(opened.file(), format::kStateLock); state_lock && *state_lock)
    static_cast<void>(opened.poison(failed));
}

void ask_as_reader(const OpenFile& opened) {
  const int failed = opened.failed_writeback();
  if (failed == 0) return;
  Opening options;
  options.without_key = options.any_filesystem = true;
  options.lock_timeout_ms = opened.lock_timeout_ms();
  const Error told = write_down(opened, writeback_failed(opened.file(), failed), options);
  if (told.code != Code::kPoisoned) opened.poison_for_this_handle();
}

}  // namespace bfstore::store
