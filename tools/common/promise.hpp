// How many keys a filter may have and keep its promised false-positive rate.
#pragma once

#include <bfstore/plan.hpp>

#include <cstdint>

namespace tools {

// They are more than the capacity if the filter was rounded up to whole blocks. `filter` has its layout, hash,
// capacity, rate, bits and probes. A filter that promises no rate has its capacity.
std::uint64_t keys_within_promise(bfstore::PlanRequest filter);

}  // namespace tools
