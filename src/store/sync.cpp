// Syncing and leaving a file, and what a failed sync leaves behind. The order of the steps is the protocol.
#include <array>
#include <new>

#include "base/fail.hpp"
#include "store/session.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::kSyncLock;
using format::Slot;
using format::SlotPair;
using format::SlotState;
using region::ScopedLock;

// What says that this file is no longer, or soon not, the one of its name.
constexpr std::uint64_t kOut = format::LiveWord::kSuperseded | format::LiveWord::kReplaced;

}  // namespace

Error Session::write_slot(const SlotPair& slots, Slot slot) const {
  if (slots.newest()->sequence == UINT64_MAX)  // the next would count as older: only a made-up file is there
    return fail(Code::kSlots, file_.path() + ": its state can not be written any more; build it again");
  slot.sequence = slots.newest()->sequence + 1;
  const std::uint64_t offset = format::kSlotOffset + slots.next_index() * format::kPageBytes;
  if (Error error = file_.write_at(format::encode_slot(slot, identity_.file_id), offset); !error.ok()) return error;
  return file_.sync();
}

Result<HeaderBytes> Session::whole_header() const {
  const auto header = read_header(file_);
  if (!header) return header.error();
  const auto uncut = has_end_word(file_, identity_);
  if (!uncut) return uncut.error();
  if (*uncut && live_word_of(*header).is_own(identity_.file_id)) return *header;
  return fail(Code::kLost,
              file_.path() + ": was truncated, overwritten or zero-filled while it was in use; build it again");
}

// Before the mapping is written to for the last time: behind the end of a truncated file that would be SIGBUS. What a
// guard has put in the place of the mapping is not the file's.
Error Session::check_file_is_whole() const {
  if (faulted()) return unreadable();
  if (Error error = file_.check_descriptor(); !error.ok()) return error;
  const auto header = whole_header();
  return header ? Error{} : header.error();
}

Error Session::unreadable() const {
  return fail(Code::kFault, file_.path() +
                                ": a page could not be read (an I/O error, or the file was truncated), and what was "
                                "added meanwhile is lost; close it, and recover it or build it again");
}

// Everything that was added is durable, and *syncing* set, for store_slot() to clear. Where there may be other writers
// the sync lock is held.
Error Session::sync_body() const {
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  const format::LiveWord before = live_word().set(format::LiveWord::kSyncing);
  if (before.has(format::LiveWord::kPoisoned)) return fail(Code::kPoisoned, file_.path() + ": an earlier sync failed");
  if (before.has(format::LiveWord::kSyncing))
    return fail(Code::kPoisoned, file_.path() + ": a process was killed while it synced");
  return file_.sync();
}

// The second half of a sync, under the state lock: the slot that says what the first half made true.
Error Session::store_slot(const Error& body_synced, const SlotUpdate& update) try {
  if (body_synced.code == Code::kLost || body_synced.code == Code::kFault) return body_synced;
  if (!body_synced.ok()) return poison(body_synced);
  // A process that supersedes the file holds this lock until another file has its name: no one reads the slot then.
  if (replaced()) {
    live_word().clear(format::LiveWord::kSyncing);
    return superseded();
  }
  const auto evidence = evidence_under_lock();
  if (!evidence) return poison(evidence.error());
  if (evidence->slots.newest() == nullptr) return poison(refuse(FileState::kUnknown, *evidence));
  Slot slot = *evidence->slots.newest();
  std::uint64_t over = format::LiveWord::kSyncing;
  const Error refused = update(slot, over);
  if (refused.ok()) {
    if (Error error = write_slot(evidence->slots, slot); !error.ok()) return poison(error);
  }
  live_word().clear(over);
  return refused;
} catch (const std::bad_alloc&) {
  static_cast<void>(not_stored(body_synced, {}));
  throw;
}

// By another file. A path may still lead here, by a hard link, or a mount of the single file.
bool Session::replaced() const {
  const format::LiveWord word = live_word().load();
  if (word.has(format::LiveWord::kReplaced)) return true;
  if (!word.has(format::LiveWord::kSuperseded)) return false;
  const auto facts = file_.facts();
  return !facts || facts->links == 0 || !file_.has_its_path();
}

