// Opening, joining, syncing and leaving a file. The order of the steps is the protocol.
#include "store/session.hpp"

#include <sys/stat.h>

#include <cstring>
#include <optional>

#include "base/fail.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::Slot;
using format::SlotPair;
using format::SlotState;
using region::File;
using region::Lock;
using region::ScopedLock;

constexpr int kMostReopens = 100;  // of a path that others keep replacing

// Huge pages are for reading and for loading: a writer among others syncs, and a sync writes every page with a new bit.
region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept {
  if (map.random_access) return region::Pages::kSmall;
  return reads_or_loads ? region::Pages::kHuge : region::Pages::kAny;
}

std::string marks_in_words(const Slot* slot) {
  std::string words;
  for (const OwnerMark& lane : slot != nullptr ? slot->lanes : decltype(slot->lanes){}) {
    if (lane.mark == 0) continue;
    words += words.empty() ? "durable are the keys of " : ", ";
    words += "owner " + std::to_string(lane.owner) + " up to mark " + std::to_string(lane.mark);
  }
  return words.empty() ? "no marks were stored" : words;
}

}  // namespace

Session::Session(File file, region::Mapping mapping, format::Identity identity)
    : file_(std::move(file)), mapping_(std::move(mapping)), identity_(std::move(identity)) {}

Session::~Session() { static_cast<void>(close()); }

std::atomic_ref<std::uint64_t> Session::live_word() const noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(live_page() + format::kLiveWordField.offset));
}

Error Session::refuse(FileState state, const Evidence& evidence) const {
  const std::string& path = file_.path();
  if (!live_word_is_own(evidence.live_word, identity_.file_id)) {
    return fail(Code::kLiveWord,
                path + ": the live word is not the file's own: it was overwritten or zero-filled; build it again");
  }
  if (evidence.slots.newest() == nullptr) {
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged; build it again");
  }
  if (state == FileState::kPoisoned) {
    return fail(Code::kPoisoned, path + ": a sync of this file failed, so keys may be missing on disk; build it again");
  }
  if (state == FileState::kRecovering) {
    return fail(Code::kRecovering, path + ": a recovery was begun and is not finished; build it again");
  }
  return fail(Code::kUnclean, path + ": was not closed before the machine went down, or is a copy of a file in use (" +
                                  marks_in_words(evidence.slots.newest()) + "); build it again");
}

// --- Opening
// -----------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Session>> Session::open_checked(const std::string& path, File::Access access,
                                                       const MapOptions& map, region::Pages pages) {
  auto file = File::open(path, access);
  if (!file) return file.error();
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular) return fail(Code::kNotRegular, path + ": not a regular file");
  file->read_nothing_ahead();
  const auto header = read_header(*file);
  if (!header) return header.error();
  const std::span<const std::byte> there(header->data(), std::min<std::uint64_t>(facts->bytes, header->size()));
  auto checked = format::check_identity(there, format::Form::kFile, facts->bytes, access == File::Access::kReadWrite);
  if (!checked.problems.empty()) {
    const Problem& first = checked.problems.front();
    return fail(first.code, path + ": " + first.text);
  }
  auto mapping =
      region::Mapping::map(*file, access, 0, checked.identity->body_offset + checked.identity->body_bytes, pages);
  if (!mapping) return mapping.error();
  // The header always, so that a lookup in a file that is not in memory has no other page fault than for its line.
  const std::uint64_t wanted = map.populate ? mapping->bytes() : format::kFileHeaderBytes;
  if (Error error = mapping->populate(wanted); !error.ok()) return error;
  return std::unique_ptr<Session>(new Session(std::move(*file), std::move(*mapping), std::move(*checked.identity)));
}

Result<std::unique_ptr<Session>> Session::open_reader(const std::string& path, const MapOptions& map) {
  auto opened = open_checked(path, File::Access::kRead, map, pages_for(map, true));
  if (!opened) return opened;
  Session& session = **opened;
  const auto facts = session.file_.facts();
  if (!facts) return facts.error();
  const auto evidence = gather_evidence(session.file_, *facts, session.identity_.file_id);
  if (!evidence) return evidence.error();
  const FileState state = judge(*evidence);
  if (!live_word_is_own(evidence->live_word, session.identity_.file_id)) return session.refuse(state, *evidence);
  if (state == FileState::kClean || state == FileState::kInUse) return opened;
  if (state != FileState::kAdoptable) return session.refuse(state, *evidence);
  // Adopted for this handle alone, and nothing is written; but what a killed writer left must be able to reach the
  // disk.
  if (Error error = session.file_.sync(); !error.ok()) return session.poison_from_reader(error);
  return opened;
}

