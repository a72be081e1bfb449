#include "store/file/session.hpp"

#include <new>
#include <utility>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/file/adoption.hpp"
#include "store/file/grow.hpp"
#include "store/file/memory.hpp"
#include "store/file/readers.hpp"
#include "store/file/recovery.hpp"
#include "store/file/refusals.hpp"
#include "store/file/sealed.hpp"
#include "store/file/turn.hpp"
#include "store/file/writeback.hpp"

namespace bfstore::store {

using base::fail;
using format::Slot;
using region::File;

namespace {

Result<Slot> newest_slot_in(const Result<HeaderBytes>& header, const OpenFile& opened) {
  if (!header) return header.error();
  const format::SlotPair slots = slots_of(*header, opened.identity().file_id);
  if (slots.newest() != nullptr) return *slots.newest();
  return fail(Code::kSlots, opened.file().path() + ": no state slot is valid: the header was damaged. Rebuild it.");
}

}  // namespace

Session::Session(OpenFile opened, Joined joined, Publication publication)
    : opened_(std::move(opened)),
      role_(joined.role),
      writers_lock_(std::move(joined.lock)),
      publication_(std::move(publication)),
      opener_(opened_.born()) {}

// First lets a file that was superseded and not replaced continue, because another process may wait for its state lock.
// Without memory for the close, the file stays as if this process had been killed.
Session::~Session() {
  publication_.give_up();
  try {
    static_cast<void>(close());
  } catch (const std::bad_alloc&) {
  }
}

Result<std::unique_ptr<Session>> Session::open_reader(const std::string& path, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened =
        OpenFile::open(open_for_reading(path, options), File::Access::kRead, options, pages_for(options.map, true));
    if (!opened) return opened.error();
    const auto usable = let_in(*opened, options);
    if (!usable.ok()) return usable.error();
    if (!*usable) continue;
    if (Error error = check_seal(*opened, options); !error.ok()) return error;
    const auto opener = region::ForkMark::make();
    if (!opener) return opener.error();
    std::unique_ptr<Session> session(new Session(std::move(*opened), {}));
    session->opener_ = *opener;
    return session;
  }
  return replaced_again_and_again(path);
}

Result<std::unique_ptr<Session>> Session::open_writer(const std::string& path, Writers kind, const Opening& options) {
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    auto opened = OpenFile::open(File::open(path, File::Access::kReadWrite, File::Links::kRefuse),
                                 File::Access::kReadWrite, options, pages_for(options.map, kind == Writers::kAlone));
    if (!opened) return opened.error();
    if (opened->identity().seal) {
      return fail(Code::kSealed,
                  path + ": sealed, so it is never written to again. Open it for reading, or build another one.");
    }
    auto joined = join(*opened, kind, options);
    if (!joined) return joined.error();
    if (!*joined) continue;
    std::unique_ptr<Session> session(new Session(std::move(*opened), std::move(**joined)));
    if (Error error = session->opened_.load(options.map); !error.ok()) return error;
    return session;
  }
  return replaced_again_and_again(path);
}

Result<std::unique_ptr<Session>> Session::make(const std::string& path, const format::Identity& identity,
                                               const Making& how) {
  auto made = store::make(path, identity, how);
  if (!made) return made.error();
  auto lock = hold_writers_lock(*made, how.alone ? Writers::kAlone : Writers::kShared);
  if (!lock) return lock.error();
  return std::unique_ptr<Session>(new Session(std::move(*made), {Role::kMaker, std::move(*lock)}, Publication(how)));
}

// --- Syncing ---------------------------------------------------------------------------------------------------------

// Calls `write`, which takes the sync lock, if this handle may write to the file.
Error Session::as_one_thread(const std::function<Error()>& write) {
  const File& file = opened_.file();
  const bool reads_only = role_ == Role::kReader;  // also after it was shut
  if (is_shut()) return store::shut(file.path());
  if (reads_only) return fail(Code::kReadOnly, file.path() + ": opened for reading. Open it for writing.");
  if (!opened_.born().here()) return forked(file.path());
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  if (is_shut()) return store::shut(file.path());
  if (Error error = opened_.check_file_is_whole(); !error.ok()) return error;
  if (Error error = writers_lock_.check(file); !error.ok()) return error;
  if (opened_.live_word().load().has(format::LiveWord::kGone)) {
    note_told_of_replacement();
    return superseded(file);
  }
  return write();
}

Error Session::sync_and_store(const SlotUpdate& update) {
  return as_one_thread([&] { return store::sync_and_store(opened_, update); });
}

Result<bool> Session::turn(std::optional<std::uint64_t> from) {
  const std::string& path = opened_.file().path();
  if (layout::row_of(opened_.identity().shape.layout).info.epochs == 0)
    return fail(Code::kUnsupported, path +
                                        ": the keys of its layout do not expire, so it has no epoch to end. Make "
                                        "a filter with a window (bf create --window 24h).");
  if (role_ == Role::kMaker)
    return fail(Code::kInvalid, path + ": was not published yet, and its first epoch begins then. Publish it first.");
  bool turned = false;
  Error error = as_one_thread([&] {
    const auto done = store::turn(opened_, from);
    turned = done.ok() && *done;
    return done.ok() ? Error{} : done.error();
  });
  if (!error.ok()) return error;
  return turned;
}

