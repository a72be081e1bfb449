// How a writer is let in beside others or alone, and how it leaves. The order of the steps is the protocol (FORMAT.md,
// "Opening for writing", "Closing").
#pragma once

#include <optional>

#include "store/open_file.hpp"

namespace bfstore::store {

// Whether a writer lets others in beside it.
enum class Writers { kShared, kAlone };

// What a handle is to its file: what it may do, and owes others when it ends.
enum class Role {
  kReader,     // or a writer that has closed
  kWriter,     // was let in
  kRecoverer,  // was let in to a file that is being recovered
  kMaker,      // writes to a file that has no name yet
};

// A writer that was let in. The lock proves it to others.
struct Joined {
  Role role = Role::kReader;
  region::MappedLock lock;
};

// Nothing if the path names another file by now. The file is dirty or recovering, durably, when this returns.
Result<std::optional<Joined>> join(const OpenFile& opened, Writers kind, const Opening& options);

Result<region::MappedLock> hold_writers_lock(const OpenFile& opened, Writers kind);

// The last writer syncs and marks clean. Lets go of the lock.
Error leave(const OpenFile& opened, region::MappedLock& writers_lock);

}  // namespace bfstore::store
