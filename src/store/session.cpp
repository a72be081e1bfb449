// Opening and joining a file. The order of the steps is the protocol.
#include "store/session.hpp"

#include "base/fail.hpp"
#include "store/key.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::kSyncLock;
using format::Slot;
using region::ByteRange;
using region::File;
using region::MappedLock;
using region::Patience;
using region::ScopedLock;

std::string marks_in_words(const Slot* slot) {
  std::string words;
  for (const OwnerMark& lane : slot != nullptr ? slot->lanes : decltype(slot->lanes){}) {
    if (lane.mark == 0) continue;
    words += words.empty() ? "durable are the keys of " : ", ";
    words += "owner " + std::to_string(lane.owner) + " up to mark " + std::to_string(lane.mark);
  }
  return words.empty() ? "no marks were stored" : words;
}

// Let in, unless something went wrong.
Result<Role> as(Role role, Error error) { return error.ok() ? Result<Role>(role) : std::move(error); }

}  // namespace

Session::Session(File file, region::Mapping mapping, format::Identity identity, std::uint32_t lock_timeout_ms)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      identity_(std::move(identity)),
      lock_timeout_ms_(lock_timeout_ms) {
  const auto sharing = file_.sharing();
  on_overlay_ = sharing && *sharing == region::Sharing::kOverlay;
}

// What was superseded and not replaced goes on first: somebody may wait for its state lock. Without memory to close it,
// the file is left as by a process that was killed.
Session::~Session() {
  replaced_.reset();
  try {
    static_cast<void>(close());
  } catch (const std::bad_alloc&) {
  }
}

Result<ScopedLock> Session::take(std::uint64_t byte) const { return ScopedLock::take(file_, byte, lock_timeout_ms_); }

format::SharedLiveWord Session::live_word() const noexcept { return format::SharedLiveWord(live_page()); }

Error Session::refuse(FileState state, const Evidence& evidence) const {
  const std::string& path = file_.path();
  if (!evidence.live_word.is_own(identity_.file_id)) {
    return fail(Code::kLiveWord,
                path + ": the live word is not the file's own: it was overwritten or zero-filled; build it again");
  }
  if (evidence.slots.newest() == nullptr) {
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged; build it again");
  }
  constexpr const char* kWays =
      "; recover it (bf recover, or open it to recover) by adding again what came after the marks, accept the loss, or "
      "build it again";
  const std::string marks = " (" + marks_in_words(evidence.slots.newest()) + ")";
  switch (state) {
    case FileState::kPoisoned:
      return fail(Code::kPoisoned,
                  path + ": a sync of this file failed, so keys may be missing on disk" + marks + kWays);
    case FileState::kRecovering:
      return fail(Code::kRecovering, path + ": a recovery was begun and is not finished" + marks + kWays);
    case FileState::kSuperseded:
      if (evidence.live_word.has(format::LiveWord::kReplaced)) {
        return fail(Code::kSuperseded,
                    path +
                        ": another file has replaced this one, of which this path is another name (a hard link, or a "
                        "bind mount of the single file); open the path that was replaced");
      }
      return fail(Code::kSuperseded, path + ": is being replaced by another file; open it again in a moment");
    default:
      return fail(
          Code::kUnclean,
          path + ": was not closed before the machine went down, or is a copy of a file in use" + marks + kWays);
  }
}

// --- Opening ---------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Session>> Session::open_checked(Result<File> file, File::Access access, const Opening& options,
                                                       region::Pages pages) {
  if (!file) return file.error();
  if (const auto facts = file->facts(); !facts || !facts->regular)
    return facts ? fail(Code::kNotRegular, file->path() + ": not a regular file") : facts.error();
  if (!options.any_filesystem) {
    if (Error error = check_sharing(*file, access); !error.ok()) return error;
  }
  file->read_nothing_ahead();
  auto header = checked_header(*file, {access == File::Access::kReadWrite, options.without_key, options.key});
  if (!header) return header.error();
  const format::Identity& identity = header->identity;
  const auto uncut = has_end_word(*file, identity);
  if (!uncut) return uncut.error();
  if (!*uncut) {
    return fail(
        Code::kLiveWord,
        file->path() + ": the word at its end is not the file's own: it was cut or overwritten; build it again");
  }
  auto mapping = mapping_of(*file, access, identity, header->bytes, options.map, pages);
  if (!mapping) return mapping.error();
  return std::unique_ptr<Session>(
      new Session(std::move(*file), std::move(*mapping), identity, options.lock_timeout_ms));
}

