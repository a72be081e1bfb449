// A filter in its handle's own memory, copied from the caller's bytes, which may have any form and any address.
#pragma once

#include <bfstore/options.hpp>

#include <memory>
#include <optional>
#include <span>

#include "store/home/ask.hpp"

namespace bfstore::store {

// Makes a handle of the filter in these bytes: in the bare form if `bare`, otherwise an embedded filter or a whole file
// that is clean. Compares a sealed file with its checksums.
Result<std::unique_ptr<Ask>> load(std::span<const std::byte> bytes, bool bare, bool writing,
                                  const std::optional<Secret>& secret);

}  // namespace bfstore::store
