/* bfstore's extension of SQLite: SELECT * FROM bf_info('rows.bf') gives one row of facts about a filter file.  The end
 * of this table also ends the connection's prepared statements (see connect_info). */
#include <string.h>

#include "internal.h"
SQLITE_EXTENSION_INIT3

enum {
  STATE,
  MESSAGE,
  KEPT,
  LAYOUT,
  HASH,
  NUM_PROBES,
  NUM_BITS,
  CAPACITY,
  FPR,
  BODY_BYTES,
  KEYS_ADDED,
  KEYS_REMOVED,
  SATURATED,
  FILL_RATIO,
  ESTIMATED_KEYS,
  ESTIMATED_FPR,
  NOT_SEEN,
  PATH
};

static const char DECLARATION[] =
    "CREATE TABLE bf_info(state TEXT, message TEXT, kept INTEGER, layout TEXT, hash INTEGER, num_probes INTEGER,"
    " num_bits INTEGER, capacity INTEGER, fpr REAL, body_bytes INTEGER, keys_added INTEGER, keys_removed INTEGER,"
    " saturated INTEGER, fill_ratio REAL, estimated_keys REAL, estimated_fpr REAL, not_seen TEXT, path HIDDEN)";

struct table {
  sqlite3_vtab base;
  struct connection* connection;
};

struct cursor {
  sqlite3_vtab_cursor base;
  struct filter* filter;
  bfs_filter* handle;
  bfs_error error;
  bfs_statistics facts;
  bfs_error doubt; /* why every answer is "maybe" */
  int trusted;
  int kept;
  int at_end;
};

static int connect_table(sqlite3* db, void* connection, int count, const char* const* words, sqlite3_vtab** out,
                         char** error) {
  struct table* table;
  int code = sqlite3_declare_vtab(db, DECLARATION);
  (void)count, (void)words, (void)error;
  if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  if (code != SQLITE_OK) return code;
  if ((table = sqlite3_malloc(sizeof *table)) == NULL) return SQLITE_NOMEM;
  memset(table, 0, sizeof *table);
  table->connection = connection;
  *out = &table->base;
  return SQLITE_OK;
}

static int disconnect(sqlite3_vtab* base) {
  forget_statements(((struct table*)base)->connection);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  int i;
  (void)base;
  for (i = 0; i < info->nConstraint; ++i) {
    if (info->aConstraint[i].iColumn != PATH || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->estimatedCost = 1000;
    info->estimatedRows = 1;
    /* Counting the bits reads the whole body, so it is done only for the columns that need it. */
    info->idxNum = 1 | ((info->colUsed >> FILL_RATIO & 7) != 0 ? 2 : 0);
    return SQLITE_OK;
  }
  info->estimatedCost = 1e9;
  return SQLITE_OK; /* no path, no row */
}

static int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  struct cursor* cursor = sqlite3_malloc(sizeof *cursor);
  (void)base;
  if (cursor == NULL) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof *cursor);
  *out = &cursor->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor* base) {
  bfs_close(((struct cursor*)base)->handle, NULL);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int filter_rows(sqlite3_vtab_cursor* base, int number, const char* text, int count, sqlite3_value** values) {
  struct cursor* cursor = (struct cursor*)base;
  struct connection* connection = ((struct table*)base->pVtab)->connection;
  const char* name = count == 1 ? (const char*)sqlite3_value_text(values[0]) : NULL;
  const bfs_error no_error = BFS_ERROR_INIT;
  const bfs_statistics no_facts = BFS_STATISTICS_INIT;
  struct kept kept;
  (void)text;
  bfs_close(cursor->handle, NULL);
  cursor->handle = NULL;
  cursor->error = cursor->doubt = no_error;
  cursor->facts = no_facts;
  cursor->at_end = name == NULL;
  if (cursor->at_end) return SQLITE_OK;
  cursor->kept = find_filter(connection, name, 0, 0, &cursor->filter, &kept) == FOUND_ONE;
  cursor->trusted = filter_to_ask(connection, name, &cursor->doubt) != NULL;
  if (cursor->trusted && has_late_row(connection, cursor->filter)) {
    cursor->trusted = 0;
    sqlite3_snprintf(sizeof cursor->doubt.message, cursor->doubt.message,
                     "a statement of this connection that writes runs, and a key may be known only later: end it");
  }
  if (cursor->filter == NULL)
    cursor->error = cursor->doubt;
  else if (bfs_open(cursor->filter->path, BFS_READ | BFS_GUARD, NULL, &cursor->handle, &cursor->error) == BFS_OK)
    bfs_stats(cursor->handle, (number & 2) != 0 ? BFS_STATS_FILL : 0, &cursor->facts, &cursor->error);
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor* base) {
  ((struct cursor*)base)->at_end = 1;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor* base) { return ((struct cursor*)base)->at_end; }

static int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  (void)base;
  *out = 1;
  return SQLITE_OK;
}

