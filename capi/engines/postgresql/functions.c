/* The SQL functions of the PostgreSQL extension bfstore, its trigger, and its settings. */
#include "internal.h"

#include <endian.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/uuid.h"
#include "utils/xid8.h"

PG_MODULE_MAGIC;

extern void _PG_init(void);

void _PG_init(void) {
  DefineCustomBoolVariable("bfstore.trust_on_standby",
                           "Believe a filter on a standby, which shares the primary's file.", NULL, &trust_on_standby,
                           false, PGC_SUSET, 0, NULL, NULL, NULL);
  DefineCustomBoolVariable("bfstore.trust_other_databases", "Believe a filter that another database keeps.", NULL,
                           &trust_other_databases, false, PGC_SUSET, 0, NULL, NULL, NULL);
  MarkGUCPrefixReserved("bfstore");
  definitions_begin();
  handles_begin();
  builds_begin();
}

/* COPY requires the same roles. */
static void require_role(Oid role, const char* name) {
  if (has_privs_of_role(GetUserId(), role)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("bfstore: permission denied for files of the server"),
                  errhint("The role %s has it.", name)));
}

static void may_read(void) { require_role(ROLE_PG_READ_SERVER_FILES, "pg_read_server_files"); }

static void may_write(void) {
  require_role(ROLE_PG_WRITE_SERVER_FILES, "pg_write_server_files");
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("bfstore: a standby writes to no filter")));
}

pg_attribute_noreturn() static void fail(const char* problem) {
  ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s", problem)));
}

/* For codes without an error record. */
pg_attribute_noreturn() static void fail_with(const char* path, int32_t code) {
  ereport(ERROR,
          (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s: %s (%s)", path, bfs_strerror(code), bfs_code_name(code))));
}

/* For functions that are not STRICT. */
static void require_value(FunctionCallInfo fcinfo, int argument, const char* name) {
  if (PG_ARGISNULL(argument))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("bfstore: the %s is null", name)));
}

static char* text_argument(FunctionCallInfo fcinfo, int argument, const char* name) {
  require_value(fcinfo, argument, name);
  return text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

static const char* path_argument(FunctionCallInfo fcinfo) { return text_argument(fcinfo, 0, "path"); }

/* --- Keys --------------------------------------------------------------------------------------------------------- */

typedef struct Key {
  const void* data;
  size_t bytes;
  uint64 number; /* for integers: `data` points to it */
} Key;

static bool is_key_type(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == BYTEAOID || type == INT2OID ||
         type == INT4OID || type == INT8OID || type == UUIDOID;
}

static void text_key(const char* text, int bytes, Key* key) {
  key->data = text;
  key->bytes = (size_t)bytes;
  if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII) return;
  key->data = pg_server_to_any(text, bytes, PG_UTF8);
  if (key->data != text) key->bytes = strlen(key->data);
}

static void integer_key(int64 number, Key* key) {
  key->number = htole64((uint64)number);
  key->data = &key->number;
  key->bytes = sizeof key->number;
}

/* The encoding that all languages share: see "Keys are bytes" in bfstore.h. */
static void key_of(Datum value, Oid type, Key* key) {
  struct varlena* bytes;
  if (type == INT8OID) {
    integer_key(DatumGetInt64(value), key);
  } else if (type == INT4OID) {
    integer_key(DatumGetInt32(value), key);
  } else if (type == INT2OID) {
    integer_key(DatumGetInt16(value), key);
  } else if (type == UUIDOID) {
    key->data = DatumGetUUIDP(value)->data;
    key->bytes = UUID_LEN;
  } else {
    bytes = PG_DETOAST_DATUM_PACKED(value);
    key->data = VARDATA_ANY(bytes);
    key->bytes = VARSIZE_ANY_EXHDR(bytes);
    if (type == BPCHAROID) key->bytes = (size_t)bpchartruelen((char*)key->data, (int)key->bytes);
    if (type != BYTEAOID) text_key(key->data, (int)key->bytes, key);
  }
}