Error Session::sync_and_mark_clean() {
  return store_slot(sync_body(), [](Slot& slot, std::uint64_t&) {
    const bool unfinished = slot.state == SlotState::kRecovering;
    slot.state = unfinished ? SlotState::kPaused : SlotState::kClean;
    return Error{};
  });
}

// For good, in every process. The flag may be lost with the page that it is in, when the system drops what it could not
// write; so the slot loses its boot id too, without which nobody adopts the file. Where the slot cannot be written
// either, this handle at least keeps a page of its own that says so.
Error Session::poison(const Error& cause) const {
  live_word().set(format::LiveWord::kPoisoned);
  bool kept = false;
  if (const auto evidence = evidence_under_lock(); evidence && evidence->slots.newest() != nullptr) {
    Slot slot = *evidence->slots.newest();
    slot.state = SlotState::kDirty;
    slot.recovered = 0;
    slot.place.boot_id = {};
    kept = write_slot(evidence->slots, slot).ok();
  }
  if (!kept) poison_for_this_handle();
  return {Code::kPoisoned, cause.os_errno,
          cause.message +
              "; the file is poisoned: keys may be missing on disk; close it, and recover it or build it again"};
}

Error Session::sync_and_store(const SlotUpdate& update) {
  if (role_ == Role::kReader) return fail(Code::kReadOnly, file_.path() + ": is open for reading; open it for writing");
  if (!born().here()) return forked();
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  if (live_word().load().has(kOut)) return superseded();
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  const auto sync_lock = take(kSyncLock);
  if (!sync_lock) return sync_lock.error();
  const Error body_synced = sync_body();
  const auto state_lock = take(kStateLock);
  if (!state_lock) return not_stored(body_synced, state_lock.error());
  Error stored = store_slot(body_synced, update);
  return stored.ok() && faulted() ? unreadable() : stored;
}

// Without the state lock no slot is written. A sync that failed leaves *syncing* behind: the next process to look
// knows.
Error Session::not_stored(const Error& body_synced, const Error& no_lock) const {
  if (body_synced.ok()) {
    live_word().clear(format::LiveWord::kSyncing);
    return no_lock;
  }
  live_word().set(format::LiveWord::kPoisoned);
  return body_synced;
}

Error Session::superseded() const {
  return fail(Code::kSuperseded,
              file_.path() + ": was replaced by another file; open it again, and add again what is not in that one");
}

Error Session::forked() const {
  return fail(Code::kForked, file_.path() + ": was opened before a fork; open it again in the child");
}

Error Session::sync(std::uint64_t owner, std::uint64_t mark) {
  return sync_and_store([&](Slot& slot, std::uint64_t&) {
    if (format::set_mark(slot, owner, mark)) return Error{};
    return fail(
        Code::kOwners,
        file_.path() + ": all 64 lanes for owners of marks are taken; the keys are durable, the mark is not stored");
  });
}

Result<bool> Session::is_current() const {
  if (!born().here()) return forked();
  const auto header = whole_header();  // and not the mapping, which may be a copy, or behind the file's end
  if (header) check_writeback();
  return header && !live_word_of(*header).has(kOut) && file_.has_its_path() && !file_.path_names_another();
}

// A handle whose descriptor other code closed cannot ask, and a copy has no need to.
void Session::check_writeback() const noexcept try {
  if (role_ == Role::kMaker || mapping_.is_copy()) return;
  if (!born().here() || !file_.check_descriptor().ok()) return;
  if (role_ != Role::kReader) return check_writeback_as_writer();
  const int failed = failed_writeback();
  if (failed == 0) return;
  Opening options;
  options.without_key = options.any_filesystem = true;
  options.lock_timeout_ms = lock_timeout_ms_;
  if (write_down(writeback_failed(failed), options).code != Code::kPoisoned) poison_for_this_handle();
} catch (const std::bad_alloc&) {
  poison_for_this_handle();
}

