// A filter in memory of its handle's own, which was copied from the caller's bytes: of any form, at any address.
#pragma once

#include <bfstore/options.hpp>

#include <memory>
#include <optional>
#include <span>

#include "store/home/ask.hpp"

namespace bfstore::store {

// A handle of the filter that these bytes are: of the bare form if `bare`, otherwise an embedded filter or a whole file
// that is clean. A sealed file is compared with its checksums.
Result<std::unique_ptr<Ask>> load(std::span<const std::byte> bytes, bool bare, bool writing,
                                  const std::optional<SecretKey>& key);

}  // namespace bfstore::store