// The system tells of a failed sync once: the next who opens the file would be told that all is well. So it is written
// down, if that is allowed here.
Error Session::poison_from_reader(const Error& cause) const {
  const auto writer = open_checked(file_.path(), File::Access::kReadWrite, {}, region::Pages::kAny);
  if (writer && (*writer)->file_.same_file(file_)) {
    const auto state_lock = ScopedLock::take((*writer)->file_, kStateLock);
    return (*writer)->poison(cause);
  }
  return fail(Code::kUnclean, cause.message + "; keys may be missing on disk; build it again");
}

Result<std::unique_ptr<Session>> Session::open_writer(const std::string& path, bool exclusive, const MapOptions& map) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened = open_checked(path, File::Access::kReadWrite, map, pages_for(map, exclusive));
    if (!opened) return opened;
    const auto joined = (*opened)->join(exclusive);
    if (!joined) return joined.error();
    if (*joined) return opened;
  }
  return fail(Code::kBusy, path + ": is being replaced again and again; try later");
}

// False if the path names another file by now.
Result<bool> Session::join(bool exclusive) {
  const auto state_lock = ScopedLock::take(file_, kStateLock);
  if (!state_lock) return state_lock.error();
  if (!file_.has_its_path()) return false;
  const auto writer_alive = file_.locked_by_other(kWriterLock);
  if (!writer_alive) return writer_alive.error();
  const auto locked = file_.try_lock(kWriterLock, exclusive ? Lock::kExclusive : Lock::kShared);
  if (!locked) return locked.error();
  if (!*locked) {
    return fail(Code::kBusy,
                file_.path() + (exclusive ? ": another writer has it open; close that one, or open it shared"
                                          : ": an exclusive writer has it open; try again when that one has closed"));
  }
  auto evidence = evidence_under_lock();
  if (evidence) evidence->writer_alive = *writer_alive;
  if (Error error = evidence ? enter(*evidence) : evidence.error(); !error.ok()) {
    static_cast<void>(file_.unlock(kWriterLock));
    return error;
  }
  writing_ = true;
  return true;
}

// Slots and live word can not change meanwhile: the state lock is held.
Result<Evidence> Session::evidence_under_lock() const {
  const auto facts = file_.facts();
  if (!facts) return facts.error();
  const auto header = read_header(file_);
  if (!header) return header.error();
  return Evidence{slots_of(*header, identity_.file_id),
                  live_word_of(*header),
                  false,
                  false,
                  current_boot_id(),
                  facts->device,
                  facts->inode,
                  facts->birth};
}

Error Session::enter(const Evidence& evidence) {
  const FileState state = judge(evidence);
  if (!live_word_is_own(evidence.live_word, identity_.file_id)) return refuse(state, evidence);
  switch (state) {
    case FileState::kClean:
      return begin_dirty(evidence);
    case FileState::kInUse:
      return check_no_dead_sync();
    case FileState::kAdoptable:
      return adopt(evidence);
    default:
      return refuse(state, evidence);
  }
}

// Beside live writers: if a sync is flagged and nobody holds the sync lock, the process that synced is dead, and was
// the only one to know whether it worked. Those who have the file open are told.
Error Session::check_no_dead_sync() {
  const auto idle = file_.try_lock(kSyncLock, Lock::kExclusive);
  if (!idle) return idle.error();
  if (!*idle) return {};
  const bool flagged = (live_word().load() & format::kLiveSyncing) != 0;
  if (Error error = file_.unlock(kSyncLock); !error.ok()) return error;
  if (!flagged) return {};
  return poison(fail(Code::kPoisoned, file_.path() + ": a writer was killed while it synced"));
}

// Durable before anything is added. A file that is clean may still carry the flag of the sync that made it so.
Error Session::begin_dirty(const Evidence& evidence) const {
  live_word().fetch_and(~format::kLiveSyncing);
  Slot slot = *evidence.slots.newest();
  slot.state = SlotState::kDirty;
  slot.boot_id = evidence.boot_id;
  slot.device = evidence.device;
  slot.inode = evidence.inode;
  slot.birth = evidence.birth;
  return write_slot(evidence.slots, slot);
}

// A writer was killed in this boot: the page cache has all that it wrote, if it can be written. The slot is written
// again: the sync that was to make it durable may have failed, and then the page counts as written.
Error Session::adopt(const Evidence& evidence) {
  const auto sync_lock = ScopedLock::take(file_, kSyncLock);
  if (!sync_lock) return sync_lock.error();
  live_word().fetch_or(format::kLiveSyncing);
  if (Error error = file_.sync(); !error.ok()) return poison(error);
  if (Error error = write_slot(evidence.slots, *evidence.slots.newest()); !error.ok()) return poison(error);
  live_word().fetch_and(~format::kLiveSyncing);
  return {};
}

