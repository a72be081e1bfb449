/* bfstore: what all of its headers share: codes, the error record, the version. */
#ifndef BFSTORE_CODES_H
#define BFSTORE_CODES_H

#include <stddef.h>
#include <stdint.h>

#define BFS_VERSION_MAJOR 0
#define BFS_VERSION_MINOR 1
#define BFS_VERSION_PATCH 0

#if defined(__GNUC__)
#define BFS_API __attribute__((visibility("default")))
#define BFS_CHECK __attribute__((warn_unused_result)) /* a caller that ignores the result may lose keys */
#else
#define BFS_API
#define BFS_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Codes and errors --------------------------------------------------------------------------------------------- */

/* A result below 0 is one of these codes.  The comment of each function names those that it can return, by group or one
 * by one.  Every function can return BFS_EINVAL and, if it takes a bfs_error, BFS_EINTERNAL.  No code is renumbered: a
 * program treats a code that it does not know as its class. */
#define BFS_IS_CALL_ERROR(code) ((code) < 0 && (code) > -100)      /* the call, or the system: change it, or retry */
#define BFS_IS_STATE_ERROR(code) ((code) <= -100 && (code) > -200) /* the file is good; its state forbids this */
#define BFS_IS_MALFORMED(code) ((code) <= -200 && (code) > -300)   /* what the path names is not a good filter file */

#define BFS_OK 0
#define BFS_EINVAL (-1)     /* an argument is out of range, or contradicts another */
#define BFS_EINTERNAL (-13) /* a bug in bfstore */

/* Group "system". */
#define BFS_ENOMEM (-2)       /* out of memory */
#define BFS_ESYSTEM (-3)      /* a system call failed: bfs_error has its errno */
#define BFS_EBUSY (-4)        /* another user of the file excludes this for now: try again later */
#define BFS_EEXIST (-5)       /* the file exists */
#define BFS_ENOENT (-6)       /* the file does not exist */
#define BFS_EACCES (-7)       /* permission denied */
#define BFS_ENOSPC (-9)       /* the disk, the quota or the file size limit is full */
#define BFS_EFILESYSTEM (-16) /* a network filesystem or a read-only overlay, which may show readers an older file */

/* Group "handle": this handle, or this filter, cannot do that. */
#define BFS_EREADONLY (-8)     /* the handle was opened for reading */
#define BFS_EOWNERS (-10)      /* all 64 lanes for owners of marks are taken: drop an owner */
#define BFS_EDIGESTONLY (-11)  /* the filter's hash is "external": it takes digests, not keys */
#define BFS_EUNSUPPORTED (-14) /* the filter's layout cannot do this */
#define BFS_EFORKED (-15)      /* the handle was made before a fork, and this is the child */
#define BFS_ESHUT (-18)        /* the handle was shut: it answers "maybe", and adds nothing */
#define BFS_EKEYONLY (-20)     /* the filter's hash gives no digests: it takes keys alone */
#define BFS_EPART (-21)        /* the key belongs to another part of the whole filter than this one */

/* Group "shape": filters that cannot be made, or do not fit together. */
#define BFS_ESIZING (-12)   /* no m and k can reach what was asked */
#define BFS_ESECRET (-17)   /* the secret is missing, is another one, or the filter has none */
#define BFS_EMISMATCH (-19) /* two filters differ in what must be equal: the message says in what */

/* Group "state", which bfs_health tells, too. */
#define BFS_EUNCLEAN (-100)    /* keys may be missing: power cut, kill during a sync, or copied while in use */
#define BFS_EPOISONED (-101)   /* a sync did not end (a kill, a disk): memory and disk may differ */
#define BFS_ELOST (-102)       /* truncated, overwritten or zero-filled while it was mapped */
#define BFS_ERECOVERING (-103) /* a recovery was begun and has not ended */
#define BFS_ESUPERSEDED (-104) /* another file takes, or took, the place of this one: open the path again */
#define BFS_EFULL (-105)       /* the filter is at its capacity, and the handle, or bfs_build, has a hard limit */
#define BFS_EFAULT (-106)      /* a page could not be read, or the file was truncated: every answer is "maybe" now */
#define BFS_ESEALED (-107)     /* sealed: no process writes to it again */
#define BFS_ENOTSEALED (-108)  /* not sealed, so that it has no checksums */
#define BFS_EDAMAGED (-109)    /* a sealed file with other bytes than those that were sealed */
#define BFS_EFILLING (-110)    /* not every key was added yet: every answer is "maybe"; adds are not refused */
#define BFS_ELATER (-111) /* a later bfstore set a state that this one does not know: every answer is "maybe" now */

/* Group "malformed". */
#define BFS_ENOTREGULAR (-200) /* not a regular file */
#define BFS_ESYMLINK (-201)    /* a symbolic link, where none is followed */
#define BFS_EMALFORMED (-202)  /* bytes that FORMAT.md forbids: bfs_error.rule says by which rule */
#define BFS_EVERSION (-203)    /* another major version of the format */
#define BFS_EFEATURE (-204)    /* needs a feature, a layout or a hash that this library does not know */

/* Says in words what failed.  The caller owns it.  A call that succeeds leaves it alone. */
typedef struct bfs_error {
  uint32_t struct_bytes; /* in: sizeof(bfs_error); another one is treated as no bfs_error */
  int32_t code;          /* out: as returned */
  int32_t os_errno;      /* out: errno of the system call that failed; without one, the errno that says the same as the
                            code (BFS_EEXIST: EEXIST), 0 where there is none */
  uint32_t rule;     /* out: of BFS_EMALFORMED, the number of the broken rule in FORMAT.md's checklist; otherwise 0 */
  char message[496]; /* out: what failed, on what, and the way out, in UTF-8 with a NUL; a long one lacks its middle */
} bfs_error;
#define BFS_ERROR_INIT                \
  {                                   \
    sizeof(bfs_error), 0, 0, 0, { 0 } \
  }

/* One sentence for any code, and a general one for any other number.  Static, never NULL. */
BFS_API const char* bfs_strerror(int32_t code);

/* The name of a code, "BFS_EUNCLEAN"; "BFS_E?" for any other number.  Static, never NULL. */
BFS_API const char* bfs_code_name(int32_t code);

/* "1.2.3": the version of the library that runs.  Static. */
BFS_API const char* bfs_version(void);

#ifdef __cplusplus
}
#endif

#endif
