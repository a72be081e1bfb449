/* bfstore's extension of SQLite: the handles of a connection, and which of them to trust.
 *
 * A filter is trusted if the database and the filter's file agree: both have the same epoch, a random number, and the
 * database has the file_id of the file.  Each writer that opens the file gives both a new epoch, so an older copy has
 * another one.  A copy that was made while a writer had the file open is unclean, or (bfs_copy) has a file_id of its
 * own.  An unclean copy that is written over the file in place looks like the file in use.  The epoch is durable in the
 * file before the transaction that stores it in the database commits.  The transaction may be rolled back: therefore
 * the file has two epochs, as two owners, and a new one replaces the one that the database does not have. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
SQLITE_EXTENSION_INIT3

static const uint64_t OWNERS[2] = {0x53514c6974650001u, 0x53514c6974650002u}; /* "SQLite" 1 and 2 */

/* --- Databases ---------------------------------------------------------------------------------------------------- */

#define TEMP 1 /* the number of the schema "temp", which no other process sees */

static uint64_t mixed(uint64_t hash, const char* text) {
  for (; text != NULL && *text != 0; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

static uint64_t attached_now(sqlite3* db) {
  uint64_t hash = 0xcbf29ce484222325u;
  const char* schema;
  int i;
  for (i = 0; (schema = sqlite3_db_name(db, i)) != NULL; ++i)
    hash = mixed(mixed(hash, schema), sqlite3_db_filename(db, schema));
  return hash;
}

static void forget_statements_of(struct database* database) {
  sqlite3_finalize(database->row);
  sqlite3_finalize(database->checked);
  database->row = database->checked = NULL;
}

void forget_statements(struct connection* connection) {
  struct database* database;
  for (database = connection->databases; database != NULL; database = database->next) forget_statements_of(database);
}

static void forget_databases(struct connection* connection) {
  struct database* database;
  forget_statements(connection);
  while ((database = connection->databases) != NULL) {
    connection->databases = database->next;
    sqlite3_free(database->schema);
    sqlite3_free(database);
  }
}

/* After ATTACH or DETACH a schema's name may mean another file, so all facts about it are forgotten. */
static int know_databases(struct connection* connection) {
  const uint64_t attached = attached_now(connection->db);
  struct filter* filter;
  struct database* database;
  const char* schema;
  int i;
  if (connection->databases != NULL && connection->attached == attached) return 0;
  forget_databases(connection);
  for (filter = connection->filters; filter != NULL; filter = filter->next) close_filter(filter);
  for (i = 0; (schema = sqlite3_db_name(connection->db, i)) != NULL; ++i) {
    if (i == TEMP) continue;
    database = sqlite3_malloc(sizeof *database);
    if (database == NULL) return -1;
    memset(database, 0, sizeof *database);
    database->next = connection->databases;
    connection->databases = database;
    if ((database->schema = sqlite3_mprintf("%s", schema)) == NULL) {
      connection->attached = 0;
      return -1;
    }
  }
  connection->attached = attached;
  return 0;
}

/* A prepared statement would make sqlite3_close() fail.  sqlite3_close() first disconnects virtual tables, and that of
 * bf_info then finalizes the statements: so it has to be connected. */
static int connect_info(struct connection* connection) {
  return sqlite3_exec(connection->db, "SELECT state FROM bf_info WHERE 0", NULL, NULL, NULL);
}

#define ROW "SELECT id, epoch, file_id, synced, kinds"

/* Returns SQLITE_OK with *out = NULL if the database has no table bfstore_filters. */
static int prepare(struct connection* connection, struct database* database, int check_triggers, sqlite3_stmt** out) {
  sqlite3_stmt** cached = check_triggers ? &database->checked : &database->row;
  sqlite3_stmt* statement = NULL;
  char* sql;
  int code;
  *out = *cached;
  if (*out != NULL) return SQLITE_OK;
  database->number = ++connection->statements;
  sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_schema WHERE type = 'table' AND name = 'bfstore_filters'",
                        database->schema);
  code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
  sqlite3_free(sql);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_OK : code;
  code = connect_info(connection);
  sql = check_triggers
            ? sqlite3_mprintf(ROW ", definitions = " DEFINITIONS " FROM \"%w\".bfstore_filters WHERE path = ?1",
                              database->schema, database->schema)
            : sqlite3_mprintf(ROW ", 0 FROM \"%w\".bfstore_filters WHERE path = ?1", database->schema);
  if (code == SQLITE_OK)
    code = sql == NULL ? SQLITE_NOMEM
                       : sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, cached, NULL);
  sqlite3_free(sql);
  *out = *cached;
  return code;
}

