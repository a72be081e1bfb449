#include "store/file/adoption.hpp"

#include "base/fail.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::kSyncLock;
using region::ByteRange;
using region::File;
using region::Patience;
using region::ScopedLock;

// Opens the same file as a writer that no other process sees, and that may change its live word.
Result<OpenFile> as_writer(const OpenFile& opened, const Opening& options) {
  if (opened.no_write())
    return fail(Code::kAccess, opened.file().path() + ": was opened by a reader that is to write nothing.");
  Opening own = options;
  own.map = {};  // how this process reads the file is that handle's choice alone
  auto writer = OpenFile::open(opened.file().open_again_as_owner(), File::Access::kReadWrite, own, region::Pages::kAny);
  if (writer && !writer->file().same_file(opened.file()))
    return fail(Code::kBusy, opened.file().path() + ": replaced meanwhile. Open it again.");
  if (!writer) return writer;
  if (Error error = writer->own_live_page(); !error.ok()) return error;
  return writer;
}

// True if the permissions, or a bit of ro_compat that this version does not know, forbid writing.
bool may_not_write(const Error& error) { return error.code == Code::kAccess || error.code == Code::kFeature; }

// Syncs the file. Leaves *syncing* set.
Error sync_for_adoption(const OpenFile& opened) {
  if (Error error = opened.check_words(); !error.ok()) return error;
  static_cast<void>(opened.live_word().begin_sync());
  Error error = opened.file().sync();
  return error.ok() ? Error{} : opened.poison(error);
}

// `opened` is a writer that no other process sees, and that adds nothing. The caller holds the state lock and the sync
// lock.
Result<bool> adopt_for_a_reader(const OpenFile& opened) {
  auto evidence = opened.evidence_under_lock();
  if (!evidence) return evidence.error();
  const auto writer = locked_by_other(opened.file(), kWriterLocks);
  if (!writer.ok()) return writer.error();
  evidence->writer_alive = *writer;
  if (judge(*evidence) != FileState::kAdoptable) return false;
  if (Error error = sync_for_adoption(opened); !error.ok()) return error;
  opened.live_word().end_sync();
  return true;
}

}  // namespace

// Writes the slot again: the sync that was to make it durable may have failed, and after that its page counts as
// written.
Error adopt(const OpenFile& opened, const Evidence& evidence) {
  if (Error error = opened.own_blocks(); !error.ok()) return error;
  const auto sync_lock = opened.take(kSyncLock);
  if (!sync_lock) return sync_lock.error();
  if (Error error = sync_for_adoption(opened); !error.ok()) return error;
  if (Error error = opened.write_slot(evidence.slots, *evidence.slots.newest()); !error.ok())
    return opened.poison(error);
  opened.live_word().end_sync();
  return {};
}

// The writes of a killed writer must be able to reach the disk. The system reports a failure once, and this process may
// be killed when it has the answer. So it sets *syncing* while it syncs, as a writer does: if it is killed, the next
// process sees that. If it may not write, or if another program's lock would keep it waiting, it only syncs.
Result<bool> adopt_for_reading(const OpenFile& opened, const Opening& options) {
  if (opened.no_write()) {
    return fail(Code::kUnclean, opened.file().path() +
                                    ": its writer was killed, and a reader that is to write nothing cannot sync what "
                                    "that writer left. Open it once without that restriction.");
  }
  const auto writer = as_writer(opened, options);
  if (!writer && writer.error().code == Code::kBusy) return false;  // replaced meanwhile
  if (!writer && !may_not_write(writer.error())) return writer.error();
  for (Patience patience(opened.lock_timeout_ms()); writer.ok();) {
    const auto state_lock = ScopedLock::try_take(writer->file(), kStateLock);
    if (!state_lock) return state_lock.error();
    const auto sync_lock = *state_lock ? ScopedLock::try_take(writer->file(), kSyncLock)
                                       : Result<std::optional<ScopedLock>>(std::optional<ScopedLock>());
    if (!sync_lock) return sync_lock.error();
    if (*sync_lock) return adopt_for_a_reader(*writer);
    const ByteRange taken{*state_lock ? kSyncLock : kStateLock};
    const auto changing = locked_by_other(writer->file(), taken);
    if (!changing.ok()) return changing.error();
    if (!*changing) break;  // a program that is not bfstore holds the lock
    if (!patience.wait()) return busy(opened.file(), taken, "another process is adopting it");
  }
  const Error failed = opened.file().sync();
  if (failed.ok()) return true;
  return write_down(opened, failed, options);
}

// The system reports a failure once, so a process that opens the file later would not learn of it. So this poisons the
// file, if it may write to it. It sets the live word first, because another program may hold the state lock.
Error write_down(const OpenFile& opened, const Error& failed, const Opening& options) {
  if (const auto writer = as_writer(opened, options)) {
    writer->live_word().set(format::LiveWord::kPoisoned);
    if (const auto state_lock = writer->take(kStateLock)) return writer->poison(failed);
  }
  return fail(Code::kUnclean,
              base::sentences(failed.message, "Keys may be missing on disk. Recover it (bf recover) or rebuild it."));
}

// No process is replacing a file that still has its name: that process would hold the state lock. A file without any
// name was replaced, and the path is a mount of that file. A file that was replaced and has other names keeps
// *replaced* for good.
Error go_on(const OpenFile& opened, Evidence& evidence) {
  if (!evidence.live_word.has(format::LiveWord::kSuperseded) ||
      !evidence.live_word.is_understood(opened.identity().file_id))
    return {};
  const auto facts = opened.file().facts();
  if (!facts) return facts.error();
  const bool has_a_name = facts->links != 0;
  if (has_a_name && evidence.live_word.has(format::LiveWord::kReplaced)) return {};
  if (Error error = opened.own_live_page(); !error.ok()) return error;
  if (has_a_name) {
    opened.live_word().clear(format::LiveWord::kSuperseded);
  } else {
    opened.live_word().set(format::LiveWord::kReplaced);
  }
  evidence.live_word = opened.live_word().load();
  return {};
}

Error let_it_go_on(const OpenFile& opened, const Opening& options) {
  const auto cannot = [](const Error& error) {
    return fail(
        Code::kSuperseded,
        base::sentences(
            error.message,
            "A process was killed while it replaced this file. Open it once in a process that may write to it."));
  };
  const auto writer = as_writer(opened, options);
  if (!writer) return cannot(writer.error());
  const auto state_lock = writer->take(kStateLock);
  if (!state_lock) return cannot(state_lock.error());
  auto found = writer->evidence_under_lock();
  if (!found) return cannot(found.error());
  if (Error error = go_on(*writer, *found); !error.ok()) return cannot(error);
  return {};
}

}  // namespace bfstore::store
