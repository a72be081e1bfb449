#include "calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>

namespace store_test::calls {
namespace {

// No memory is asked for while calls are counted: that would be another call.
constexpr std::size_t kMost = 4096;
std::array<const char*, kMost> made{};
std::size_t count = 0;
std::size_t fatal = 0;
int outcome_of_fatal = 0;
bool counting = false;

[[noreturn]] void die() {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) {
  }
}

// Returns 0 if the call is made as always.
int next(const char* name) noexcept {
  if (!counting || count == kMost) return 0;
  made[count++] = name;
  if (count != fatal) return 0;
  if (outcome_of_fatal == kDies) die();
  return outcome_of_fatal;
}

bool fails(int outcome) noexcept {
  if (outcome <= 0) return false;
  errno = outcome;
  return true;
}

}  // namespace

void begin(std::size_t number, int outcome) {
  count = 0;
  fatal = number;
  outcome_of_fatal = outcome;
  counting = true;
}

std::vector<std::string> end() {
  counting = false;
  return {made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count)};
}

// A lock that another process holds is not a failure, but a case of its own. munmap and close release their object,
// whatever they return. A file that unlinkat could not remove is still there.
std::vector<int> failures_of(const std::string& name) {
  if (name == "pread") return {EIO, EINTR, kHalf};
  if (name == "pwrite") return {EIO, ENOSPC, EINTR, kHalf};
  if (name == "open" || name == "openat") return {EMFILE, EIO, EINTR, ENOMEM};
  if (name == "fopen") return {EMFILE};
  if (name == "fcntl") return {ENOLCK, ENOMEM};
  if (name == "fdatasync" || name == "fsync") return {EIO, ENOSPC, EINTR};
  if (name == "posix_fallocate") return {ENOSPC, EIO, EINTR};
  if (name == "fallocate") return {ENOSPC, EIO, EINTR, EOPNOTSUPP};
  if (name == "mmap") return {ENOMEM};
  if (name == "madvise") return {ENOMEM, EIO, EINVAL};
  if (name == "getrandom") return {EINTR, ENOSYS};
  if (name == "fstat" || name == "fstatat" || name == "lstat" || name == "fstatfs" || name == "statx")
    return {EIO, ENOMEM};
  if (name == "linkat" || name == "renameat" || name == "renameat2") return {EIO, ENOSPC, ENOMEM};
  if (name == "sync_file_range") return {EIO, ENOSPC};
  if (name == "posix_fadvise" || name == "close") return {EIO};
  return {};
}

}  // namespace store_test::calls

namespace calls = store_test::calls;

extern "C" int close(int descriptor) {
  const int outcome = calls::next("close");
  const auto closed = static_cast<int>(syscall(SYS_close, descriptor));
  return calls::fails(outcome) ? -1 : closed;
}

extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (calls::fails(calls::next("fallocate"))) return -1;
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}

extern "C" int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (calls::fails(calls::next("fcntl"))) return -1;
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
}

extern "C" int fdatasync(int descriptor) {
  return calls::fails(calls::next("fdatasync")) ? -1 : static_cast<int>(syscall(SYS_fdatasync, descriptor));
}

extern "C" FILE* fopen(const char* path, const char* mode) {
  if (calls::fails(calls::next("fopen"))) return nullptr;
  using Open = FILE* (*)(const char*, const char*);
  static const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "fopen"));
  return real(path, mode);
}

extern "C" int fstat(int descriptor, struct stat* facts) noexcept {
  return calls::fails(calls::next("fstat")) ? -1 : static_cast<int>(syscall(SYS_fstat, descriptor, facts));
}

extern "C" int fstatat(int folder, const char* path, struct stat* facts, int flags) noexcept {
  if (calls::fails(calls::next("fstatat"))) return -1;
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, facts, flags));
}

extern "C" int fstatfs(int descriptor, struct statfs* facts) noexcept {
  return calls::fails(calls::next("fstatfs")) ? -1 : static_cast<int>(syscall(SYS_fstatfs, descriptor, facts));
}

extern "C" int fsync(int descriptor) {
  return calls::fails(calls::next("fsync")) ? -1 : static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" ssize_t getrandom(void* into, size_t bytes, unsigned flags) {
  return calls::fails(calls::next("getrandom")) ? -1 : syscall(SYS_getrandom, into, bytes, flags);
}

extern "C" int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (calls::fails(calls::next("linkat"))) return -1;
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

extern "C" int lstat(const char* path, struct stat* facts) noexcept {
  if (calls::fails(calls::next("lstat"))) return -1;
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW));
}

extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
  return calls::fails(calls::next("madvise")) ? -1 : static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
}

extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (calls::fails(calls::next("mmap"))) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset));
}

extern "C" int munmap(void* address, size_t bytes) noexcept {
  calls::next("munmap");
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}

extern "C" int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (calls::fails(calls::next("open"))) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (calls::fails(calls::next("openat"))) return -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

extern "C" int posix_fadvise(int descriptor, off_t offset, off_t bytes, int advice) noexcept {
  if (const int outcome = calls::next("posix_fadvise"); outcome > 0) return outcome;
  return syscall(SYS_fadvise64, descriptor, offset, bytes, advice) == 0 ? 0 : errno;
}

extern "C" int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  if (const int outcome = calls::next("posix_fallocate"); outcome > 0) return outcome;
  return syscall(SYS_fallocate, descriptor, 0, offset, bytes) == 0 ? 0 : errno;
}

extern "C" ssize_t pread(int descriptor, void* into, size_t bytes, off_t offset) {
  const int outcome = calls::next("pread");
  if (calls::fails(outcome)) return -1;
  if (outcome == calls::kHalf && bytes > 1) bytes /= 2;
  return syscall(SYS_pread64, descriptor, into, bytes, offset);
}

extern "C" ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
  const int outcome = calls::next("pwrite");
  if (calls::fails(outcome)) return -1;
  if (outcome != 0 && bytes > 1) bytes /= 2;
  const ssize_t put = syscall(SYS_pwrite64, descriptor, from, bytes, offset);
  if (outcome == calls::kDiesHalfway) calls::die();
  return put;
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (calls::fails(calls::next("renameat2"))) return -1;
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (calls::fails(calls::next("renameat"))) return -1;
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

extern "C" int statx(int folder, const char* path, int flags, unsigned mask, struct statx* facts) noexcept {
  if (calls::fails(calls::next("statx"))) return -1;
  return static_cast<int>(syscall(SYS_statx, folder, path, flags, mask, facts));
}

extern "C" int sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags) {
  if (calls::fails(calls::next("sync_file_range"))) return -1;
  return static_cast<int>(syscall(SYS_sync_file_range, descriptor, offset, bytes, flags));
}

extern "C" int unlinkat(int folder, const char* path, int flags) noexcept {
  calls::next("unlinkat");
  return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