static void read_row(sqlite3_stmt* statement, struct kept* kept) {
  memset(kept, 0, sizeof *kept);
  kept->id = sqlite3_column_int64(statement, 0);
  kept->epoch = sqlite3_column_int64(statement, 1);
  kept->has_file_id = sqlite3_column_bytes(statement, 2) == sizeof kept->file_id;
  if (kept->has_file_id) memcpy(kept->file_id, sqlite3_column_blob(statement, 2), sizeof kept->file_id);
  kept->has_synced = sqlite3_column_type(statement, 3) != SQLITE_NULL;
  kept->synced = sqlite3_column_int64(statement, 3);
  kept->kinds = sqlite3_column_int(statement, 4);
  kept->definitions_good = sqlite3_column_int(statement, 5);
}

static int look_up_once(struct connection* connection, struct database* database, const char* name, int check_triggers,
                        struct kept* kept) {
  sqlite3_stmt* statement;
  int code = prepare(connection, database, check_triggers, &statement);
  if (code != SQLITE_OK) return code;
  if (statement == NULL) return SQLITE_DONE;
  code = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) read_row(statement, kept);
  /* SQLite prepares a statement again after each change of a schema, so the count changes. */
  if (code == SQLITE_ROW)
    kept->schema = database->number << 32 | (uint32_t)sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0);
  sqlite3_reset(statement);
  return code;
}

/* Returns SQLITE_ROW: *kept is filled in; SQLITE_DONE: the database does not keep this filter; otherwise an error.  A
 * prepared statement fails after its table was dropped or rolled back.  Then sqlite_schema is read again. */
static int look_up(struct connection* connection, struct database* database, const char* name, int check_triggers,
                   struct kept* kept) {
  const int code = look_up_once(connection, database, name, check_triggers, kept);
  if (code != SQLITE_ERROR) return code;
  forget_statements_of(database);
  return look_up_once(connection, database, name, check_triggers, kept);
}

/* Finds other triggers of the table that now has bf_keep's triggers, whatever its name is. */
#define OTHER_TRIGGERS                                                                                              \
  "WITH its(name) AS (SELECT tbl_name FROM \"%w\".sqlite_schema WHERE type = 'trigger' AND name = 'bfstore before " \
  "insert ' || %Q) SELECT EXISTS (SELECT 1 FROM sqlite_temp_schema, its WHERE type = 'trigger' AND tbl_name ="      \
  " its.name COLLATE NOCASE) OR EXISTS (SELECT 1 FROM \"%w\".sqlite_schema AS s, its WHERE s.type = 'trigger' AND"  \
  " s.tbl_name = its.name COLLATE NOCASE AND NOT EXISTS (SELECT 1 FROM \"%w\".bfstore_filters WHERE"                \
  " instr(definitions, s.sql)))"

/* Returns the integer that a query gives, or -1 after an error. */
static int ask_once(struct connection* connection, char* sql) {
  sqlite3_stmt* statement = NULL;
  int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
  int answer = -1;
  sqlite3_free(sql);
  if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) answer = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return answer;
}

int has_other_triggers(struct connection* connection, struct filter* filter, const struct kept* kept) {
  if (filter->schema_then == kept->schema) return filter->has_other_triggers;
  filter->has_other_triggers = ask_once(
      connection, sqlite3_mprintf(OTHER_TRIGGERS, filter->schema, filter->name, filter->schema, filter->schema));
  filter->schema_then = filter->has_other_triggers < 0 ? 0 : kept->schema;
  return filter->has_other_triggers;
}

/* Finds a temporary table or view with the table's name: a query that names no database would read it. */
#define SHADOW                                                                                                    \
  "SELECT EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND name = (SELECT table_name" \
  " FROM \"%w\".bfstore_filters WHERE path = %Q) COLLATE NOCASE)"

/* Returns -1 after an error. */
static int is_shadowed(struct connection* connection, struct filter* filter, const struct kept* kept) {
  if (filter->shadow_then == kept->schema) return filter->is_shadowed;
  filter->is_shadowed = ask_once(connection, sqlite3_mprintf(SHADOW, filter->schema, filter->name));
  filter->shadow_then = filter->is_shadowed < 0 ? 0 : kept->schema;
  return filter->is_shadowed;
}

