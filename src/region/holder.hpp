// Which process holds a lock, for messages only. The kernel does not tell it for an open-file-description lock. /proc
// does, for processes that the caller may look at. Never sees filters.
#pragma once

#include <string>

namespace bfstore::region {

struct ByteRange;

// " (process 123, bf)", or nothing if the system does not tell.
std::string holder_in_words(int descriptor, const ByteRange& range);

}  // namespace bfstore::region
