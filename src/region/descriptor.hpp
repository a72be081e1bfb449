// How files are opened and closed: at numbers that no program prints to, and, if they are for writing, as this
// process's own. Never sees filters.
#pragma once

#include <fcntl.h>

namespace bfstore::region {

// As openat(2), close-on-exec, but never at the number of a standard stream that happens to be closed: what a program
// prints must not go into a filter. -1, with errno.
int open_high(const char* path, int flags, unsigned mode = 0, int folder = AT_FDCWD) noexcept;

// The same, of a descriptor that forked children do not get, until close_own(): in its place they have one of nothing,
// which they close as they would have closed it. An open-file-description lock ends with the last descriptor of it, so
// a child would else hold its parent's locks when that one is dead. Children that are not made by fork() (vfork, clone)
// keep it. Any thread may fork meanwhile.
int open_own(const char* path, int flags, unsigned mode = 0, int folder = AT_FDCWD);
void close_own(int descriptor) noexcept;

}  // namespace bfstore::region
