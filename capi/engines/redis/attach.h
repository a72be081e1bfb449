/* A value that is a file of bfstore, which processes outside the server share (BF.ATTACH). */
#ifndef BFSTORE_ENGINES_REDIS_ATTACH_H
#define BFSTORE_ENGINES_REDIS_ATTACH_H

#include <bfstore.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The server's log of the keys that it added to the file is its own (append-only file, or snapshot).  It has a place in
 * the file, as PROMISES.md asks for: an owner, an epoch, and a position, which counts adds.
 *
 * What the server kept last (a snapshot, or the base of its append-only file) names an owner, an epoch and a position.
 * The file that it opens then is trusted if its mark says that it has every key up to that position; the append-only
 * file brings the later ones again.  Otherwise every answer is "maybe".
 * From each opening on the log may be another one (a snapshot that was restored), so it gets a new epoch.  What the
 * server has kept until the next snapshot still names the old one.  So there are two owners, whose turns alternate. */
struct attachment_state {
  uint64_t owner;    /* and owner + 1 */
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
  int recovers; /* the filter is to be recovered when the server has loaded its log */
  dev_t device; /* of the file at the path, and its number there; 0: ask bfs_is_current */
  ino_t inode;
  uint64_t looked; /* the command for which the server looked at the path last */
  int is_there;    /* then it had the file; otherwise every answer is "maybe" */
  int known;       /* the file knows the owner, so that a recovery waits for it; asked before each add */
  int leaves;      /* the key's name is gone */
  struct attachment* next;
  struct attachment** link; /* what points to this one; NULL: not in the list */
};

#define ATTACH_FOLDER_BYTES 1024
extern char attach_folder[ATTACH_FOLDER_BYTES]; /* with a / at its end; empty: BF.ATTACH is off */

/* Is the path in the folder?  Categories of commands cannot keep a user from BF.ATTACH in every server, nor from
 * RESTORE. */
int attachment_is_allowed(const char* path);

/* Opens the file for a client.  NULL on an error, which *error tells. */
struct attachment* attachment_open(const char* path, int reads, bfs_error* error);

/* What the server kept.  The file is opened where this is the server's own log: not on a replica, and not from a dump,
 * for there the file of that name, if any, is another one; then every answer is "maybe".  So it is where the path is
 * not allowed (any more).  A file for writing that cannot be opened, or is not the right one, comes into doubt. */
struct attachment* attachment_restore(const char* path, const struct attachment_state* state, int is_own_log);

/* From now on every answer is "maybe", also after each restart once the state was kept in a snapshot or a new log: a
 * key of the log is not in the file, or may not be. */
void attachment_doubt(struct attachment* attachment);

void attachment_free(struct attachment* attachment);

int attachment_add(struct attachment* attachment, const char* key, size_t key_bytes);
int attachment_contains(struct attachment* attachment, const char* key, size_t key_bytes);
int attachment_count(struct attachment* attachment, const char* key, size_t key_bytes);
bfs_statistics attachment_statistics(const struct attachment* attachment); /* zeros if in doubt */
const char* attachment_state(struct attachment* attachment);               /* for BF.INFO */
size_t attachment_memory(const struct attachment* attachment);

/* Makes what was added durable, with its mark, before the server drops its log. */
void attachment_sync(struct attachment* attachment);

/* The key's name is gone.  If no other name follows, the key is deleted, and the file forgets the server: with the next
 * attachments_left, or when the value is freed.  (The file of a key that is renamed must not: what the server kept last
 * counts on the marks.) */
void attachment_leave(struct attachment* attachment);
void attachment_stay(struct attachment* attachment); /* it has another name */
void attachments_left(void);
int attachments_are_leaving(void); /* does any of them? */

/* For all of them: before the log is dropped (by the process that forked), after it was loaded, at the end. */
void attachments_sync(void);
void attachments_loaded(void);
void attachments_close(void);

/* The server may have set its handlers of signals. */
void attachments_guard(void);

/* Of bytes from anywhere. */
int attachment_state_is_good(const struct attachment_state* state);

/* As text, for the commands that the server keeps in its log. */
#define ATTACHMENT_STATE_BYTES 160
void attachment_write_state(const struct attachment_state* state, char* text);
int attachment_read_state(const char* text, struct attachment_state* state);

#endif
