#include "store/publication.hpp"

#include "base/fail.hpp"

namespace bfstore::store {
using base::fail;

// What was superseded must have the name still. Another file there has writers, whose keys its owner has not added
// here.
Error Publication::begin_replacing(const OpenFile& made) {
  if (replaced_ != nullptr && !replaced_->has_its_path()) {
    replaced_.reset();
    if (std::exchange(superseded_by_owner_, false)) {
      return fail(Code::kBusy, made.file().path() +
                                   ": another program moved another file there after the file of that name was "
                                   "superseded. Supersede that file, add what its writers added, and publish again.");
    }
  }
  if (replaced_ != nullptr) return {};
  auto begun = Replaced::begin(made.file(), made.identity().file_id, made.lock_timeout_ms());
  if (!begun) return begun.error();
  replaced_ = std::move(*begun);
  return {};
}

// Where a file has the name already, it is superseded until the new one has the name. A writer that opens the new one
// waits until the name is durable: otherwise a power cut could take away with it what that writer synced.
Error Publication::give_name(OpenFile& made) {
  const auto state_lock = made.take(format::kStateLock);
  if (!state_lock) return state_lock.error();
  if (!replace_) return made.take_name(false);
  for (int attempt = 0; attempt < kMostReopens; ++attempt) {
    if (Error error = begin_replacing(made); !error.ok()) return error;
    const bool replaces = replaced_ != nullptr;
    if (replaced_ != nullptr) replaced_->about_to_go();
    Error error = made.take_name(replaces);
    if (error.code == Code::kExists && !replaces) continue;  // another process made a file of that name meanwhile
    const bool has_name = error.ok() || made.file().has_its_path();
    if (has_name && replaced_ != nullptr) replaced_->is_gone();
    if (error.ok() || !superseded_by_owner_) replaced_.reset();
    // It has the name, and a caller that gets an error takes the old file to be there: no process is to believe the new
    // one. A sealed one is not written to, so that no keys depend on its name.
    return !error.ok() && has_name && !made.identity().seal ? made.poison(error) : error;
  }
  return replaced_again_and_again(made.file().path());
}

Error Publication::supersede(const OpenFile& made) {
  if (Error error = begin_replacing(made); !error.ok()) return error;
  superseded_by_owner_ = true;
  if (replaced_ != nullptr) replaced_->hold_for_long();
  return {};
}

}  // namespace bfstore::store
