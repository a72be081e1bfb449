// What a filter is, wherever it is: what a copy of it in another form is made of.
#pragma once

#include <array>
#include <cstdint>

#include "format/identity.hpp"
#include "format/state.hpp"

namespace bfstore::store {

// Everything but the bits.
struct Content {
  format::Identity identity;  // of a bare filter: without an id, and with n and p as they follow from m and k
  std::array<LogPosition, format::kNumLanes> lanes{};  // none where the filter keeps no marks
  std::uint64_t keys_added = 0;                        // 0 where it has no counter
  bool has_file_id = true;
};

}  // namespace bfstore::store
