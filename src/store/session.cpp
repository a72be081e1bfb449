// Opening and joining a file. The order of the steps is the protocol.
#include "store/session.hpp"

#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "store/key.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using base::kNobodysLock;
using base::mutant;
using format::Slot;
using region::File;
using region::Lock;
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

}  // namespace

// A file that processes share as memory. On an overlay a reader that comes before the first writer has the lower
// layer's file for good: it makes itself the first writer, for a moment.
Error check_sharing(File& file, File::Access access) {
  const auto sharing = file.sharing();
  if (!sharing) return sharing.error();
  if (*sharing == region::Sharing::kRemote) {
    return fail(Code::kFilesystem, file.path() +
                                       ": is on a network or FUSE filesystem, where another machine's writes may not "
                                       "be seen; copy it to a local disk, or insist on it (any filesystem)");
  }
  if (*sharing == region::Sharing::kLocal || access == File::Access::kReadWrite) return {};
  if (const auto writer = File::open(file.path(), File::Access::kReadWrite); !writer) {
    return fail(Code::kFilesystem, file.path() +
                                       ": is on an overlay filesystem and may not be written to, so that later writes "
                                       "of others would not be seen; if there are none, insist on it (any filesystem)");
  }
  auto again = File::open(file.path(), access);
  if (!again) return again.error();
  file = std::move(*again);
  return {};
}

region::Pages pages_for(const MapOptions& map, bool reads_or_loads) noexcept {
  if (map.random_access) return region::Pages::kSmall;
  return reads_or_loads ? region::Pages::kHuge : region::Pages::kAny;
}

Result<region::Mapping> mapping_of(const File& file, File::Access access, const format::Identity& identity,
                                   const HeaderBytes& header, const MapOptions& options, region::Pages pages) {
  const format::Sections sections = format::sections_of(identity);
  const std::uint64_t bytes = sections.end;
  if (options.copy && access == File::Access::kRead)  // a reader may have to be a writer for a moment
    return region::Mapping::copy(file, header, 0, identity.body_offset, bytes);
  auto mapping = region::Mapping::map(file, access, 0, bytes, pages);
  if (!mapping) return mapping;
  if (options.guard) {
    std::byte* const live_word = mapping->data() + format::kLivePageOffset + format::kLiveWordField.offset;
    const region::DoubtWord doubt{reinterpret_cast<std::uint64_t*>(live_word), ~format::kLiveStates,
                                  format::healthy_live_word(identity.file_id),
                                  access == File::Access::kRead ? 0 : format::kLivePoisoned};
    if (Error error = mapping->guard(doubt); !error.ok()) return error;
  }
  // The header and the end word always, so that a lookup in a file that is not in memory has no other page fault than
  // for its line, and a header that can not be read is an error.
  const std::uint64_t wanted = options.populate ? mapping->bytes() : format::kFileHeaderBytes;
  if (Error error = mapping->populate(0, wanted); !error.ok()) return error;
  if (Error error = mapping->populate(sections.end_word, format::kEndWordBytes); !error.ok()) return error;
  return mapping;
}

Session::Session(File file, region::Mapping mapping, format::Identity identity)
    : file_(std::move(file)), mapping_(std::move(mapping)), identity_(std::move(identity)) {}

// What was superseded and not replaced goes on first: somebody may wait for its state lock.
Session::~Session() {
  replaced_.reset();
  static_cast<void>(close());
}

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
      return fail(Code::kSuperseded, path + ": is being replaced by another file; open it again in a moment");
    default:
      return fail(
          Code::kUnclean,
          path + ": was not closed before the machine went down, or is a copy of a file in use" + marks + kWays);
  }
}

// --- Opening
// -----------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Session>> Session::open_checked(const std::string& path, File::Access access,
                                                       const Opening& options, region::Pages pages) {
  auto file = File::open(path, access);
  if (!file) return file.error();
  if (const auto facts = file->facts(); !facts || !facts->regular)
    return facts ? fail(Code::kNotRegular, path + ": not a regular file") : facts.error();
  if (!options.any_filesystem) {
    if (Error error = check_sharing(*file, access); !error.ok()) return error;
  }
  const auto facts = file->facts();
  if (!facts) return facts.error();
  file->read_nothing_ahead();
  const auto header = read_header(*file);
  if (!header) return header.error();
  const std::span<const std::byte> there = header_there(*header, *facts);
  const bool writing = access == File::Access::kReadWrite;
  auto identity = options.without_key
                      ? sound_identity(there, format::Form::kFile, facts->bytes, writing, path + ": ")
                      : trusted_identity(there, format::Form::kFile, facts->bytes, writing, options.key, path + ": ");
  if (!identity) return identity.error();
  const auto uncut = mutant("end_word_is_not_checked_at_opening") ? true : has_end_word(*file, *identity);
  if (!uncut) return uncut.error();
  if (!*uncut) {
    return fail(Code::kLiveWord,
                path + ": the word at its end is not the file's own: it was cut or overwritten; build it again");
  }
  auto mapping = mapping_of(*file, access, *identity, *header, options.map, pages);
  if (!mapping) return mapping.error();
  return std::unique_ptr<Session>(new Session(std::move(*file), std::move(*mapping), std::move(*identity)));
}

