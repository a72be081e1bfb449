/* For LD_PRELOAD: every file is on a network filesystem. */
#undef _FILE_OFFSET_BITS /* fstatfs and fstatfs64 are two functions here */
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* On 64 bits both functions write the same struct. */
int fstatfs(int descriptor, struct statfs* facts) {
  const int outcome = (int)syscall(SYS_fstatfs, descriptor, facts);
  if (outcome == 0) facts->f_type = NFS_SUPER_MAGIC;
  return outcome;
}

int fstatfs64(int descriptor, struct statfs64* facts) { return fstatfs(descriptor, (struct statfs*)facts); }
