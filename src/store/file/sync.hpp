// The two halves of a sync: what was added becomes durable, and then a slot says so. Also what a failed sync leaves.
// The order of the steps is the protocol (FORMAT.md, "Syncing").
#pragma once

#include <functional>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Changes the slot, and adds to `over` the live word's bits that are cleared once the slot is durable.
using SlotUpdate = std::function<Error(format::Slot& slot, std::uint64_t& over)>;

// With other writers: takes the sync lock for the first half, and the state lock for the second.
Error sync_and_store(const OpenFile& opened, const SlotUpdate& update);

// For the last writer, and for the maker of a file. The caller holds both locks, or is the only user of the file.
Error sync_and_mark_clean(const OpenFile& opened);

// The same of a new file, which has no name yet: it says nothing of the place where it was made.
Error sync_and_mark_new(const OpenFile& opened);

}  // namespace bfstore::store