Result<std::unique_ptr<Session>> Session::open_reader(const std::string& path, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened = open_checked(path, File::Access::kRead, options, pages_for(options.map, true));
    if (!opened) return opened;
    const auto usable = (*opened)->read_on(options);
    if (!usable) return usable.error();
    if (!*usable) continue;
    if (Error error = (*opened)->check_seal(options); !error.ok()) return error;
    return opened;
  }
  return replaced_again_and_again(path);
}

Result<Evidence> Session::look() const {
  const auto facts = file_.facts();
  if (!facts) return facts.error();
  return gather_evidence(file_, *facts, identity_.file_id);
}

// False if the file has to be opened again: it was replaced, or was to be by somebody who is no more.
Result<bool> Session::read_on(const Opening& options) {
  if (options.map.copy) {  // the bytes are here: were they still good when the last of them was read?
    if (mutant("copy_does_not_look_again")) return true;
    if (Error error = check_file_is_whole(); !error.ok()) return error;
  }
  const auto evidence = look();
  if (!evidence) return evidence.error();
  const FileState state = judge(*evidence);
  if (!live_word_is_own(evidence->live_word, identity_.file_id)) return refuse(state, *evidence);
  if (state == FileState::kClean || state == FileState::kInUse) return true;
  if (state == FileState::kSuperseded) {
    if (!file_.has_its_path() && !mutant("reader_stays_with_a_replaced_file")) return false;
    const auto replacer_alive = file_.locked_by_other(kStateLock);
    if (!replacer_alive) return replacer_alive.error();
    if (*replacer_alive) return refuse(state, *evidence);
    Error error = as_writer(
        [](Session& writer) {
          auto found = writer.evidence_under_lock();
          if (!found) return found.error();
          if (writer.file_.has_its_path() || mutant("replaced_file_goes_on_for_a_reader")) writer.go_on(*found);
          return Error{};
        },
        options);
    if (error.ok()) return false;
    return fail(Code::kSuperseded, error.message +
                                       "; it was to be replaced by a process that was killed: somebody who "
                                       "may write to it has to open it once");
  }
  if (state == FileState::kAdoptable && options.strict) {
    const auto writer = file_.locked_by_other(kWriterLock);
    if (!writer) return writer.error();
    if (*writer)
      return fail(Code::kBusy, file_.path() + ": somebody is making it or opening it; try again in a moment");
  }
  if (state != FileState::kAdoptable || (options.strict && !mutant("reader_ignores_strict")))
    return refuse(state, *evidence);
  // Adopted for this handle alone, and nothing is written; but what a killed writer left must be able to reach the
  // disk. The system tells of a failed sync once: the next who opens the file would be told that all is well. So it is
  // written down, if that is allowed here.
  Error failed = mutant("reader_adopts_without_a_sync") ? Error{} : file_.sync();
  if (failed.ok() || mutant("reader_adopts_though_the_sync_failed")) return true;
  if (mutant("reader_keeps_a_failed_sync_to_itself")) return failed;
  Error poisoned = as_writer([&](Session& writer) { return writer.poison(failed); }, options);
  if (poisoned.code == Code::kPoisoned) return poisoned;
  return fail(Code::kUnclean, failed.message + "; keys may be missing on disk; recover it, or build it again");
}

// Under the state lock, by a writer that nobody else sees.
Error Session::as_writer(const std::function<Error(Session&)>& what, const Opening& options) const {
  const auto writer = open_checked(file_.path(), File::Access::kReadWrite, options, region::Pages::kAny);
  if (!writer) return writer.error();
  if (!(*writer)->file_.same_file(file_) && !mutant("reader_poisons_whatever_has_the_path"))
    return fail(Code::kBusy, file_.path() + ": was replaced meanwhile");
  const auto state_lock = ScopedLock::take((*writer)->file_, kStateLock);
  return state_lock ? what(**writer) : state_lock.error();
}