int run(struct connection* connection, const char* format, ...) {
  va_list arguments;
  char* sql;
  int code;
  va_start(arguments, format);
  sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  code = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
  return code;
}

/* --- Handles ------------------------------------------------------------------------------------------------------ */

void close_filter(struct filter* filter) {
  bfs_close(filter->handle, NULL); /* the next open reports what fails here */
  filter->handle = NULL;
  filter->writes_at = 0;
  ++filter->generation;
}

static void read_epochs(const bfs_filter* handle, sqlite3_int64 epochs[2]) {
  bfs_owner_mark marks[64];
  const int64_t count = bfs_list_marks(handle, marks, 64, NULL);
  int64_t i;
  int lane;
  epochs[0] = epochs[1] = 0;
  for (i = 0; i < count; ++i)
    for (lane = 0; lane < 2; ++lane)
      if (marks[i].owner == OWNERS[lane]) epochs[lane] = (sqlite3_int64)marks[i].epoch;
}

static int has_epoch(const bfs_filter* handle, sqlite3_int64 epoch) {
  sqlite3_int64 epochs[2];
  read_epochs(handle, epochs);
  return epochs[0] == epoch || epochs[1] == epoch;
}

int is_any_databases(const struct filter* filter) {
  sqlite3_int64 epochs[2];
  read_epochs(filter->handle, epochs);
  return epochs[0] != 0 || epochs[1] != 0;
}

int32_t open_filter(struct filter* filter, uint64_t flags, bfs_error* error) {
  int32_t code;
  close_filter(filter);
  code = bfs_open(filter->path, flags | BFS_GUARD, NULL, &filter->handle, error);
  if (code != BFS_OK) return code;
  filter->writes = (flags & BFS_WRITE) != 0;
  read_epochs(filter->handle, filter->at_open);
  return BFS_OK;
}

/* Both agree: see the beginning of this file.  The marks are read from the file each time: an older copy may have been
 * written over the file in place, which leaves the handle, the inode and the health as they were. */
int is_of_epoch(const struct filter* filter, const struct kept* kept) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  if (kept->epoch == 0 || !kept->has_file_id || bfs_stats(filter->handle, 0, &facts, NULL) != BFS_OK) return 0;
  return memcmp(facts.file_id, kept->file_id, sizeof facts.file_id) == 0 && has_epoch(filter->handle, kept->epoch);
}

/* A relative path starts in the folder of the database's file. */
static char* path_of(sqlite3* db, const char* schema, const char* name) {
  const char* file = sqlite3_db_filename(db, schema);
  const char* end = file == NULL ? NULL : strrchr(file, '/');
  if (*name == '/' || end == NULL) return sqlite3_mprintf("%s", name);
  return sqlite3_mprintf("%.*s%s", (int)(end - file + 1), file, name);
}

struct filter* filter_of(struct connection* connection, const char* schema, const char* name) {
  struct filter* filter;
  for (filter = connection->filters; filter != NULL; filter = filter->next)
    if (strcmp(filter->name, name) == 0 && strcmp(filter->schema, schema) == 0) break;
  if (filter == NULL) {
    if ((filter = sqlite3_malloc(sizeof *filter)) == NULL) return NULL;
    memset(filter, 0, sizeof *filter);
    filter->name = sqlite3_mprintf("%s", name);
    filter->schema = sqlite3_mprintf("%s", schema);
    if (filter->name == NULL || filter->schema == NULL) {
      sqlite3_free(filter->name);
      sqlite3_free(filter->schema);
      sqlite3_free(filter);
      return NULL;
    }
    filter->next = connection->filters;
    connection->filters = filter;
  }
  if (filter->handle != NULL) return filter;
  sqlite3_free(filter->path);
  filter->path = path_of(connection->db, *schema == 0 ? "main" : schema, name);
  return filter->path == NULL ? NULL : filter;
}