/* Trailing spaces count for text, but not for character(n).  A varchar column may be compared as either, and a key does
 * not say which.  So each row adds two keys, the text as it is and the text without trailing spaces, and
 * lookups ask for the one without. */
static size_t trimmed(const Key* key) { return (size_t)bpchartruelen((char*)key->data, (int)key->bytes); }

/* The SQL type whose keys have the same bytes as those of `type`. */
static Oid class_of(Oid type) {
  if (type == INT2OID || type == INT4OID) return INT8OID;
  return type == VARCHAROID || type == BPCHAROID ? TEXTOID : type;
}

/* --- Lookups ------------------------------------------------------------------------------------------------------ */

/* The type of the key in the query, before any cast; determined once for each call in a plan. */
typedef struct Asked {
  Oid type; /* without its domain */
  bool deterministic;
} Asked;

/* An expression without a collation joins two texts with different collations. */
static bool is_deterministic(Oid type, Oid collation) {
  if (!OidIsValid(collation)) return !type_is_collatable(type);
  return collation == DEFAULT_COLLATION_OID || get_collation_isdeterministic(collation);
}

/* PG_GET_COLLATION() is the collation of all arguments: an explicit one of the path would hide that of the key. */
static bool is_key_deterministic(const Node* call) {
  const Node* key;
  if (call == NULL || !IsA(call, FuncExpr)) return false;
  key = lsecond(((const FuncExpr*)call)->args);
  return is_deterministic(exprType(key), exprCollation(key));
}

static const Asked* asked_by(FunctionCallInfo fcinfo) {
  Asked* asked = fcinfo->flinfo->fn_extra;
  if (asked != NULL) return asked;
  asked = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *asked);
  asked->type = get_fn_expr_argtype(fcinfo->flinfo, 1); /* invalid if no query calls this */
  if (OidIsValid(asked->type) && !is_key_type(asked->type)) asked->type = getBaseType(asked->type);
  asked->deterministic = is_key_deterministic(fcinfo->flinfo->fn_expr);
  fcinfo->flinfo->fn_extra = asked;
  return asked;
}

/* An untyped literal gets the column's type in a comparison, so it does here. */
static Datum literal(Datum value, Oid type) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  return OidInputFunctionCall(input, DatumGetCString(value), parameter, -1);
}

/* Returns false if keys of the column may be equal to this one but have other bytes. */
static bool lookup_key(Entry* entry, const Asked* asked, Datum value, Key* key) {
  Oid column = entry->kept ? entry->key_type : InvalidOid; /* invalid: not known */
  Oid type = asked->type;
  if (type == UNKNOWNOID) {
    type = OidIsValid(column) ? column : TEXTOID;
    value = literal(value, type);
  }
  if (!is_key_type(type) || (OidIsValid(column) && class_of(type) != class_of(column))) {
    if (is_to_be_told(entry))
      ereport(WARNING, (errmsg("bfstore: a key for %s has another type than the column: %s, not %s", entry->path,
                               format_type_be(type), OidIsValid(column) ? format_type_be(column) : "one of keys"),
                        errdetail("Every such key is answered \"maybe\"."), errhint("Cast the key.")));
    return false;
  }
  if (!asked->deterministic) {
    if (is_to_be_told(entry))
      ereport(WARNING, (errmsg("bfstore: a key for %s has a nondeterministic collation, or two", entry->path),
                        errdetail("Every such key is answered \"maybe\".")));
    return false;
  }
  key_of(value, type, key);
  if (entry->trimmed && class_of(type) == TEXTOID) key->bytes = trimmed(key);
  return true;
}

/* In a transaction that has written, triggers after the row may still have to run.  In SERIALIZABLE the rows of other
 * transactions matter, too: see is_absent(). */
