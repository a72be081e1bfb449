/* The column whose rows a filter answers for, as the system catalog describes it.  bf_attach writes down that
 * description when it builds the file.  A "no" counts only while the catalog still says the same.
 *
 * Rows get past a trigger while it is disabled, and enabling it again leaves no sign in the table.  But the trigger's
 * row in pg_trigger is then another one: it has the number of the transaction that wrote it (xmin).  VACUUM never
 * changes that number: it freezes a row by a bit.  bf_attach writes both triggers' rows, and the column's row in
 * pg_attribute, in a subtransaction of its own.  So no other command has the same number, not even one in the same
 * transaction. */
#include "internal.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

uint64 definitions_changes = 0;

static void relation_changed(Datum argument, Oid relation) {
  (void)argument;
  (void)relation;
  ++definitions_changes;
}

static void schema_changed(Datum argument, int cache, uint32 hash) {
  (void)argument;
  (void)cache;
  (void)hash;
  ++definitions_changes;
}

void definitions_begin(void) {
  CacheRegisterRelcacheCallback(relation_changed, (Datum)0);
  CacheRegisterSyscacheCallback(NAMESPACEOID, schema_changed, (Datum)0);
}

static bool read_table(Oid tab, Definition* out) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(tab));
  Form_pg_class facts;
  if (!HeapTupleIsValid(row)) return false;
  facts = (Form_pg_class)GETSTRUCT(row);
  out->storage = facts->relfilenode;
  out->has_triggers = facts->relhastriggers;
  out->has_children = facts->relhassubclass;
  strlcpy(out->name, quote_qualified_identifier(get_namespace_name(facts->relnamespace), NameStr(facts->relname)),
          sizeof out->name);
  ReleaseSysCache(row);
  return true;
}

static bool read_column(Oid tab, int attnum, Definition* out) {
  HeapTuple row = SearchSysCacheAttNum(tab, (int16)attnum); /* not valid if the column was dropped */
  Form_pg_attribute facts;
  if (!HeapTupleIsValid(row)) return false;
  facts = (Form_pg_attribute)GETSTRUCT(row);
  out->column = HeapTupleHeaderGetRawXmin(row->t_data);
  out->type = getBaseType(facts->atttypid);
  out->collation = facts->attcollation;
  out->changes_late = facts->attgenerated != '\0';
  strlcat(out->name, ".", sizeof out->name);
  strlcat(out->name, quote_identifier(NameStr(facts->attname)), sizeof out->name);
  ReleaseSysCache(row);
  return true;
}

static bool may_change_the_row(const FormData_pg_trigger* facts) {
  return TRIGGER_FOR_ROW(facts->tgtype) && TRIGGER_FOR_BEFORE(facts->tgtype) &&
         (TRIGGER_FOR_INSERT(facts->tgtype) || TRIGGER_FOR_UPDATE(facts->tgtype));
}

/* A trigger that is not ALWAYS does not fire for the rows of replicas. */
static TransactionId written_by(HeapTuple row) {
  bool always = ((Form_pg_trigger)GETSTRUCT(row))->tgenabled == TRIGGER_FIRES_ALWAYS;
  return always ? HeapTupleHeaderGetRawXmin(row->t_data) : InvalidTransactionId;
}

/* Reads the triggers in the order of their names, which is the order in which they fire.  The snapshot is a new one: it
 * sees all changes by the transactions whose rows any snapshot of this backend sees.  The caches may learn of a change
 * a moment later. */
static void read_triggers(Oid tab, int attnum, Definition* out) {
  char before[NAMEDATALEN], after[NAMEDATALEN];
  Oid own = InvalidOid;
  ScanKeyData key;
  HeapTuple row;
  Relation triggers = table_open(TriggerRelationId, AccessShareLock);
  SysScanDesc scan;
  snprintf(before, sizeof before, "~bfstore before %d", attnum);
  snprintf(after, sizeof after, "~bfstore after %d", attnum);
  ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(tab));
  scan = systable_beginscan(triggers, TriggerRelidNameIndexId, true, NULL, 1, &key);
  while (HeapTupleIsValid(row = systable_getnext(scan))) {
    Form_pg_trigger facts = (Form_pg_trigger)GETSTRUCT(row);
    int order = strcmp(NameStr(facts->tgname), before);
    if (strcmp(NameStr(facts->tgname), after) == 0) {
      out->after = written_by(row);
      out->after_at = row->t_self;
    } else if (order == 0) {
      out->before = written_by(row);
      out->before_at = row->t_self;
      own = facts->tgfoid;
    } else if (order > 0 && facts->tgfoid != own && may_change_the_row(facts)) {
      out->changes_late = true;
    }
  }
  systable_endscan(scan);
  table_close(triggers, AccessShareLock);
}

