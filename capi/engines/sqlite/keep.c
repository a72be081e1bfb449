/* bfstore's extension of SQLite: bf_keep makes the triggers that keep a filter in step with a table; bf_sync compares
 * the two. */
#include <string.h>

#include "internal.h"
SQLITE_EXTENSION_INIT3

/* A row's position is a rowid of AUTOINCREMENT: VACUUM does not change it, and is_below notices a row that gets an
 * older row's rowid. */
struct source {
  const char* schema;
  char* table;
  char* column;
  char* position;  /* NULL: a recovery adds the keys of all rows */
  char* or_late;   /* generated column: " OR ...", if a default of another column may change it; otherwise NULL */
  int has_default; /* the column has a default that replaces NULL */
};

static void free_source(struct source* source) {
  sqlite3_free(source->table);
  sqlite3_free(source->column);
  sqlite3_free(source->position);
  sqlite3_free(source->or_late);
}

static int set_error(struct connection* connection, bfs_error* error, const char* text) {
  error->code = BFS_EINVAL;
  sqlite3_snprintf(sizeof error->message, error->message, "%s", text != NULL ? text : sqlite3_errmsg(connection->db));
  return -1;
}

/* Fills in *text with the first column of the first row, or NULL if no row exists. */
static int ask_text(struct connection* connection, char** text, char* sql) {
  sqlite3_stmt* statement = NULL;
  int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
  *text = NULL;
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    *text = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

/* Adds the keys of the rows after kept->synced, or of all.  Returns their number, or -1. */
static sqlite3_int64 add_rows(struct connection* connection, struct filter* filter, const struct source* source,
                              struct kept* kept, bfs_error* error) {
  sqlite3_stmt* statement = NULL;
  sqlite3_int64 rows = 0;
  struct key key;
  int code;
  char* sql = kept->has_synced && source->position != NULL
                  ? sqlite3_mprintf("SELECT \"%w\" FROM \"%w\".\"%w\" WHERE \"%w\" > %lld", source->column,
                                    source->schema, source->table, source->position, kept->synced)
                  : sqlite3_mprintf("SELECT \"%w\" FROM \"%w\".\"%w\"", source->column, source->schema, source->table);
  code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
  sqlite3_free(sql);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    if ((code = sqlite3_step(statement)) != SQLITE_ROW) break;
    if (key_of(sqlite3_column_value(statement, 0), &key) != 0) {
      sqlite3_finalize(statement);
      return set_error(connection, error, "out of memory");
    }
    kept->kinds |= key.kind;
    if (key.kind == 0) continue;
    ++rows;
    error->code = add_key(connection, filter->handle, &key);
    if (error->code >= 0) continue;
    sqlite3_finalize(statement);
    sqlite3_snprintf(sizeof error->message, error->message, "%s", bfs_strerror(error->code));
    return -1;
  }
  if (code != SQLITE_DONE) set_error(connection, error, NULL);
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? rows : -1;
}

/* Stores that rows up to `synced` are durable, which is true at the new epoch: an older copy of the file has another
 * one. */
static int store_synced(struct connection* connection, struct filter* filter, const struct source* source,
                        const struct kept* kept) {
  if (source->position == NULL)
    return run(connection, "UPDATE \"%w\".bfstore_filters SET synced = NULL, kinds = %d WHERE path = %Q",
               source->schema, kept->kinds, filter->name);
  return run(connection,
             "UPDATE \"%w\".bfstore_filters SET synced = (SELECT ifnull(max(\"%w\"), 0) FROM \"%w\".\"%w\"),"
             " kinds = %d WHERE path = %Q",
             source->schema, source->position, source->schema, source->table, kept->kinds, filter->name);
}

static int open_to_write(struct filter* filter, int* recovers, bfs_error* error) {
  const int32_t code = open_filter(filter, BFS_WRITE, error);
  *recovers = code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING;
  if (!*recovers) return code;
  return open_filter(filter, BFS_WRITE | BFS_RECOVER, error);
}

/* Compares with the database locked for writing: the add of every committed row has returned, and went to the file with
 * the database's epoch.  Returns the number of keys that were added again, or -1. */
