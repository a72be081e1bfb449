/* A value that is a bfstore file, which processes outside the server share (BF.ATTACH). */
#ifndef BFSTORE_ENGINES_REDIS_ATTACH_H
#define BFSTORE_ENGINES_REDIS_ATTACH_H

#include <bfstore_engine.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The server keeps its own log of the keys that it added to the file (append-only file, or snapshot).  The file stores
 * the server's place in that log, as PROMISES.md asks for: an owner, an epoch, and a position, which counts adds.
 *
 * The last state that the server kept (a snapshot, or the base of its append-only file) names an owner, an epoch and a
 * position. When the server opens the file again, it trusts the file if the file's mark says that it has every key up
 * to that position; the append-only file brings the later ones again.  Otherwise every answer is "maybe".  After each
 * opening the log may be another one (a restored snapshot), so it gets a new epoch.  What the server has kept until the
 * next snapshot still names the old epoch.  So the file has two owners for the server, used in turn. */
struct attachment_state {
  uint64_t owner;    /* the two owners are this one and owner + 1 */
  uint64_t epoch;    /* of the owner whose turn it is */
  uint64_t turn;     /* 0 or 1 */
  uint64_t position; /* adds that returned, and loadings of the log, since the key was attached */
  uint64_t reads;    /* 1: the file was attached for reading */
  uint64_t doubted;  /* 1: never to be opened again: see attachment_doubt */
  uint8_t file_id[16];
};

struct attachment {
  char* path;
  bfs_filter* filter; /* NULL: in doubt */
  struct attachment_state state;
  int recovers; /* the filter must be recovered when the server has loaded its log */
  dev_t device; /* device and inode of the file at the path; inode 0: ask bfs_is_current */
  ino_t inode;
  uint64_t looked;        /* the command in which the server last checked the path */
  int is_there;           /* the path had our file then; 0: every answer is "maybe" */
  int known;              /* the file knows the owner, so that a recovery waits for it; asked before each add */
  int leaves;             /* the key's name is gone, and may come back (rename) */
  int turned;             /* what the last turn by attachments_turn returned */
  uint64_t began_to_turn; /* when it began, in nanoseconds since the boot */
  struct attachment* next;
  struct attachment** link; /* the pointer to this one; NULL: not in the list */
};

#define ATTACH_FOLDER_BYTES 1024
extern char attach_folder[ATTACH_FOLDER_BYTES]; /* ends with /; empty: BF.ATTACH is off */

/* Returns whether the path is in the folder.  Command categories cannot keep a user from BF.ATTACH on every server, nor
 * from RESTORE. */
int attachment_is_allowed(const char* path);

/* Opens the file for a client.  Returns NULL after an error, which is in *error. */
struct attachment* attachment_open(const char* path, int reads, bfs_error* error);

/* Restores what the server kept.  Opens the file only if this is the server's own log: on a replica, or from a dump, a
 * file of that name is another one, so every answer is "maybe".  The answers are also "maybe" if the path is not
 * allowed (any more).  A file for writing that cannot be opened, or is not the right one, becomes doubted. */
struct attachment* attachment_restore(const char* path, const struct attachment_state* state, int is_own_log);

/* Makes every answer "maybe", also after each restart once the state was kept in a snapshot or a new log: a key of the
 * log may not be in the file. */
void attachment_doubt(struct attachment* attachment);

void attachment_free(struct attachment* attachment);

int attachment_add(struct attachment* attachment, const char* key, size_t key_bytes);
int attachment_contains(struct attachment* attachment, const char* key, size_t key_bytes);
int attachment_count(struct attachment* attachment, const char* key, size_t key_bytes);
bfs_statistics attachment_statistics(const struct attachment* attachment); /* zeros if in doubt */
const char* attachment_state(struct attachment* attachment);               /* for BF.INFO */
size_t attachment_memory(const struct attachment* attachment);

/* Ends an epoch, as bfs_turn.  Returns VALUE_NO_WINDOW if the keys of the file do not expire. */
int attachment_turn(struct attachment* attachment, uint64_t from_epoch, bfs_error* error);

/* Makes the adds durable, with their mark, before the server drops its log. */
void attachment_sync(struct attachment* attachment);

/* Call this when the key's name is gone.  If no other name follows, the key is deleted, and the file forgets the
 * server: with the next attachments_left, or when the value is freed.  (The file of a renamed key must not forget it:
 * what the server kept last relies on the marks.) */
void attachment_leave(struct attachment* attachment);
void attachment_stay(struct attachment* attachment); /* the key has another name */
void attachments_left(void);
int attachments_are_leaving(void); /* returns whether one is leaving */

/* For all attachments: before the log is dropped (by the process that forked), after it was loaded, at the end. */
void attachments_sync(void);
void attachments_loaded(void);
void attachments_close(void);

/* Call this now and then.  A thread ends an epoch that is over, of one file after the other: such a turn writes the
 * whole file, and waits for the disk.  Closing and syncing a file wait for its turn.  Returns whether a turn is under
 * way. */
int attachments_turn(void);

/* Call this when the server may have set its signal handlers. */
void attachments_guard(void);

/* Checks a state whose bytes may come from anywhere. */
int attachment_state_is_good(const struct attachment_state* state);

/* The state as text, for the commands that the server keeps in its log. */
#define ATTACHMENT_STATE_BYTES 160
void attachment_write_state(const struct attachment_state* state, char* text);
int attachment_read_state(const char* text, struct attachment_state* state);

#endif