bool definition_read(Oid tab, int attnum, Definition* out) {
  memset(out, 0, sizeof *out);
  out->tab = tab;
  out->attnum = attnum;
  if (!read_table(tab, out) || !read_column(tab, attnum, out)) return false;
  if (out->has_triggers) read_triggers(tab, attnum, out);
  return true;
}

/* A command that alters the row sets its xmax before it commits, even if this backend has not yet learned of the
 * change. */
static bool row_is_untouched(Relation triggers, const ItemPointerData* at, TransactionId written_by) {
  Buffer buffer = ReadBuffer(triggers, ItemPointerGetBlockNumber(at));
  Page page = BufferGetPage(buffer);
  OffsetNumber number = ItemPointerGetOffsetNumber(at);
  bool untouched = false;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  if (number <= PageGetMaxOffsetNumber(page) && ItemIdIsNormal(PageGetItemId(page, number))) {
    HeapTupleHeader row = (HeapTupleHeader)PageGetItem(page, PageGetItemId(page, number));
    untouched = HeapTupleHeaderGetRawXmin(row) == written_by && (row->t_infomask & HEAP_XMAX_INVALID) != 0;
  }
  UnlockReleaseBuffer(buffer);
  return untouched;
}

bool definition_is_untouched(const Definition* now, uint64 changes) {
  Relation triggers = table_open(TriggerRelationId, AccessShareLock);
  bool untouched = definitions_changes == changes && /* otherwise the rows may also have moved */
                   row_is_untouched(triggers, &now->before_at, now->before) &&
                   row_is_untouched(triggers, &now->after_at, now->after);
  table_close(triggers, AccessShareLock);
  return untouched;
}

bool definition_has_triggers(const Definition* of) {
  return TransactionIdIsValid(of->before) && TransactionIdIsValid(of->after);
}

/* ALTER COLUMN TYPE with USING gives the rows other values.  It rewrites the table, and the column's row in
 * pg_attribute.  Commands that do only one of the two leave the values as they are: VACUUM FULL, SET NOT NULL. */
static bool has_other_values(const Definition* then, const Definition* now) {
  return then->column != now->column && then->storage != now->storage;
}

const char* definition_difference(const Definition* then, const Definition* now) {
  if (!definition_has_triggers(now)) return "has not both triggers, or one is not ENABLE ALWAYS";
  if (then->before != now->before || then->after != now->after)
    return "had its triggers altered since the filter was built, and rows may have come past them";
  if (strcmp(then->name, now->name) != 0) return "was renamed";
  if (then->type != now->type) return "has another type";
  if (then->collation != now->collation) return "has another collation";
  if (has_other_values(then, now)) return "was written anew by ALTER TABLE";
  return now->has_children ? "has tables that inherit from it, or had one (then ANALYZE it)" : NULL;
}

/* --- The text in bfstore.opened ----------------------------------------------------------------------------------- */

#define FORM "%u %d %u %u %u %u %u %n"

char* definition_text(const Definition* of) {
  return psprintf("%u %d %u %u %u %u %u %s", of->tab, of->attnum, of->before, of->after, of->column, of->storage,
                  of->collation, of->name);
}

bool definition_parse(const char* text, Oid type, Definition* out) {
  int name = 0;
  memset(out, 0, sizeof *out);
  out->type = type;
  if (sscanf(text, FORM, &out->tab, &out->attnum, &out->before, &out->after, &out->column, &out->storage,
             &out->collation, &name) != 7 ||
      name == 0)
    return false;
  strlcpy(out->name, text + name, sizeof out->name);
  return true;
}
