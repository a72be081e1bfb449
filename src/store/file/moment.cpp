#include "store/file/moment.hpp"

#include "base/fail.hpp"
#include "region/lock.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {

using base::fail;
using format::SlotState;

namespace {

// True if a turn is between its slot and the live page, so that the epoch of this moment is not known yet.
bool between_epochs(const HeaderBytes& header, const format::FileId& file_id) noexcept {
  const Evidence evidence = evidence_in(header, file_id);
  return evidence.slots.newest() != nullptr && !in_one_epoch(evidence);
}

bool says_clean(const HeaderBytes& header, const format::FileId& file_id) noexcept {
  const format::SlotPair slots = slots_of(header, file_id);
  return slots.newest() != nullptr && slots.newest()->state == SlotState::kClean;
}

}  // namespace

// A turn's first slot has a time that is too early. It is written while *syncing* is set, after the epoch's word has
// changed. So if *syncing* was not set before, and that word is the same afterwards, the slots between are of no turn.
// A clean slot is of none, either, and a killed closer may have left *syncing* set.
Result<HeaderBytes> header_outside_turns(const OpenFile& opened) {
  for (region::Patience patience(opened.lock_timeout_ms());;) {
    const auto before = opened.whole_header();
    if (!before || !opened.identity().window_ms) return before;
    const auto header = opened.whole_header();
    if (!header) return header.error();
    const bool settled = !syncing_in(*before) || says_clean(*header, opened.identity().file_id);
    const bool same = settled && epoch_in(*before) == epoch_in(*header);
    if (same && !between_epochs(*header, opened.identity().file_id)) return header;
    if (!patience.wait())
      return fail(Code::kBusy, opened.file().path() + ": another process ends an epoch of it. Try again later.");
  }
}

Result<Moment> moment_in(const HeaderBytes& header, const OpenFile& opened) {
  const std::string& path = opened.file().path();
  const format::SlotPair slots = slots_of(header, opened.identity().file_id);
  const format::Slot* const newest = slots.newest();
  if (newest == nullptr)
    return fail(Code::kSlots, path + ": no state slot is valid: the header was damaged. Rebuild it.");
  if (format::is_poisoned(*newest))
    return fail(Code::kPoisoned, base::sentences(earlier_sync(opened.file()).message,
                                                 "It is not copied. Recover it (bf recover) or rebuild it."));
  if (newest->state == SlotState::kRecovering || newest->state == SlotState::kPaused)
    return fail(Code::kRecovering, path + ": not copied, for a recovery was begun and is not finished. Finish it.");
  const auto live_page = std::span<const std::byte>(header).subspan(format::kLivePageOffset, format::kPageBytes);
  return Moment{newest->state,
                newest->recoveries,
                format::keys_left_in(live_page),
                {newest->lanes.begin(), newest->lanes.end()},
                {epoch_in(header), newest->turned_at}};
}

// A file that was in doubt between the two moments is good again only after a recovery.
bool nothing_between(std::uint32_t before, std::uint32_t after) noexcept { return before == after; }

}  // namespace bfstore::store
