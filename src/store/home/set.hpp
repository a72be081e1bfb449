// A set: parts of one whole filter, behind one handle that asks. Each part is a handle of a file's, opened for reading.
// A digest is asked in its part alone, by the part's own kernel and words: so the answer is the part's own, and a
// part's doubt is doubt about its keys alone. A part that is not there answers "maybe".
#pragma once

#include <bfstore/filter.hpp>

#include <memory>
#include <string>

#include "store/home/ask.hpp"

namespace bfstore::store {

// A handle of the parts that the manifest names.
Result<std::unique_ptr<Ask>> open_set(const std::string& manifest, const OpenOptions& options);

}  // namespace bfstore::store