static void result_layout(sqlite3_context* context, uint32_t layout) {
  const char* name = bfs_layout_name(layout);
  if (name != NULL)
    sqlite3_result_text(context, name, -1, SQLITE_STATIC);
  else
    sqlite3_result_text(context, sqlite3_mprintf("%u", (unsigned)layout), -1, sqlite3_free);
}

/* Changes that no database shows afterwards. */
static const char NOT_SEEN_TEXT[] =
    "rows that were written with triggers off (SQLITE_DBCONFIG_ENABLE_TRIGGER), by sqlite3_blob_write, by an edit of"
    " the file or of bfstore_filters, by a program whose bf_add is its own, or while all that bf_keep made was dropped,"
    " if all of it was made again; an edit through writable_schema that was undone, or that gives the table the pages"
    " of another one; a copy that is written over the filter's file in place, if it was made while a writer had it"
    " open, or is written while a statement runs; in a query that runs, what a RETURNING that has not ended wrote, if"
    " its connection dropped the triggers meanwhile; a query that means a table of that name in another database;"
    " comparisons by a collation that is not SQLite's own";

static const char NOT_SEEN_PLAIN_TEXT[] =
    "numbers or texts that another program added to a filter whose first key SQLite added, where SQL takes a text for"
    " equal with a number; comparisons by a collation that is not SQLite's own";

/* Says what a reader gets, and why, if it gets "maybe" for every key. */
static void state_of(struct cursor* cursor, const char** state, const char** message) {
  const int32_t health = cursor->error.code != BFS_OK ? cursor->error.code : cursor->facts.health;
  *state = health != BFS_OK ? bfs_code_name(health) : cursor->trusted ? "good" : "maybe";
  *message = cursor->error.code != BFS_OK ? cursor->error.message
             : health != BFS_OK           ? bfs_strerror(health)
             : cursor->trusted            ? NULL
                                          : cursor->doubt.message;
}

/* Columns that every path has, even if the file cannot be opened. */
static int column_of_path(struct cursor* cursor, sqlite3_context* context, int number) {
  const char *state, *message;
  state_of(cursor, &state, &message);
  if (number == STATE) sqlite3_result_text(context, state, -1, SQLITE_STATIC);
  if (number == MESSAGE) sqlite3_result_text(context, message, -1, SQLITE_TRANSIENT); /* NULL is NULL */
  if (number == KEPT) sqlite3_result_int(context, cursor->kept);
  if (number == NOT_SEEN)
    sqlite3_result_text(context, cursor->kept ? NOT_SEEN_TEXT : NOT_SEEN_PLAIN_TEXT, -1, SQLITE_STATIC);
  if (number == PATH && cursor->filter != NULL)
    sqlite3_result_text(context, cursor->filter->path, -1, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  struct cursor* cursor = (struct cursor*)base;
  const bfs_statistics* facts = &cursor->facts;
  const sqlite3_int64 integers[] = {[HASH] = facts->hash,
                                    [NUM_PROBES] = facts->num_probes,
                                    [NUM_BITS] = (sqlite3_int64)facts->num_bits,
                                    [CAPACITY] = (sqlite3_int64)facts->capacity,
                                    [BODY_BYTES] = (sqlite3_int64)facts->body_bytes,
                                    [KEYS_ADDED] = (sqlite3_int64)facts->keys_added,
                                    [KEYS_REMOVED] = (sqlite3_int64)facts->keys_removed,
                                    [SATURATED] = facts->saturated};
  if (number <= KEPT || number >= NOT_SEEN) return column_of_path(cursor, context, number);
  if (cursor->error.code != BFS_OK) return SQLITE_OK;
  if (number == LAYOUT)
    result_layout(context, facts->layout);
  else if (number == FPR)
    sqlite3_result_double(context, facts->fpr);
  else if (number < FILL_RATIO)
    sqlite3_result_int64(context, integers[number]);
  else
    sqlite3_result_double(context, number == FILL_RATIO       ? facts->fill_ratio
                                   : number == ESTIMATED_KEYS ? facts->estimated_keys
                                                              : facts->estimated_fpr);
  return SQLITE_OK;
}

/* Without xCreate the table exists without CREATE VIRTUAL TABLE, and cannot be created by it. */
const sqlite3_module bf_info_module = {
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter_rows,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};
