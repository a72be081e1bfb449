/* bfstore's extension of SQLite: SELECT load_extension('./bfstore').  The functions for one key, and the entry point.
 * README.md says what each function does. */
#include "internal.h"

#include <string.h>
SQLITE_EXTENSION_INIT1

/* --- Adding ------------------------------------------------------------------------------------------------------- */

/* LATE: a BEFORE trigger of a row whose key SQLite may make only after that trigger. */
enum caller { STATEMENT, AFTER, BEFORE, LATE };

/* The rowid that a BEFORE trigger of an INSERT sees if SQLite has not given one yet. */
enum { UNGIVEN = -1 };

/* Returns whether the row may be at a position up to which bf_sync has made all rows durable; -1 after an error.  The
 * rowid that SQLite gives is not always a new one (sqlite_sequence can be changed).  The AFTER trigger sees it, and
 * runs unless another trigger has ended the row. */
static int is_below(struct connection* connection, struct filter* filter, const struct kept* kept, enum caller caller,
                    sqlite3_value* position) {
  if (!kept->has_synced) return 0;
  if (position == NULL || sqlite3_value_type(position) != SQLITE_INTEGER) return 1;
  if (caller >= BEFORE && sqlite3_value_int64(position) == UNGIVEN) return has_other_triggers(connection, filter, kept);
  return sqlite3_value_int64(position) <= kept->synced;
}

/* Notes the row's position and kind, for its key may be in a page that is not on the disk. */
static int note_row(struct connection* connection, struct filter* filter, struct kept* kept, enum caller caller,
                    sqlite3_value* position, int kind) {
  const int below = is_below(connection, filter, kept, caller, position);
  if (below < 0) return SQLITE_ERROR;
  if (!below && (kept->kinds | kind) == kept->kinds) return SQLITE_OK;
  filter->kinds = kept->kinds | kind;
  return run(connection, "UPDATE \"%w\".bfstore_filters SET kinds = %d%s WHERE path = %Q", filter->schema,
             filter->kinds, below ? ", synced = NULL" : "", filter->name);
}

/* The BEFORE and the AFTER trigger of a row count its key once.  A text and a blob of the same bytes are two keys: the
 * text may have a second form. */
static int was_added_before(struct filter* filter, enum caller caller, const struct key* key) {
  uint64_t digest;
  if (caller == STATEMENT || bfs_digest(filter->handle, key->data, key->bytes, &digest) != BFS_OK) return 0;
  if (caller == AFTER)
    return filter->before_in == filter->generation && key->kind == filter->before_kind && digest == filter->before;
  filter->before = digest;
  filter->before_kind = key->kind;
  filter->before_in = filter->generation;
  return 0;
}

static void add_row(sqlite3_context* context, struct filter* filter, enum caller caller, const struct key* key) {
  bfs_error error = BFS_ERROR_INIT;
  if (was_added_before(filter, caller, key)) return;
  error.code = add_key(sqlite3_user_data(context), filter->handle, key);
  if (error.code < 0) {
    close_filter(filter);
    fail(context, filter->path, &error);
  } else {
    sqlite3_result_int(context, error.code);
  }
}

static void fail_to_add(sqlite3_context* context, const struct filter* filter, const bfs_error* error) {
  char* message = sqlite3_mprintf("bf_add: %s: %s. SELECT bf_sync(%Q)", filter->path, error->message, filter->name);
  sqlite3_result_error(context, message == NULL ? "out of memory" : message, -1);
  sqlite3_free(message);
}

static void add_to_plain(sqlite3_context* context, struct filter* filter, const struct key* key) {
  bfs_error error = BFS_ERROR_INIT;
  if (filter->handle == NULL || !filter->writes || bfs_is_current(filter->handle, NULL) != 1)
    if (open_filter(filter, BFS_WRITE, &error) != BFS_OK) {
      fail(context, filter->path, &error);
      return;
    }
  if ((error.code = mark_kinds(filter->handle, key->kind)) < 0)
    fail(context, filter->path, &error);
  else
    add_row(context, filter, STATEMENT, key);
}

