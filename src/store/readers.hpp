// How a reader opens a file: it keeps no lock, and what it finds decides (FORMAT.md, "When a dirty file may be used").
#pragma once

#include "store/open_file.hpp"

namespace bfstore::store {

// False if the file has to be opened again: it was replaced, or the process that was to replace it was killed.
Result<bool> read_on(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
