// A file that was unclean or poisoned, until every owner has added again what came after its mark (FORMAT.md,
// "Recovery"). That is a state of the file, not of a handle. The order of the steps is the protocol.
#include "base/fail.hpp"
#include "store/session.hpp"

namespace bfstore::store {

using base::fail;
using format::Slot;
using format::SlotState;

namespace {

constexpr std::uint64_t kTrouble = format::LiveWord::kPoisoned | format::LiveWord::kSyncing;

// The last recoverer synced and closed: what was added again is on disk.
bool paused(const Evidence& evidence) noexcept {
  return evidence.slots.whole() && evidence.slots.newest()->state == SlotState::kPaused &&
         !evidence.live_word.has(kTrouble);
}

}  // namespace

// No other process may be writing: a writer that was let into a poisoned file continues to be refused. The state lock
// is held, so that none comes meanwhile.
Error Session::recover(const Evidence& evidence, const Opening& options) {
  if (evidence.writer_alive)
    return busy(file_, kWriterLocks, "needs recovery, but a writer has it open; close that one");
  if (Error error = check_file_is_whole(); !error.ok()) return error;
  if (Error error = own_blocks(); !error.ok()) return error;
  if (Error error = begin_recovery(evidence); !error.ok()) return error;
  if (!options.accept_loss) return {};
  const auto begun = evidence_under_lock();
  return begun ? end_recovery(*begun) : begun.error();
}

// From the first line on every handle in every process answers "maybe", and from the second on after a power cut too.
// What was added again before a recoverer was killed may be lost: then all of it is needed again. Pages that the system
// failed to write count as written, so that adding a bit again that is there already would leave them unwritten: they
// are all written again.
Error Session::begin_recovery(const Evidence& evidence) {
  const bool is_paused = paused(evidence);
  live_word().set(format::LiveWord::kRecovering);
  Slot slot = dirty_now(evidence);
  slot.state = SlotState::kRecovering;
  if (is_paused) slot.recovered = evidence.slots.newest()->recovered;
  if (Error error = write_slot(evidence.slots, slot); !error.ok()) return poison(error);
  if (!is_paused) {
    Error error = file_.rewrite(format::kSlotOffset, format::kFileHeaderBytes - format::kSlotOffset);
    const format::Section rest = format::sections_of(identity_).behind_header;
    if (error.ok()) error = file_.rewrite(rest.offset, rest.bytes);
    if (error.ok()) error = file_.sync();
    if (!error.ok()) return poison(error);
  }
  live_word().clear(kTrouble);
  return {};
}

// Durable before anybody is answered "no" again.
Error Session::end_recovery(const Evidence& evidence) {
  if (Error error = write_slot(evidence.slots, dirty_now(evidence)); !error.ok()) return poison(error);
  live_word().clear(format::LiveWord::kRecovering);
  return {};
}

// What was added again is durable before the slot says so. If the recovery is over already, there is nothing to say.
Result<bool> Session::recovered(std::uint64_t owner) {
  bool over = false;
  Error error = sync_and_store([&](Slot& slot, std::uint64_t& cleared) {
    format::set_recovered(slot, owner);
    over = slot.state == SlotState::kDirty || format::all_recovered(slot);
    if (over) {
      slot.state = SlotState::kDirty;
      slot.recovered = 0;
      cleared |= format::LiveWord::kRecovering;
    }
    return Error{};
  });
  if (!error.ok()) return error;
  return over;
}

}  // namespace bfstore::store