/* Returns 0 if another trigger may end the row without its AFTER trigger: then no trigger would see the key. */
static int may_be_late(struct connection* connection, struct filter* filter, const struct kept* kept,
                       bfs_error* error) {
  const int others = has_other_triggers(connection, filter, kept);
  if (others == 0) return 1;
  error->code = BFS_EUNSUPPORTED;
  sqlite3_snprintf(sizeof error->message, error->message, "%s",
                   others < 0 ? sqlite3_errmsg(connection->db)
                              : "SQLite makes this key after the BEFORE triggers, and another trigger of the table may"
                                " end the row before bfstore's AFTER trigger: drop one of them");
  return 0;
}

static void add_to_kept(sqlite3_context* context, struct filter* filter, struct kept* kept, enum caller caller,
                        sqlite3_value* position, const struct key* key) {
  struct connection* connection = sqlite3_user_data(context);
  bfs_error error = BFS_ERROR_INIT;
  if (caller == LATE && !may_be_late(connection, filter, kept, &error)) {
    fail(context, filter->path, &error);
    return;
  }
  if (caller != AFTER) filter->before_in = 0; /* it may be that of a row that ended without its AFTER trigger */
  if (caller >= BEFORE) enter_row(filter, caller == LATE);
  if (caller == AFTER) leave_row(filter);
  if (key->kind == 0) return;
  if (prepare_to_write(connection, filter, kept, &error) != 0)
    fail_to_add(context, filter, &error);
  else if (note_row(connection, filter, kept, caller, position, key->kind) != SQLITE_OK)
    sqlite3_result_error(context, sqlite3_errmsg(connection->db), -1);
  else
    add_row(context, filter, caller, key);
}

static enum caller caller_of(int count, sqlite3_value** values) {
  const char* word = count == 5 ? (const char*)sqlite3_value_text(values[4]) : NULL;
  return count == 2 ? STATEMENT : count == 4 ? AFTER : word != NULL && strcmp(word, "before") == 0 ? BEFORE : LATE;
}

/* bf_add(path, key); the triggers of bf_keep call bf_add(path, key, position, id [, 'before' or 'late']).  An error
 * undoes the row. */
static void bf_add(sqlite3_context* context, int count, sqlite3_value** values) {
  const char* name = text_of(context, values[0], "bf_add: the path");
  const enum caller caller = caller_of(count, values);
  const sqlite3_int64 id = caller == STATEMENT ? 0 : sqlite3_value_int64(values[3]);
  struct filter* filter;
  struct kept kept;
  struct key key;
  if (name == NULL) return;
  if (key_of(values[1], &key) != 0) {
    sqlite3_result_error_nomem(context);
    return;
  }
  if (key.kind == 0 && caller == STATEMENT) return;
  switch (find_filter(sqlite3_user_data(context), name, id, 0, &filter, &kept)) {
    case FOUND_NONE:
      if (id == 0)
        add_to_plain(context, filter, &key);
      else
        sqlite3_result_error(context, "bf_add: this trigger is not of this database's bf_keep", -1);
      return;
    case FOUND_ONE:
      add_to_kept(context, filter, &kept, caller, caller == STATEMENT ? NULL : values[2], &key);
      return;
    default:
      sqlite3_result_error(context, "bf_add: not one database keeps this filter, or none can be read", -1);
  }
}

/* --- Looking up --------------------------------------------------------------------------------------------------- */

/* Facts that hold while one statement runs: it sees one state of the database, and the writes of its own connection. */
struct seen {
  struct filter* filter; /* NULL: every answer is "maybe" */
  unsigned generation;
  sqlite3_int64 changes; /* the connection's: it may have written without the triggers, or dropped them before */
};

static int holds(const struct seen* seen, sqlite3_int64 changes) {
  return seen->filter == NULL || (seen->filter->generation == seen->generation && seen->changes == changes);
}

static struct filter* seen_filter(sqlite3_context* context, const char* name) {
  const sqlite3_int64 changes = sqlite3_total_changes64(sqlite3_context_db_handle(context));
  struct seen* seen = sqlite3_get_auxdata(context, 0);
  struct filter* filter;
  bfs_error why = BFS_ERROR_INIT;
  if (seen != NULL && holds(seen, changes)) return seen->filter;
  filter = filter_to_ask(sqlite3_user_data(context), name, &why);
  if ((seen = sqlite3_malloc(sizeof *seen)) == NULL) return filter;
  seen->filter = filter;
  seen->generation = filter == NULL ? 0 : filter->generation;
  seen->changes = changes;
  sqlite3_set_auxdata(context, 0, seen, sqlite3_free);
  return filter;
}

