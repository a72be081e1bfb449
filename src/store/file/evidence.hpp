// Decides whether a file may be used, and reads what the decision depends on (FORMAT.md, "When a dirty file may be
// used").
#pragma once

#include <bfstore/inspect.hpp>

#include "format/locks.hpp"
#include "format/state.hpp"
#include "region/file.hpp"
#include "region/lock.hpp"
#include "store/file/header.hpp"

namespace bfstore::store {

inline constexpr region::ByteRange kWriterLocks{format::kFirstWriterLock, format::kNumWriterLocks};

// The facts that the decision depends on.
struct Evidence {
  format::SlotPair slots;
  format::LiveWord live_word;
  bool syncing = false;
  bool expires = false;          // the layout has epochs
  format::LiveEpoch epoch;       // of the live page
  bool grows = false;            // the layout has slices
  std::uint64_t num_slices = 1;  // of the live page
  bool writer_alive = false;     // another description holds a writer's lock, so its owner was let in
  bool sync_died = false;        // *syncing* is set, and no process holds the lock of a sync
  bool changing = false;         // another process was still changing the file when the time to wait was over
  format::Place place;           // where the file is now
};

// Judges a file with its own live word. A kAdoptable file still needs a sync that succeeds.
FileState judge(const Evidence& evidence) noexcept;

// True if slots and live page are of one epoch, or the layout has none. Otherwise a turn is between its slot and the
// live page, or the file is a mixture of two moments.
bool in_one_epoch(const Evidence& evidence) noexcept;

// True if the live page has at least as many slices as the newest slot. Otherwise the file is a mixture of two moments.
// A clean file has as many.
bool has_its_slices(const Evidence& evidence) noexcept;

// True if the newest slot was written in another boot, or before the filesystem was mounted, and that is known: no
// process that is alive uses the file as its writers left it. The inode says nothing of that. Processes in different
// sandboxes may know different facts about one inode, and take it for two.
bool is_from_before(const Evidence& evidence) noexcept;

// True if the newest slot was written in this boot, for this inode and mount.
bool same_place(const Evidence& evidence) noexcept;

// True if the recoverers that hold the writers' lock were let in.
bool recovering_here(const Evidence& evidence) noexcept;

// Returns what a header says: slots, live word and *syncing*.
Evidence evidence_in(const HeaderBytes& header, const format::FileId& file_id) noexcept;

// Returns a slot that says dirty, here and now, with the newest slot's marks.
format::Slot dirty_now(const Evidence& evidence) noexcept;

// True if every answer is "maybe" because not every key was added yet.
bool filling(const Evidence& evidence) noexcept;

// Returns the bit of the live word that is no longer needed once this slot is durable, or 0. It is never set again.
std::uint64_t settled_by(const format::Slot& slot) noexcept;

// Returns the inode, the mount and the boot of the file. They do not change while the file is open.
Result<format::Place> place_of(const region::File& file);

// Reads slots and live word that belong together, without a lock. While another process is about to change them, reads
// them again, for at most `timeout_ms`. If a sync seems to have died, looks for some 30 ms even if the timeout is
// shorter, unless it is 0. `header`, if not null, receives the header that the evidence was read from.
Result<Evidence> gather_evidence(const region::File& file, const format::FileId& file_id, std::uint32_t timeout_ms,
                                 HeaderBytes* header = nullptr);

}  // namespace bfstore::store
