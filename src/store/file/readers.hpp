// Opens a file for a reader. A reader keeps no lock, and decides by what it finds (FORMAT.md, "When a dirty file may be
// used").
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Lets a reader in: brings into memory what the options want of the file, and reads nothing of a body that may not be
// used. False if the file must be opened again: it was replaced, or the process that was to replace it was killed.
Result<bool> let_in(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
