// System calls that fail, or are interrupted by the work of other processes, when a test wants it. The program that
// links this has these functions instead of libc's fdatasync, fsync, sync_file_range, pread, pwrite, process_vm_readv,
// posix_fallocate, fcntl, fstatfs, openat, linkat, renameat, renameat2, readlink, stat and getrandom. And it has the
// virtual clock.
#pragma once

#include <cstdint>
#include <functional>

namespace store_test::faults {

// Called instead of fdatasync: the errno, or 0. It may throw Killed. Empty: the real one.
extern std::function<int(int descriptor)> on_sync;

// Called after every pwrite that wrote something.
extern std::function<void(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_write;

// Called instead of sync_file_range, with which the library asks whether the system failed to write a page: the errno,
// or 0. Empty: the real one.
extern std::function<int(int descriptor)> on_question;

// Called after every file that was opened.
extern std::function<void(int descriptor)> after_open;

// Called instead of every pread, with what it reads: the errno, or 0, and then it is read.
extern std::function<int(int descriptor, std::uint64_t offset, std::uint64_t bytes)> on_read;

// Called after every pread that read something.
extern std::function<void()> after_read;

// Called before every process_vm_readv, with which the library lets the kernel read a mapping.
extern std::function<void()> before_look;

// Called before every posix_fallocate, with its length: the errno, or 0, and then the blocks are allocated.
extern std::function<int(std::uint64_t bytes)> on_allocate;

// Called instead of fsync, with which the library syncs only folders: the errno, or 0. Empty: the real one, which is
// left out if on_sync is set.
extern std::function<int()> on_folder_sync;

// Called before and after every lock command that works, with the command (F_OFD_SETLK or F_OFD_GETLK), the kind
// of lock (F_WRLCK, ...) and the byte: the moment at which another process may do something.
struct LockCall {
  int command;
  short kind;
  long byte;
};
extern std::function<void(const LockCall&)> before_lock;
extern std::function<void(const LockCall&)> after_lock;

extern bool no_unnamed_files;                // as on filesystems without O_TMPFILE
extern std::function<void()> before_naming;  // called before every linkat, renameat and renameat2 that is to work
extern int naming_errno;                     // of every linkat, renameat and renameat2; 0: they work
extern long filesystem_magic;                // that every fstatfs returns; 0: the true one
extern int folder_open_errno;                // of opening a folder for reading; 0: it works

// Called instead of getrandom, for each byte. Empty: the real one.
extern std::function<std::uint8_t()> random_byte;

// The number of the mount (the inode number of /sys/fs/TYPE/DEVICE), where filesystem_magic is one that has one; 0: the
// true one.
extern std::uint64_t mount_number;

// The process died in this call: nothing after it is done, and the kernel releases its locks.
struct Killed {};

// Makes everything work again at its end. Every test ends with it, whatever happens.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();
};

}  // namespace store_test::faults
