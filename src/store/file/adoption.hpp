// How the next process continues after one that was killed: with keys that no sync made durable, or with a file that
// was to be replaced. The order of the steps is the protocol (FORMAT.md, "When a dirty file may be used").
#pragma once

#include "store/file/open_file.hpp"

namespace bfstore::store {

// For a writer that opens the file, under the state lock. A writer was killed in this boot: the page cache has all that
// it wrote, if the kernel can write it.
Error adopt(const OpenFile& opened, const Evidence& evidence);

// For a reader. False if it has to look at the file again.
Result<bool> adopt_for_reading(const OpenFile& opened, const Opening& options);

// For a reader that the system told of pages that it could not write. Always an error.
Error write_down(const OpenFile& opened, const Error& failed, const Opening& options);

// A file whose replacing process was killed continues, if it still has its name. For a writer, under the state lock:
// `evidence` is then that of the file as it is now. kNoSpace if the live word cannot be written.
Error go_on(const OpenFile& opened, Evidence& evidence);
// For a reader, which opens the file again afterwards.
Error let_it_go_on(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
