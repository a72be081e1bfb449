// How much memory this process may use: that of its control groups (cgroups(7)), or the machine's.
#pragma once

#include <cstdint>
#include <string>

namespace bfstore::region {

// The smallest limit of the process's memory group and of that one's ancestors (version 1 and 2, memory.high, too), and
// at most the machine's memory. What a container hides of its ancestors cannot be known, but for version 1. Asks the
// system.
std::uint64_t memory_limit();

// The same of a system whose /proc is that folder: for tests.
std::uint64_t memory_limit_in(const std::string& proc, std::uint64_t machine);

// Seven eighths of it: the process needs some itself. Asks the system. What the groups use already is not counted.
std::uint64_t memory_for_files();

// Whether a file of that size stays in that memory. The limit is asked for anew if the file is larger than an eighth of
// the machine's memory. For others the answer of the first time is kept, because asking takes longer than opening a
// file.
bool fits_in_memory(std::uint64_t bytes);

}  // namespace bfstore::region