/* Returns NULL for "maybe", also after an error of the statement. */
static struct filter* key_and_filter(sqlite3_context* context, sqlite3_value** values, struct key* key) {
  const char* name = text_of(context, values[0], "the path of a filter");
  struct filter* filter;
  if (name == NULL || key_of(values[1], key) != 0 || key->kind == 0) return NULL;
  filter = seen_filter(context, name);
  return filter == NULL || has_late_row(sqlite3_user_data(context), filter) ? NULL : filter;
}

/* Returns the kinds that an argument names, or -1 after an error of the statement. */
static int kinds_named(sqlite3_context* context, sqlite3_value* value) {
  const char* word = (const char*)sqlite3_value_text(value);
  if (word != NULL && strcmp(word, "numbers") == 0) return NUMBERS;
  if (word != NULL && strcmp(word, "texts") == 0) return TEXTS;
  sqlite3_result_error(context, "bf_maybe: the third argument is 'numbers' or 'texts'", -1);
  return -1;
}

/* bf_maybe(path, key [, kinds]): 0 is a certain no; every other answer is 1.  NULL gives 1, too: x IS NULL finds rows
 * that no filter has. */
static void bf_maybe(sqlite3_context* context, int count, sqlite3_value** values) {
  const int known = count == 3 ? kinds_named(context, values[2]) : 0;
  struct filter* filter;
  struct key key;
  if (known < 0) return;
  sqlite3_result_int(context, 1);
  filter = key_and_filter(context, values, &key);
  if (filter == NULL || may_have(sqlite3_user_data(context), filter->handle, &key)) return;
  sqlite3_result_int(context, may_equal_another_kind(filter, known, &key, values[1]));
}

/* bf_count(path, key) returns 15 for "maybe". */
static void bf_count(sqlite3_context* context, int count, sqlite3_value** values) {
  struct filter* filter;
  struct key key;
  int32_t number;
  (void)count;
  sqlite3_result_int(context, 15);
  if ((filter = key_and_filter(context, values, &key)) == NULL) return;
  number = count_of(sqlite3_user_data(context), filter->handle, &key);
  if (number < 0)
    sqlite3_result_error(context, bfs_strerror(number), -1);
  else if (number > 0 || !may_equal_another_kind(filter, 0, &key, values[1]))
    sqlite3_result_int(context, number);
}

/* --- Making, removing --------------------------------------------------------------------------------------------- */

static void refuse_layout(sqlite3_context* context, const char* name) {
  char* words = sqlite3_mprintf("bf_create: no layout is called %Q: blocked is the usual one", name);
  sqlite3_result_error(context, words == NULL ? "bf_create: no such layout" : words, -1);
  sqlite3_free(words);
}

/* bf_create(path, capacity [, fpr [, layout]]) */
static void bf_create(sqlite3_context* context, int count, sqlite3_value** values) {
  const char* name = text_of(context, values[0], "bf_create: the path");
  const char* layout = count >= 4 ? (const char*)sqlite3_value_text(values[3]) : "blocked";
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* made;
  struct filter* filter;
  struct kept kept;
  int32_t number;
  if (name == NULL) return;
  options.capacity = sqlite3_value_int64(values[1]) > 0 ? (uint64_t)sqlite3_value_int64(values[1]) : 0;
  options.fpr = count >= 3 ? sqlite3_value_double(values[2]) : 0.01;
  options.mode = 0644;
  number = bfs_layout_named(layout);
  options.layout = (uint32_t)number;
  find_filter(sqlite3_user_data(context), name, 0, 0, &filter, &kept);
  if (number < 0)
    refuse_layout(context, layout);
  else if (filter == NULL)
    sqlite3_result_error(context, "bf_create: not one database keeps this filter, or none can be read", -1);
  else if (bfs_create(filter->path, BFS_GUARD, &options, &made, &error) != BFS_OK)
    fail(context, filter->path, &error);
  else if (bfs_close(made, &error) != BFS_OK)
    fail(context, filter->path, &error);
}

/* bf_remove(path, key).  Refuses the filter of a table: a rollback, or a reader of an older state, would still have the
 * row. */
