// A handle that gathers keys for a layout that is built once, from all of them. It keeps a digest of each key, 8 bytes,
// in memory. Until it is published every answer is "maybe", as in a file that is being filled. Then the file is built,
// and the handle reads it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// Builds the file, gives it its name, and opens it for reading. It may change the order of the digests. A null pointer:
// another process has replaced the file since it got its name.
using BuildFile = std::function<Result<std::unique_ptr<Ask>>(std::span<std::uint64_t> digests, unsigned threads)>;

// `path` and `identity` are those of the file to come. kForked, or kNoMemory, if the handle cannot be made.
Result<std::unique_ptr<Ask>> gather(const std::string& path, const format::Identity& identity, BuildFile build);

}  // namespace bfstore::store
