/* bfstore's extension of SQLite: what its sources share.  One `connection` belongs to one connection of SQLite, whose
 * mutex it relies on. */
#ifndef BFSTORE_SQLITE_INTERNAL_H
#define BFSTORE_SQLITE_INTERNAL_H

#include <bfstore.h>
#include <sqlite3ext.h>
#include <stdint.h>

/* Kinds of keys, as bits of bfstore_filters.kinds. */
enum { NUMBERS = 1, TEXTS = 2, BLOBS = 4 };

struct key {
  const void* data;
  size_t bytes;
  unsigned char number[8];
  int kind; /* 0: NULL */
};

/* A row of bfstore_filters, which says in which state the filter of a table is.  It changes in the transactions that
 * change the table. */
struct kept {
  sqlite3_int64 id;    /* of the registration by bf_keep: the triggers have it */
  sqlite3_int64 epoch; /* a number that is in the filter's file, and in no older copy of it */
  unsigned char file_id[16];
  int has_file_id;
  int has_synced;
  sqlite3_int64 synced; /* rows up to this position are durable in the filter; without it none is known to be */
  int kinds;
  uint64_t schema; /* a new number whenever the database's schema changed, or that of the connection's own tables */
  int definitions_good; /* only where it was asked for */
};

/* One filter in one connection.  It stays in the list until the connection ends. */
struct filter {
  struct filter* next;
  char* name;   /* as SQL names it */
  char* schema; /* of the database that keeps it in step with a table; "" if none does */
  char* path;
  bfs_filter* handle;
  int writes;
  unsigned generation;      /* a new one with each handle */
  unsigned made_in;         /* the generation in which every key was known to be of SQLite; 0: none */
  sqlite3_int64 writes_at;  /* the epoch at which the handle may be written to; 0: none */
  unsigned writes_in;       /* the version of the database when this was compared with the file */
  sqlite3_int64 at_open[2]; /* epochs that were in the file when the handle was opened */
  uint64_t before;          /* the digest that a BEFORE trigger added last */
  int before_kind;          /* of that key */
  unsigned before_in;       /* the generation that it was added to; 0: none */
  int kinds;
  sqlite3_int64 depth;    /* how many rows are between their triggers */
  sqlite3_int64 late_at;  /* the depth of the first of these whose key only its AFTER trigger knows; 0: none */
  int has_other_triggers; /* the table, at that schema */
  uint64_t schema_then;   /* 0: never looked */
  int is_shadowed;        /* by a temporary table of its table's name, at the next schema */
  uint64_t shadow_then;   /* 0: never looked */
};

/* A database of the connection, with the statements that read its bfstore_filters. */
struct database {
  struct database* next;
  char* schema;
  char* file;
  sqlite3_stmt* row;     /* for writers */
  sqlite3_stmt* checked; /* the same, and whether the triggers and the table are as bf_keep left them */
  uint64_t number;       /* of `row` among the connection's */
};

struct connection {
  sqlite3* db;
  int references;
  uint64_t attached; /* which databases `databases` is about */
  struct database* databases;
  struct filter* filters;
  uint64_t statements; /* that were prepared as the `row` of a database */
  char* folded;        /* memory of folded_of */
};

/* --- keys.c: values as keys --- */

/* Returns 0, or -1: out of memory. */
int key_of(sqlite3_value* value, struct key* key);
/* Returns 1: a collation of SQLite may take the text for equal with others, whose common form is *folded, until the
 * next call; 0: the text is this form; -1: out of memory. */
int folded_of(struct connection* connection, const struct key* key, struct key* folded);
int32_t add_key(struct connection* connection, bfs_filter* handle, const struct key* key);
int32_t remove_key(struct connection* connection, bfs_filter* handle, const struct key* key);
int may_have(struct connection* connection, const bfs_filter* handle, const struct key* key);
int32_t count_of(struct connection* connection, const bfs_filter* handle, const struct key* key);
/* Notes in a filter that no table has that it has keys of these kinds. */
int32_t mark_kinds(bfs_filter* handle, int kinds);
/* Whether SQL may take the value for equal with a key of another kind.  known: the kinds that the caller says a filter
 * that no table has has; 0: none were said. */