static bool may_lack_keys(Entry* entry) {
  if (!entry->of_table || !entry->now.changes_late) return false;
  if (!TransactionIdIsValid(GetTopTransactionIdIfAny()) && !IsolationIsSerializable()) return false;
  if (is_to_be_told(entry))
    ereport(WARNING,
            (errmsg("bfstore: %s: a later trigger, or an expression, may still change the key of a row", entry->path),
             errdetail("Every key is answered \"maybe\" in a transaction that has written, or is SERIALIZABLE.")));
  return true;
}

static bool is_usable(Entry* entry) { return entry->counts && !may_lack_keys(entry); }

/* Takes the lock that a scan of the table takes if it finds no row.  Returns false if the table is gone. */
static bool lock_table_for_serializable(Entry* entry) {
  Relation table = try_relation_open(entry->table.tab, AccessShareLock);
  if (table == NULL) return false;
  PredicateLockRelation(table, GetActiveSnapshot());
  relation_close(table, NoLock);
  entry->locked = true;
  return true;
}

/* In SERIALIZABLE a "no" saves a scan, and the scan's lock would meet a later row: so this takes that lock.  A row that
 * came before the lock has its key in the file by then: so the second lookup finds it. */
static bool is_absent(Entry* entry, const Key* key) {
  bool absent = bfs_contains(entry->filter, key->data, key->bytes) == 0;
  if (!absent || !IsolationIsSerializable() || !entry->of_table || entry->locked) return absent;
  return lock_table_for_serializable(entry) && bfs_contains(entry->filter, key->data, key->bytes) == 0;
}

/* Never returns null, and raises no error because of the file: only a certain no is false. */
PG_FUNCTION_INFO_V1(bf_maybe);
extern PGDLLEXPORT Datum bf_maybe(PG_FUNCTION_ARGS);
Datum bf_maybe(PG_FUNCTION_ARGS) {
  char path[MAXPGPATH];
  Entry* entry;
  Key key;
  may_read();
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_BOOL(true);
  if (VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(0)) >= MAXPGPATH) {
    ereport(WARNING, (errmsg("bfstore: the path is too long"), errdetail("Every key is answered \"maybe\".")));
    PG_RETURN_BOOL(true);
  }
  text_to_cstring_buffer(PG_GETARG_TEXT_PP(0), path, sizeof path);
  entry = reader_of(path);
  if (!is_usable(entry) || !lookup_key(entry, asked_by(fcinfo), PG_GETARG_DATUM(1), &key)) PG_RETURN_BOOL(true);
  PG_RETURN_BOOL(!is_absent(entry, &key));
}

/* Returns 15 for "15 or more", and for every doubt. */
PG_FUNCTION_INFO_V1(bf_count);
extern PGDLLEXPORT Datum bf_count(PG_FUNCTION_ARGS);
Datum bf_count(PG_FUNCTION_ARGS) {
  Entry* entry;
  Key key;
  int32_t times;
  may_read();
  if (PG_ARGISNULL(1)) PG_RETURN_INT32(15);
  entry = reader_of(path_argument(fcinfo));
  if (!is_usable(entry) || !lookup_key(entry, asked_by(fcinfo), PG_GETARG_DATUM(1), &key)) PG_RETURN_INT32(15);
  times = bfs_count(entry->filter, key.data, key.bytes);
  if (times < 0) fail_with(entry->path, times);
  PG_RETURN_INT32(times);
}

/* --- Adds --------------------------------------------------------------------------------------------------------- */

/* Returns 1 if the key was certainly new, or 0.  Below 0 the key is not in the file that the path names, and
 * entry->problem says why. */
static int32_t add_key(Entry** entry, const char* path, const Key* key) {
  int32_t code = BFS_EINTERNAL;
  int tries;
  for (tries = 0; tries < 2; ++tries) {
    *entry = writer_of(path);
    if ((*entry)->filter == NULL) return BFS_ESYSTEM;
    code = bfs_add((*entry)->filter, key->data, key->bytes); /* also when filling: fails if another file replaced it */
    if (code >= 0) return (*entry)->filling ? 0 : code;
    snprintf((*entry)->problem, sizeof(*entry)->problem, "%s: %s (%s)", (*entry)->path, bfs_strerror(code),
             bfs_code_name(code));
    (*entry)->statement = 0; /* the path may name another file by now */
  }
  return code;
}

