// Finds pages that the system failed to write between syncs. The kernel reports a failure once, when asked.
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Asks under the sync lock whether the system failed to write a page. If so, the live word says *poisoned*.
Error ask_the_kernel(const OpenFile& opened);

// Handles what the kernel answered without that lock: an errno, or 0.
Error told_of_failure(const OpenFile& opened, int os_errno);

// Open handles call these from time to time. A failure poisons the file, or at least the handle.
void ask_as_writer(const OpenFile& opened);
void ask_as_reader(const OpenFile& opened);

// Called by a handle that is about to believe bits for good. Afterwards the file, or at least the handle, says what the
// kernel reported to any process before. Waits for a sync that is under way, because the kernel may have reported the
// failure to that sync: kBusy after the handle's time for locks. The caller has just seen that the file is whole. A
// writer's other threads neither sync nor ask.
Error settle_as_writer(const OpenFile& opened);
Error settle_as_reader(const OpenFile& opened);
// Returns kBusy, for a handle that does not ask and a file that is not closed.
Error not_asked(const OpenFile& opened);

// Waits for the end of a sync that is under way (kBusy), and returns the state of the file then. Takes no lock.
Result<FileState> state_after_syncs(const OpenFile& opened);

}  // namespace bfstore::store
