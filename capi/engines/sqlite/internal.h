/* bfstore's extension of SQLite: the declarations that its sources share.  One `connection` belongs to one SQLite
 * connection, and relies on its mutex. */
#ifndef BFSTORE_SQLITE_INTERNAL_H
#define BFSTORE_SQLITE_INTERNAL_H

#include <bfstore_sets.h>
#include <sqlite3ext.h>
#include <stdint.h>

/* The kinds of keys, as bits of bfstore_filters.kinds. */
enum { NUMBERS = 1, TEXTS = 2, BLOBS = 4 };

struct key {
  const void* data;
  size_t bytes;
  unsigned char number[8];
  int kind; /* 0: NULL */
};

/* A row of bfstore_filters: the state of a table's filter.  It changes in the transactions that change the table. */
struct kept {
  sqlite3_int64 id;    /* the registration by bf_keep; the triggers pass it */
  sqlite3_int64 epoch; /* a number that is in the filter's file, and in no older copy of it */
  unsigned char file_id[16];
  int has_file_id;
  int has_synced;
  sqlite3_int64 synced; /* rows up to this position are durable in the filter; unset: none is known to be */
  int kinds;
  uint64_t schema;      /* changes with the schema of the database, and with that of temporary tables */
  int definitions_good; /* only if check_triggers was set */
};

/* One filter in one connection.  It stays in the list until the connection ends. */
struct filter {
  struct filter* next;
  char* name;   /* as SQL names it */
  char* schema; /* the database that keeps it in step with a table; "" if none does */
  char* path;
  bfs_filter* handle;
  int writes;
  unsigned generation;      /* changes with each handle */
  unsigned made_in;         /* the generation in which every key was known to be of SQLite; 0: none */
  sqlite3_int64 writes_at;  /* the epoch at which the handle may be written to; 0: none */
  unsigned writes_in;       /* the version of the database when this was compared with the file */
  sqlite3_int64 at_open[2]; /* epochs that were in the file when the handle was opened */
  uint64_t before;          /* the digest that a BEFORE trigger added last */
  int before_kind;          /* the kind of that key */
  unsigned before_in;       /* the generation that it was added to; 0: none */
  int kinds;
  sqlite3_int64 depth;    /* how many rows are between their triggers */
  sqlite3_int64 late_at;  /* the depth of the first of these whose key only its AFTER trigger knows; 0: none */
  int has_other_triggers; /* the table has other triggers, at schema_then */
  uint64_t schema_then;   /* 0: never looked */
  int is_shadowed;        /* a temporary table has its table's name, at shadow_then */
  uint64_t shadow_then;   /* 0: never looked */
};

/* A database of the connection, with the statements that read its bfstore_filters. */
struct database {
  struct database* next;
  char* schema;
  char* file;
  sqlite3_stmt* row;     /* for writers */
  sqlite3_stmt* checked; /* reads also whether triggers and table are as bf_keep left them */
  uint64_t number;       /* the number of `row` among the connection's statements */
};

struct connection {
  sqlite3* db;
  int references;
  uint64_t attached; /* identifies the attached databases that `databases` lists */
  struct database* databases;
  struct filter* filters;
  uint64_t statements; /* the number of statements prepared as a `row` */
  char* folded;        /* memory of folded_of */
};

/* --- keys.c: values as keys --- */

/* Returns 0, or -1: out of memory. */
int key_of(sqlite3_value* value, struct key* key);
/* Returns 1: a collation of SQLite may treat the text as equal to others, and *folded is their common form, until the
 * next call; 0: the text is this form; -1: out of memory. */
int folded_of(struct connection* connection, const struct key* key, struct key* folded);
int32_t add_key(struct connection* connection, bfs_filter* handle, const struct key* key);
int32_t remove_key(struct connection* connection, bfs_filter* handle, const struct key* key);
int may_have(struct connection* connection, const bfs_filter* handle, const struct key* key);
int32_t count_of(struct connection* connection, const bfs_filter* handle, const struct key* key);
/* Adds keys that note these kinds, in a filter that no table has. */
int32_t mark_kinds(bfs_filter* handle, int kinds);
/* The digests of these keys, for a filter of SQLite's keys alone.  Returns their number. */
enum { NUMBER_OF_WORDS = 19 };
size_t digests_of_kinds(const bfs_filter* hash, int kinds, uint64_t digests[NUMBER_OF_WORDS]);
/* Returns whether SQL may treat the value as equal to a key of another kind.  known: the kinds that the caller named
 * for a filter that no table has; 0: none. */