static sqlite3_int64 compare(struct connection* connection, struct filter* filter, const struct source* source,
                             struct kept* kept, bfs_error* error) {
  sqlite3_int64 rows = 0;
  int recovers = 0, same, lane;
  /* If an older copy was written over a file, an open handle treated that copy as the file in use: so the file is
   * opened again. */
  if (filter->handle == NULL || !filter->writes || bfs_health(filter->handle) != BFS_OK ||
      bfs_is_current(filter->handle, NULL) != 1 || !is_of_epoch(filter, kept))
    if (open_to_write(filter, &recovers, error) != BFS_OK) return -1;
  same = is_of_epoch(filter, kept);
  if (!same) kept->has_synced = kept->kinds = 0;
  if (!same || recovers) rows = add_rows(connection, filter, source, kept, error);
  if (rows < 0 || (lane = renew(connection, filter, kept, error)) < 0) return -1;
  if ((!same || recovers) && forget_other_epoch(filter, lane, error) != 0) return -1;
  if (recovers && finish_recovery(filter, lane, error) != 0) return -1;
  if (store_synced(connection, filter, source, kept) != SQLITE_OK) return set_error(connection, error, NULL);
  return rows;
}

static int read_source(struct connection* connection, const struct filter* filter, struct source* source) {
  const char* field[] = {"table_name", "column_name", "position"};
  char** texts[] = {&source->table, &source->column, &source->position};
  int i;
  memset(source, 0, sizeof *source);
  source->schema = filter->schema;
  for (i = 0; i < 3; ++i)
    if (ask_text(connection, texts[i],
                 sqlite3_mprintf("SELECT %s FROM \"%w\".bfstore_filters WHERE path = %Q", field[i], filter->schema,
                                 filter->name)) != 0)
      return -1;
  return source->table == NULL || source->column == NULL ? -1 : 0;
}

/* Reads the row again under the lock, and compares. */
static sqlite3_int64 locked_compare(struct connection* connection, const char* name, bfs_error* error) {
  struct filter* filter;
  struct source source;
  struct kept kept;
  sqlite3_int64 rows;
  if (find_filter(connection, name, 0, 0, &filter, &kept) != FOUND_ONE ||
      run(connection, "UPDATE \"%w\".bfstore_filters SET epoch = epoch WHERE path = %Q", filter->schema, name) != 0 ||
      find_filter(connection, name, 0, 1, &filter, &kept) != FOUND_ONE)
    return set_error(connection, error, NULL);
  if (!kept.definitions_good)
    return set_error(connection, error,
                     "its triggers, its table or its column were changed, dropped or made again: call bf_keep");
  rows = read_source(connection, filter, &source);
  if (rows == 0)
    rows = compare(connection, filter, &source, &kept, error);
  else
    set_error(connection, error, NULL);
  if (rows < 0) close_filter(filter);
  free_source(&source);
  return rows;
}

static void end_savepoint(struct connection* connection, int good) {
  if (!good) run(connection, "ROLLBACK TO bfstore");
  run(connection, "RELEASE bfstore");
}

/* Syncs a filter that no table has, without a comparison. */
static void sync_plain(sqlite3_context* context, struct filter* filter, bfs_error* error) {
  if ((filter->handle == NULL || !filter->writes || bfs_is_current(filter->handle, NULL) != 1) &&
      open_filter(filter, BFS_WRITE, error) != BFS_OK)
    fail(context, filter->path, error);
  else if (bfs_sync(filter->handle, NULL, error) != BFS_OK)
    fail(context, filter->path, error);
  else
    sqlite3_result_int(context, 0);
}