Result<std::unique_ptr<Session>> Session::open_reader(const std::string& path, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened =
        open_checked(File::open(path, File::Access::kRead), File::Access::kRead, options, pages_for(options.map, true));
    if (!opened) return opened;
    const auto usable = (*opened)->read_on(options);
    if (!usable) return usable.error();
    if (!*usable) continue;
    if (Error error = (*opened)->check_seal(options); !error.ok()) return error;
    return opened;
  }
  return replaced_again_and_again(path);
}

Result<Evidence> Session::look() const { return gather_evidence(file_, identity_.file_id, lock_timeout_ms_); }

// False if the file has to be opened again: it was replaced, or was to be by somebody who is no more.
Result<bool> Session::read_on(const Opening& options) {
  if (options.map.copy) {  // the bytes are here: were they still good when the last of them was read?
    if (Error error = check_file_is_whole(); !error.ok()) return error;
  }
  const auto evidence = look();
  if (!evidence) return evidence.error();
  const FileState state = judge(*evidence);
  if (!evidence->live_word.is_own(identity_.file_id)) return refuse(state, *evidence);
  if (state == FileState::kClean) return true;
  Error refused;
  switch (state) {
    case FileState::kInUse:
      refused = check_beside_writers(options);
      break;
    case FileState::kSuperseded:
      if (!file_.has_its_path()) return false;
      if (evidence->live_word.has(format::LiveWord::kReplaced)) return refuse(state, *evidence);
      if (evidence->changing) return refuse(state, *evidence);
      refused = let_it_go_on(options);
      if (refused.ok()) return false;
      break;
    case FileState::kAdoptable:
    case FileState::kUnclean:
      if (evidence->changing)
        return busy(file_, {kStateLock}, "another process is making, opening or closing it; try again in a moment");
      if (state == FileState::kAdoptable && !options.strict) return adopt_for_reading(options);
      refused = refuse(state, *evidence);
      break;
    default:
      refused = refuse(state, *evidence);
  }
  if (!refused.ok()) return refused;
  return true;
}

// The slots say that a writer was let in, and its lock says that it lives. What they do not say is whether the system
// failed to write some of its pages, and may have dropped them since.
Error Session::check_beside_writers(const Opening& options) const {
  const int failed = failed_writeback();
  return failed == 0 ? Error{} : write_down(writeback_failed(failed), options);
}

// What a killed writer left must be able to reach the disk. The system tells of a failure once, and this process may be
// killed with the answer: so it syncs as a writer does, and leaves *syncing* to the next one; but not where it may not
// write, or where a stranger's lock would keep it waiting. False if the file has to be looked at again.
Result<bool> Session::adopt_for_reading(const Opening& options) const {
  const auto writer = as_writer(options);
  if (!writer && writer.error().code == Code::kBusy) return false;  // replaced meanwhile
  if (!writer && writer.error().code != Code::kAccess) return writer.error();
  for (Patience patience(lock_timeout_ms_); writer.ok();) {
    const auto state_lock = ScopedLock::try_take((*writer)->file_, kStateLock);
    if (!state_lock) return state_lock.error();
    const auto sync_lock = *state_lock ? ScopedLock::try_take((*writer)->file_, kSyncLock)
                                       : Result<std::optional<ScopedLock>>(std::optional<ScopedLock>());
    if (!sync_lock) return sync_lock.error();
    if (*sync_lock) return (*writer)->adopt_for_a_reader();
    const ByteRange taken{*state_lock ? kSyncLock : kStateLock};
    const auto changing = locked_by_other((*writer)->file_, taken);
    if (!changing) return changing.error();
    if (!*changing) break;  // a stranger
    if (!patience.wait()) return busy(file_, taken, "another process is adopting it; try again in a moment");
  }
  const Error failed = file_.sync();
  if (failed.ok()) return true;
  return write_down(failed, options);
}

// This session is a writer's that no other process sees, and adds nothing. The state lock and the sync lock are held.
Result<bool> Session::adopt_for_a_reader() const {
  auto evidence = evidence_under_lock();
  if (!evidence) return evidence.error();
  const auto writer = locked_by_other(file_, kWriterLocks);
  if (!writer) return writer.error();
  evidence->writer_alive = *writer;
  if (judge(*evidence) != FileState::kAdoptable) return false;
  if (Error error = sync_for_adoption(); !error.ok()) return error;
  live_word().clear(format::LiveWord::kSyncing);
  return true;
}