enum found find_filter(struct connection* connection, const char* name, sqlite3_int64 id, int check_triggers,
                       struct filter** out, struct kept* kept) {
  const char* schema = "";
  enum found found = FOUND_NONE;
  struct database* database;
  struct kept one;
  int code;
  *out = NULL;
  if (know_databases(connection) != 0) return FOUND_ERROR;
  for (database = connection->databases; database != NULL; database = database->next) {
    code = look_up(connection, database, name, check_triggers, &one);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return FOUND_ERROR;
    if (code == SQLITE_DONE || (id != 0 && one.id != id)) continue;
    if (found == FOUND_ONE) return FOUND_MANY;
    found = FOUND_ONE;
    schema = database->schema;
    *kept = one;
  }
  *out = filter_of(connection, schema, name);
  if (*out == NULL) return FOUND_ERROR;
  (*out)->kinds = found == FOUND_ONE ? kept->kinds : 0;
  return found;
}

/* --- Trust -------------------------------------------------------------------------------------------------------- */

/* Returns 0: the filter must not be asked. */
static int in_doubt(bfs_error* why, int32_t code, const char* text) {
  why->code = code;
  if (text != why->message) sqlite3_snprintf(sizeof why->message, why->message, "%s", text);
  return 0;
}

static int open_to_ask(struct filter* filter, bfs_error* why) { return open_filter(filter, BFS_READ, why) == BFS_OK; }

static int is_usable(const struct filter* filter) {
  return filter->handle != NULL && bfs_health(filter->handle) == BFS_OK && bfs_is_current(filter->handle, NULL) == 1;
}

static int may_ask_plain(struct filter* filter, bfs_error* why) {
  if (!is_usable(filter) && !open_to_ask(filter, why)) return 0;
  if (!is_any_databases(filter)) return 1;
  return in_doubt(why, BFS_EMISMATCH,
                  "a table of a database that is not attached is kept in step with it: attach that database, and name"
                  " the filter as its bf_keep did");
}

static int has_triggers_on(sqlite3* db) {
  int on = 1;
  return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &on) != SQLITE_OK || on;
}

static const char NOT_COMPARED[] = "was not compared with the database: call bf_sync";

static int may_ask_kept(struct connection* connection, struct filter* filter, const struct kept* kept, bfs_error* why) {
  if (!kept->definitions_good)
    return in_doubt(why, BFS_EMISMATCH,
                    "its triggers, its table or its column were changed, dropped or made again: call bf_keep");
  if (is_shadowed(connection, filter, kept))
    return in_doubt(why, BFS_EMISMATCH,
                    "a temporary table or view has the name of its table, so a query may mean that one: drop it");
  if (!has_triggers_on(connection->db))
    return in_doubt(why, BFS_EMISMATCH,
                    "this connection has its triggers off (SQLITE_DBCONFIG_ENABLE_TRIGGER): switch them on, and call"
                    " bf_keep if rows were written");
  if (kept->epoch == 0) return in_doubt(why, BFS_EMISMATCH, NOT_COMPARED);
  /* This also asks the kernel whether it failed to write pages of the file. */
  if (is_usable(filter) && is_of_epoch(filter, kept)) return 1;
  if (!open_to_ask(filter, why)) return 0;
  if (is_of_epoch(filter, kept)) return 1;
  close_filter(filter);
  return in_doubt(why, BFS_EMISMATCH, NOT_COMPARED);
}

struct filter* filter_to_ask(struct connection* connection, const char* name, bfs_error* why) {
  struct filter* filter;
  struct kept kept;
  int may = 0;
  switch (find_filter(connection, name, 0, 1, &filter, &kept)) {
    case FOUND_NONE:
      may = may_ask_plain(filter, why);
      break;
    case FOUND_ONE:
      may = may_ask_kept(connection, filter, &kept, why);
      break;
    case FOUND_MANY:
      in_doubt(why, BFS_EMISMATCH, "more than one attached database keeps it: detach the others");
      break;
    default:
      in_doubt(why, BFS_ESYSTEM, sqlite3_errmsg(connection->db));
  }
  if (may) return filter;
  sqlite3_log(SQLITE_WARNING, "bfstore: %s: %s; every answer is \"maybe\"", name, why->message);
  return NULL;
}

/* Not SQLite's own generator: two copies of a virtual machine would have the same state of it. */
static sqlite3_int64 new_epoch(void) {
  sqlite3_int64 number = 0;
  if (getentropy(&number, sizeof number) != 0) return 0;
  number &= INT64_MAX;
  return number == 0 ? 1 : number;
}

static int set_error(bfs_error* error, int32_t code, const char* text) {
  error->code = code;
  sqlite3_snprintf(sizeof error->message, error->message, "%s", text);
  return -1;
}

