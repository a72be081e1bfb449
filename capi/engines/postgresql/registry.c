/* The table bfstore.opened: which file of a path has the keys of every row, and the marks that it must have.  Its rows
 * are as transactional as the rows whose keys are in the file: a snapshot that sees a row sees the opening of the
 * process that added its key.  A file with a lower mark is an older copy.
 *
 * A publication FOR ALL TABLES includes this table, so each row says which database wrote it. */
#include "internal.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/xid8.h"

/* As in bfstore--1.0.sql. */
#define COLUMN_OF_FILE_ID 3
#define COLUMN_OF_KEEPER 4

typedef struct Statement {
  const char* text;
  int num_args;
  Oid types[7];
  SPIPlanPtr plan;
} Statement;

/* Operators are qualified: these run as the table's owner, and search_path is the caller's. */
#define OF_OWN_PATH "path OPERATOR(pg_catalog.=) $1 AND keeper OPERATOR(pg_catalog.=) $2"

static Statement read_file = {
    "SELECT file_id, timeline, built_by, key_type, definition,"
    " (SELECT pg_catalog.max(mark) FROM bfstore.opened WHERE " OF_OWN_PATH
    ")"
    " FROM bfstore.opened WHERE " OF_OWN_PATH " AND file_id IS NOT NULL",
    2,
    {TEXTOID, TEXTOID},
    NULL};
static Statement add_opening = {
    "INSERT INTO bfstore.opened (path, keeper, mark) VALUES ($1, $2, $3)", 3, {TEXTOID, TEXTOID, LSNOID}, NULL};
static Statement forget_path = {"DELETE FROM bfstore.opened WHERE " OF_OWN_PATH, 2, {TEXTOID, TEXTOID}, NULL};
static Statement add_file = {
    "INSERT INTO bfstore.opened (path, keeper, mark, file_id, timeline, built_by, key_type, definition)"
    " VALUES ($1, $2, $3, $4, $5, pg_catalog.pg_current_xact_id(), $6, $7)",
    7,
    {TEXTOID, TEXTOID, LSNOID, BYTEAOID, INT8OID, REGTYPEOID, TEXTOID},
    NULL};
static Statement forget_openings = {"DELETE FROM bfstore.opened WHERE " OF_OWN_PATH
                                    " AND file_id IS NULL AND mark OPERATOR(pg_catalog.<) $3",
                                    3,
                                    {TEXTOID, TEXTOID, LSNOID},
                                    NULL};

/* The system and the database, in the form of a file's note. */
static const char* own_keeper(void) {
  static char name[64];
  if (name[0] == '\0') snprintf(name, sizeof name, UINT64_FORMAT " %u", GetSystemIdentifier(), MyDatabaseId);
  return name;
}

static void prepare(Statement* statement) {
  if (statement->plan != NULL) return;
  statement->plan = SPI_prepare(statement->text, statement->num_args, statement->types);
  if (statement->plan == NULL || SPI_keepplan(statement->plan) != 0) elog(ERROR, "bfstore: SPI_prepare failed");
}

/* Runs as the owner of the table: the users of a filter have no rights to it. */
static void run(Statement* statement, Datum* values, Snapshot snapshot, bool only_reads, int expected) {
  Oid user;
  int context, result;
  GetUserIdAndSecContext(&user, &context);
  SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
                         context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
  prepare(statement);
  result = SPI_execute_snapshot(statement->plan, values, NULL, snapshot, InvalidSnapshot, only_reads, true, 0);
  SetUserIdAndSecContext(user, context);
  if (result != expected) elog(ERROR, "bfstore: %s: %s", statement->text, SPI_result_code_string(result));
}

static void change(Statement* statement, Datum* values, int expected) {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "bfstore: SPI_connect failed");
  run(statement, values, InvalidSnapshot, false, expected);
  SPI_finish();
}

static Datum column(int number, bool* is_null) {
  return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, is_null);
}

