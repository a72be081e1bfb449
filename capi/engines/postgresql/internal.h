/* Declarations that the files of the PostgreSQL extension share: the open filters of this backend (handles.c), the
 * files that it builds (builds.c), the owner of a file (files.c), the registry of kept files (registry.c), and the
 * columns whose rows they answer for (definition.c).
 *
 * A file is *kept* if bf_build or bf_attach made it: its note names the database.  A "no" of a kept file counts only
 * where the registry, the table bfstore.opened, says that this file has every key. */
#ifndef BFSTORE_POSTGRESQL_INTERNAL_H
#define BFSTORE_POSTGRESQL_INTERNAL_H

#include "postgres.h"

#include <bfstore_sets.h>

#include "access/transam.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

#define FILE_ID_BYTES 16
#define NOTE_BYTES 1024

/* --- definition.c ------------------------------------------------------------------------------------------------- */

typedef struct Definition {
  Oid tab;
  int attnum;
  Oid type; /* without its domain */
  Oid collation;
  TransactionId before, after;         /* which wrote the trigger's row; invalid: no such row, or not ALWAYS */
  ItemPointerData before_at, after_at; /* where that row is */
  TransactionId column;                /* which wrote the column's row */
  Oid storage;                         /* pg_class.relfilenode */
  char name[6 * NAMEDATALEN + 16];     /* schema.table.column */
  bool has_triggers, has_children;
  bool changes_late; /* the stored value may differ from the one that the BEFORE trigger saw */
} Definition;

extern void definitions_begin(void);
/* Changes when this backend learns that a table or a schema may have changed. */
extern uint64 definitions_changes;
/* Returns false if the triggers' rows may have changed since `now` was read.  Costs a fraction of definition_read(). */
extern bool definition_is_untouched(const Definition* now, uint64 changes);
/* Reads the current definition.  Returns false if the column does not exist. */
extern bool definition_read(Oid tab, int attnum, Definition* out);
extern bool definition_has_triggers(const Definition* of);
/* Returns NULL, or what has happened to the table or the column, as the rest of a sentence. */
extern const char* definition_difference(const Definition* then, const Definition* now);
extern char* definition_text(const Definition* of);
extern bool definition_parse(const char* text, Oid type, Definition* out);

/* --- registry.c --------------------------------------------------------------------------------------------------- */

typedef struct Registered {
  uint8 file_id[FILE_ID_BYTES];
  int64 timeline;
  FullTransactionId built_by;
  Oid key_type; /* the column's type, without its domain */
  uint64 mark;  /* the highest mark that a process registered when it opened the file for writing */
  bool of_table;
  Definition table; /* when the file was built */
} Registered;

/* Reads the file's row as `snapshot` sees it; NULL is the active snapshot.  Returns false if no row exists. */
extern bool registry_read(const char* path, Snapshot snapshot, Registered* out);
/* Also counts openings of transactions in progress or prepared: no snapshot sees them, but they may commit at any
 * time. */
extern bool registry_has_opening_after(const char* path, uint64 mark);
/* Adds a row in this transaction: keys that the process adds count only if the row commits, too. */
extern void registry_add_opening(const char* path, uint64 mark);
/* Replaces all rows of the path by one for a new file.  `table` is NULL if no trigger keeps the file. */
extern void registry_add_file(const char* path, const uint8* file_id, uint64 mark, Oid key_type,
                              const Definition* table);
extern void registry_forget(const char* path);
/* Deletes the openings before `mark`, which a newer one replaces. */
extern void registry_forget_openings(const char* path, uint64 mark);

/* --- A filter at a path ------------------------------------------------------------------------------------------- */

/* A reader checks the file again if one of these differs: the statement of the client, the snapshot, the catalog. */
typedef struct Moment {
  TimestampTz statement; /* 0: not in this transaction */
  TransactionId xmax;    /* no other MVCC snapshot has the same xmax, xcnt and subxcnt */
  uint32 xcnt;
  int32 subxcnt;
  CommandId command;
  uint64 changes;
} Moment;