int may_equal_another_kind(struct filter* filter, int known, const struct key* key, sqlite3_value* value);

/* --- filters.c: handles, and which of them to trust --- */

/* The words of the table, of the triggers and of the view that bf_keep makes last, for one row of bfstore_filters in
 * the schema that %w stands for.  In the order in which they were made, which VACUUM and copies keep: a trigger that
 * was dropped, and made again with the same words, comes after the view.  Without the table's root page, which VACUUM
 * changes: nothing tells that from an edit. */
#define DEFINITIONS                                                                                                   \
  "(SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM \"%w\".sqlite_schema WHERE type = 'trigger' AND name IN" \
  " ('bfstore insert ' || path, 'bfstore update ' || path, 'bfstore before insert ' || path,"                         \
  " 'bfstore before update ' || path) OR type = 'view' AND name = 'bfstore last ' || path OR type = 'table' AND name" \
  " = table_name COLLATE NOCASE ORDER BY rowid))"

enum found { FOUND_NONE, FOUND_ONE, FOUND_MANY, FOUND_ERROR };

/* Looks in every database for what keeps the filter in step.  id: 0 for any.  Returns the filter in *out, also where no
 * database keeps it; NULL if there are many, or after an error. */
enum found find_filter(struct connection* connection, const char* name, sqlite3_int64 id, int check_triggers,
                       struct filter** out, struct kept* kept);
/* That of one database, for bf_keep and bf_sync. */
struct filter* filter_of(struct connection* connection, const char* schema, const char* name);
/* The filter, if it may be asked now, else NULL: then every answer is "maybe", and *why says why, and the way out. */
struct filter* filter_to_ask(struct connection* connection, const char* name, bfs_error* why);
/* Whether a trigger that is not of bf_keep may end a row before those of bf_keep have run.  -1 after an error. */
int has_other_triggers(struct connection* connection, struct filter* filter, const struct kept* kept);
int32_t open_filter(struct filter* filter, uint64_t flags, bfs_error* error);
void close_filter(struct filter* filter);
int is_of_epoch(const struct filter* filter, const struct kept* kept);
int is_any_databases(const struct filter* filter);
/* Makes everything durable, and gives the file and the database a new epoch, which no older copy has.  Returns which of
 * the file's two epochs it is now, or -1.  Needs the database's lock for writing. */
int renew(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error);
/* After keys were added again: an older state of the database, which has the other epoch, may have rows whose keys were
 * not. 0, or -1. */
int forget_other_epoch(struct filter* filter, int lane, bfs_error* error);
int finish_recovery(struct filter* filter, int lane, bfs_error* error);
/* 0 if a key may be added: in a transaction that writes to the database. */
int prepare_to_write(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error);
int run(struct connection* connection, const char* format, ...);
void forget_statements(struct connection* connection);
void release(void* connection);

/* --- function.c: what the functions take, and how they fail --- */

/* The text of an argument, or NULL after an error of the statement. */
const char* text_of(sqlite3_context* context, sqlite3_value* value, const char* what);
void fail(sqlite3_context* context, const char* what, const bfs_error* error);

/* --- rows.c: rows between their triggers --- */

/* is_late: only the AFTER trigger knows the row's key. */
void enter_row(struct filter* filter, int is_late);
void leave_row(struct filter* filter);
/* Whether there is such a late row: then every answer is "maybe". */
int has_late_row(const struct connection* connection, struct filter* filter);

/* --- keep.c, build.c, info.c: functions --- */

void bf_keep(sqlite3_context* context, int count, sqlite3_value** values);
void bf_sync(sqlite3_context* context, int count, sqlite3_value** values);
void bf_keys_step(sqlite3_context* context, int count, sqlite3_value** values);
void bf_keys_final(sqlite3_context* context);
void bf_build(sqlite3_context* context, int count, sqlite3_value** values);
extern const sqlite3_module bf_info_module;

#endif