static void bf_remove(sqlite3_context* context, int count, sqlite3_value** values) {
  const char* name = text_of(context, values[0], "bf_remove: the path");
  bfs_error error = BFS_ERROR_INIT;
  struct filter* filter;
  struct kept kept;
  struct key key;
  int32_t code;
  (void)count;
  if (name == NULL) return;
  if (key_of(values[1], &key) != 0 || key.kind == 0) {
    sqlite3_result_error(context, "bf_remove: NULL is no key", -1);
    return;
  }
  if (find_filter(sqlite3_user_data(context), name, 0, 0, &filter, &kept) != FOUND_NONE) {
    sqlite3_result_error(context, "bf_remove: a table is kept in step with this filter: build it again", -1);
    return;
  }
  if ((filter->handle == NULL || !filter->writes || bfs_is_current(filter->handle, NULL) != 1) &&
      open_filter(filter, BFS_WRITE, &error) != BFS_OK) {
    fail(context, filter->path, &error);
  } else if (is_any_databases(filter)) {
    sqlite3_result_error(context, "bf_remove: a table of another database is kept in step with this filter", -1);
  } else if ((code = remove_key(sqlite3_user_data(context), filter->handle, &key)) < 0) {
    sqlite3_result_error(context, bfs_strerror(code), -1);
  } else {
    sqlite3_result_int(context, code);
  }
}

/* --- The entry point ---------------------------------------------------------------------------------------------- */

typedef void function(sqlite3_context*, int, sqlite3_value**);

/* Functions that make or change files may be called only by the application's own statements, not by a trigger or view
 * of a database that it opens.  bf_add is an exception: triggers call it. */
static const struct {
  const char* name;
  int count;
  int flags;
  function* scalar;
} FUNCTIONS[] = {
    {"bf_add", 2, 0, bf_add},
    {"bf_add", 4, 0, bf_add},
    {"bf_add", 5, 0, bf_add},
    {"bf_maybe", 2, 0, bf_maybe},
    {"bf_maybe", 3, 0, bf_maybe},
    {"bf_count", 2, 0, bf_count},
    {"bf_create", 2, SQLITE_DIRECTONLY, bf_create},
    {"bf_create", 3, SQLITE_DIRECTONLY, bf_create},
    {"bf_create", 4, SQLITE_DIRECTONLY, bf_create},
    {"bf_remove", 2, SQLITE_DIRECTONLY, bf_remove},
    {"bf_keep", 3, SQLITE_DIRECTONLY, bf_keep},
    {"bf_keep", 4, SQLITE_DIRECTONLY, bf_keep},
    {"bf_sync", 1, SQLITE_DIRECTONLY, bf_sync},
    {"bf_build", 2, SQLITE_DIRECTONLY, bf_build},
    {"bf_build", 3, SQLITE_DIRECTONLY, bf_build},
    {"bf_build", 4, SQLITE_DIRECTONLY, bf_build},
};

static int register_all(sqlite3* db, struct connection* connection) {
  int code = SQLITE_OK;
  size_t i;
  for (i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS && code == SQLITE_OK; ++i) {
    ++connection->references;
    code = sqlite3_create_function_v2(db, FUNCTIONS[i].name, FUNCTIONS[i].count, SQLITE_UTF8 | FUNCTIONS[i].flags,
                                      connection, FUNCTIONS[i].scalar, NULL, NULL, release);
  }
  if (code != SQLITE_OK) return code;
  ++connection->references;
  code = sqlite3_create_function_v2(db, "bf_keys", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, connection, NULL, bf_keys_step,
                                    bf_keys_final, release);
  if (code != SQLITE_OK) return code;
  ++connection->references;
  return sqlite3_create_module_v2(db, "bf_info", &bf_info_module, connection, release);
}

__attribute__((visibility("default"))) int sqlite3_bfstore_init(sqlite3* db, char** message,
                                                                const sqlite3_api_routines* api);

int sqlite3_bfstore_init(sqlite3* db, char** message, const sqlite3_api_routines* api) {
  struct connection* connection;
  int code;
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < 3039000) {
    *message = sqlite3_mprintf("bfstore needs SQLite 3.39 or later");
    return SQLITE_ERROR;
  }
  if ((connection = sqlite3_malloc(sizeof *connection)) == NULL) return SQLITE_NOMEM;
  memset(connection, 0, sizeof *connection);
  connection->db = db;
  connection->references = 1;
  code = register_all(db, connection);
  release(connection);
  /* The handler of BFS_GUARD stays, so its code must stay loaded, also if the library is part of the extension. */
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
