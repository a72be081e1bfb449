#include "store/moment.hpp"

#include "base/fail.hpp"

namespace bfstore::store {

using base::fail;
using format::SlotState;

Result<Moment> moment_in(const HeaderBytes& header, const OpenFile& opened) {
  const std::string& path = opened.file().path();
  const format::SlotPair slots = slots_of(header, opened.identity().file_id);
  const format::Slot* const newest = slots.newest();
  if (newest == nullptr)
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged. Rebuild it.");
  if (format::is_poisoned(*newest))
    return fail(Code::kPoisoned,
                path + ": not copied, for an earlier sync failed. Recover it (bf recover) or rebuild it.");
  if (newest->state == SlotState::kRecovering || newest->state == SlotState::kPaused)
    return fail(Code::kRecovering, path + ": not copied, for a recovery was begun and is not finished. Finish it.");
  return Moment{*newest, format::keys_left_in(
                             std::span<const std::byte>(header).subspan(format::kLivePageOffset, format::kPageBytes))};
}

// A file that was in doubt between the two is good again only after a recovery.
bool nothing_between(const format::Slot& before, const format::Slot& after) noexcept {
  return before.recoveries == after.recoveries;
}

}  // namespace bfstore::store
