// The two halves of a sync: makes durable what was added, and then writes a slot that says so. Also handles a failed
// sync. The order of the steps is the protocol (FORMAT.md, "Syncing").
#pragma once

#include <functional>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Changes the slot, and adds to `over` the live word's bits that are cleared once the slot is durable.
using SlotUpdate = std::function<Error(format::Slot& slot, std::uint64_t& over)>;

// Syncs next to other writers: takes the sync lock for the first half, and the state lock for the second.
Error sync_and_store(const OpenFile& opened, const SlotUpdate& update);

// Syncs a file whose oldest words a turn has cleared, and begins that epoch. The caller holds the sync lock.
Error sync_and_begin_epoch(const OpenFile& opened, std::uint64_t epoch);

// Syncs for the last writer. The caller holds both locks.
Error sync_and_mark_clean(const OpenFile& opened);

// Syncs a new file, which has no name yet. Its slots do not name the place where it was made.
Error sync_and_mark_new(const OpenFile& opened);

}  // namespace bfstore::store