static int store_epoch(struct connection* connection, const struct filter* filter, const struct kept* kept) {
  char hex[33];
  int i;
  for (i = 0; i < 16; ++i) sqlite3_snprintf(3, hex + 2 * i, "%02x", kept->file_id[i]);
  return run(connection, "UPDATE \"%w\".bfstore_filters SET epoch = %lld, file_id = x'%s' WHERE path = %Q",
             filter->schema, kept->epoch, hex, filter->name);
}

/* Returns a number that changes with each commit. */
static unsigned version_of(const struct connection* connection, const struct filter* filter) {
  unsigned version = 0;
  sqlite3_file_control(connection->db, filter->schema, SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

/* The file is compared once in a transaction, not for each row: a key added to an older copy goes into a file of
 * another epoch, which no reader trusts. */
static void may_write_at(const struct connection* connection, struct filter* filter, sqlite3_int64 epoch) {
  filter->writes_at = epoch;
  filter->writes_in = version_of(connection, filter);
}

int renew(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error) {
  const sqlite3_int64 epoch = new_epoch();
  bfs_statistics facts = BFS_STATISTICS_INIT;
  bfs_owner_mark mark = {.mark = 1};
  sqlite3_int64 epochs[2];
  int lane;
  if (epoch == 0) return set_error(error, BFS_ESYSTEM, "getentropy failed");
  read_epochs(filter->handle, epochs);
  lane = epochs[0] == kept->epoch;
  if (bfs_stats(filter->handle, 0, &facts, error) != BFS_OK) return -1;
  mark.owner = OWNERS[lane];
  mark.epoch = (uint64_t)epoch;
  if (bfs_sync(filter->handle, &mark, error) != BFS_OK) return -1;
  memcpy(kept->file_id, facts.file_id, sizeof kept->file_id);
  kept->has_file_id = 1;
  kept->epoch = epoch;
  if (store_epoch(connection, filter, kept) != SQLITE_OK)
    return set_error(error, BFS_ESYSTEM, sqlite3_errmsg(connection->db));
  may_write_at(connection, filter, epoch);
  return lane;
}

int forget_other_epoch(struct filter* filter, int lane, bfs_error* error) {
  return bfs_drop_owner(filter->handle, OWNERS[1 - lane], error) == BFS_OK ? 0 : -1;
}

int finish_recovery(struct filter* filter, int lane, bfs_error* error) {
  const int32_t over = bfs_finish_recovery(filter->handle, OWNERS[lane], error);
  if (over < 0) return -1;
  return over == 1 ? 0 : set_error(error, BFS_ERECOVERING, "another owner of the filter has not finished its recovery");
}

/* Returns whether the file had this epoch when the handle was opened.  An epoch that came later is in no clean copy
 * with the same file_id. */
static int has_been_there(const struct filter* filter, sqlite3_int64 epoch) {
  return filter->at_open[0] == epoch || filter->at_open[1] == epoch;
}

int prepare_to_write(struct connection* connection, struct filter* filter, struct kept* kept, bfs_error* error) {
  if (filter->handle != NULL && filter->writes && kept->epoch != 0) {
    const int wrote = filter->writes_at == kept->epoch;
    if (wrote && filter->writes_in == version_of(connection, filter)) return 0;
    if ((wrote || !has_been_there(filter, kept->epoch)) && is_of_epoch(filter, kept)) {
      may_write_at(connection, filter, kept->epoch);
      return 0;
    }
  }
  if (filter->handle == NULL || !filter->writes || !is_of_epoch(filter, kept))
    if (open_filter(filter, BFS_WRITE, error) != BFS_OK) return -1;
  if (is_of_epoch(filter, kept)) return renew(connection, filter, kept, error) < 0 ? -1 : 0;
  close_filter(filter);
  return set_error(error, BFS_EMISMATCH, "the filter was not compared with the database");
}

void release(void* pointer) {
  struct connection* connection = pointer;
  struct filter* filter;
  if (--connection->references > 0) return;
  forget_databases(connection);
  while ((filter = connection->filters) != NULL) {
    connection->filters = filter->next;
    close_filter(filter);
    sqlite3_free(filter->name);
    sqlite3_free(filter->schema);
    sqlite3_free(filter->path);
    sqlite3_free(filter);
  }
  sqlite3_free(connection->folded);
  sqlite3_free(connection);
}
