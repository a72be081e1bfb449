// How a reader opens a file: it keeps no lock, and what it finds decides (FORMAT.md, "When a dirty file may be used").
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// What the options want of the file is in memory then, and nothing was read of a body that may not be used. False if
// the file has to be opened again: it was replaced, or was to be by a process that is no more.
Result<bool> let_in(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
