// The state of a file at a moment, for a handle that copies its bits. The handle looks once before it reads the first
// bit, and once after the last one. The kernel may drop pages that it failed to write, so that keys are missing until a
// recovery has added them again. So both moments must be good, with no recovery between them.
#pragma once

#include <bfstore/error.hpp>

#include <cstdint>
#include <vector>

#include "format/state.hpp"
#include "store/file/open_file.hpp"

namespace bfstore::store {

// The epoch of a file whose keys expire, and when it began.
struct Turned {
  format::LiveEpoch epoch;
  std::uint64_t turned_at = 0;
};

// Values of its slot and its live page. No whole slot, because a slot is large and callers may have small stacks.
struct Moment {
  format::SlotState state = format::SlotState::kClean;
  std::uint32_t recoveries = 0;
  std::uint64_t keys_added = 0;  // minus those removed, as in a copy
  std::vector<LogPosition> lanes;
  Turned turned;
};

// Reads the header of a file whose keys expire while no turn is at its end, so that the slot has the time at which the
// live page's epoch began. Of other files it reads the header.
Result<HeaderBytes> header_outside_turns(const OpenFile& opened);

// Reads a header. kSlots if it has no valid slot; kPoisoned or kRecovering if its slot says so. Does not check the
// live word: the caller has to. The slot is right even if the system dropped the page of the live word.
Result<Moment> moment_in(const HeaderBytes& header, const OpenFile& opened);

// True if the body bytes that were read between two moments are as good as these moments, whose numbers of recoveries
// are given.
bool nothing_between(std::uint32_t before, std::uint32_t after) noexcept;

}  // namespace bfstore::store