/* Adds the key of a row, and the trimmed one: see trimmed(). */
static int32_t add_row_key(Entry** entry, const char* path, Oid type, Key* key) {
  int32_t code = add_key(entry, path, key);
  size_t bytes = class_of(type) == TEXTOID ? trimmed(key) : key->bytes;
  if (code < 0 || bytes == key->bytes) return code;
  key->bytes = bytes;
  return add_key(entry, path, key);
}

static Datum add(FunctionCallInfo fcinfo, Oid type) {
  const char* path = path_argument(fcinfo);
  Entry* entry;
  Key key;
  int32_t code;
  may_write();
  if (PG_ARGISNULL(1)) PG_RETURN_NULL();
  key_of(PG_GETARG_DATUM(1), type, &key);
  code = add_key(&entry, path, &key);
  if (code < 0) fail(entry->problem);
  PG_RETURN_BOOL(code == 1);
}

/* Transactions that began before the commit still see the row of a deleted key, and all see it after a rollback.  So
 * the caller names the transaction that deleted it, which must have ended for every snapshot. */
static void require_gone(FullTransactionId deleted_by) {
  uint64 next = U64FromFullTransactionId(ReadNextFullTransactionId()), full = U64FromFullTransactionId(deleted_by);
  TransactionId xid = XidFromFullTransactionId(deleted_by);
  if (full >= next || next - full > (1u << 30) || !TransactionIdIsNormal(xid))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bfstore: no transaction of late has this number")));
  if (!TransactionIdPrecedes(xid, GetOldestNonRemovableTransactionId(NULL)) || !TransactionIdDidCommit(xid))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("bfstore: some transaction may still see the row"),
                    errhint("Remove the key when every transaction that began before the commit has ended.")));
}

static Datum remove_key(FunctionCallInfo fcinfo, Oid type) {
  const char* path = path_argument(fcinfo);
  Entry* entry;
  Key key;
  int32_t code;
  may_write();
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) PG_RETURN_NULL();
  require_gone(PG_GETARG_FULLTRANSACTIONID(2));
  key_of(PG_GETARG_DATUM(1), type, &key);
  entry = writer_of(path);
  if (entry->filter == NULL) fail(entry->problem);
  code = bfs_remove(entry->filter, key.data, key.bytes);
  if (code < 0) fail_with(entry->path, code);
  PG_RETURN_BOOL(code == 1);
}

#define FOR_KEY_TYPE(name, helper, type)           \
  PG_FUNCTION_INFO_V1(name);                       \
  extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
  Datum name(PG_FUNCTION_ARGS) { return helper(fcinfo, type); }

FOR_KEY_TYPE(bf_add_text, add, TEXTOID)
FOR_KEY_TYPE(bf_add_bytea, add, BYTEAOID)
FOR_KEY_TYPE(bf_add_bigint, add, INT8OID)
FOR_KEY_TYPE(bf_add_uuid, add, UUIDOID)
FOR_KEY_TYPE(bf_remove_text, remove_key, TEXTOID)
FOR_KEY_TYPE(bf_remove_bytea, remove_key, BYTEAOID)
FOR_KEY_TYPE(bf_remove_bigint, remove_key, INT8OID)
FOR_KEY_TYPE(bf_remove_uuid, remove_key, UUIDOID)

/* --- The trigger -------------------------------------------------------------------------------------------------- */

/* Checks name and number: after DROP and ADD, or after two columns swapped names, the old rows are not in the file. */
static int key_column(TriggerData* fired, const char* name, const char* expected, Oid* type) {
  TupleDesc row = fired->tg_relation->rd_att;
  int number = SPI_fnumber(row, name);
  if (number <= 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("bfstore: the table has no column \"%s\"", name),
                    errhint("Call bf_attach again, or bf_detach.")));
  if (number != atoi(expected))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("bfstore: column \"%s\" is another column than the filter's", name),
                    errhint("Call bf_attach again, or bf_detach.")));
  *type = getBaseType(TupleDescAttr(row, number - 1)->atttypid);
  return number;
}

