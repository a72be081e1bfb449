// A new file: empty and complete, but without a name yet.
#pragma once

#include <bfstore/options.hpp>

#include <string>

#include "store/open_file.hpp"

namespace bfstore::store {

// What a new file needs besides its identity.
struct Making {
  std::uint32_t mode = 0600;  // permission bits, less the umask
  bool replace = false;       // another file may have the name
  bool alone = false;         // one writer, which has the file to itself
  bool filling = false;       // answers "maybe" until Session::finish_filling()
  bool any_filesystem = false;
  std::uint32_t lock_timeout_ms = kLockTimeoutMs;
  MapOptions map;
};

// Dirty, durably, when this returns. kExists if the name is taken, unless it may be.
Result<OpenFile> make(const std::string& path, const format::Identity& identity, const Making& how);

}  // namespace bfstore::store
