// A handle that gathers keys for a layout that is built once, from all of them. It keeps a digest of each key, 8 bytes,
// in memory. Until it is published every answer is "maybe", as in a file that is being filled. Then the file is built,
// and the handle reads it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// The file that was built and has its name. Without an Ask: another process replaced it before this one had opened it
// (kSuperseded), or it could not be opened (kLost).
struct Built {
  std::unique_ptr<Ask> ask;
  Code otherwise = Code::kOk;
};

// Builds the file, gives it its name, and opens it for reading. It may change the order of the digests. An error: no
// file has appeared.
using BuildFile = std::function<Result<Built>(std::span<std::uint64_t> digests, unsigned threads)>;

// `path`, `identity` and `secret` are those of the file to come. Unless it is `sized`, its keys decide the capacity and
// m of the identity: before, m is 0, and the capacity is the number of adds so far, repeats too. kForked, or kNoMemory,
// if the handle cannot be made.
Result<std::unique_ptr<Ask>> gather(const std::string& path, const format::Identity& identity,
                                    const std::optional<Secret>& secret, bool sized, BuildFile build);

}  // namespace bfstore::store