static void check_call(FunctionCallInfo fcinfo) {
  TriggerData* fired = (TriggerData*)fcinfo->context;
  if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_FOR_ROW(fired->tg_event) ||
      TRIGGER_FIRED_BY_DELETE(fired->tg_event) || fired->tg_trigger->tgnargs != 5)
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("bfstore: bf_keep is a trigger for INSERT and UPDATE of rows, which bf_attach makes")));
}

/* Arguments: the path, the column, its type when the file was built, the policy if the file takes no key ("error": the
 * statement fails; "drop": every key is "maybe" from then on), and the column's number. */
PG_FUNCTION_INFO_V1(bf_keep);
extern PGDLLEXPORT Datum bf_keep(PG_FUNCTION_ARGS);
Datum bf_keep(PG_FUNCTION_ARGS) {
  TriggerData* fired = (TriggerData*)fcinfo->context;
  HeapTuple row;
  char** arguments;
  Entry* entry;
  Oid type;
  Datum value;
  bool is_null;
  Key key;
  int number;
  check_call(fcinfo);
  row = TRIGGER_FIRED_BY_UPDATE(fired->tg_event) ? fired->tg_newtuple : fired->tg_trigtuple;
  arguments = fired->tg_trigger->tgargs;
  number = key_column(fired, arguments[1], arguments[4], &type);
  if (type != (Oid)strtoul(arguments[2], NULL, 10))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("bfstore: column \"%s\" has another type than the filter", arguments[1]),
                    errhint("Call bf_attach again.")));
  value = SPI_getbinval(row, fired->tg_relation->rd_att, number, &is_null);
  if (is_null) return PointerGetDatum(row);
  key_of(value, type, &key);
  if (add_row_key(&entry, arguments[0], type, &key) < 0 || !entry->kept) {
    if (strcmp(arguments[3], "drop") != 0 || entry->building)
      ereport(ERROR,
              (errcode(ERRCODE_IO_ERROR),
               errmsg("bfstore: %s", entry->kept || entry->filter == NULL ? entry->problem : "no table keeps the file"),
               errhint("Build the filter again (bf_attach), or drop the trigger.")));
    drop_filter(entry);
    ereport(WARNING, (errmsg("bfstore: the filter %s was dropped: %s", entry->path, entry->problem),
                      errhint("Every key is answered \"maybe\" until bf_attach builds it again.")));
  }
  return PointerGetDatum(row);
}

/* --- Making files ------------------------------------------------------------------------------------------------- */

static uint32_t layout_argument(FunctionCallInfo fcinfo, int argument) {
  char* name = PG_ARGISNULL(argument) ? pstrdup("blocked") : text_to_cstring(PG_GETARG_TEXT_PP(argument));
  int32_t number = bfs_layout_named(name);
  if (number < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bfstore: no layout is called \"%s\"", name)));
  return (uint32_t)number;
}

/* Raises an error if a table keeps the file: with another file there, the table would take no row.  `own` is the table
 * that builds, or NULL: bf_attach has checked its columns. */
static void refuse_file_of_table(const char* path, const Definition* own) {
  Registered known;
  Definition now;
  refuse_file_of_others(path);
  if (!registry_read(path, GetLatestSnapshot(), &known) || !known.of_table) return;
  if (own != NULL && known.table.tab == own->tab) return;
  if (!definition_read(known.table.tab, known.table.attnum, &now) || !definition_has_triggers(&now)) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("bfstore: %s is the filter of %s", path, now.name),
                  errhint("Call bf_attach to build it again, or bf_detach first.")));
}

