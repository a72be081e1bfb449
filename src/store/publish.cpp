// A new file: empty, complete, and only then with a name; and the file whose place it takes. The order of the steps is
// the protocol.
#include <sys/stat.h>

#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "store/session.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using base::kNobodysLock;
using base::mutant;
using format::Slot;
using region::File;
using region::Lock;
using region::ScopedLock;

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
  if (Error error = file->allocate(0, format::kFileHeaderBytes); !error.ok()) return error;
  const std::uint64_t rest = format::sections_of(identity).end - identity.body_offset;
  if (Error error = file->allocate(identity.body_offset, rest); !error.ok()) return error;
  if (Error error = file->write_at(format::encode_identity(identity), 0); !error.ok()) return error;
  auto mapping = mapping_of(*file, File::Access::kReadWrite, identity, {}, options.map,
                            pages_for(options.map, options.exclusive || options.unpublished));
  if (!mapping) return mapping.error();
  std::unique_ptr<Session> session(new Session(std::move(*file), std::move(*mapping), identity));
  session->unpublished_ = true;
  session->replace_ = options.replace;
  if (Error error = session->initialize(options.exclusive || options.unpublished); !error.ok()) return error;
  if (options.unpublished) return session;
  if (Error error = session->give_name(); !error.ok()) return error;
  session->replaced_.reset();
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
  std::array<std::byte, format::kEndWordBytes> end{};
  base::store(end.data(), format::end_word(identity_.file_id));
  if (Error error = file_.write_at(end, format::sections_of(identity_).end_word); !error.ok()) return error;
  Slot first;
  first.sequence = 1;
  if (Error error = file_.write_at(format::encode_slot(first, identity_.file_id), format::kSlotOffset); !error.ok())
    return error;
  const auto evidence = evidence_under_lock();
  if (!evidence) return evidence.error();
  return begin_dirty(*evidence);
}

// Where a file has the name already, it is superseded until the new one has the name. Whoever opens the new one to
// write waits until the name is durable: else a power cut could take away with it what he synced.
Error Session::give_name() {
  const auto state_lock = ScopedLock::take(file_, mutant("name_is_not_durable_yet") ? kNobodysLock : kStateLock);
  if (!state_lock) return state_lock.error();
  if (!replace_) return file_.publish(false);
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    if (Error error = begin_replacing(); !error.ok()) return error;
    const bool replaces = replaced_ != nullptr;
    if (mutant("lets_go_of_the_old_file_too_early")) replaced_.reset();
    Error error = file_.publish(replaces);
    if (error.code == Code::kExists && !replaces) continue;  // somebody made a file of that name meanwhile
    // It has the name, and who is told of an error takes the old file to be there: nobody is to believe the new one.
    // A sealed one is not written to, so that nobody's keys hang on its name.
    return !error.ok() && file_.has_its_path() && !identity_.seal ? poison(error) : error;
  }
  return replaced_again_and_again(file_.path());
}

Error Session::begin_replacing() {
  if (replaced_ != nullptr) return {};
  auto begun = Replaced::begin(file_.path());
  if (!begun) return begun.error();
  replaced_ = std::move(*begun);
  return {};
}

Error Session::supersede() {
  if (!born().here()) return forked();
  if (!unpublished_ || !replace_) {
    return fail(Code::kInvalid,
                file_.path() + ": only a filter made unpublished, to replace another file, supersedes that one");
  }
  return begin_replacing();
}

Error Session::publish() {
  if (!born().here()) return forked();
  if (!unpublished_)
    return fail(Code::kInvalid,
                file_.path() + ": has its name already; only a filter made unpublished can be published");
  if (Error error = mutant("publishes_without_a_sync") ? Error{} : sync_and_mark_clean(); !error.ok()) return error;
  if (Error error = file_.unlock(kWriterLock); !error.ok()) return error;
  const bool superseded_before = replaced_ != nullptr;
  const Error error = give_name();
  if (error.ok() || !superseded_before) replaced_.reset();
  if (error.code == Code::kPoisoned) return error;  // for good: no slot is to name this boot again
  if (!error.ok()) {
    // The handle goes on adding, alone, so the file must not say clean, and nobody else may write to it.
    const auto alone = file_.try_lock(kWriterLock, Lock::kExclusive);
    if (!alone || !*alone) return poison(fail(Code::kBusy, error.message + "; and another writer has opened it"));
    const auto evidence = evidence_under_lock();
    if (mutant("goes_on_clean_when_publishing_failed")) return error;
    const Error dirty = evidence ? begin_dirty(*evidence) : evidence.error();
    if (!dirty.ok()) return poison(dirty);
    return error;
  }
  writing_ = false;
  unpublished_ = false;
  return {};
}

}  // namespace bfstore::store
