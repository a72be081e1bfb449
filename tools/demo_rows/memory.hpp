// Measures memory, as Linux counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace demo {

// The mappings of one file in one process.
struct MappedBytes {
  std::uint64_t resident = 0;      // Rss: pages of it that this process has in its page table
  std::uint64_t proportional = 0;  // Pss: each page divided by the number of processes that share it
};

// `path_end` is the end of the mapped file's path. All zeros if /proc does not tell.
MappedBytes mapped_bytes(pid_t process, const std::string& path_end);

// Fills a std::unordered_set<std::string> with a word list and returns by how much the process grew (RssAnon). Call it
// in a new process, which has no memory to reuse.
std::uint64_t measure_hash_set(const std::string& words_path);

}  // namespace demo
