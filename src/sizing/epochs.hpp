// How long an epoch lasts, and a key is found, in a layout whose keys expire (FORMAT.md, "Epochs").
#pragma once

#include <cstdint>

namespace bfstore::sizing {

// The length of one of `epochs` epochs, in milliseconds: a key is found for at least epochs - 1 of them.
std::uint64_t epoch_ms(std::uint64_t window_ms, std::uint32_t epochs) noexcept;

// For how long a key is found at most if every turn is made in time: it was added when its epoch began. At most
// UINT64_MAX.
std::uint64_t longest_found_ms(std::uint64_t window_ms, std::uint32_t epochs) noexcept;

}  // namespace bfstore::sizing