int may_equal_another_kind(struct filter* filter, int known, const struct key* key, sqlite3_value* value);

/* --- filters.c: handles, and which of them to trust --- */

/* The words of the table, of the triggers and of the view that bf_keep makes last, for one row of bfstore_filters in
 * the schema %w.  In the order in which they were made, which VACUUM and copies keep: a trigger that was dropped, and
 * made again with the same words, comes after the view.  Without the table's root page: VACUUM changes it, which cannot
 * be told from an edit. */
#define DEFINITIONS                                                                                                   \
  "(SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM \"%w\".sqlite_schema WHERE type = 'trigger' AND name IN" \
  " ('bfstore insert ' || path, 'bfstore update ' || path, 'bfstore before insert ' || path,"                         \
  " 'bfstore before update ' || path) OR type = 'view' AND name = 'bfstore last ' || path OR type = 'table' AND name" \
  " = table_name COLLATE NOCASE ORDER BY rowid))"

enum found { FOUND_NONE, FOUND_ONE, FOUND_MANY, FOUND_ERROR };

/* Looks in every database for the row that keeps the filter in step.  id: 0 for any.  Returns the filter in *out, also
 * if no database keeps it; NULL if many do, or after an error. */
enum found find_filter(struct connection* connection, const char* name, sqlite3_int64 id, int check_triggers,
                       struct filter** out, struct kept* kept);
/* Returns the filter of one database, for bf_keep and bf_sync. */
struct filter* filter_of(struct connection* connection, const char* schema, const char* name);
/* Returns the filter if it may be asked now.  Otherwise returns NULL: every answer is "maybe", and *why has the reason
 * and the way out. */
struct filter* filter_to_ask(struct connection* connection, const char* name, bfs_error* why);
/* Returns whether another trigger may end a row before those of bf_keep have run; -1 after an error. */
int has_other_triggers(struct connection* connection, struct filter* filter, const struct kept* kept);
int32_t open_filter(struct filter* filter, uint64_t flags, bfs_error* error);
void close_filter(struct filter* filter);
int is_of_epoch(const struct filter* filter, const struct kept* kept);
int is_any_databases(const struct filter* filter);
/* Makes everything durable, and gives the file and the database a new epoch, which no older copy has.  Returns the
 * index of this epoch in the file (0 or 1), or -1.  Needs the database's lock for writing. */
int renew(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error);
/* Call this after keys were added again: an older state of the database, which has the other epoch, may have rows whose
 * keys were not added.  Returns 0, or -1. */
int forget_other_epoch(struct filter* filter, int lane, bfs_error* error);
int finish_recovery(struct filter* filter, int lane, bfs_error* error);
/* Returns 0 if a key may be added: in a transaction that writes to the database. */
int prepare_to_write(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error);
int run(struct connection* connection, const char* format, ...);
void forget_statements(struct connection* connection);
void release(void* connection);

/* --- function.c: what the functions take, and how they fail --- */

/* Returns the text of an argument, or NULL after an error of the statement. */
const char* text_of(sqlite3_context* context, sqlite3_value* value, const char* what);
void fail(sqlite3_context* context, const char* what, const bfs_error* error);

/* --- rows.c: rows between their triggers --- */

/* is_late: only the AFTER trigger knows the row's key. */
void enter_row(struct filter* filter, int is_late);
void leave_row(struct filter* filter);
/* Returns whether such a late row exists: then every answer is "maybe". */
int has_late_row(const struct connection* connection, struct filter* filter);

/* --- keep.c, build.c, info.c: functions --- */

void bf_keep(sqlite3_context* context, int count, sqlite3_value** values);
void bf_sync(sqlite3_context* context, int count, sqlite3_value** values);
void bf_keys_step(sqlite3_context* context, int count, sqlite3_value** values);
void bf_keys_final(sqlite3_context* context);
void bf_build(sqlite3_context* context, int count, sqlite3_value** values);
extern const sqlite3_module bf_info_module;

#endif
