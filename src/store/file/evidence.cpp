#include "store/file/evidence.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/fail.hpp"
#include "hash/hash.hpp"
#include "region/place.hpp"

namespace bfstore::store {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRereadPause = std::chrono::milliseconds(2);
constexpr std::uint32_t kShortWaitMs = 100;
constexpr int kLeastLooks = 16;  // while something changes, or a sync seems to have died

// 0 is unknown, and differs from nothing.
bool no_difference(std::uint64_t then, std::uint64_t now) noexcept { return then == now || then == 0 || now == 0; }

// True if the file is the slot's inode: by its number, and by its mark if both sides know one.
bool same_inode(const Evidence& evidence) noexcept {
  const format::Slot& slot = *evidence.slots.newest();
  return slot.place.device == evidence.place.device && slot.place.inode == evidence.place.inode &&
         no_difference(slot.place.inode_mark, evidence.place.inode_mark);
}

// A turn has written its slot, and did not yet change the live page, or its process died. *Syncing* is set then.
bool epoch_is_beginning(const Evidence& evidence) noexcept {
  const std::uint64_t ended = evidence.epoch.number();
  return evidence.epoch.is_ending() && evidence.slots.newest()->epoch == ended + 1 && evidence.syncing;
}

// True if the slots say dirty for this place. Every writer that was let in has made them say so.
bool dirty_here(const Evidence& evidence) noexcept {
  return evidence.slots.whole() && evidence.slots.newest()->state == format::SlotState::kDirty && same_place(evidence);
}

// No writer is alive whose lock would prove that this is the same file. So it must not be a later inode of the same
// number (a copy that replaced a removed file; a snapshot), nor the same inode after another mount. A fact that only
// one of the two processes knows (no /sys in a sandbox) proves nothing.
bool adoptable(const Evidence& evidence) noexcept {
  const format::Slot& slot = *evidence.slots.newest();
  const bool same_one = slot.place.inode_mark == evidence.place.inode_mark && slot.place.inode_mark != 0;
  const bool still_mounted = slot.place.mount == evidence.place.mount;
  return dirty_here(evidence) && same_one && still_mounted && !evidence.syncing;
}

// Two unknown boots do not count as the same one.
bool same_boot(const Evidence& evidence) noexcept {
  if (evidence.place.boot_id == format::BootId{}) return false;
  return evidence.slots.newest()->place.boot_id == evidence.place.boot_id;
}

// A filesystem that was mounted again may have lost what was not synced, and forgotten that it could not write it.
bool same_mount(const Evidence& evidence) noexcept {
  return no_difference(evidence.slots.newest()->place.mount, evidence.place.mount);
}

// True for states that another process may end in a moment, because it is changing the file. Other states are not worth
// a long wait.
bool may_change_soon(const Evidence& evidence) noexcept {
  const FileState state = judge(evidence);
  return state == FileState::kAdoptable || state == FileState::kUnclean;
}

Clock::time_point after(std::uint32_t milliseconds) {
  return milliseconds == kWaitForEver ? Clock::time_point::max()
                                      : Clock::now() + std::chrono::milliseconds(milliseconds);
}

// Asks which locks other processes hold now. The caller has already judged the files for which no process need be
// asked.
Error ask_for_writers(const region::File& file, Evidence& evidence) {
  const auto writer = region::locked_by_other(file, kWriterLocks);
  if (!writer.ok()) return writer.error();
  evidence.writer_alive = *writer;
  if (!evidence.syncing) return {};
  const auto sync = region::locked_by_other(file, {format::kSyncLock});
  if (!sync.ok()) return sync.error();
  evidence.sync_died = !*sync;
  return {};
}

}  // namespace

Evidence evidence_in(const HeaderBytes& header, const format::FileId& file_id) noexcept {
  return {.slots = slots_of(header, file_id),
          .live_word = live_word_of(header),
          .syncing = syncing_in(header),
          .expires = keys_expire(header),
          .epoch = epoch_in(header),
          .grows = grows(header),
          .num_slices = num_slices_in(header),
          .place = {}};
}

bool in_one_epoch(const Evidence& evidence) noexcept {
  return !evidence.expires || evidence.epoch.number() == evidence.slots.newest()->epoch;
}

bool has_its_slices(const Evidence& evidence) noexcept {
  if (!evidence.grows) return true;
  const std::uint64_t durable = evidence.slots.newest()->num_slices;
  return evidence.num_slices >= durable && (evidence.num_slices == durable || !evidence.slots.clean());
}

bool is_from_before(const Evidence& evidence) noexcept {
  const format::Slot* const newest = evidence.slots.newest();
  const bool known =
      newest != nullptr && newest->place.boot_id != format::BootId{} && evidence.place.boot_id != format::BootId{};
  return known && !(same_boot(evidence) && same_mount(evidence));
}

bool same_place(const Evidence& evidence) noexcept {
  return same_boot(evidence) && same_mount(evidence) && same_inode(evidence);
}

bool recovering_here(const Evidence& evidence) noexcept {
  return evidence.slots.whole() && evidence.slots.newest()->state == format::SlotState::kRecovering &&
         same_place(evidence) && evidence.live_word.has(format::LiveWord::kRecovering) &&
         !evidence.live_word.has(format::LiveWord::kPoisoned);
}

