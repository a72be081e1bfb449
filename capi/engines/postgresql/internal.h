/* What the files of the PostgreSQL extension share: filters that this backend has open (handles.c), files that it
 * builds (builds.c), whose a file is (files.c), what the database knows of the files that it keeps (registry.c), and
 * the columns that they are for (definition.c).
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
#define NOTE_BYTES 1024

/* --- definition.c ------------------------------------------------------------------------------------------------- */

typedef struct Definition {
  Oid tab;
  int attnum;
  Oid type; /* without its domain */
  Oid collation;
  TransactionId before, after; /* that wrote the row of the trigger; invalid: there is none, or it is not ALWAYS */
  ItemPointerData before_at, after_at; /* where that row is */
  TransactionId column;                /* that wrote the row of the column */
  Oid storage;                         /* the file that has the table's rows */
  char name[6 * NAMEDATALEN + 16];     /* schema.table.column */
  bool has_triggers, has_children;
  bool changes_late; /* the value that is stored may be another one than the trigger before the row has seen */
} Definition;

extern void definitions_begin(void);
/* Another number than before: a table or a schema may have changed, as far as this backend was told. */
extern uint64 definitions_changes;
/* False: the triggers' rows may be other ones than when `now` was read.  Costs a fraction of definition_read(). */
extern bool definition_is_untouched(const Definition* now, uint64 changes);
/* As it is now.  False: no such column. */
extern bool definition_read(Oid tab, int attnum, Definition* out);
extern bool definition_has_triggers(const Definition* of);
/* NULL, or what has happened to the table or the column, as the rest of a sentence. */
extern const char* definition_difference(const Definition* then, const Definition* now);
extern char* definition_text(const Definition* of);
extern bool definition_parse(const char* text, Oid type, Definition* out);

/* --- registry.c --------------------------------------------------------------------------------------------------- */

typedef struct Registered {
  uint8 file_id[FILE_ID_BYTES];
  int64 timeline;
  FullTransactionId built_by;
  Oid key_type; /* of the column, without its domain */
  uint64 mark;  /* the highest one that a process wrote down when it opened the file to write */
  bool of_table;
  Definition table; /* when the file was built */
} Registered;

/* As `snapshot` sees it; NULL is the active snapshot.  False: no such file. */
extern bool registry_read(const char* path, Snapshot snapshot, Registered* out);
/* Also one of a transaction that is under way, or prepared: no snapshot sees it, and it may commit any time. */
extern bool registry_has_opening_after(const char* path, uint64 mark);
/* In this transaction: what it adds to the file counts only if the row commits, too. */
extern void registry_add_opening(const char* path, uint64 mark);
/* A new file takes the place of all that was known of the path.  `table` is NULL of a file that no trigger keeps. */
extern void registry_add_file(const char* path, const uint8* file_id, uint64 mark, Oid key_type,
                              const Definition* table);
extern void registry_forget(const char* path);
/* The openings before `mark`, which another one replaces. */
extern void registry_forget_openings(const char* path, uint64 mark);

/* --- A filter at a path ------------------------------------------------------------------------------------------- */

/* What a backend has to look again after: another statement of the client, another snapshot, another catalog. */
typedef struct Moment {
  TimestampTz statement; /* 0: not in this transaction */
  TransactionId xmax;    /* with the number of those that were under way: no other snapshot of MVCC has all three */
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
  Moment looked;         /* readers: when the file was last compared with its path, and with its table */
  TimestampTz statement; /* writers: the one in which it was; 0: not in this transaction */
  bool kept;
  bool building;          /* this transaction has built the file, which has no name yet: see builds.c */
  bool trimmed;           /* text keys are in the file without the spaces at their end, too */
  bool filling;           /* writers: every answer is "maybe" until the file is built again */
  TransactionId built_by; /* of a kept file: a snapshot that does not see it may see rows that the file never had */
  int64 timeline;         /* of a kept file: the epoch of its mark */
  uint64 mark;            /* of a kept file: the highest one that was seen */
  Oid key_type;           /* of a kept file: see type_of_lookup in functions.c; InvalidOid: not known */
  TimestampTz told;       /* the statement that has warned of answers that are "maybe" */
  bool of_table;
  bool on_standby;          /* readers: when it was opened, and less was asked of the file */
  bool of_others;           /* readers: another database keeps it, which counts while that is trusted */
  bool counts;              /* readers: for the snapshot of `looked` */
  bool locked;              /* readers: SERIALIZABLE has the table's lock in the transaction of `looked` */
  Definition table;         /* when the file was built */
  Definition now;           /* readers: when the reader read it last */
  bool registered;          /* writers: an opening of this handle is in the registry */
  bool registered_just_now; /* in this transaction, which may still be rolled back */
  uint64 used;
  char problem[640];
} Entry;

/* --- files.c ------------------------------------------------------------------------------------------------------ */

extern void canonical_path(const char* given, char* path);
extern void own_note(char note[NOTE_BYTES]);
extern bool is_own_note(const char* note);
/* Whatever the state of the file is. */
extern bool is_file_of_others(const char* path);
/* An error if it is. */
extern void refuse_file_of_others(const char* path);
extern uint64 own_number(void);
/* In the server's log: whatever committed before it has its keys in the files. */
extern uint64 next_position(void);
extern void close_entry(Entry* entry);
/* Handles of the file that it replaces answer "maybe" at once, and those of the new one until it is built again.  The
 * new one takes rows.  Raises no error. */
extern bool make_filling(Entry* entry, bfs_error* error);
/* The same with an error, also if another database keeps the file. */
extern void drop_filter(Entry* entry);

/* --- builds.c ----------------------------------------------------------------------------------------------------- */

extern void builds_begin(void);
/* The file gets its name when this transaction commits.  Until then the old one has it.  NULL: that one is dropped. */
extern void build_keep(const char* path, bfs_filter* filter);
/* What this transaction has built or dropped last, or NULL.  It takes the keys of rows that follow in it. */
extern Entry* build_of(const char* path);

/* --- handles.c ---------------------------------------------------------------------------------------------------- */

extern bool trust_on_standby;
extern bool trust_other_databases;

extern void handles_begin(void);
/* Never raises an error because of the file: entry->filter is NULL then, and a warning was given.  The entry is good
 * until the next call. */
extern Entry* reader_of(const char* given);
/* The same without a warning.  Raises an error only where the registry cannot be written. */
extern Entry* writer_of(const char* given);
extern void forget_handles(const char* path);
/* Of a kept file: whether another process has written an older copy into it, which the kernel takes for the same file.
 */
extern bool is_older_copy(Entry* entry);
/* Once in a statement for each entry. */
extern bool is_to_be_told(Entry* entry);

#endif
