// May this file be used? What a process reads to decide, and the decision (FORMAT.md, "When a dirty file may be used").
#pragma once

#include <bfstore/inspect.hpp>

#include "format/locks.hpp"
#include "format/state.hpp"
#include "region/file.hpp"
#include "region/lock.hpp"
#include "store/file/header.hpp"

namespace bfstore::store {

inline constexpr region::ByteRange kWriterLocks{format::kFirstWriterLock, format::kNumWriterLocks};

// What the decision depends on.
struct Evidence {
  format::SlotPair slots;
  format::LiveWord live_word;
  bool writer_alive = false;  // another description holds a writer's lock: its owner was let in
  bool sync_died = false;     // *syncing* is set, and no process holds the lock of a sync
  bool changing = false;      // a process holds the state lock, and held it for as long as this one waited
  format::Place place;        // of the file, now
};

// Only for a file with its own live word. A kAdoptable file still needs a sync that succeeds.
FileState judge(const Evidence& evidence) noexcept;

// Whether the newest slot was written in this boot, for this inode.
bool same_place(const Evidence& evidence) noexcept;

// Whether the recoverers that hold the writers' lock were let in.
bool recovering_here(const Evidence& evidence) noexcept;

// A slot that says dirty, here and now, with the newest slot's marks.
format::Slot dirty_now(const Evidence& evidence) noexcept;

// Whether every answer is "maybe", because not every key was added yet.
bool filling(const Evidence& evidence) noexcept;

// The bit of the live word that is not needed any more once this slot is durable. It is never set again.
std::uint64_t settled_by(const format::Slot& slot) noexcept;

// What does not change while the file is open: which inode it is, on which mount, in which boot.
Result<format::Place> place_of(const region::File& file);

// Slots and live word that belong together, read without a lock: read again, for as long as `timeout_ms`, while a
// process is about to change them. A sync that seems to have died is looked at for some 30 ms, whatever the timeout.
// `header`, if there is one, becomes what the evidence was read from.
Result<Evidence> gather_evidence(const region::File& file, const format::FileId& file_id, std::uint32_t timeout_ms,
                                 HeaderBytes* header = nullptr);

}  // namespace bfstore::store
