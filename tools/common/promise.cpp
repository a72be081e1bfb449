// See promise.hpp.
#include "promise.hpp"

#include <algorithm>
#include <utility>

namespace tools {

std::uint64_t keys_within_promise(bfstore::PlanRequest filter) {
  const std::uint64_t capacity = std::exchange(filter.capacity, 0);
  const auto plan = bfstore::plan(filter);  // an error for a rate of 0 or 1
  const std::uint64_t times = filter.capacity_at_most == 0 ? 1 : filter.capacity_at_most / capacity;
  return (plan.ok() ? std::max(plan->capacity, capacity) : capacity) * times;
}

}  // namespace tools
