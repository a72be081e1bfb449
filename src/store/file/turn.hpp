// Ends an epoch of a layout whose keys expire: clears the oldest keys, and begins the next epoch. The order of the
// steps is the protocol (FORMAT.md, "Epochs").
#pragma once

#include <cstdint>
#include <optional>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// A moment, on the two clocks that a slot has it from.
struct Times {
  std::uint64_t since_1970 = 0;  // nanoseconds on CLOCK_REALTIME
  std::uint64_t after_boot = 0;  // nanoseconds on CLOCK_BOOTTIME
};
Times now() noexcept;

// True if the slot's epoch is over in a system of that boot. A clock that was set back makes no turn due.
bool is_turn_due(const format::Slot& slot, const format::BootId& boot_id, std::uint64_t epoch_ms) noexcept;

// Ends the epoch `from` if the file is in it, or without `from` the epoch of now if it is over. False if it changed
// nothing. The caller is a writer that was let in, and one thread of its process at a time is here.
Result<bool> turn(const OpenFile& opened, std::optional<std::uint64_t> from);

}  // namespace bfstore::store
