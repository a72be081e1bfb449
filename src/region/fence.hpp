// A fence that one thread asks for in all others, so that the others need none for each step of theirs (membarrier(2),
// Linux 4.14). Never sees files.
#pragma once

namespace bfstore::region {

// Makes this process one that the function below reaches. False if the kernel cannot.
bool take_part_in_fences() noexcept;

// When this returns, each thread of this process has executed a full fence since the call.
void fence_in_this_process() noexcept;

}  // namespace bfstore::region