/* bf_create(path, capacity, fpr, layout, replace) creates an empty file that no table keeps. */
PG_FUNCTION_INFO_V1(bf_create);
extern PGDLLEXPORT Datum bf_create(PG_FUNCTION_ARGS);
Datum bf_create(PG_FUNCTION_ARGS) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_filter* filter;
  char path[MAXPGPATH];
  canonical_path(path_argument(fcinfo), path);
  may_write();
  options.capacity = (uint64)Max(PG_GETARG_INT64(1), 0);
  options.fpr = PG_GETARG_FLOAT8(2);
  options.layout = layout_argument(fcinfo, 3);
  refuse_file_of_table(path, NULL);
  if (bfs_create(path, PG_GETARG_BOOL(4) ? BFS_REPLACE : 0, &options, &filter, &error) != BFS_OK ||
      bfs_close(filter, &error) != BFS_OK)
    fail(error.message);
  PG_RETURN_VOID();
}

static int64 count_rows(const char* query) {
  bool is_null;
  char* text = psprintf("SELECT pg_catalog.count(*) FROM (%s\n) AS counted", query);
  if (SPI_execute(text, false, 0) != SPI_OK_SELECT) fail("the rows of the query cannot be counted");
  return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
}

/* Adds a batch of the query's rows.  A key that comes out of TOAST may be large, so it is freed before the next. */
static int64 add_rows(bfs_filter* filter, const char* path, Oid type) {
  MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "bfstore key", ALLOCSET_DEFAULT_SIZES);
  MemoryContext outer = MemoryContextSwitchTo(own);
  int64 keys = 0;
  uint64 i;
  for (i = 0; i < SPI_processed; ++i) {
    bool is_null;
    int32_t code;
    Key key;
    Datum value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null) continue;
    key_of(value, type, &key);
    code = bfs_add(filter, key.data, key.bytes);
    if (code >= 0 && class_of(type) == TEXTOID && trimmed(&key) < key.bytes)
      code = bfs_add(filter, key.data, trimmed(&key));
    if (code < 0) fail_with(path, code);
    MemoryContextReset(own);
    ++keys;
  }
  MemoryContextSwitchTo(outer);
  MemoryContextDelete(own);
  return keys;
}

/* Adds the query's first column, whose type it stores in `key_type`. */
static int64 add_query(bfs_filter* filter, const char* path, const char* query, Oid* key_type) {
  int64 keys = 0;
  Oid type, collation;
  Portal portal;
  SPIPlanPtr plan = SPI_prepare(query, 0, NULL);
  if (plan == NULL || !SPI_is_cursor_plan(plan)) fail("bf_build takes one query that returns rows");
  portal = SPI_cursor_open(NULL, plan, NULL, NULL, false);
  if (portal->tupDesc->natts == 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("bfstore: the query has no column"),
                    errhint("Its first column has the keys.")));
  *key_type = type = getBaseType(TupleDescAttr(portal->tupDesc, 0)->atttypid);
  collation = TupleDescAttr(portal->tupDesc, 0)->attcollation;
  if (!is_key_type(type))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("bfstore: no key has the type %s", format_type_be(type)),
                    errhint("Cast it to text, bytea, bigint or uuid, here and in bf_maybe.")));
  if (!is_deterministic(type, collation))
    ereport(ERROR, (errcode(ERRCODE_COLLATION_MISMATCH),
                    errmsg("bfstore: equal keys of a nondeterministic collation, or of two, have different bytes")));
  do {
    SPI_cursor_fetch(portal, true, 1000);
    keys += add_rows(filter, path, type);
    SPI_freetuptable(SPI_tuptable);
  } while (SPI_processed > 0);
  SPI_cursor_close(portal);
  return keys;
}

/* Until this transaction commits, users of the file that has the name see no other file. */
static void register_file(bfs_filter* filter, const char* path, uint64 position, Oid key_type,
                          const Definition* table) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_statistics facts = BFS_STATISTICS_INIT;
  if (bfs_stats(filter, 0, &facts, &error) != BFS_OK) fail(error.message);
  registry_add_file(path, facts.file_id, position, key_type, table);
}