// Nobody replaces this file, which has its name still: who was to has gone, or would hold the state lock.
void Session::go_on(Evidence& evidence) const {
  if (mutant("superseded_after_the_replacer_died")) return;
  if ((evidence.live_word & format::kLiveSuperseded) == 0 || !live_word_is_own(evidence.live_word, identity_.file_id))
    return;
  evidence.live_word = live_word().fetch_and(~format::kLiveSuperseded) & ~format::kLiveSuperseded;
}

Result<std::unique_ptr<Session>> Session::open_writer(const std::string& path, Lock kind, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened =
        open_checked(path, File::Access::kReadWrite, options, pages_for(options.map, kind == Lock::kExclusive));
    if (!opened) return opened;
    if ((*opened)->identity_.seal && !mutant("sealed_file_is_written_to")) {
      return fail(Code::kSealed,
                  path + ": is sealed: it is never written to again; open it for reading, or build another");
    }
    const auto joined = (*opened)->join(kind, options);
    if (!joined) return joined.error();
    if (*joined) return opened;
  }
  return replaced_again_and_again(path);
}

// False if the path names another file by now.
Result<bool> Session::join(Lock kind, const Opening& options) {
  const Evidence unlocked = mutant("join_does_not_read_again") ? evidence_under_lock().value() : Evidence{};
  const auto state_lock = ScopedLock::take(file_, mutant("join_without_the_state_lock") ? kNobodysLock : kStateLock);
  if (!state_lock) return state_lock.error();
  if (!file_.has_its_path() && !mutant("join_though_the_path_names_another_file")) return false;
  const auto writer_alive = file_.locked_by_other(kWriterLock);
  if (!writer_alive) return writer_alive.error();
  const auto locked = file_.try_lock(kWriterLock, mutant("exclusive_writer_shares") ? Lock::kShared : kind);
  if (!locked) return locked.error();
  if (!*locked) {
    return fail(Code::kBusy, file_.path() + (kind == Lock::kExclusive
                                                 ? ": another writer has it open; close that one, or open it shared"
                                                 : ": an exclusive writer has it open; try again when that one has "
                                                   "closed"));
  }
  auto evidence = mutant("join_does_not_read_again") ? unlocked : evidence_under_lock();
  if (evidence) {
    evidence->writer_alive = *writer_alive;
    go_on(*evidence);
  }
  if (Error error = evidence ? enter(*evidence, kind, options) : evidence.error(); !error.ok()) {
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

Error Session::enter(const Evidence& evidence, Lock kind, const Opening& options) {
  const FileState state = judge(evidence);
  if (!live_word_is_own(evidence.live_word, identity_.file_id)) return refuse(state, evidence);
  switch (state) {
    case FileState::kClean:
      return begin_dirty(evidence);
    case FileState::kInUse:
      return check_no_dead_sync();
    case FileState::kAdoptable:
      if (!options.strict || mutant("writer_ignores_strict")) return adopt(evidence);
      break;
    case FileState::kRecovering:
      if (!options.recover || !recovering_here(evidence)) break;
      if (!evidence.writer_alive && !mutant("joins_a_recovery_that_was_killed")) break;
      recovering_ = true;
      return check_no_dead_sync();
    default:
      break;
  }
  const bool recoverable = state != FileState::kUnknown && (options.recover || options.accept_loss);
  return recoverable ? recover(evidence, options, kind) : refuse(state, evidence);
}

// Beside live writers: if a sync is flagged and nobody holds the sync lock, the process that synced is dead, and was
// the only one to know whether it worked. Those who have the file open are told.
Error Session::check_no_dead_sync() {
  if (mutant("joins_beside_a_dead_sync")) return {};
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
  if (!mutant("opened_clean_file_keeps_the_flag_of_a_sync")) live_word().fetch_and(~format::kLiveSyncing);
  if (mutant("open_does_not_say_dirty")) return {};
  return write_slot(evidence.slots, dirty_now(evidence));
}

// A writer was killed in this boot: the page cache has all that it wrote, if it can be written. The slot is written
// again: the sync that was to make it durable may have failed, and then the page counts as written.
Error Session::adopt(const Evidence& evidence) {
  const auto sync_lock = ScopedLock::take(file_, mutant("adopts_without_the_sync_lock") ? kNobodysLock : kSyncLock);
  if (!sync_lock) return sync_lock.error();
  if (!mutant("adopts_without_the_flag_of_a_sync")) live_word().fetch_or(format::kLiveSyncing);
  if (Error error = file_.sync(); !error.ok()) return poison(error);
  if (!mutant("adopts_without_a_slot")) {
    if (Error error = write_slot(evidence.slots, *evidence.slots.newest()); !error.ok()) return poison(error);
  }
  live_word().fetch_and(~format::kLiveSyncing);
  return {};
}

}  // namespace bfstore::store
