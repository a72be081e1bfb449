// Which process holds a lock, for words alone: the kernel does not say of an open-file-description lock, but /proc
// does, of processes that one may look at. Never sees filters.
#pragma once

#include <string>

namespace bfstore::region {

struct ByteRange;

// " (process 123, bf)", or nothing if the system does not tell.
std::string holder_in_words(int descriptor, const ByteRange& range);

}  // namespace bfstore::region
