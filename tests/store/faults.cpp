#include "faults.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace store_test::faults {

std::function<int(int descriptor)> on_sync;
std::function<int(int descriptor)> on_question;
std::function<void(int descriptor)> after_open;
std::function<void(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_write;
std::function<int(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_read;
std::function<void()> after_read;
std::function<void()> before_look;
std::function<int(std::uint64_t bytes)> on_allocate;
std::function<int()> on_folder_sync;
std::function<void(const LockCall&)> before_lock;
std::function<void(const LockCall&)> after_lock;
std::function<std::uint8_t()> random_byte;
bool no_unnamed_files = false;
long filesystem_magic = 0;
std::function<void()> before_naming;
int naming_errno = 0;
int folder_open_errno = 0;
std::uint64_t mount_number = 0;

Scope::~Scope() {
  on_sync = nullptr;
  on_question = nullptr;
  after_open = nullptr;
  on_write = nullptr;
  on_read = nullptr;
  after_read = nullptr;
  before_look = nullptr;
  on_allocate = nullptr;
  on_folder_sync = nullptr;
  before_lock = nullptr;
  after_lock = nullptr;
  random_byte = nullptr;
  no_unnamed_files = false;
  filesystem_magic = 0;
  before_naming = nullptr;
  naming_errno = 0;
  folder_open_errno = 0;
  mount_number = 0;
}

namespace {

int fail_with(int os_errno) noexcept {
  errno = os_errno;
  return -1;
}

// The hook may lock files itself: that is not hooked.
void call(std::function<void(const LockCall&)>& hook, const LockCall& made) {
  if (!hook) return;
  std::function<void(const LockCall&)> once;
  once.swap(hook);
  const int saved = errno;
  once(made);
  errno = saved;
  if (!hook) once.swap(hook);
}

bool is_below(const char* path, std::string_view folder) noexcept {
  return mount_number != 0 && std::string_view(path).substr(0, folder.size()) == folder;
}

}  // namespace

}  // namespace store_test::faults

namespace faults = store_test::faults;

extern "C" int fdatasync(int descriptor) {
  if (!faults::on_sync) return static_cast<int>(syscall(SYS_fdatasync, descriptor));
  const int failed = faults::on_sync(descriptor);
  return failed == 0 ? 0 : faults::fail_with(failed);
}

extern "C" int sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags) {
  if (!faults::on_question) return static_cast<int>(syscall(SYS_sync_file_range, descriptor, offset, bytes, flags));
  const int failed = faults::on_question(descriptor);
  return failed == 0 ? 0 : faults::fail_with(failed);
}

extern "C" ssize_t process_vm_readv(pid_t process, const iovec* to, unsigned long to_count, const iovec* from,
                                    unsigned long from_count, unsigned long flags) {
  if (faults::before_look) faults::before_look();
  return syscall(SYS_process_vm_readv, process, to, to_count, from, from_count, flags);
}

extern "C" ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  if (faults::on_read) {
    const int failed = faults::on_read(descriptor, static_cast<std::uint64_t>(offset), size);
    if (failed != 0) return faults::fail_with(failed);
  }
  const ssize_t got = syscall(SYS_pread64, descriptor, bytes, size, offset);
  if (got > 0 && faults::after_read) faults::after_read();
  return got;
}

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  const ssize_t put = syscall(SYS_pwrite64, descriptor, bytes, size, offset);
  if (put > 0 && faults::on_write)
    faults::on_write(descriptor, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(put));
  return put;
}

extern "C" int fsync(int descriptor) {
  struct stat facts {};
  const bool folder = syscall(SYS_fstat, descriptor, &facts) == 0 && S_ISDIR(facts.st_mode);
  if (faults::on_folder_sync && folder) {
    const int failed = faults::on_folder_sync();
    return failed == 0 ? 0 : faults::fail_with(failed);
  }
  if (faults::on_sync) return 0;
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const bool locking = command == F_OFD_SETLK || command == F_OFD_GETLK;
  if (!locking) return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
  const auto* lock = static_cast<const struct flock*>(argument);
  const faults::LockCall made{command, lock->l_type, static_cast<long>(lock->l_start)};
  faults::call(faults::before_lock, made);
  const int outcome = static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
  if (outcome == 0) faults::call(faults::after_lock, made);
  return outcome;
}

extern "C" int fstatfs(int descriptor, struct statfs* facts) noexcept {
  const auto outcome = static_cast<int>(syscall(SYS_fstatfs, descriptor, facts));
  if (outcome == 0 && faults::filesystem_magic != 0) facts->f_type = faults::filesystem_magic;
  return outcome;
}

extern "C" int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  if (unnamed && faults::no_unnamed_files) return faults::fail_with(EOPNOTSUPP);
  const bool reads_folder = !unnamed && (flags & O_DIRECTORY) != 0 && (flags & O_PATH) == 0;
  if (reads_folder && faults::folder_open_errno != 0) return faults::fail_with(faults::folder_open_errno);
  const int descriptor = static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
  if (descriptor >= 0 && faults::after_open) faults::after_open(descriptor);
  return descriptor;
}

extern "C" int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  const int failed = faults::on_allocate ? faults::on_allocate(static_cast<std::uint64_t>(bytes)) : 0;
  if (failed != 0) return failed;
  return syscall(SYS_fallocate, descriptor, 0, offset, bytes) == 0 ? 0 : errno;
}

extern "C" int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (faults::naming_errno != 0) return faults::fail_with(faults::naming_errno);
  if (faults::before_naming) faults::before_naming();
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (faults::naming_errno != 0) return faults::fail_with(faults::naming_errno);
  if (faults::before_naming) faults::before_naming();
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return renameat2(from_folder, from, to_folder, to, 0);
}

extern "C" ssize_t readlink(const char* path, char* target, size_t size) noexcept {
  constexpr std::string_view kDevice = "../../devices/virtual/block/mounted";
  if (!faults::is_below(path, "/sys/dev/block/")) return syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
  return static_cast<ssize_t>(kDevice.copy(target, size));
}

extern "C" int stat(const char* path, struct stat* facts) noexcept {
  if (!faults::is_below(path, "/sys/fs/")) return fstatat(AT_FDCWD, path, facts, 0);
  *facts = {};
  facts->st_ino = faults::mount_number;
  return 0;
}

extern "C" ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  if (!faults::random_byte) return syscall(SYS_getrandom, bytes, size, flags);
  std::generate_n(static_cast<std::uint8_t*>(bytes), size, faults::random_byte);
  return static_cast<ssize_t>(size);
}