// --- Making
// ------------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Session>> Session::create(const std::string& path, const format::Identity& identity,
                                                 const Options& options) {
  struct stat there {};
  if (!options.replace && lstat(path.c_str(), &there) == 0) {
    return fail(Code::kExists, path + ": exists already; choose another name, or replace it knowingly");
  }
  auto file = File::create_unnamed(path, options.mode);
  if (!file) return file.error();
  if (Error error = file->allocate(0, format::kFileHeaderBytes); !error.ok()) return error;
  if (Error error = file->allocate(identity.body_offset, identity.body_bytes); !error.ok()) return error;
  if (Error error = file->write_at(format::encode_identity(identity), 0); !error.ok()) return error;
  auto mapping = region::Mapping::map(*file, File::Access::kReadWrite, 0, identity.body_offset + identity.body_bytes,
                                      pages_for(options.map, options.exclusive || options.unpublished));
  if (!mapping) return mapping.error();
  if (Error error = mapping->populate(options.map.populate ? mapping->bytes() : format::kFileHeaderBytes); !error.ok())
    return error;
  std::unique_ptr<Session> session(new Session(std::move(*file), std::move(*mapping), identity));
  session->unpublished_ = true;
  session->replace_ = options.replace;
  if (Error error = session->initialize(options.exclusive || options.unpublished); !error.ok()) return error;
  if (options.unpublished) return session;
  if (Error error = session->give_name(); !error.ok()) return error;
  session->unpublished_ = false;
  return session;
}

// Clean in the older slot and dirty in the newer one: this handle is a writer.
Error Session::initialize(bool exclusive) {
  const auto locked = file_.try_lock(kWriterLock, exclusive ? Lock::kExclusive : Lock::kShared);
  if (!locked) return locked.error();
  if (!*locked) return fail(Code::kInternal, file_.path() + ": a new file is locked");
  writing_ = true;
  live_word().store(format::healthy_live_word(identity_.file_id));
  Slot first;
  first.sequence = 1;
  if (Error error = file_.write_at(format::encode_slot(first, identity_.file_id), format::kSlotOffset); !error.ok())
    return error;
  const auto evidence = evidence_under_lock();
  if (!evidence) return evidence.error();
  return begin_dirty(*evidence);
}

// Replacing a file excludes its writers, until the new one has the name: what they added now would be lost.
Error Session::give_name() {
  if (!replace_) return file_.publish(false);
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    const auto old = File::open(file_.path(), File::Access::kReadWrite);
    if (!old && old.error().code != Code::kNotFound) return old.error();
    const auto named = old ? replace(*old) : publish_new();
    if (!named) return named.error();
    if (*named) return {};
  }
  return fail(Code::kBusy, file_.path() + ": is being replaced again and again; try later");
}

// False if somebody made a file of that name meanwhile.
Result<bool> Session::publish_new() {
  Error error = file_.publish(false);
  if (error.ok()) return true;
  if (error.code == Code::kExists) return false;
  return error;
}

// False if the path names another file by now.
Result<bool> Session::replace(const File& old) {
  const auto facts = old.facts();
  if (!facts) return facts.error();
  if (!facts->regular) return fail(Code::kNotRegular, file_.path() + ": not a regular file; it is not replaced");
  const auto state_lock = ScopedLock::take(old, kStateLock);
  if (!state_lock) return state_lock.error();
  if (!old.has_its_path()) return false;
  const auto alone = old.try_lock(kWriterLock, Lock::kExclusive);
  if (!alone) return alone.error();
  if (!*alone)
    return fail(Code::kBusy, file_.path() + ": a writer has it open, whose keys would be lost; close that one first");
  if (Error error = file_.publish(true); !error.ok()) return error;
  return true;
}

Error Session::publish() {
  if (!unpublished_)
    return fail(Code::kInvalid,
                file_.path() + ": has its name already; only a filter made unpublished can be published");
  if (Error error = sync_and_mark_clean(); !error.ok()) return error;
  if (Error error = file_.unlock(kWriterLock); !error.ok()) return error;
  if (Error error = give_name(); !error.ok()) {
    // The handle goes on adding, alone, so the file must not say clean, and nobody else may write to it.
    const auto alone = file_.try_lock(kWriterLock, Lock::kExclusive);
    if (!alone || !*alone) return poison(fail(Code::kBusy, error.message + "; and another writer has opened it"));
    const auto evidence = evidence_under_lock();
    const Error dirty = evidence ? begin_dirty(*evidence) : evidence.error();
    if (!dirty.ok()) return poison(dirty);
    return error;
  }
  writing_ = false;
  unpublished_ = false;
  return {};
}

// --- Syncing and leaving
// -----------------------------------------------------------------------------------------------

Error Session::write_slot(const SlotPair& slots, Slot slot) const {
  slot.sequence = slots.newest()->sequence + 1;
  const std::uint64_t offset = format::kSlotOffset + slots.next_index() * format::kPageBytes;
  if (Error error = file_.write_at(format::encode_slot(slot, identity_.file_id), offset); !error.ok()) return error;
  return file_.sync();
}

