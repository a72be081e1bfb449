// A set: parts of one whole filter, in one handle that asks. Each part is a handle of a file, opened for reading. A
// digest is asked only in its part, by the part's own kernel and words. So the answer is the part's own, and a part's
// doubt is doubt about its keys only. A part that is not in the set answers "maybe".
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// Opens the parts that the manifest names.
Result<std::unique_ptr<Ask>> open_set(const std::string& manifest, const OpenOptions& options);

}  // namespace bfstore::store
