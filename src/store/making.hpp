// A new file: empty and complete, but without a name yet.
#pragma once

#include <bfstore/options.hpp>

#include <span>
#include <string>

#include "store/open_file.hpp"

namespace bfstore::store {

// What a new file needs besides its identity.
struct Making {
  std::uint32_t mode = 0600;  // permission bits, less the umask
  bool replace = false;       // another file may have the name
  bool alone = false;         // the new file's handle is the only writer
  bool filling = false;       // answers "maybe" until Session::finish_filling()
  bool any_filesystem = false;
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  MapOptions map;
};

// The new file is dirty, durably, when this returns. kExists if the name is taken and `replace` is not set.
Result<OpenFile> make(const std::string& path, const format::Identity& identity, const Making& how);

// What a copy has besides its bits, before it has a name: the marks of its source, in a slot that says dirty, and the
// sum of that one's counters.
Error write_marks(const OpenFile& made, std::span<const LogPosition> lanes);
Error write_keys_added(const OpenFile& made, std::uint64_t keys);

}  // namespace bfstore::store