// The system tells of a failure once: the next process that opens the file would be told that all is well. So the file
// is poisoned, if that is allowed here: at once in the live word, for a stranger may keep the state lock from us.
// Always an error.
Error Session::write_down(const Error& failed, const Opening& options) const {
  if (const auto writer = as_writer(options)) {
    (*writer)->live_word().set(format::LiveWord::kPoisoned);
    if (const auto state_lock = (*writer)->take(kStateLock)) return (*writer)->poison(failed);
  }
  return fail(Code::kUnclean, failed.message + "; keys may be missing on disk; recover it, or build it again");
}

// The process that was to replace the file has gone.
Error Session::let_it_go_on(const Opening& options) const {
  const auto cannot = [](const Error& error) {
    return fail(Code::kSuperseded, error.message +
                                       "; it was to be replaced by a process that was killed: a process that may write "
                                       "to it has to open it once");
  };
  const auto writer = as_writer(options);
  if (!writer) return cannot(writer.error());
  const auto state_lock = (*writer)->take(kStateLock);
  if (!state_lock) return cannot(state_lock.error());
  auto found = (*writer)->evidence_under_lock();
  if (!found) return cannot(found.error());
  (*writer)->go_on(*found);
  return {};
}

// The same file, by a writer that no other process sees.
Result<std::unique_ptr<Session>> Session::as_writer(const Opening& options) const {
  Opening own = options;
  own.map = {};  // how this process reads the file is no matter of that handle's
  auto writer = open_checked(file_.open_again_as_owner(), File::Access::kReadWrite, own, region::Pages::kAny);
  if (writer && !(*writer)->file_.same_file(file_)) return fail(Code::kBusy, file_.path() + ": was replaced meanwhile");
  return writer;
}

// No process replaces this file, which has its name still: it would hold the state lock. A file without any name was
// replaced: the path is a mount of that file. A file that was replaced and has other names says so for good.
void Session::go_on(Evidence& evidence) const {
  if (!evidence.live_word.has(format::LiveWord::kSuperseded) || !evidence.live_word.is_own(identity_.file_id)) return;
  const auto facts = file_.facts();
  if (!facts) return;
  if (facts->links == 0) {
    live_word().set(format::LiveWord::kReplaced);
    evidence.live_word = live_word().load();
    return;
  }
  if (evidence.live_word.has(format::LiveWord::kReplaced)) return;
  live_word().clear(format::LiveWord::kSuperseded);
  evidence.live_word = live_word().load();
}

Result<std::unique_ptr<Session>> Session::open_writer(const std::string& path, Writers kind, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened = open_checked(File::open(path, File::Access::kReadWrite), File::Access::kReadWrite, options,
                               pages_for(options.map, kind == Writers::kAlone));
    if (!opened) return opened;
    if ((*opened)->identity_.seal) {
      return fail(Code::kSealed,
                  path + ": is sealed: it is never written to again; open it for reading, or build another");
    }
    const auto joined = (*opened)->join(kind, options);
    if (!joined) return joined.error();
    if (*joined) return opened;
  }
  return replaced_again_and_again(path);
}

// False if the path names another file by now. The writers' lock comes last: it proves that its owner was let in.
Result<bool> Session::join(Writers kind, const Opening& options) {
  const auto state_lock = take(kStateLock);
  if (!state_lock) return state_lock.error();
  if (!file_.has_its_path()) return false;
  const auto writer_alive = locked_by_other(file_, kWriterLocks);
  if (!writer_alive) return writer_alive.error();
  if (*writer_alive && kind == Writers::kAlone)
    return busy(file_, kWriterLocks, "another writer has it open; close that one, or open it shared");
  auto evidence = evidence_under_lock();
  if (!evidence) return evidence.error();
  evidence->writer_alive = *writer_alive;
  go_on(*evidence);
  const auto role = enter(*evidence, options);
  if (!role) return role.error();
  if (Error error = hold_writers_lock(kind); !error.ok()) return error;
  role_ = *role;
  return true;
}

