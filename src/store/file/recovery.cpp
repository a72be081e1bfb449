#include "store/file/recovery.hpp"

#include "base/fail.hpp"

namespace bfstore::store {
namespace {

using format::Slot;
using format::SlotState;

// True if the last recoverer synced and closed: the keys that were added again are on disk.
bool paused(const Evidence& evidence) noexcept {
  return evidence.slots.whole() && evidence.slots.newest()->state == SlotState::kPaused &&
         !evidence.live_word.has(format::LiveWord::kPoisoned) && !evidence.syncing;
}

// Writes every page but the identity again. The page of the end word is stored to and not written: a program that cuts
// the file between the reading and the writing would get the length and the end word back, around a hole where bits
// were, and the file would answer again.
Error write_again(const OpenFile& opened) {
  const format::Sections sections = format::sections_of(opened.identity(), opened.num_slices());
  Error error = opened.file().rewrite(format::kSlotOffset, format::kFileHeaderBytes - format::kSlotOffset);
  const format::Section& rest = sections.behind_header;
  if (error.ok()) error = opened.file().rewrite(rest.offset, sections.end_word.offset - rest.offset);
  if (error.ok()) error = opened.check_words();
  if (error.ok()) error = opened.store_end_word_again();
  return error.ok() ? opened.file().sync() : error;
}

// After a power cut a file may count slices that its disk does not have. If they are there, they count, whatever their
// bits are: a lookup of a process that is alive would not look into a slice that it saw go and come back. A mixture of
// two moments may count fewer: keys that the marks cover are in the slices of the slot.
Error take_durable_slices(const OpenFile& opened, const Evidence& evidence) {
  if (!opened.identity().growth) return {};
  const std::uint32_t durable = evidence.slots.newest()->num_slices;
  if (evidence.num_slices >= durable) {
    const auto all_there = has_end_word(opened.file(), opened.identity(), opened.num_slices());
    if (!all_there.ok()) return all_there.error();
    if (*all_there || !is_from_before(evidence)) return {};
  }
  if (Error error = opened.own_live_page(); !error.ok()) return error;
  opened.live_word().store_num_slices(durable);
  return {};
}

// Once the live word is set, every handle in every process answers "maybe"; once the slot is written, also after a
// power cut. Keys that a killed recoverer added again may be lost, so all of them are needed again. Pages that the
// system failed to write count as written, and adding a bit that is already set would not write them. So all pages are
// written again.
//
// Not inlined, like end_recovery(): slots are large, and the stack may be small.
[[gnu::noinline]] Error begin_recovery(const OpenFile& opened, const Evidence& evidence) {
  const bool is_paused = paused(evidence);
  Slot slot = dirty_now(evidence);
  const std::uint64_t filling = slot.filling ? format::LiveWord::kFilling : 0;
  opened.live_word().set(format::LiveWord::kRecovering | filling);
  slot.state = SlotState::kRecovering;
  ++slot.recoveries;
  if (is_paused) slot.recovered = evidence.slots.newest()->recovered;
  if (Error error = opened.write_slot(evidence.slots, slot); !error.ok()) return opened.poison(error);
  if (!is_paused) {
    if (Error error = write_again(opened); !error.ok()) return opened.poison(error);
  }
  // After a turn that was not finished the word stays as it is. A lookup that has been stopped since before that turn
  // would else find the value that it loaded, with the oldest bits cleared meanwhile.
  if (evidence.expires && evidence.epoch.number() != slot.epoch) opened.live_word().begin_epoch(slot.epoch);
  opened.live_word().clear(format::LiveWord::kPoisoned | settled_by(slot));
  opened.live_word().end_sync();
  return {};
}

// Writes the slot durably before any process gets a "no" again.
[[gnu::noinline]] Error end_recovery(const OpenFile& opened) {
  const auto begun = opened.evidence_under_lock();
  if (!begun) return begun.error();
  if (Error error = opened.write_slot(begun->slots, dirty_now(*begun)); !error.ok()) return opened.poison(error);
  opened.live_word().clear(format::LiveWord::kRecovering);
  return {};
}

void say_over(Slot& slot, std::uint64_t& cleared) noexcept {
  slot.state = SlotState::kDirty;
  slot.recovered = 0;
  cleared |= format::LiveWord::kRecovering;
}

}  // namespace

// No other process may be writing: a writer that was let into a poisoned file still gets errors. The caller holds the
// state lock, so no writer comes meanwhile.
Error recover(const OpenFile& opened, const Evidence& evidence, bool accept_loss) {
  if (evidence.writer_alive)
    return busy(opened.file(), kWriterLocks, "a writer has it open, and it needs recovery",
                "Close that writer, and recover it again.");
  if (Error error = take_durable_slices(opened, evidence); !error.ok()) return error;
  if (Error error = opened.check_file_is_whole(); !error.ok()) return error;
  if (Error error = opened.own_blocks(); !error.ok()) return error;
  if (Error error = begin_recovery(opened, evidence); !error.ok()) return error;
  return accept_loss ? end_recovery(opened) : Error{};
}

// If the recovery is over already, this changes nothing.
bool one_more_recovered(Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept {
  format::set_recovered(slot, owner);
  const bool over = slot.state == SlotState::kDirty || format::all_recovered(slot);
  if (!over) return false;
  say_over(slot, cleared);
  return true;
}

// If no owner has finished the recovery, dropping the last owner does not end it.
void one_owner_less(Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept {
  format::drop_owner(slot, owner);
  if (slot.state == SlotState::kRecovering && slot.recovered != 0 && format::all_recovered(slot))
    say_over(slot, cleared);
}

}  // namespace bfstore::store