static void begin_build(const char* path) {
  may_write();
  /* The snapshot may be older than rows of other transactions that have added their keys to the current file. */
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("bfstore: filters are built in READ COMMITTED transactions")));
  PreventCommandIfReadOnly("bf_build()");
  refuse_file_of_others(path);
  forget_handles(path);
}

/* Only the owner may build, as in bf_attach: another caller could leave out rows of the table. */
static void read_kept_table(FunctionCallInfo fcinfo, Definition* out) {
  Oid tab = PG_GETARG_OID(5);
  require_value(fcinfo, 6, "column");
  if (!pg_class_ownercheck(tab, GetUserId())) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(tab));
  if (definition_read(tab, PG_GETARG_INT16(6), out) && definition_has_triggers(out)) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("bfstore: the table has not both triggers"),
                  errhint("Call bf_attach.")));
}

/* bfstore.build(path, query, capacity, fpr, layout, tab, attnum) builds a file of the rows that a snapshot of now
 * sees.  For bf_build and bf_attach, which lock the path.  `tab` is NULL if no trigger keeps the file.  Returns the
 * number of keys. */
PG_FUNCTION_INFO_V1(bf_build);
extern PGDLLEXPORT Datum bf_build(PG_FUNCTION_ARGS);
Datum bf_build(PG_FUNCTION_ARGS) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_filter* filter;
  char path[MAXPGPATH], note[NOTE_BYTES];
  char* query = text_argument(fcinfo, 1, "query");
  Definition table;
  bool of_table = !PG_ARGISNULL(5);
  int64 keys = 0;
  uint64 position;
  canonical_path(path_argument(fcinfo), path);
  require_value(fcinfo, 3, "fpr");
  begin_build(path);
  if (of_table) read_kept_table(fcinfo, &table);
  refuse_file_of_table(path, of_table ? &table : NULL);
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "bfstore: SPI_connect failed");
  position = next_position();
  options.capacity = (uint64)Max(PG_ARGISNULL(2) ? count_rows(query) : PG_GETARG_INT64(2), 1);
  options.fpr = PG_GETARG_FLOAT8(3);
  options.layout = layout_argument(fcinfo, 4);
  own_note(note);
  options.note = note;
  options.note_bytes = strlen(note);
  if (bfs_create(path, BFS_UNPUBLISHED | BFS_REPLACE | BFS_GUARD, &options, &filter, &error) != BFS_OK)
    fail(error.message);
  PG_TRY();
  {
    Oid key_type;
    keys = add_query(filter, path, query, &key_type);
    register_file(filter, path, position, key_type, of_table ? &table : NULL);
    build_keep(path, filter);
  }
  PG_CATCH();
  {
    bfs_close(filter, NULL);
    PG_RE_THROW();
  }
  PG_END_TRY();
  SPI_finish();
  PG_RETURN_INT64(keys);
}

/* From the commit on every answer is "maybe", before another transaction can add a row. */
PG_FUNCTION_INFO_V1(bf_drop);
extern PGDLLEXPORT Datum bf_drop(PG_FUNCTION_ARGS);
Datum bf_drop(PG_FUNCTION_ARGS) {
  char path[MAXPGPATH];
  may_write();
  canonical_path(path_argument(fcinfo), path);
  if (is_file_of_others(path))
    ereport(NOTICE, (errmsg("bfstore: %s stays as it is, for another database keeps it", path)));
  else
    build_keep(path, NULL);
  registry_forget(path);
  PG_RETURN_VOID();
}

/* Makes all keys durable.  Returns the position before which every commit has its keys in the file, or NULL if the
 * database does not keep the file. */
