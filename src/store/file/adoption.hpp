// Lets a process continue with a file that a killed process left: with keys that no sync made durable, or while it was
// replacing the file. The order of the steps is the protocol (FORMAT.md, "When a dirty file may be used").
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// Adopts the file for a writer that opens it and holds the state lock. A writer was killed in this boot, so the page
// cache has all that it wrote, if the kernel can write it.
Error adopt(const OpenFile& opened, const Evidence& evidence);

// Adopts the file for a reader. False if the reader must open the file again.
Result<bool> adopt_for_reading(const OpenFile& opened, const Opening& options);

// Poisons the file if this process may write to it. For a reader that learned of pages that the system could not write.
// Always returns an error.
Error write_down(const OpenFile& opened, const Error& failed, const Opening& options);

// Lets a file that still has its name continue after the process that was replacing it was killed. For a writer that
// holds the state lock. `evidence` becomes that of the file as it is now. kNoSpace if the live word cannot be written.
Error go_on(const OpenFile& opened, Evidence& evidence);
// Lets such a file continue for a reader, which opens it again afterwards.
Error let_it_go_on(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