// Where another thread or process syncs, that one learns of a failure.
void Session::check_writeback_as_writer() const {
  const std::unique_lock<std::mutex> one_thread(sync_mutex_, std::try_to_lock);
  if (!one_thread.owns_lock()) return;
  const auto sync_lock = ScopedLock::try_take(file_, kSyncLock);
  if (!sync_lock) return;
  const bool idle = sync_lock->has_value();
  if (!idle) {  // a stranger may be in the way; the flag would be unlocked, and look like that of a sync that died
    const auto syncer = locked_by_other(file_, {kSyncLock});
    if (!syncer || *syncer) return;
  }
  const Error failed = idle ? ask_the_kernel() : told_of_failure(failed_writeback());
  if (failed.ok()) return;
  // An add waits for no lock: what the live word says is enough for now.
  if (const auto state_lock = ScopedLock::try_take(file_, kStateLock); state_lock && *state_lock)
    static_cast<void>(poison(failed));
}

// Whether the system failed to write a page. It tells a description of that once, and new ones no more: so this is as a
// sync is, under the sync lock, and a process that is killed with the answer leaves *syncing* to the next one.
Error Session::ask_the_kernel() const {
  if (live_word().set(format::LiveWord::kSyncing).has(format::LiveWord::kSyncing)) {
    live_word().set(format::LiveWord::kPoisoned);
    return fail(Code::kPoisoned, file_.path() + ": a writer was killed while it synced");
  }
  const int failed = failed_writeback();
  if (failed == 0) live_word().clear(format::LiveWord::kSyncing);
  return told_of_failure(failed);
}

// 0, or an errno. On an overlay the mapping is of another file than the descriptor, and the failure is that one's.
int Session::failed_writeback() const noexcept {
  if (!on_overlay_ || mapping_.is_copy()) return file_.failed_writeback();
  return mapping_.failed_writeback(format::sections_of(identity_).end_word.offset);
}

Error Session::writeback_failed(int os_errno) const {
  return base::fail_errno(os_errno, file_.path(), "writing to disk in the background");
}

// The live word says so before anything that needs memory.
Error Session::told_of_failure(int os_errno) const {
  if (os_errno == 0) return {};
  live_word().set(format::LiveWord::kPoisoned);
  return writeback_failed(os_errno);
}

// Its own copy of the live page says so.
void Session::poison_for_this_handle() const noexcept {
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  base::store(word.data(), live_word().load().bits | format::LiveWord::kPoisoned);
  mapping_.replace_page(format::kLivePageOffset, word);
}

std::uint64_t Session::mark(std::uint64_t owner) const noexcept try {
  const auto header = read_header(file_);
  if (!header) return 0;
  const SlotPair slots = slots_of(*header, identity_.file_id);
  return slots.newest() == nullptr ? 0 : format::mark_of(*slots.newest(), owner);
} catch (const std::bad_alloc&) {
  return 0;
}

Error Session::close() {
  const Role role = std::exchange(role_, Role::kReader);
  if (role == Role::kReader || role == Role::kMaker || !born().here()) return {};
  const Error outcome = leave();
  writers_lock_ = {};
  return outcome;
}

// The last one syncs and marks clean. A file on its way out stays as it is: its state lock is held until it is gone,
// and if it is not replaced after all, it is as if this process had been killed.
Error Session::leave() {
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  if (live_word().load().has(kOut)) return {};
  if (Error error = ask_before_leaving(); !error.ok()) return error;
  const auto state_lock = take(kStateLock);
  if (!state_lock) return state_lock.error();
  Error outcome = leave_last();
  writers_lock_ = {};
  return outcome;
}

// It may be the last one that the system would tell of a failure: a reader that may not write it down may have been
// told, and no description that was opened after that is. The last writer is told by its sync.
Error Session::ask_before_leaving() const {
  const auto others = writers_lock_.others(file_);
  const bool known = live_word().load().has(format::LiveWord::kPoisoned);
  if (!others || !*others || known) return {};
  const auto sync_lock = take(kSyncLock);
  const Error failed = sync_lock ? ask_the_kernel() : told_of_failure(failed_writeback());
  if (failed.ok()) return {};
  const auto state_lock = take(kStateLock);
  return state_lock ? poison(failed) : failed;
}

// Where two close at once, the state lock is let go after the writers' lock: otherwise each would take the other for
// one that continues, and none would say clean.
Error Session::leave_last() {
  const auto others = writers_lock_.others(file_);
  if (!others) return others.error();
  if (*others) return {};
  const auto sync_lock = take(kSyncLock);  // no other writer can want it now
  return sync_lock ? sync_and_mark_clean() : sync_lock.error();
}

}  // namespace bfstore::store
