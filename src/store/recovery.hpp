// A file that was unclean or poisoned, until every owner has added again what came after its mark (FORMAT.md,
// "Recovery"). That is a state of the file, not of a handle. The order of the steps is the protocol.
#pragma once

#include "store/open_file.hpp"

namespace bfstore::store {

// Begins a recovery, and ends it at once where the loss is accepted. The state lock is held.
Error recover(const OpenFile& opened, const Evidence& evidence, bool accept_loss);

// An owner has added its keys again: said in the slot, and in the bits of the live word that are cleared with it. True
// if the recovery is over.
bool one_more_recovered(format::Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept;

// An owner is forgotten, and not waited for. That ends a recovery that all others, one at least, have finished.
void one_owner_less(format::Slot& slot, std::uint64_t owner, std::uint64_t& cleared) noexcept;

}  // namespace bfstore::store
