// Pages that the system failed to write while nobody called sync: asked of the kernel, which tells it once.
#pragma once

#include "store/open_file.hpp"

namespace bfstore::store {

// Whether the system failed to write a page, asked under the sync lock; then the live word says *poisoned*.
Error ask_the_kernel(const OpenFile& opened);

// What the kernel answered without that lock: an errno, or 0.
Error told_of_failure(const OpenFile& opened, int os_errno);

// Now and then, by handles that are open: a failure poisons the file, or at least the handle.
void ask_as_writer(const OpenFile& opened);
void ask_as_reader(const OpenFile& opened);

}  // namespace bfstore::store
