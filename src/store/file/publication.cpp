#include "store/file/publication.hpp"

#include "base/fail.hpp"
#include "layout/layout.hpp"

namespace bfstore::store {
using base::fail;

Publication::Publication(const Making& how) noexcept
    : replace_(how.name != NameBefore::kNothing),
      keeps_rights_(!how.mode),
      found_(how.name == NameBefore::kWasFree ? Found::kFreeName : Found::kAnyFile) {}

// The file that was superseded must still have the name. Another file there has its own writers, whose keys the caller
// has not added here. The lock must be there, too: without it another process may have continued with the file, and its
// writers' keys are not here either.
Error Publication::begin_replacing(const OpenFile& made) {
  if (replaced_ != nullptr) {
    if (Error lost = replaced_->check(); !lost.ok()) return lost;
  }
  if (replaced_ != nullptr && !replaced_->has_its_path()) {
    replaced_.reset();
    if (found_ == Found::kSuperseded) return refuse_another(made);
  }
  if (replaced_ != nullptr) return {};
  auto begun = Replaced::begin(made.file(), made.identity().file_id, made.lock_timeout_ms());
  if (!begun) return begun.error();
  replaced_ = std::move(*begun);
  return {};
}

// give_name() is refused until the caller has looked again.
Error Publication::refuse_another(const OpenFile& made) {
  found_ = Found::kAnotherSince;
  return fail(Code::kBusy, made.file().path() +
                               ": another program made or moved a file there meanwhile, which has writers of its own. "
                               "Supersede that file, add what they added, and publish again. Or begin anew, if those "
                               "keys may go.");
}

Error Publication::take_free_name(OpenFile& made) {
  Error error = made.take_name(false, [] { return Error{}; });
  return error.code == Code::kExists ? refuse_another(made) : error;
}

// A file that has the name already is superseded until the new one has the name. A writer that opens the new file waits
// until the name is durable. Otherwise a power cut could remove the name, and with it what that writer synced.
Error Publication::give_name(OpenFile& made) {
  const auto state_lock = made.take(format::kStateLock);
  if (!state_lock) return state_lock.error();
  const auto last_look = [this] { return replaced_ != nullptr ? replaced_->check() : Error{}; };
  if (!replace_) return made.take_name(false, last_look);
  if (found_ == Found::kAnotherSince) return refuse_another(made);
  if (found_ == Found::kFreeName) return take_free_name(made);
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    if (Error error = begin_replacing(made); !error.ok()) return error;
    const bool replaces = replaced_ != nullptr;
    if (replaced_ != nullptr) {
      if (keeps_rights_) made.take_rights_of(replaced_->file());
      replaced_->about_to_go();
    }
    Error error = made.take_name(replaces, last_look);
    if (error.code == Code::kExists && !replaces) continue;  // another process made a file of that name meanwhile
    const bool has_name = error.ok() || made.file().has_its_path();
    if (has_name && replaced_ != nullptr) replaced_->is_gone();
    if (error.ok() || found_ != Found::kSuperseded) replaced_.reset();
    // The new file has the name, but a caller that gets an error expects the old file there: no process may believe the
    // new one. A sealed copy is not written to, and its keys are those of another file: no keys depend on its name.
    const bool depends = !made.identity().seal || layout::row_of(made.identity().shape.layout).info.can.build;
    return !error.ok() && has_name && depends ? made.poison(error) : error;
  }
  return replaced_again_and_again(made.file().path());
}

// If the lock was lost, supersedes the file anew: the caller adds to `made` what was added to the file since.
Error Publication::supersede(const OpenFile& made) {
  if (replaced_ != nullptr && !replaced_->check().ok()) replaced_.reset();
  if (Error error = begin_replacing(made); !error.ok()) return error;
  found_ = replaced_ != nullptr ? Found::kSuperseded : Found::kFreeName;
  if (replaced_ != nullptr) replaced_->hold_for_long();
  return {};
}

Error Publication::supersede_found(const OpenFile& made) {
  return replace_ && found_ == Found::kAnyFile ? supersede(made) : Error{};
}

}  // namespace bfstore::store