typedef struct Entry {
  char given[MAXPGPATH]; /* as the caller spells it */
  char path[MAXPGPATH];
  bool writes;
  bfs_filter* filter;    /* NULL: not usable in this statement; `problem` says why */
  Moment looked;         /* readers: the last comparison of the file with its path and its table */
  TimestampTz statement; /* writers: the statement of the last check; 0: not in this transaction */
  bool kept;
  bool building;          /* this transaction has built the file, which has no name yet: see builds.c */
  bool trimmed;           /* the file also has text keys without their trailing spaces */
  bool filling;           /* writers: every answer is "maybe" until the file is built again */
  TransactionId built_by; /* kept file: a snapshot that does not see it may see rows that the file never had */
  int64 timeline;         /* kept file: the epoch of its mark */
  uint64 mark;            /* kept file: the highest mark that was seen */
  Oid key_type;           /* kept file: see lookup_key in functions.c; InvalidOid: not known */
  TimestampTz told;       /* the statement that last warned of "maybe" answers */
  bool of_table;
  bool on_standby;          /* readers: the file was opened on a standby, with fewer checks */
  bool of_others;           /* readers: another database keeps it; it counts only with trust_other_databases */
  bool counts;              /* readers: a "no" counts for the snapshot of `looked` */
  bool locked;              /* readers: the transaction of `looked` is SERIALIZABLE and has locked the table */
  Definition table;         /* when the file was built */
  Definition now;           /* readers: at the reader's last check */
  bool registered;          /* writers: an opening of this handle is in the registry */
  bool registered_just_now; /* registered in this transaction, which may still be rolled back */
  uint64 used;
  char problem[640];
} Entry;

/* --- files.c ------------------------------------------------------------------------------------------------------ */

extern void canonical_path(const char* given, char* path);
extern void own_note(char note[NOTE_BYTES]);
extern bool is_own_note(const char* note);
/* True whatever the state of the file is. */
extern bool is_file_of_others(const char* path);
/* Raises an error if another database keeps the file. */
extern void refuse_file_of_others(const char* path);
extern uint64 own_number(void);
/* bfs_sync with the mark of this server.  `timeline` is its epoch. */
extern int32_t sync_at(bfs_filter* filter, uint64 timeline, uint64 position, bfs_error* error);
/* Returns a position in the server's log.  Every transaction that committed before it has its keys in the files. */
extern uint64 next_position(void);
extern void close_entry(Entry* entry);
/* Replaces the file by a filling one, which takes rows.  Handles of the old file answer "maybe" at once, and handles of
 * the new one until the filter is built again.  Raises no error. */
extern bool make_filling(Entry* entry, bfs_error* error);
/* Calls make_filling(), but raises errors, also if another database keeps the file. */
extern void drop_filter(Entry* entry);

/* --- builds.c ----------------------------------------------------------------------------------------------------- */

extern void builds_begin(void);
/* Gives the file its name when this transaction commits; until then the old file has it.  With NULL the old file is
 * dropped at commit. */
extern void build_keep(const char* path, bfs_filter* filter);
/* Returns the last build or drop of this transaction for the path, or NULL.  A build takes the keys of later rows of
 * this transaction. */
extern Entry* build_of(const char* path);

/* --- handles.c ---------------------------------------------------------------------------------------------------- */

extern bool trust_on_standby;
extern bool trust_other_databases;

extern void handles_begin(void);
/* Raises no error because of the file: entry->filter is NULL then, and a warning was given.  The entry is valid until
 * the next call. */
extern Entry* reader_of(const char* given);
/* Gives no warning.  Raises an error only if the registry cannot be written. */
extern Entry* writer_of(const char* given);
extern void forget_handles(const char* path);
/* Returns true if another process wrote an older copy into a kept file; the inode is then the same. */
extern bool is_older_copy(Entry* entry);
/* Returns true once in a statement for each entry. */
extern bool is_to_be_told(Entry* entry);

#endif
