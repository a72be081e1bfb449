// Opens a file for a writer, next to others or as the only one, and leaves it. The order of the steps is the protocol
// (FORMAT.md, "Opening for writing", "Closing"). A process that was *let in* may write to the file: the slots say so.
#pragma once

#include <optional>

#include "store/file/open_file.hpp"

namespace bfstore::store {

// kShared: a writer lets others write, too.
enum class Writers { kShared, kAlone };

// A handle's role for its file: what it may do, and what it has to do when it ends.
enum class Role {
  kReader,     // or a writer that has closed
  kWriter,     // was let in
  kRecoverer,  // was let in to a file that is being recovered
  kMaker,      // writes to a file that has no name yet
};

// A writer that was let in. Its lock proves that to others.
struct Joined {
  Role role = Role::kReader;
  region::MappedLock lock;
};

// Lets a writer in. Empty if the path names another file now. Otherwise the file is dirty or recovering, durably, when
// this returns.
Result<std::optional<Joined>> join(const OpenFile& opened, Writers kind, const Opening& options);

Result<region::MappedLock> hold_writers_lock(const OpenFile& opened, Writers kind);

// The last writer syncs and marks the file clean. Releases the lock.
Error leave(const OpenFile& opened, region::MappedLock& writers_lock);

}  // namespace bfstore::store
