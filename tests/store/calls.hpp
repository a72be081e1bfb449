// Every call that the library makes on files, counted. Any one of them can fail, be done by half, or be the last thing
// that its process does. The program that links this has these functions instead of libc's: close, fallocate, fcntl,
// fdatasync, fopen, fstat, fstatat, fstatfs, fsync, getrandom, linkat, lstat, madvise, mmap, munmap, open, openat,
// posix_fadvise, posix_fallocate, pread, pwrite, renameat, renameat2, statx, sync_file_range and unlinkat.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace store_test::calls {

// Outcomes of a call that fails: an errno, or one of these.
inline constexpr int kHalf = -1;         // pread and pwrite: half of the bytes, which is not an error
inline constexpr int kDies = -2;         // the process is killed before it is done
inline constexpr int kDiesHalfway = -3;  // pwrite: the process is killed when half of the bytes are written

// Counts calls from now on, from 1. The call with this number ends as `outcome` says. 0: all work.
void begin(std::size_t number = 0, int outcome = 0);
// Stops counting; all calls work again. Returns the names of the calls that were made since begin().
std::vector<std::string> end();

// Returns the ways in which a call of this name can go wrong; none for those that always work.
std::vector<int> failures_of(const std::string& name);

}  // namespace store_test::calls
