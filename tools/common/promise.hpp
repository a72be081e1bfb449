// How many keys a filter may have and keep its promised false-positive rate.
#pragma once

#include <bfstore/plan.hpp>

#include <cstdint>

namespace tools {

// They are more than the capacity if the filter was rounded up to whole blocks. `filter` has its layout, hash,
// capacity, rate, bits and probes. A filter that promises no rate has its capacity. Of one that grows these are the
// numbers of its first slice, capacity_at_most is that of all slices that there may be, and so is the result.
std::uint64_t keys_within_promise(bfstore::PlanRequest filter);

}  // namespace tools
