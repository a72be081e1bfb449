// A new file: empty, complete, and only then with a name; and the file whose place it takes. The order of the steps is
// the protocol.
#include <sys/stat.h>

#include <utility>

#include "base/fail.hpp"
#include "store/session.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::kStateLock;
using format::Slot;
using region::File;
using region::MappedLock;

}  // namespace

Result<std::unique_ptr<Session>> Session::create(const std::string& path, const format::Identity& identity,
                                                 const Options& options) {
  struct stat there {};
  if (!options.replace && lstat(path.c_str(), &there) == 0) {
    return fail(Code::kExists, path + ": exists already; choose another name, or replace it knowingly");
  }
  auto file = File::create_unnamed(path, options.mode);
  if (!file) return file.error();
  if (!options.any_filesystem) {
    if (Error error = check_sharing(*file, File::Access::kReadWrite); !error.ok()) return error;
  }
  const format::Sections sections = format::sections_of(identity);
  for (const format::Section& part : {sections.header, sections.behind_header}) {
    if (Error error = file->allocate(part.offset, part.bytes); !error.ok()) return error;
  }
  if (Error error = file->write_at(format::encode_identity(identity), 0); !error.ok()) return error;
  auto mapping = mapping_of(*file, File::Access::kReadWrite, identity, {}, options.map,
                            pages_for(options.map, options.exclusive || options.unpublished));
  if (!mapping) return mapping.error();
  std::unique_ptr<Session> session(
      new Session(std::move(*file), std::move(*mapping), identity, options.lock_timeout_ms));
  session->role_ = Role::kMaker;
  session->replace_ = options.replace;
  const bool alone = options.exclusive || options.unpublished;
  if (Error error = session->initialize(alone ? Writers::kAlone : Writers::kShared); !error.ok()) return error;
  return session;
}

Error Session::publish_in_use() {
  Error error = give_name();
  if (error.ok()) role_ = Role::kWriter;
  return error;
}

Error Session::write_end_word() const {
  std::array<std::byte, format::kEndWordBytes> word{};
  base::store(word.data(), format::end_word(identity_.file_id));
  return file_.write_at(word, format::sections_of(identity_).end_word.offset);
}

// Clean in the older slot and dirty in the newer one: this handle is a writer.
Error Session::initialize(Writers kind) {
  live_word().store(format::LiveWord::healthy(identity_.file_id));
  if (Error error = write_end_word(); !error.ok()) return error;
  Slot first;
  first.sequence = 1;
  // On the heap: the next slot is written further down, and its page is on the stack.
  const std::unique_ptr<const format::SlotPage> page(
      new format::SlotPage(format::encode_slot(first, identity_.file_id)));
  if (Error error = file_.write_at(*page, format::kSlotOffset); !error.ok()) return error;
  const auto evidence = evidence_under_lock();
  if (!evidence) return evidence.error();
  if (Error error = begin_dirty(*evidence); !error.ok()) return error;
  return hold_writers_lock(kind);
}

// Where a file has the name already, it is superseded until the new one has the name. A writer that opens the new one
// waits until the name is durable: otherwise a power cut could take away with it what that writer synced.
Error Session::give_name() {
  const auto state_lock = take(kStateLock);
  if (!state_lock) return state_lock.error();
  if (!replace_) return file_.publish(false);
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    if (Error error = begin_replacing(); !error.ok()) return error;
    const bool replaces = replaced_ != nullptr;
    if (replaced_ != nullptr) replaced_->about_to_go();
    Error error = file_.publish(replaces);
    if (error.code == Code::kExists && !replaces) continue;  // another process made a file of that name meanwhile
    const bool has_name = error.ok() || file_.has_its_path();
    if (has_name && replaced_ != nullptr) replaced_->is_gone();
    if (error.ok() || !superseded_by_owner_) replaced_.reset();
    // It has the name, and a caller that gets an error takes the old file to be there: no process is to believe the new
    // one. A sealed one is not written to, so that no keys depend on its name.
    return !error.ok() && has_name && !identity_.seal ? poison(error) : error;
  }
  return replaced_again_and_again(file_.path());
}

// What was superseded must have the name still. Another file there has writers, whose keys its owner has not added
// here.
Error Session::begin_replacing() {
  if (replaced_ != nullptr && !replaced_->has_its_path()) {
    replaced_.reset();
    if (std::exchange(superseded_by_owner_, false)) {
      return fail(Code::kBusy, file_.path() +
                                   ": another program put another file there since the file of that name was "
                                   "superseded; supersede that one, add what its writers added, and publish again");
    }
  }
  if (replaced_ != nullptr) return {};
  auto begun = Replaced::begin(file_, lock_timeout_ms_);
  if (!begun) return begun.error();
  replaced_ = std::move(*begun);
  return {};
}

Error Session::supersede() {
  if (!born().here()) return forked();
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  if (role_ != Role::kMaker || !replace_) {
    return fail(Code::kInvalid,
                file_.path() + ": only a filter made unpublished, to replace another file, supersedes that one");
  }
  if (Error error = begin_replacing(); !error.ok()) return error;
  superseded_by_owner_ = true;
  if (replaced_ != nullptr) replaced_->hold_for_long();
  return {};
}

Error Session::publish() {
  if (!born().here()) return forked();
  const std::lock_guard<std::mutex> one_thread(sync_mutex_);
  if (role_ != Role::kMaker)
    return fail(Code::kInvalid,
                file_.path() + ": has its name already; only a filter made unpublished can be published");
  if (Error error = sync_and_mark_clean(); !error.ok()) return error;
  writers_lock_ = {};
  const Error error = give_name();
  if (error.code == Code::kPoisoned) return error;  // for good: no slot is to name this boot again
  if (!error.ok()) return go_on_unpublished(error);
  role_ = Role::kReader;
  return {};
}

// The handle continues to add, alone, so the file must not say clean, and no other process may write to it.
Error Session::go_on_unpublished(const Error& cause) {
  const auto evidence = evidence_under_lock();
  const Error dirty = evidence ? begin_dirty(*evidence) : evidence.error();
  if (!dirty.ok()) return poison(dirty);
  const Error alone = hold_writers_lock(Writers::kAlone);
  return alone.ok() ? cause : poison(fail(Code::kBusy, cause.message + "; and another writer has opened it"));
}

}  // namespace bfstore::store
