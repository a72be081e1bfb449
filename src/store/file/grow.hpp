// Gives a body that grows another slice, while other processes use it. The order of the steps is the protocol
// (FORMAT.md, "Growing"; tests/model/growth.pml).
#pragma once

#include <cstdint>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Adds a slice if the body has `full` slices, and may have more. Waits for no lock: kBusy if another process is doing
// it. After every error the body is as it was: it takes more keys, and its false-positive rate rises.
//
// Nothing of it is durable before the next sync: a power cut takes the slice together with the keys in it.
Error grow(const OpenFile& opened, std::uint32_t full);

}  // namespace bfstore::store
