// What a process that was killed left behind, and the next one takes over: keys that no sync made durable, and a file
// that was to be replaced. The order of the steps is the protocol (FORMAT.md, "When a dirty file may be used").
#pragma once

#include "store/open_file.hpp"

namespace bfstore::store {

// By a writer that is being let in, under the state lock. A writer was killed in this boot: the page cache has all that
// it wrote, if it can be written.
Error adopt(const OpenFile& opened, const Evidence& evidence);

// By a reader. False if the file has to be looked at again.
Result<bool> adopt_for_reading(const OpenFile& opened, const Opening& options);

// The system told this process, which only reads, that pages of the file could not be written. Always an error.
Error write_down(const OpenFile& opened, const Error& failed, const Opening& options);

// A file whose replacer was killed goes on, if it has its name still: by a writer under the state lock, whose evidence
// is then of the file as it is;
void go_on(const OpenFile& opened, Evidence& evidence);
// and by a reader, which opens the file again afterwards.
Error let_it_go_on(const OpenFile& opened, const Opening& options);

}  // namespace bfstore::store
