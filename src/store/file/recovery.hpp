// The recovery of a file that was unclean or poisoned, until every owner has added again what came after its mark
// (FORMAT.md, "Recovery"). It is a state of the file, not of a handle. The order of the steps is the protocol.
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Begins a recovery, and ends it at once if the loss is accepted. The caller holds the state lock.
Error recover(const OpenFile& opened, const Evidence& evidence, bool accept_loss);

// Records in the slot that an owner has added its keys again. Adds to `cleared` the live word's bits that are cleared
// with that. True if the recovery is over.
bool one_more_recovered(format::Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept;

// Forgets an owner: the recovery no longer waits for it. That ends the recovery if all other owners, one at least, have
// finished it.
void one_owner_less(format::Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept;

}  // namespace bfstore::store