// Before the mapping is written to for the last time: behind the end of a truncated file that would be SIGBUS.
Error Session::check_file_is_whole() const {
  const auto facts = file_.facts();
  if (!facts) return facts.error();
  const auto header = read_header(file_);
  if (!header) return header.error();
  if (facts->bytes >= identity_.body_offset + identity_.body_bytes &&
      live_word_is_own(live_word_of(*header), identity_.file_id))
    return {};
  return fail(Code::kLost,
              file_.path() + ": was truncated, overwritten or zero-filled while it was in use; build it again");
}

// Everything that was added is durable, and *syncing* set, for store_slot() to clear. Where there may be other writers
// the sync lock is held.
Error Session::sync_body() const {
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  const std::uint64_t before = live_word().fetch_or(format::kLiveSyncing);
  if ((before & format::kLivePoisoned) != 0) return fail(Code::kPoisoned, file_.path() + ": an earlier sync failed");
  if ((before & format::kLiveSyncing) != 0)
    return fail(Code::kPoisoned, file_.path() + ": a process was killed while it synced");
  return file_.sync();
}

// The second half of a sync, under the state lock: the slot that says what the first half made true.
Error Session::store_slot(const Error& body_synced, const std::function<Error(Slot&)>& update) {
  if (body_synced.code == Code::kLost) return body_synced;
  if (!body_synced.ok()) return poison(body_synced);
  const auto evidence = evidence_under_lock();
  if (!evidence) return poison(evidence.error());
  if (evidence->slots.newest() == nullptr) return poison(refuse(FileState::kUnknown, *evidence));
  Slot slot = *evidence->slots.newest();
  const Error refused = update(slot);
  if (refused.ok()) {
    if (Error error = write_slot(evidence->slots, slot); !error.ok()) return poison(error);
  }
  live_word().fetch_and(~format::kLiveSyncing);
  return refused;
}

Error Session::sync_and_mark_clean() {
  return store_slot(sync_body(), [](Slot& slot) {
    slot.state = SlotState::kClean;
    return Error{};
  });
}

// For good, in every process. The flag may be lost with the page that it is in, when the system drops what it could not
// write; so the slot loses its boot id too, without which nobody adopts the file.
Error Session::poison(const Error& cause) {
  live_word().fetch_or(format::kLivePoisoned);
  if (const auto evidence = evidence_under_lock(); evidence && evidence->slots.newest() != nullptr) {
    Slot slot = *evidence->slots.newest();
    slot.state = SlotState::kDirty;
    slot.boot_id = {};
    static_cast<void>(write_slot(evidence->slots, slot));
  }
  return {Code::kPoisoned, cause.os_errno,
          cause.message + "; the file is poisoned: keys may be missing on disk; build it again"};
}

Error Session::sync(std::uint64_t owner, std::uint64_t mark) {
  if (!writing_) return fail(Code::kReadOnly, file_.path() + ": is open for reading; open it for writing to sync");
  if (getpid() != pid_)
    return fail(Code::kInvalid, file_.path() + ": was opened before a fork; open it again in the child");
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  const auto sync_lock = ScopedLock::take(file_, kSyncLock);
  if (!sync_lock) return sync_lock.error();
  const Error body_synced = sync_body();
  const auto state_lock = ScopedLock::take(file_, kStateLock);
  if (!state_lock) return poison(state_lock.error());
  return store_slot(body_synced, [&](Slot& slot) {
    if (format::set_mark(slot, owner, mark)) return Error{};
    return fail(
        Code::kOwners,
        file_.path() + ": all 16 lanes for owners of marks are taken; the keys are durable, the mark is not stored");
  });
}

std::uint64_t Session::mark(std::uint64_t owner) const noexcept {
  const auto header = read_header(file_);
  if (!header) return 0;
  const SlotPair slots = slots_of(*header, identity_.file_id);
  return slots.newest() == nullptr ? 0 : format::mark_of(*slots.newest(), owner);
}

Error Session::close() {
  if (!writing_) return {};
  writing_ = false;
  if (unpublished_ || getpid() != pid_) return {};
  const auto state_lock = ScopedLock::take(file_, kStateLock);
  if (!state_lock) return state_lock.error();
  const auto last = file_.try_lock(kWriterLock, Lock::kExclusive);
  if (!last) return last.error();
  Error outcome;
  if (*last) {
    const auto sync_lock = ScopedLock::take(file_, kSyncLock);  // nobody else can want it now
    outcome = sync_and_mark_clean();
  }
  static_cast<void>(file_.unlock(kWriterLock));
  return outcome;
}

}  // namespace bfstore::store