// The state lock is held.
Error Session::hold_writers_lock(Writers kind) {
  auto held = kind == Writers::kAlone ? MappedLock::take_all(file_, kWriterLocks, lock_timeout_ms_)
                                      : MappedLock::take_one(file_, kWriterLocks, lock_timeout_ms_);
  if (!held) return held.error();
  writers_lock_ = std::move(*held);
  return {};
}

// Slots and live word can not change meanwhile: the state lock is held.
Result<Evidence> Session::evidence_under_lock() const {
  const auto place = place_of(file_);
  if (!place) return place.error();
  const auto header = read_header(file_);
  if (!header) return header.error();
  Evidence evidence;
  evidence.slots = slots_of(*header, identity_.file_id);
  evidence.live_word = live_word_of(*header);
  evidence.place = *place;
  return evidence;
}

Result<Role> Session::enter(const Evidence& evidence, const Opening& options) {
  const FileState state = judge(evidence);
  if (!evidence.live_word.is_own(identity_.file_id)) return refuse(state, evidence);
  if (Error error = file_.may_write_up_to(format::kFileHeaderBytes); !error.ok()) return error;
  switch (state) {
    case FileState::kClean:
      if (Error error = own_blocks(); !error.ok()) return error;
      return as(Role::kWriter, begin_dirty(evidence));
    case FileState::kInUse:
      return as(Role::kWriter, check_beside_live_writers());
    case FileState::kAdoptable:
      if (!options.strict) return as(Role::kWriter, adopt(evidence));
      break;
    case FileState::kRecovering:
      if (!options.recover || !recovering_here(evidence)) break;
      if (!evidence.writer_alive) break;
      return as(Role::kRecoverer, check_beside_live_writers());
    default:
      break;
  }
  const bool lost = state == FileState::kUnknown || state == FileState::kSuperseded;
  if (lost || !(options.recover || options.accept_loss)) return refuse(state, evidence);
  return as(Role::kRecoverer, recover(evidence, options));
}

// Next to live writers: if a sync is flagged and no process holds the sync lock, the process that synced is dead, and
// it alone knew whether the sync worked. And the system may have failed to write pages since the last sync. Either way
// the processes that have the file open are told. Next to a sync that is under way a writer that joins asks later, when
// it adds, syncs or closes: the answer is asked for under the sync lock.
Error Session::check_beside_live_writers() const {
  for (Patience patience(lock_timeout_ms_);;) {
    const auto sync_lock = ScopedLock::try_take(file_, kSyncLock);
    if (!sync_lock) return sync_lock.error();
    if (*sync_lock) {
      const Error failed = ask_the_kernel();
      return failed.ok() ? failed : poison(failed);
    }
    const auto syncer = locked_by_other(file_, {kSyncLock});
    if (!syncer) return syncer.error();
    if (*syncer) return {};  // it lives; and if not, a stranger is in the way
    if (!patience.wait()) return busy(file_, {kSyncLock}, "a program that is no writer of filters locks the file");
  }
}

// Before the file says that anybody writes to it: a store to a hole of a copy, or to a block that it shares with
// another file, would be SIGBUS on a full disk. Those who join other writers find it done.
Error Session::own_blocks() const {
  const format::Sections sections = format::sections_of(identity_);
  return file_.own_blocks(
      {{sections.header.offset, sections.header.bytes}, {sections.body.offset, sections.body.bytes}});
}

// Durable before anything is added. A file that is clean may still carry the flag of the sync that made it so.
Error Session::begin_dirty(const Evidence& evidence) const {
  live_word().clear(format::LiveWord::kSyncing);
  return write_slot(evidence.slots, dirty_now(evidence));
}

// Leaves *syncing* set.
Error Session::sync_for_adoption() const {
  live_word().set(format::LiveWord::kSyncing);
  Error error = file_.sync();
  return error.ok() ? Error{} : poison(error);
}

// A writer was killed in this boot: the page cache has all that it wrote, if it can be written. The slot is written
// again: the sync that was to make it durable may have failed, and then the page counts as written.
Error Session::adopt(const Evidence& evidence) {
  if (Error error = own_blocks(); !error.ok()) return error;
  const auto sync_lock = take(kSyncLock);
  if (!sync_lock) return sync_lock.error();
  if (Error error = sync_for_adoption(); !error.ok()) return error;
  if (Error error = write_slot(evidence.slots, *evidence.slots.newest()); !error.ok()) return poison(error);
  live_word().clear(format::LiveWord::kSyncing);
  return {};
}

}  // namespace bfstore::store
