/* What the files of the PostgreSQL extension share: filters that this backend has open (handles.c), and what the
 * database knows of the files that it keeps (registry.c).
 *
 * A file is *kept* if bf_build or bf_attach made it: its note names the database.  Of a kept file a "no" counts only
 * where the registry, the table bfstore.opened, says that it is the file which has every key. */
#ifndef BFSTORE_POSTGRESQL_INTERNAL_H
#define BFSTORE_POSTGRESQL_INTERNAL_H

#include "postgres.h"

#include <bfstore.h>

#include "access/transam.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

#define FILE_ID_BYTES 16
#define NOTE_BYTES 64

/* --- registry.c --------------------------------------------------------------------------------------------------- */

typedef struct Registered {
  uint8 file_id[FILE_ID_BYTES];
  int64 timeline;
  FullTransactionId built_by;
  Oid key_type; /* of the column, without its domain */
  uint64 mark;  /* the highest one that a process wrote down when it opened the file to write */
} Registered;

/* As `snapshot` sees it; NULL is the active snapshot.  False: no such file. */
extern bool registry_read(const char* path, Snapshot snapshot, Registered* out);
/* Also one of a transaction that is under way, or prepared: no snapshot sees it, and it may commit any time. */
extern bool registry_has_opening_after(const char* path, uint64 mark);
/* In this transaction: what it adds to the file counts only if the row commits, too. */
extern void registry_add_opening(const char* path, uint64 mark);
/* A new file takes the place of all that was known of the path. */
extern void registry_add_file(const char* path, const uint8* file_id, uint64 mark, Oid key_type);
/* The openings before `mark`, which another one replaces. */
extern void registry_forget_openings(const char* path, uint64 mark);

/* --- handles.c ---------------------------------------------------------------------------------------------------- */

typedef struct Entry {
  char given[MAXPGPATH]; /* as the caller spells it */
  char path[MAXPGPATH];
  bool writes;
  bfs_filter* filter;    /* NULL: not usable in this statement; `problem` says why */
  TimestampTz statement; /* the one in which the file was last compared with its path; 0: not in this transaction */
  bool kept;
  bool foreign;             /* another database keeps it */
  bool filling;             /* writers: every answer is "maybe" until the file is built again */
  TransactionId built_by;   /* of a kept file: a snapshot that does not see it may see rows that the file never had */
  Oid key_type;             /* of a kept file: see type_of_lookup in functions.c; InvalidOid: not known */
  TimestampTz told;         /* the statement that has warned of a key of another type */
  bool registered;          /* writers: an opening of this handle is in the registry */
  bool registered_just_now; /* in this transaction, which may still be rolled back */
  uint64 used;
  char problem[640];
} Entry;

extern bool trust_on_standby;
extern bool trust_other_databases;

extern void handles_begin(void);
/* Never raises an error because of the file: entry->filter is NULL then, and a warning was given. */
extern Entry* reader_of(const char* given);
/* The same without a warning.  Raises an error only where the registry cannot be written. */
extern Entry* writer_of(const char* given);
extern void forget_handles(const char* path);
extern bool counts_in(const Entry* entry, Snapshot snapshot);
extern void canonical_path(const char* given, char* path);
extern void own_note(char note[NOTE_BYTES]);
extern uint64 own_number(void);
/* In the server's log: whatever committed before it has its keys in the files. */
extern uint64 next_position(void);
/* Every process answers "maybe" from now on, until the file is built again. */
extern void drop_filter(Entry* entry);

#endif