// An add waits for nothing. Without memory, or while another thread does it, the body stays as it is for now.
Code Session::grow(std::uint32_t full) noexcept try {
  if (!opened_.born().here()) return Code::kForked;
  const std::unique_lock<std::mutex> one_thread(growth_mutex_, std::try_to_lock);
  if (!one_thread) return Code::kBusy;
  if (is_shut()) return Code::kShut;
  return role_ == Role::kReader ? Code::kReadOnly : store::grow(opened_, full).code;
} catch (const std::bad_alloc&) {
  return Code::kNoMemory;
}

Error Session::sync(const LogPosition& position) {
  return sync_and_store([&](Slot& slot, std::uint64_t&) {
    if (format::set_mark(slot, position)) return Error{};
    return fail(Code::kOwners, opened_.file().path() +
                                   ": all 64 lanes for owners of marks are taken. The keys are durable, but the mark "
                                   "was not stored. Drop an owner whose log has ended.");
  });
}

// The keys that were added again are durable before the slot says so.
Result<bool> Session::finish_recovery(std::uint64_t owner) {
  bool over = false;
  Error error = sync_and_store([&](Slot& slot, std::uint64_t& cleared) {
    over = one_more_recovered(slot, owner, cleared);
    return Error{};
  });
  if (!error.ok()) return error;
  return over;
}

// The keys that were added are durable before the lane is free.
Error Session::drop_owner(std::uint64_t owner) {
  return sync_and_store([&](Slot& slot, std::uint64_t& cleared) {
    one_owner_less(slot, owner, cleared);
    return Error{};
  });
}

// The keys are durable before the slot says so, and the slot is durable before any process gets a "no" (sync.cpp).
Error Session::finish_filling() {
  return sync_and_store([](Slot& slot, std::uint64_t&) {
    slot.filling = false;
    return Error{};
  });
}

// Returns the header of a copy in memory as it was copied, so that no mark is newer than the bits.
Result<HeaderBytes> Session::header_with_marks() const {
  const std::byte* const mapped = opened_.mapping().data();
  if (opened_.mapping().is_copy()) return HeaderBytes(mapped, mapped + format::kFileHeaderBytes);
  return read_header(opened_.file());
}

std::uint64_t Session::get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept try {
  if (is_shut()) return 0;
  const auto header = header_with_marks();
  if (!header) return 0;
  const format::SlotPair slots = slots_of(*header, opened_.identity().file_id);
  return slots.newest() == nullptr ? 0 : format::mark_of(*slots.newest(), owner, epoch);
} catch (const std::bad_alloc&) {
  return 0;
}

Result<std::vector<OwnerMark>> Session::list_marks() const {
  if (is_shut()) return store::shut(opened_.file().path());
  if (!opened_.born().here()) return forked(opened_.file().path());  // the child has no descriptor of the file
  const auto slot = newest_slot_in(header_with_marks(), opened_);
  if (!slot) return slot.error();
  return format::marks_of(*slot);
}

// A failure that the kernel reported to any handle must be in the file before the header is read.
Result<Moment> Session::moment_for_copy() const {
  if (opened_.mapping().is_copy()) {
    const auto header = header_with_marks();
    if (!header) return header.error();
    auto moment = moment_in(*header, opened_);
    if (moment && opened_.no_write() && moment->state != format::SlotState::kClean) return not_asked(opened_);
    return moment;
  }
  const auto one_thread = be_the_one_thread();
  if (!one_thread.ok()) return one_thread.error();
  if (is_shut()) return store::shut(opened_.file().path());
  if (Error error = opened_.check_file_is_whole(); !error.ok()) return error;
  const bool reads = role_ == Role::kReader;
  if (Error error = reads ? settle_as_reader(opened_) : settle_as_writer(opened_); !error.ok()) return error;
  const auto header = header_outside_turns(opened_);
  return header ? moment_in(*header, opened_) : Result<Moment>(header.error());
}

Result<std::unique_lock<std::mutex>> Session::be_the_one_thread() const {
  std::unique_lock<std::mutex> lock(sync_mutex_, std::defer_lock);
  for (region::Patience patience(opened_.lock_timeout_ms()); opener_.here() && !lock.try_lock();) {
    if (!patience.wait())
      return fail(Code::kBusy, opened_.file().path() + ": another thread of this process syncs it. Try again later.");
  }
  return lock;
}

// --- Asking ----------------------------------------------------------------------------------------------------------

