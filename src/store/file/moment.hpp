// What a file says at a moment, for a handle that copies its bits: once before the first of them is read, and once
// after the last one. The kernel may drop pages that it failed to write, so that keys are missing until a recovery has
// added them again. Both moments must be good, and no recovery may lie between them.
#pragma once

#include <bfstore/error.hpp>

#include <cstdint>
#include <vector>

#include "format/state.hpp"
#include "store/file/open_file.hpp"

namespace bfstore::store {

// Of its slot and its live page. The marks are not here twice: a slot is large, and callers may have small stacks.
struct Moment {
  format::SlotState state = format::SlotState::kClean;
  std::uint32_t recoveries = 0;
  std::uint64_t keys_added = 0;  // less those removed, as a copy has them
  std::vector<LogPosition> lanes;
};

// Of a header. kSlots if it has no valid slot; kPoisoned or kRecovering if its slot says so. The slot is the truth
// where the system dropped the page of the live word, at which the caller looks itself.
Result<Moment> moment_in(const HeaderBytes& header, const OpenFile& opened);

// Whether what was read of the body between the two is as good as they are.
// Their numbers of recoveries say it.
bool nothing_between(std::uint32_t before, std::uint32_t after) noexcept;

}  // namespace bfstore::store