bool registry_read(const char* path, Snapshot snapshot, Registered* out) {
  Datum values[2] = {CStringGetTextDatum(path), CStringGetTextDatum(own_keeper())};
  char* text;
  bool is_null, found;
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "bfstore: SPI_connect failed");
  run(&read_file, values, snapshot, true, SPI_OK_SELECT);
  found = SPI_processed == 1;
  if (found) {
    bytea* id = DatumGetByteaPP(column(1, &is_null));
    found = VARSIZE_ANY_EXHDR(id) == FILE_ID_BYTES;
    if (found) memcpy(out->file_id, VARDATA_ANY(id), FILE_ID_BYTES);
    out->timeline = DatumGetInt64(column(2, &is_null));
    out->built_by = DatumGetFullTransactionId(column(3, &is_null));
    out->key_type = DatumGetObjectId(column(4, &is_null));
    out->mark = DatumGetLSN(column(6, &is_null));
    text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 5);
    out->of_table = text != NULL && text[0] != '\0';
    found = found && text != NULL && (!out->of_table || definition_parse(text, out->key_type, &out->table));
  }
  SPI_finish();
  return found;
}

static bool is_own_opening(Relation opened, HeapTuple row) {
  bool is_null;
  Datum keeper = heap_getattr(row, COLUMN_OF_KEEPER, RelationGetDescr(opened), &is_null);
  if (strcmp(TextDatumGetCString(keeper), own_keeper()) != 0) return false;
  heap_getattr(row, COLUMN_OF_FILE_ID, RelationGetDescr(opened), &is_null);
  return is_null; /* a row with a file_id is no opening */
}

bool registry_has_opening_after(const char* path, uint64 mark) {
  Oid schema = get_namespace_oid("bfstore", false);
  Relation opened = table_open(get_relname_relid("opened", schema), AccessShareLock);
  ScanKeyData keys[2];
  SnapshotData also_under_way;
  SysScanDesc scan;
  HeapTuple row;
  bool found = false;
  InitDirtySnapshot(also_under_way);
  ScanKeyEntryInitialize(&keys[0], 0, 1, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                         CStringGetTextDatum(path));
  ScanKeyInit(&keys[1], 2, BTGreaterStrategyNumber, F_PG_LSN_GT, LSNGetDatum(mark));
  scan = systable_beginscan(opened, get_relname_relid("opened_path_mark_idx", schema), true, &also_under_way, 2, keys);
  while (!found && HeapTupleIsValid(row = systable_getnext(scan))) found = is_own_opening(opened, row);
  systable_endscan(scan);
  table_close(opened, AccessShareLock);
  return found;
}

void registry_add_opening(const char* path, uint64 mark) {
  Datum values[3] = {CStringGetTextDatum(path), CStringGetTextDatum(own_keeper()), LSNGetDatum(mark)};
  change(&add_opening, values, SPI_OK_INSERT);
}

void registry_forget(const char* path) {
  Datum values[2] = {CStringGetTextDatum(path), CStringGetTextDatum(own_keeper())};
  change(&forget_path, values, SPI_OK_DELETE);
}

void registry_add_file(const char* path, const uint8* file_id, uint64 mark, Oid key_type, const Definition* table) {
  Datum values[7] = {CStringGetTextDatum(path), CStringGetTextDatum(own_keeper()), LSNGetDatum(mark)};
  bytea* id = palloc(VARHDRSZ + FILE_ID_BYTES);
  SET_VARSIZE(id, VARHDRSZ + FILE_ID_BYTES);
  memcpy(VARDATA(id), file_id, FILE_ID_BYTES);
  values[3] = PointerGetDatum(id);
  values[4] = Int64GetDatum((int64)GetWALInsertionTimeLine());
  values[5] = ObjectIdGetDatum(key_type);
  values[6] = CStringGetTextDatum(table != NULL ? definition_text(table) : "");
  registry_forget(path);
  change(&add_file, values, SPI_OK_INSERT);
}

void registry_forget_openings(const char* path, uint64 mark) {
  Datum values[3] = {CStringGetTextDatum(path), CStringGetTextDatum(own_keeper()), LSNGetDatum(mark)};
  change(&forget_openings, values, SPI_OK_DELETE);
}
