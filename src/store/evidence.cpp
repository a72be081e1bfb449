// May this file be used? What is read to decide, and the decision, which writers, readers and the inspector share.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/mutant.hpp"
#include "store/session.hpp"

namespace bfstore::store {
namespace {

using base::mutant;

constexpr int kMostRereads = 50;
constexpr auto kRereadPause = std::chrono::milliseconds(2);

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool syncing(const Evidence& evidence) noexcept { return (evidence.live_word & format::kLiveSyncing) != 0; }

// The inode of the slot, and not a later one of the same number: a copy that took the place of a file that was removed.
bool same_inode(const Evidence& evidence) noexcept {
  const format::Slot& slot = *evidence.slots.newest();
  const bool same_birth = slot.birth == evidence.birth || slot.birth == 0 || evidence.birth == 0;
  return (slot.device == evidence.device || mutant("any_device")) &&
         (slot.inode == evidence.inode || mutant("any_inode")) && (same_birth || mutant("any_birth"));
}

// What every writer that was let in has made the file say.
bool dirty_here(const Evidence& evidence) noexcept {
  return (evidence.slots.whole() || mutant("uses_torn_slots")) &&
         evidence.slots.newest()->state == format::SlotState::kDirty && same_place(evidence);
}

bool adoptable(const Evidence& evidence) noexcept {
  return dirty_here(evidence) && (evidence.boot_id != format::BootId{} || mutant("adopts_in_an_unknown_boot")) &&
         (!syncing(evidence) || mutant("adopts_while_syncing"));
}

// Who is on the way in holds the state lock, too, until the file was refused, or synced to be adopted: while we hold
// it, whoever holds the writers' lock was let in. False as well if somebody holds the state lock.
Result<bool> writer_was_let_in(const region::File& file) {
  if (mutant("reader_believes_who_is_on_the_way_in")) return true;
  const auto nobody_on_the_way = file.try_lock(kStateLock, region::Lock::kShared);
  if (!nobody_on_the_way || !*nobody_on_the_way) return nobody_on_the_way;
  const auto writer = file.locked_by_other(kWriterLock);
  if (Error error = file.unlock(kStateLock); !error.ok()) return error;
  return writer;
}

}  // namespace

bool same_place(const Evidence& evidence) noexcept {
  return (evidence.slots.newest()->boot_id == evidence.boot_id || mutant("any_boot")) && same_inode(evidence);
}

format::Slot dirty_now(const Evidence& evidence) noexcept {
  format::Slot slot = *evidence.slots.newest();
  slot.state = format::SlotState::kDirty;
  slot.recovered = 0;
  if (mutant("open_forgets_the_marks")) slot.lanes = {};
  slot.boot_id = evidence.boot_id;
  slot.device = evidence.device;
  slot.inode = evidence.inode;
  slot.birth = evidence.birth;
  return slot;
}

format::SlotPair slots_of(const HeaderBytes& header, const format::FileId& file_id) noexcept {
  const std::span<const std::byte> bytes(header);
  return format::decode_slots(bytes.subspan(format::kSlotOffset, format::kPageBytes),
                              bytes.subspan(format::kSlotOffset + format::kPageBytes, format::kPageBytes), file_id);
}

std::uint64_t live_word_of(const HeaderBytes& header) noexcept {
  return format::get<std::uint64_t>(std::span<const std::byte>(header).subspan(format::kLivePageOffset),
                                    format::kLiveWordField);
}

FileState judge(const Evidence& evidence) noexcept {
  const format::Slot* newest = evidence.slots.newest();
  if (newest == nullptr) return FileState::kUnknown;
  if ((evidence.live_word & format::kLivePoisoned) != 0 && !mutant("poisoned_is_usable")) return FileState::kPoisoned;
  const bool begun = newest->state == format::SlotState::kRecovering || newest->state == format::SlotState::kPaused;
  if ((begun && !mutant("recovery_is_forgotten_with_the_live_word")) ||
      (evidence.live_word & format::kLiveRecovering) != 0)
    return FileState::kRecovering;
  if ((evidence.live_word & format::kLiveSuperseded) != 0 && !mutant("superseded_is_usable"))
    return FileState::kSuperseded;
  // The writers' lock alone proves nothing: who is about to be refused the file holds it for a moment, too.
  if (mutant("in_use_by_the_lock_alone") && evidence.writer_alive) return FileState::kInUse;
  if (evidence.writer_alive && dirty_here(evidence) && (!evidence.sync_died || mutant("in_use_beside_a_dead_sync")))
    return FileState::kInUse;
  if (evidence.slots.clean()) return FileState::kClean;
  return adoptable(evidence) ? FileState::kAdoptable : FileState::kUnclean;
}

format::BootId current_boot_id() noexcept {
  format::BootId boot_id{};
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::size_t digits = 0;
  for (char c = 0; digits < 32 && file.get(c);) {
    const int digit = hex_digit(c);
    if (digit < 0) continue;  // the dashes
    boot_id[digits / 2] = static_cast<std::uint8_t>(boot_id[digits / 2] << 4 | digit);
    ++digits;
  }
  return digits == 32 ? boot_id : format::BootId{};
}

bool live_word_is_own(std::uint64_t live_word, const format::FileId& file_id) noexcept {
  return (live_word & ~format::kLiveStates) == format::healthy_live_word(file_id);
}

Result<HeaderBytes> read_header(const region::File& file) {
  HeaderBytes header(format::kFileHeaderBytes);
  if (const auto got = file.read_at(header, 0); !got) return got.error();
  return header;
}

Result<bool> has_end_word(const region::File& file, const format::Identity& identity) {
  std::array<std::byte, format::kEndWordBytes> word{};
  const auto got = file.read_at(word, format::sections_of(identity).end_word);
  if (!got) return got.error();
  return base::load<std::uint64_t>(word.data()) == format::end_word(identity.file_id);
}

std::span<const std::byte> header_there(const HeaderBytes& header, const region::FileFacts& facts) noexcept {
  return std::span<const std::byte>(header).first(std::min<std::uint64_t>(facts.bytes, header.size()));
}

Result<Evidence> gather_evidence(const region::File& file, const region::FileFacts& facts,
                                 const format::FileId& file_id) {
  for (int attempt = 0;; ++attempt) {
    const auto before = read_header(file);
    if (!before) return before.error();
    Evidence evidence{
        slots_of(*before, file_id), live_word_of(*before), false, false, {}, facts.device, facts.inode, facts.birth};
    if (judge(evidence) == FileState::kClean) return evidence;  // nobody need be asked
    evidence.boot_id = current_boot_id();
    const auto writer = file.locked_by_other(kWriterLock);
    if (!writer) return writer.error();
    evidence.writer_alive = *writer;
    if (syncing(evidence)) {
      const auto sync = file.locked_by_other(kSyncLock);
      if (!sync) return sync.error();
      evidence.sync_died = !*sync;
    }
    if (judge(evidence) == FileState::kInUse) {
      const auto let_in = writer_was_let_in(file);
      if (!let_in) return let_in.error();
      if (*let_in) return evidence;
      if (attempt < kMostRereads) {
        std::this_thread::sleep_for(kRereadPause);
        continue;
      }
      // Somebody takes long. If that is no sync, nothing says that a sync of the file worked: it is to be adopted.
      evidence.writer_alive = syncing(evidence);
      return evidence;
    }
    // No writer now, or none that was let in. The pages may be from before the last one left, or somebody may be on the
    // way in or out.
    const auto changing = file.locked_by_other(kStateLock);
    if (!changing) return changing.error();
    const auto after = read_header(file);
    if (!after) return after.error();
    const bool stable = slots_of(*after, file_id) == evidence.slots && live_word_of(*after) == evidence.live_word;
    if (mutant("reader_looks_once")) return evidence;
    if ((stable && !*changing) || attempt == kMostRereads) return evidence;
    std::this_thread::sleep_for(kRereadPause);
  }
}

}  // namespace bfstore::store
