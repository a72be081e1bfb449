/* For LD_PRELOAD: see kill_at.h.  Counts the calls that change a file or are steps of the engine's protocol, in the
 * program and in the library. */
#undef _FILE_OFFSET_BITS /* pwrite and pwrite64 are two functions here */
#include "kill_at.h"

#include <bfstore_engine.h>
#include <fcntl.h>

COUNTED(ssize_t, pwrite, (int file, const void* bytes, size_t count, off_t at), (file, bytes, count, at))
COUNTED(ssize_t, pwrite64, (int file, const void* bytes, size_t count, off64_t at), (file, bytes, count, at))
COUNTED(int, fsync, (int file), (file))
COUNTED(int, fdatasync, (int file), (file))
COUNTED(int, flock, (int file, int operation), (file, operation))
COUNTED(int, rename, (const char* from, const char* to), (from, to))
COUNTED(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
COUNTED(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags))
COUNTED(int, linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags))
COUNTED(int32_t, bfs_open,
        (const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error),
        (path, flags, options, out, error))
COUNTED(int32_t, bfs_create,
        (const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error),
        (path, flags, options, out, error))
COUNTED(int32_t, bfs_close, (bfs_filter * filter, bfs_error* error), (filter, error))
COUNTED(int32_t, bfs_add, (bfs_filter * filter, const void* key, size_t key_bytes), (filter, key, key_bytes))
COUNTED(uint64_t, bfs_get_mark, (const bfs_filter* filter, uint64_t owner, uint64_t epoch), (filter, owner, epoch))
COUNTED(int32_t, bfs_sync, (bfs_filter * filter, const bfs_owner_mark* mark, bfs_error* error), (filter, mark, error))
COUNTED(int32_t, bfs_finish_recovery, (bfs_filter * filter, uint64_t owner, bfs_error* error), (filter, owner, error))
COUNTED(int32_t, bfs_supersede, (bfs_filter * filter, bfs_error* error), (filter, error))
COUNTED(int32_t, bfs_publish, (bfs_filter * filter, bfs_error* error), (filter, error))
