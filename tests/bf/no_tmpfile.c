/* For LD_PRELOAD: a filesystem without O_TMPFILE, like NFS, FAT and older overlayfs. */
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here, and so are openat and openat64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

int open(const char* path, int flags, ...);
int open64(const char* path, int flags, ...);
int openat(int folder, const char* path, int flags, ...);
int openat64(int folder, const char* path, int flags, ...);

static int refuse_or_open(const char* symbol, const char* path, int flags, mode_t mode) {
  int (*next)(const char*, int, ...);
  void* found = dlsym(RTLD_NEXT, symbol);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  memcpy(&next, &found, sizeof next);
  return next(path, flags, mode);
}

static int refuse_or_open_at(const char* symbol, int folder, const char* path, int flags, mode_t mode) {
  int (*next)(int, const char*, int, ...);
  void* found = dlsym(RTLD_NEXT, symbol);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  memcpy(&next, &found, sizeof next);
  return next(folder, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return refuse_or_open_at("openat", folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return refuse_or_open_at("openat64", folder, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return refuse_or_open("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return refuse_or_open("open64", path, flags, mode);
}
