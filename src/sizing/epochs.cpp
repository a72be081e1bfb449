// How long an epoch lasts, and a key is found (epochs.hpp).
#include "sizing/epochs.hpp"

namespace bfstore::sizing {

std::uint64_t epoch_ms(std::uint64_t window_ms, std::uint32_t epochs) noexcept {
  const std::uint64_t whole_epochs = epochs - 1;
  return window_ms / whole_epochs + (window_ms % whole_epochs != 0 ? 1 : 0);
}

std::uint64_t longest_found_ms(std::uint64_t window_ms, std::uint32_t epochs) noexcept {
  const std::uint64_t each = epoch_ms(window_ms, epochs);
  return each > UINT64_MAX / epochs ? UINT64_MAX : each * epochs;
}

}  // namespace bfstore::sizing