void bf_sync(sqlite3_context* context, int count, sqlite3_value** values) {
  struct connection* connection = sqlite3_user_data(context);
  const char* name = text_of(context, values[0], "bf_sync: the path");
  bfs_error error = BFS_ERROR_INIT;
  struct filter* filter;
  struct kept kept;
  sqlite3_int64 rows;
  (void)count;
  if (name == NULL) return;
  switch (find_filter(connection, name, 0, 0, &filter, &kept)) {
    case FOUND_NONE:
      sync_plain(context, filter, &error);
      return;
    case FOUND_ONE:
      break;
    default:
      sqlite3_result_error(context, "bf_sync: not one database keeps this filter, or none can be read", -1);
      return;
  }
  if (run(connection, "SAVEPOINT bfstore") != SQLITE_OK) {
    sqlite3_result_error(context, sqlite3_errmsg(connection->db), -1);
    return;
  }
  rows = locked_compare(connection, name, &error);
  end_savepoint(connection, rows >= 0);
  if (rows < 0)
    fail(context, name, &error);
  else
    sqlite3_result_int64(context, rows);
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */

#define TABLE                                                                                                          \
  "CREATE TABLE IF NOT EXISTS \"%w\".bfstore_filters(path TEXT PRIMARY KEY NOT NULL, id INTEGER NOT NULL, table_name " \
  "TEXT NOT NULL, column_name TEXT NOT NULL, position TEXT, epoch INTEGER, file_id BLOB, synced INTEGER, kinds "       \
  "INTEGER NOT NULL DEFAULT 0, definitions TEXT) WITHOUT ROWID"

/* Compared as bytes: keys that are equal in a collation are different keys for other programs. */
#define HAS_CHANGED "old.\"%w\" IS NOT new.\"%w\" COLLATE BINARY"

/* Two triggers.  BEFORE: RETURNING and other AFTER triggers may run before that of bf_keep, and may end the row's
 * triggers.  AFTER: only then SQLite has given the row its number, and replaced NULL by a default. */
static int make_trigger(struct connection* connection, const struct filter* filter, const struct source* source,
                        sqlite3_int64 id, const char* event) {
  const int before = strncmp(event, "before ", 7) == 0, updates = strstr(event, "update") != NULL;
  const char* position = source->position;
  const char* or_late = before && source->or_late != NULL ? source->or_late : "";
  char* when = !updates           ? sqlite3_mprintf("")
               : position == NULL ? sqlite3_mprintf(" WHEN " HAS_CHANGED "%s", source->column, source->column, or_late)
                                  : sqlite3_mprintf(" WHEN " HAS_CHANGED " OR old.\"%w\" <> new.\"%w\"%s",
                                                    source->column, source->column, position, position, or_late);
  char* at = position == NULL ? sqlite3_mprintf("NULL") : sqlite3_mprintf("new.\"%w\"", position);
  char* word = !before ? sqlite3_mprintf("")
                       : sqlite3_mprintf(source->or_late != NULL ? ", 'late'"
                                         : source->has_default   ? ", iif(new.\"%w\" IS NULL, 'late', 'before')"
                                                                 : ", 'before'",
                                         source->column);
  int code = SQLITE_NOMEM;
  if (when != NULL && at != NULL && word != NULL)
    code = run(connection,
               "DROP TRIGGER IF EXISTS \"%w\".\"bfstore %s %w\";"
               "CREATE TRIGGER \"%w\".\"bfstore %s %w\" %s%s ON \"%w\"%s BEGIN"
               " SELECT bf_add(%Q, new.\"%w\", %s, %lld%s); END",
               source->schema, event, filter->name, source->schema, event, filter->name, before ? "" : "AFTER ", event,
               source->table, when, filter->name, source->column, at, id, word);
  sqlite3_free(when);
  sqlite3_free(at);
  sqlite3_free(word);
  return code;
}

/* Makes the view that comes after the triggers: see DEFINITIONS. */
static int make_last(struct connection* connection, const struct filter* filter, const struct source* source) {
  return run(connection,
             "DROP VIEW IF EXISTS \"%w\".\"bfstore last %w\";"
             "CREATE VIEW \"%w\".\"bfstore last %w\" AS SELECT 'bf_keep made this after its triggers' AS why",
             source->schema, filter->name, source->schema, filter->name);
}

static int make_triggers(struct connection* connection, const struct filter* filter, const struct source* source,
                         sqlite3_int64 id) {
  static const char* const EVENTS[] = {"before insert", "before update", "insert", "update"};
  int code = SQLITE_OK, i;
  for (i = 0; i < 4 && code == SQLITE_OK; ++i) code = make_trigger(connection, filter, source, id, EVENTS[i]);
  return code == SQLITE_OK ? make_last(connection, filter, source) : code;
}

/* A BEFORE trigger does not see the number that SQLite gives to a row. */
static int check_number(struct connection* connection, const struct source* source, bfs_error* error) {
  char* column = NULL;
  const int failed = ask_text(
      connection, &column,
      sqlite3_mprintf("SELECT name FROM pragma_table_xinfo(%Q, %Q) WHERE name = %Q COLLATE NOCASE AND NOT (pk AND"
                      " type = 'INTEGER' COLLATE NOCASE AND (SELECT max(pk) FROM pragma_table_info(%Q, %Q)) = 1)",
                      source->table, source->schema, source->column, source->table, source->schema));
  const int is_key = column != NULL;
  sqlite3_free(column);
  if (failed) return set_error(connection, error, NULL);
  return is_key ? 0 : set_error(connection, error, "SQLite gives this number to a row, and only after BEFORE triggers");
}

static int is_builtin(const char* collation) {
  return sqlite3_stricmp(collation, "BINARY") == 0 || sqlite3_stricmp(collation, "NOCASE") == 0 ||
         sqlite3_stricmp(collation, "RTRIM") == 0;
}

/* Finds out whether SQLite computes the column only after BEFORE triggers. */
static int read_late(struct connection* connection, struct source* source) {
  char* late = NULL;
  if (ask_text(
          connection, &source->or_late,
          sqlite3_mprintf("SELECT (SELECT ifnull(group_concat(printf(' OR new.\"%%w\" IS NULL', name), ''), '') FROM"
                          " pragma_table_xinfo(%Q, %Q) WHERE \"notnull\" AND dflt_value IS NOT NULL) FROM"
                          " pragma_table_xinfo(%Q, %Q) WHERE name = %Q COLLATE NOCASE AND hidden IN (2, 3)",
                          source->table, source->schema, source->table, source->schema, source->column)) != 0 ||
      ask_text(
          connection, &late,
          sqlite3_mprintf("SELECT name FROM pragma_table_xinfo(%Q, %Q) WHERE name = %Q COLLATE NOCASE AND hidden = 0"
                          " AND \"notnull\" AND dflt_value IS NOT NULL",
                          source->table, source->schema, source->column)) != 0)
    return -1;
  source->has_default = late != NULL;
  sqlite3_free(late);
  return 0;
}

static int check_source(struct connection* connection, struct source* source, bfs_error* error) {
  const char* collation = NULL;
  int primary, increments;
  int code;
  if (sqlite3_stricmp(source->schema, "temp") == 0)
    return set_error(connection, error, "a temporary table is not kept: another process does not see it");
  code = sqlite3_table_column_metadata(connection->db, source->schema, source->table, source->column, NULL, &collation,
                                       NULL, NULL, NULL);
  if (code != SQLITE_OK) return set_error(connection, error, NULL);
  if (!is_builtin(collation))
    return set_error(
        connection, error,
        "the column's collation is not SQLite's own, and a filter cannot know which texts it takes for equal");
  if (read_late(connection, source) != 0) return set_error(connection, error, NULL);
  code = sqlite3_table_column_metadata(connection->db, source->schema, source->table, "rowid", NULL, NULL, NULL,
                                       &primary, &increments);
  if (code != SQLITE_OK) return 0; /* WITHOUT ROWID */
  if (check_number(connection, source, error) != 0) return -1;
  if (!primary || !increments) return 0;
  if (ask_text(connection, &source->position,
               sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q, %Q) WHERE pk", source->table, source->schema)))
    return set_error(connection, error, NULL);
  return 0;
}

static sqlite3_int64 keep(struct connection* connection, const char* name, struct source* source, bfs_error* error) {
  struct filter* filter = filter_of(connection, source->schema, name);
  sqlite3_int64 id;
  sqlite3_randomness(sizeof id, &id);
  id = (id & INT64_MAX) | 1;
  if (filter == NULL) return set_error(connection, error, "out of memory");
  if (check_source(connection, source, error) != 0) return -1;
  if (run(connection, TABLE, source->schema) != SQLITE_OK ||
      run(connection,
          "REPLACE INTO \"%w\".bfstore_filters (path, id, table_name, column_name, position) VALUES"
          " (%Q, %lld, %Q, %Q, %Q)",
          source->schema, name, id, source->table, source->column, source->position) != 0 ||
      make_triggers(connection, filter, source, id) != SQLITE_OK ||
      run(connection, "UPDATE \"%w\".bfstore_filters SET definitions = " DEFINITIONS " WHERE path = %Q", source->schema,
          source->schema, name) != 0)
    return set_error(connection, error, NULL);
  return locked_compare(connection, name, error);
}

void bf_keep(sqlite3_context* context, int count, sqlite3_value** values) {
  struct connection* connection = sqlite3_user_data(context);
  const char* name = text_of(context, values[0], "bf_keep: the path");
  const char* table = name == NULL ? NULL : text_of(context, values[1], "bf_keep: the table");
  const char* column = table == NULL ? NULL : text_of(context, values[2], "bf_keep: the column");
  bfs_error error = BFS_ERROR_INIT;
  struct source source = {"main", NULL, NULL, NULL, NULL, 0};
  sqlite3_int64 rows = -1;
  if (column == NULL) return;
  if (count == 4 && (source.schema = text_of(context, values[3], "bf_keep: the database")) == NULL) return;
  source.table = sqlite3_mprintf("%s", table);
  source.column = sqlite3_mprintf("%s", column);
  if (run(connection, "SAVEPOINT bfstore") != SQLITE_OK) {
    set_error(connection, &error, NULL);
  } else {
    if (source.table != NULL && source.column != NULL) rows = keep(connection, name, &source, &error);
    end_savepoint(connection, rows >= 0);
  }
  free_source(&source);
  if (rows < 0)
    fail(context, name, &error);
  else
    sqlite3_result_int64(context, rows);
}
