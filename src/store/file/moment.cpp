#include "store/file/moment.hpp"

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
  const auto live_page = std::span<const std::byte>(header).subspan(format::kLivePageOffset, format::kPageBytes);
  return Moment{
      newest->state, newest->recoveries, format::keys_left_in(live_page), {newest->lanes.begin(), newest->lanes.end()}};
}

// A file that was in doubt between the two moments is good again only after a recovery.
bool nothing_between(std::uint32_t before, std::uint32_t after) noexcept { return before == after; }

}  // namespace bfstore::store
