// System calls that this library needs, and that some C libraries have no function for: musl lacks renameat2,
// and statx before 1.2.4; the glibc of manylinux_2_17 getrandom (2.25), renameat2 and statx (2.28). With these the call
// is made by its number.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#ifdef __GLIBC__
#define BFSTORE_GLIBC_BEFORE(major, minor) (!__GLIBC_PREREQ(major, minor))
#else
#define BFSTORE_GLIBC_BEFORE(major, minor) 0
#endif

namespace bfstore::base {

inline ssize_t random_bytes(void* bytes, std::size_t length) noexcept {
#if BFSTORE_GLIBC_BEFORE(2, 25)
  return syscall(SYS_getrandom, bytes, length, 0);
#else
  return getrandom(bytes, length, 0);
#endif
}

// Renames within one folder. EEXIST if the new name exists.
inline int rename_without_replacing(int folder, const char* from, const char* to) noexcept {
#if !defined(__GLIBC__) || BFSTORE_GLIBC_BEFORE(2, 28)
  return static_cast<int>(syscall(SYS_renameat2, folder, from, folder, to, RENAME_NOREPLACE));
#else
  return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
#endif
}

inline int facts_of(int descriptor, unsigned wanted, struct statx& facts) noexcept {
#if !defined(__GLIBC__) || BFSTORE_GLIBC_BEFORE(2, 28)
  return static_cast<int>(syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, wanted, &facts));
#else
  return statx(descriptor, "", AT_EMPTY_PATH, wanted, &facts);
#endif
}

}  // namespace bfstore::base

#undef BFSTORE_GLIBC_BEFORE
