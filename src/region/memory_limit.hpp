// The memory that this process may use: the limit of its control groups (cgroups(7)), or the machine's memory.
#pragma once

#include <cstdint>
#include <string>

namespace bfstore::region {

// The smallest limit of the process's memory group and of its ancestors (versions 1 and 2, also memory.high), and at
// most the machine's memory. Limits of ancestors that a container hides are known only in version 1. Asks the system.
std::uint64_t memory_limit();

// Computes memory_limit() for a system whose /proc is that folder: for tests.
std::uint64_t memory_limit_in(const std::string& proc, std::uint64_t machine);

// Seven eighths of memory_limit(), because the process needs some itself. Asks the system. Does not subtract what the
// groups use already.
std::uint64_t memory_for_files();

// True if a file of that size fits in memory_for_files(). Asks for the limit again if the file is larger than an eighth
// of the machine's memory. For smaller files the first answer is kept, because asking takes longer than opening a file.
bool fits_in_memory(std::uint64_t bytes);

}  // namespace bfstore::region