bool filling(const Evidence& evidence) noexcept {
  return evidence.live_word.has(format::LiveWord::kFilling) || evidence.slots.newest()->filling;
}

std::uint64_t settled_by(const format::Slot& slot) noexcept { return slot.filling ? 0 : format::LiveWord::kFilling; }

format::Slot dirty_now(const Evidence& evidence) noexcept {
  format::Slot slot = *evidence.slots.newest();
  slot.state = format::SlotState::kDirty;
  slot.recovered = 0;
  if (evidence.expires) {
    format::move_to(slot, evidence.place);
  } else {  // a later version may keep a time there
    slot.place = evidence.place;
  }
  return slot;
}

FileState judge(const Evidence& evidence) noexcept {
  const format::Slot* newest = evidence.slots.newest();
  if (newest == nullptr) return FileState::kUnknown;
  if (evidence.live_word.has(format::LiveWord::kReplaced))
    return FileState::kSuperseded;  // for good, whatever else is set
  if (evidence.live_word.has(format::LiveWord::kPoisoned)) return FileState::kPoisoned;
  const bool begun = newest->state == format::SlotState::kRecovering || newest->state == format::SlotState::kPaused;
  if (begun || evidence.live_word.has(format::LiveWord::kRecovering)) return FileState::kRecovering;
  if (evidence.live_word.has(format::LiveWord::kSuperseded)) return FileState::kSuperseded;
  // The live word is the last to say that a file is filled. A live page that is ahead of the slots is from another
  // moment.
  if (newest->filling && !evidence.live_word.has(format::LiveWord::kFilling)) return FileState::kUnclean;
  const bool one_epoch = in_one_epoch(evidence);
  if (!one_epoch && !epoch_is_beginning(evidence)) return FileState::kUnclean;
  if (!has_its_slices(evidence)) return FileState::kUnclean;
  // A writer takes its lock after it was let in. The slots must say so, too: a program that is not a writer of filters
  // may have locked the file.
  if (evidence.writer_alive && dirty_here(evidence) && !evidence.sync_died) return FileState::kInUse;
  if (!one_epoch) return FileState::kUnclean;
  if (evidence.slots.clean()) return FileState::kClean;
  return adoptable(evidence) ? FileState::kAdoptable : FileState::kUnclean;
}

Result<format::Place> place_of(const region::File& file) {
  const auto facts = file.facts();
  if (!facts) return facts.error();
  const auto boot_id = region::boot_id();
  if (!boot_id) return base::fail(boot_id.error().code, file.path() + ": " + boot_id.error().message);
  const auto mark = region::inode_mark(file.descriptor());
  if (!mark) return base::fail_errno(mark.error().os_errno, file.path(), "asking which file it is");
  return format::Place{*boot_id, facts->device, facts->inode,
                       mark->empty() ? 0 : hash::xxh3(mark->data(), mark->size(), 0),
                       region::mount_instance(file.descriptor())};
}

Result<Evidence> gather_evidence(const region::File& file, const format::FileId& file_id, std::uint32_t timeout_ms,
                                 HeaderBytes* header) {
  const Clock::time_point until = after(timeout_ms);
  const Clock::time_point shortly = after(std::min(timeout_ms, kShortWaitMs));
  std::optional<format::Place> place;
  for (int looks = 1;; ++looks) {
    const auto before = read_header(file);
    if (!before) return before.error();
    if (header != nullptr) *header = *before;
    Evidence evidence = evidence_in(*before, file_id);
    evidence.place = place.value_or(format::Place{});
    if (judge(evidence) == FileState::kClean) return evidence;  // no process need be asked
    if (!place) {
      const auto found = place_of(file);
      if (!found) return found.error();
      place = *found;
      continue;  // place and boot are compared with what is read after this
    }
    if (Error error = ask_for_writers(file, evidence); !error.ok()) return error;
    if (judge(evidence) == FileState::kInUse) return evidence;
    // There is no writer now, or none that was let in. The pages may be from before the last writer left, or another
    // process may be opening or closing the file.
    const auto changing = region::locked_by_other(file, {format::kStateLock});
    if (!changing.ok()) return changing.error();
    const auto again = read_header(file);
    if (!again) return again.error();
    const bool stable = slots_of(*again, file_id) == evidence.slots && live_word_of(*again) == evidence.live_word &&
                        syncing_in(*again) == evidence.syncing && epoch_in(*again) == evidence.epoch &&
                        num_slices_in(*again) == evidence.num_slices;
    // A sync that ended between the look at its flag and the look at its lock, while another one began, looks like a
    // sync whose process was killed. A killed one looks so every time. On a busy machine the time may pass with few
    // looks, so a minimum number of looks counts, too.
    const bool looked_well = looks >= kLeastLooks;
    if (stable && !*changing && (!evidence.sync_died || looked_well)) return evidence;
    const bool waited = Clock::now() >= (may_change_soon(evidence) ? until : shortly);
    if (waited && (looked_well || timeout_ms == 0)) {
      evidence.changing = true;
      return evidence;
    }
    std::this_thread::sleep_for(kRereadPause);
  }
}

}  // namespace bfstore::store
