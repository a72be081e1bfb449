// The two halves of a sync: what was added becomes durable, and then a slot says so. What a sync that failed leaves
// behind. The order of the steps is the protocol (FORMAT.md, "Syncing").
#pragma once

#include <functional>

#include "store/open_file.hpp"

namespace bfstore::store {

// Changes the slot, and adds to the bits of the live word that are cleared once the slot is durable.
using SlotUpdate = std::function<Error(format::Slot& slot, std::uint64_t& over)>;

// Beside other writers: takes the sync lock for the first half, and the state lock for the second.
Error sync_and_store(const OpenFile& opened, const SlotUpdate& update);

// The last writer's sync, and a maker's. The caller has both locks, or the file to itself.
Error sync_and_mark_clean(const OpenFile& opened);

// The same of a new file, which has no name yet: it says nothing of the place where it was made.
Error sync_and_mark_new(const OpenFile& opened);

}  // namespace bfstore::store
