/* The table bfstore.opened: which file of a path has the keys of every row, and the marks that it must have.  Row by
 * row it is as transactional as the rows whose keys are in the file: a snapshot that sees a row sees the opening of the
 * process that added its key.  A file with a lower mark is an older copy. */
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

typedef struct Statement {
  const char* text;
  int num_args;
  Oid types[6];
  SPIPlanPtr plan;
} Statement;

/* Operators are qualified: these run as the table's owner, and search_path is the caller's. */
static Statement read_file = {
    "SELECT b.file_id, b.timeline, b.built_by, b.key_type, b.definition, (SELECT pg_catalog.max(o.mark) FROM "
    "bfstore.opened AS o"
    " WHERE o.path OPERATOR(pg_catalog.=) b.path)"
    " FROM bfstore.opened AS b WHERE b.path OPERATOR(pg_catalog.=) $1 AND b.file_id IS NOT NULL",
    1,
    {TEXTOID},
    NULL};
static Statement add_opening = {"INSERT INTO bfstore.opened (path, mark) VALUES ($1, $2)", 2, {TEXTOID, LSNOID}, NULL};
static Statement forget_path = {"DELETE FROM bfstore.opened WHERE path OPERATOR(pg_catalog.=) $1", 1, {TEXTOID}, NULL};
static Statement add_file = {
    "INSERT INTO bfstore.opened (path, mark, file_id, timeline, built_by, key_type, definition)"
    " VALUES ($1, $2, $3, $4, pg_catalog.pg_current_xact_id(), $5, $6)",
    6,
    {TEXTOID, LSNOID, BYTEAOID, INT8OID, REGTYPEOID, TEXTOID},
    NULL};
static Statement forget_openings = {
    "DELETE FROM bfstore.opened WHERE path OPERATOR(pg_catalog.=) $1 AND file_id IS NULL"
    " AND mark OPERATOR(pg_catalog.<) $2",
    2,
    {TEXTOID, LSNOID},
    NULL};

static void prepare(Statement* statement) {
  if (statement->plan != NULL) return;
  statement->plan = SPI_prepare(statement->text, statement->num_args, statement->types);
  if (statement->plan == NULL || SPI_keepplan(statement->plan) != 0) elog(ERROR, "bfstore: SPI_prepare failed");
}

/* As the owner of the table: the users of a filter have no rights to it. */
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
  Datum values[1] = {CStringGetTextDatum(path)};
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

bool registry_has_opening_after(const char* path, uint64 mark) {
  Oid schema = get_namespace_oid("bfstore", false);
  Relation opened = table_open(get_relname_relid("opened", schema), AccessShareLock);
  ScanKeyData keys[2];
  SnapshotData also_under_way;
  SysScanDesc scan;
  HeapTuple row;
  bool found = false, is_null;
  InitDirtySnapshot(also_under_way);
  ScanKeyEntryInitialize(&keys[0], 0, 1, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                         CStringGetTextDatum(path));
  ScanKeyInit(&keys[1], 2, BTGreaterStrategyNumber, F_PG_LSN_GT, LSNGetDatum(mark));
  scan = systable_beginscan(opened, get_relname_relid("opened_path_mark_idx", schema), true, &also_under_way, 2, keys);
  while (!found && HeapTupleIsValid(row = systable_getnext(scan))) {
    heap_getattr(row, 3, RelationGetDescr(opened), &is_null); /* the row of a file is not of an opening */
    found = is_null;
  }
  systable_endscan(scan);
  table_close(opened, AccessShareLock);
  return found;
}

void registry_add_opening(const char* path, uint64 mark) {
  Datum values[2] = {CStringGetTextDatum(path), LSNGetDatum(mark)};
  change(&add_opening, values, SPI_OK_INSERT);
}

void registry_forget(const char* path) {
  Datum values[1] = {CStringGetTextDatum(path)};
  change(&forget_path, values, SPI_OK_DELETE);
}

void registry_add_file(const char* path, const uint8* file_id, uint64 mark, Oid key_type, const Definition* table) {
  Datum values[6] = {CStringGetTextDatum(path), LSNGetDatum(mark)};
  bytea* id = palloc(VARHDRSZ + FILE_ID_BYTES);
  SET_VARSIZE(id, VARHDRSZ + FILE_ID_BYTES);
  memcpy(VARDATA(id), file_id, FILE_ID_BYTES);
  values[2] = PointerGetDatum(id);
  values[3] = Int64GetDatum((int64)GetWALInsertionTimeLine());
  values[4] = ObjectIdGetDatum(key_type);
  values[5] = CStringGetTextDatum(table != NULL ? definition_text(table) : "");
  registry_forget(path);
  change(&add_file, values, SPI_OK_INSERT);
}

void registry_forget_openings(const char* path, uint64 mark) {
  Datum values[2] = {CStringGetTextDatum(path), LSNGetDatum(mark)};
  change(&forget_openings, values, SPI_OK_DELETE);
}
