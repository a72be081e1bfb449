/* For LD_PRELOAD: see kill_at.h.  Counts the program's start, and the calls by which bf reads, writes, and makes
 * files. */
#undef _FILE_OFFSET_BITS /* pread and pread64 are two functions here */
#include "kill_at.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>

/* Runs before main(). */
__attribute__((constructor)) static void begin(void) { step("begin"); }

COUNTED(ssize_t, read, (int file, void* bytes, size_t count), (file, bytes, count))
COUNTED(ssize_t, write, (int file, const void* bytes, size_t count), (file, bytes, count))
COUNTED(ssize_t, pread, (int file, void* bytes, size_t count, off_t at), (file, bytes, count, at))
COUNTED(ssize_t, pread64, (int file, void* bytes, size_t count, off64_t at), (file, bytes, count, at))
COUNTED(ssize_t, pwrite, (int file, const void* bytes, size_t count, off_t at), (file, bytes, count, at))
COUNTED(ssize_t, pwrite64, (int file, const void* bytes, size_t count, off64_t at), (file, bytes, count, at))
COUNTED(int, ftruncate, (int file, off_t size), (file, size))
COUNTED(int, ftruncate64, (int file, off64_t size), (file, size))
COUNTED(int, fallocate, (int file, int mode, off_t at, off_t count), (file, mode, at, count))
COUNTED(int, fallocate64, (int file, int mode, off64_t at, off64_t count), (file, mode, at, count))
COUNTED(int, msync, (void* bytes, size_t count, int flags), (bytes, count, flags))
COUNTED(int, munmap, (void* bytes, size_t count), (bytes, count))
COUNTED(int, fsync, (int file), (file))
COUNTED(int, fdatasync, (int file), (file))
COUNTED(int, flock, (int file, int operation), (file, operation))
COUNTED(int, linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags))
COUNTED(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
COUNTED(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags))
COUNTED(int, unlink, (const char* path), (path))
COUNTED(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags))
COUNTED(int, close, (int file), (file))