PG_FUNCTION_INFO_V1(bf_sync);
extern PGDLLEXPORT Datum bf_sync(PG_FUNCTION_ARGS);
Datum bf_sync(PG_FUNCTION_ARGS) {
  bfs_error error = BFS_ERROR_INIT;
  const char* path = path_argument(fcinfo);
  uint64 position;
  Entry* entry;
  may_write();
  entry = writer_of(path);
  if (entry->filter == NULL) fail(entry->problem);
  if (entry->building) fail("this transaction has built the file: commit first");
  position = next_position();
  if (!entry->kept || entry->filling) {
    if (bfs_sync(entry->filter, NULL, &error) != BFS_OK) fail(error.message);
    PG_RETURN_NULL();
  }
  /* An older copy must not get this mark. */
  if (is_older_copy(entry)) fail(psprintf("%s: the file is an older copy", entry->path));
  if (sync_at(entry->filter, GetWALInsertionTimeLine(), position, &error) != BFS_OK) fail(error.message);
  registry_add_opening(entry->path, position);
  registry_forget_openings(entry->path, position);
  PG_RETURN_LSN(position);
}

/* --- Facts -------------------------------------------------------------------------------------------------------- */

#define NUM_FACTS 11 /* columns of bf_info */

/* Changes that no lookup sees: README has the whole table. */
#define LIMITS_OF_TABLE                                                                                           \
  "a query that reads another table (search_path, a temporary table, a view), or that compares as another type "  \
  "or collation than the key has; rows that come past PostgreSQL's commands (pg_surgery, a loader that writes "   \
  "pages, an older file of the table, UPDATE of pg_class), while bf_keep is replaced, or in the moment in which " \
  "FOR UPDATE takes them; a copy that was made while a session added, if it is written into the file (cp, dd) "   \
  "and not moved there; programs that read the file themselves do not see that it is in doubt; keys that others " \
  "added are gone with a rebuild"

static const char* limits_of(const Entry* entry) {
  if (!entry->kept)
    return "a plain file: it answers for the keys that were added to it, and for no table, which SERIALIZABLE could "
           "lock";
  if (!entry->of_table)
    return "rows that came since the build are not in the file, and SERIALIZABLE locks no table for it";
  return LIMITS_OF_TABLE;
}

static void fill_in(Entry* entry, Datum* values, bool* nulls) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  const char* layout;
  if (bfs_stats(entry->filter, 0, &facts, NULL) != BFS_OK) return;
  memset(nulls, false, NUM_FACTS);
  nulls[9] = !entry->of_table;
  layout = bfs_layout_name(facts.layout);
  values[1] = CStringGetTextDatum(layout != NULL ? layout : psprintf("%u", facts.layout));
  values[2] = Int64GetDatum((int64)facts.num_bits);
  values[3] = Int32GetDatum((int32)facts.num_probes);
  values[4] = Int64GetDatum((int64)facts.capacity);
  values[5] = Float8GetDatum(facts.fpr);
  values[6] = Int64GetDatum((int64)facts.keys_added);
  values[7] = BoolGetDatum(facts.saturated != 0);
  values[8] = BoolGetDatum(entry->kept);
  if (entry->of_table)
    values[9] = CStringGetTextDatum(psprintf("%s, compared as %s%s", entry->table.name, format_type_be(entry->key_type),
                                             entry->now.changes_late
                                                 ? ", but not in transactions that have written or are SERIALIZABLE: a "
                                                   "later trigger or an expression may change the key"
                                                 : ""));
  values[10] = CStringGetTextDatum(limits_of(entry));
}

/* Returns one row.  Raises no error because of the file: `health` says what is wrong. */
PG_FUNCTION_INFO_V1(bf_info);
extern PGDLLEXPORT Datum bf_info(PG_FUNCTION_ARGS);
Datum bf_info(PG_FUNCTION_ARGS) {
  TupleDesc row;
  Datum values[NUM_FACTS] = {0};
  bool nulls[NUM_FACTS] = {false, true, true, true, true, true, true, true, true, true, true};
  Entry* entry;
  may_read();
  if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "bfstore: bf_info returns a row");
  entry = reader_of(path_argument(fcinfo));
  values[0] = CStringGetTextDatum(entry->filter == NULL ? entry->problem : bfs_code_name(bfs_health(entry->filter)));
  if (entry->filter != NULL) fill_in(entry, values, nulls);
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}