Result<bool> Session::is_current() const {
  const File& file = opened_.file();
  if (is_shut()) return store::shut(file.path());
  if (!opened_.born().here()) return forked(file.path());
  const auto header = opened_.whole_header();  // not the mapping, which may be a copy, or beyond the file's end
  if (header) check_writeback();
  const bool gone = !header || live_word_of(*header).has(format::LiveWord::kGone);
  if (gone) note_told_of_replacement();
  return !gone && file.has_its_path() && !file.path_names_another();
}

// A handle whose descriptor other code closed cannot ask, and a copy has no need to. If another thread is syncing or
// asking, that thread gets the failure.
void Session::check_writeback() const noexcept try {
  if (opened_.mapping().is_copy() || is_shut()) return;
  if (!opened_.born().here() || !opened_.file().check_descriptor().ok()) return;
  std::unique_lock<std::mutex> one_thread(sync_mutex_, std::defer_lock);
  if (opener_.here() && !one_thread.try_lock()) return;
  if (is_shut()) return;
  if (role_ == Role::kReader) return ask_as_reader(opened_);
  ask_as_writer(opened_);
} catch (const std::bad_alloc&) {
  opened_.poison_for_this_handle();
}

// --- Publishing, and the end -----------------------------------------------------------------------------------------

Error Session::supersede() {
  const File& file = opened_.file();
  if (!opened_.born().here()) return forked(file.path());
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  if (is_shut()) return store::shut(file.path());
  if (role_ != Role::kMaker || !publication_.replaces()) {
    return fail(
        Code::kInvalid,
        file.path() + ": only a filter that was made unpublished, to replace another file, can supersede that file.");
  }
  return publication_.supersede(opened_);
}

Error Session::publish_in_use() {
  Error error = publication_.give_name(opened_);
  if (error.ok()) role_ = Role::kWriter;
  return error;
}

Error Session::publish() {
  const File& file = opened_.file();
  if (!opened_.born().here()) return forked(file.path());
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  if (is_shut()) return store::shut(file.path());
  if (role_ != Role::kMaker)
    return fail(Code::kInvalid,
                file.path() + ": has its name already. Only a filter that was made unpublished can be published.");
  if (Error error = sync_and_mark_new(opened_); !error.ok()) return error;
  writers_lock_ = {};
  const Error error = publication_.give_name(opened_);
  if (error.code == Code::kPoisoned) return error;  // for good: no slot may name this boot again
  if (!error.ok() && opened_.identity().seal && file.has_its_path()) return error;  // it stays as it was sealed
  if (!error.ok()) return go_on_unpublished(error);
  role_ = Role::kReader;
  return {};
}

// The handle continues to add, as the only writer. So the file must not say clean, and no other process may write to
// it.
Error Session::go_on_unpublished(const Error& cause) {
  const auto evidence = opened_.evidence_under_lock();
  const Error dirty = evidence ? opened_.begin_dirty(*evidence) : evidence.error();
  if (!dirty.ok()) return opened_.poison(dirty);
  auto alone = hold_writers_lock(opened_, Writers::kAlone);
  if (!alone) return opened_.poison(fail(Code::kBusy, base::sentences(cause.message, "Another writer has opened it.")));
  writers_lock_ = std::move(*alone);
  return cause;
}

void Session::abandon() noexcept {
  role_ = Role::kReader;
  publication_.give_up();
  writers_lock_ = {};
}

Error Session::close() {
  const Role role = role_.exchange(Role::kReader);
  if (role == Role::kReader || role == Role::kMaker || !opened_.born().here()) return {};
  return leave();
}

Error Session::leave() {
  const Error outcome = store::leave(opened_, writers_lock_);
  writers_lock_ = {};
  if (!outcome.ok() || told_of_replacement_) return outcome;
  return opened_.live_word().load().has(format::LiveWord::kGone) ? superseded(opened_.file()) : outcome;
}

Error Session::shut_off() {
  if (shut_.exchange(true) || opened_.shut_off()) return {};
  shut_ = false;
  return fail(Code::kNoMemory, opened_.file().path() + ": no memory is left to shut the handle. Free some.");
}

// Takes the file's live page from the lookups before the sync, so that the sync covers every add that is not refused. A
// thread that syncs, or asks the kernel for failures, has its flag in that page, so this waits for the thread. And it
// waits for a thread that adds a slice: counted after the last slot was written, that would make a clean file unclean.
// A forked child does not wait for threads of its parent. Neither does a reader wait, because it has nothing to sync.
Error Session::shut(const std::function<void()>& adds_are_over) {
  if (role_ == Role::kReader || !opened_.born().here()) return shut_off();
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  const std::lock_guard<std::mutex> no_growth(growth_mutex_);
  if (is_shut()) return {};
  const bool leaves = role_ != Role::kMaker;
  const Error cannot_leave = leaves ? opened_.map_live_page_again() : Error{};
  if (Error error = shut_off(); !error.ok()) return error;
  adds_are_over();
  publication_.give_up();
  const Error outcome = !leaves || !cannot_leave.ok() ? cannot_leave : leave();
  writers_lock_ = {};
  role_ = Role::kReader;
  return outcome;
}

}  // namespace bfstore::store
