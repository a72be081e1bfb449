/* The filters that this backend has open, and whether their "no" counts.  A reader checks the path and the table again
 * in each statement of the client, and for each snapshot: a snapshot that sees a row also sees what happened to the
 * file and to the triggers before.  A writer checks the path in each statement of each transaction. */
#include "internal.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "common/string.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

#define NUM_ENTRIES 32
#define LOOKUP_WAITS_MS 100

bool trust_on_standby = false;
bool trust_other_databases = false;

static Entry entries[NUM_ENTRIES];
static uint64 uses = 0;

/* The last writer that closes a file marks it clean: so a later power cut does not make it unclean. */
static void close_all(int code, Datum argument) {
  int i;
  (void)code;
  (void)argument;
  for (i = 0; i < NUM_ENTRIES; ++i) close_entry(&entries[i]);
}

/* An opening that did not commit is registered again before the next add.  A file that was compared with a row that did
 * not commit is compared again.  Every path is checked again: until here the table's lock held off bf_attach, and one
 * CALL or DO may have many transactions. */
static void end_openings_of_now(bool committed) {
  int i;
  for (i = 0; i < NUM_ENTRIES; ++i) {
    Entry* entry = &entries[i];
    entry->statement = entry->looked.statement = 0;
    if (!committed && entry->registered_just_now) entry->registered = false;
    entry->registered_just_now = false;
    if (committed || entry->writes || !entry->kept) continue;
    close_entry(entry);
  }
}

/* A prepared transaction may commit later than those that rely on its row, or never. */
static void at_transaction_end(XactEvent event, void* argument) {
  (void)argument;
  if (event == XACT_EVENT_COMMIT) end_openings_of_now(true);
  if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) end_openings_of_now(false);
}

static void at_subtransaction_end(SubXactEvent event, SubTransactionId self, SubTransactionId parent, void* argument) {
  (void)self;
  (void)parent;
  (void)argument;
  if (event == SUBXACT_EVENT_ABORT_SUB) end_openings_of_now(false);
}

void handles_begin(void) {
  RegisterXactCallback(at_transaction_end, NULL);
  RegisterSubXactCallback(at_subtransaction_end, NULL);
  on_proc_exit(close_all, 0);
}

static Entry* entry_of(const char* given, bool writes) {
  Entry* oldest = &entries[0];
  int i;
  for (i = 0; i < NUM_ENTRIES; ++i) {
    Entry* entry = &entries[i];
    if (entry->writes == writes && entry->given[0] != '\0' && strcmp(entry->given, given) == 0) {
      entry->used = ++uses;
      return entry;
    }
    if (entry->used < oldest->used) oldest = entry;
  }
  close_entry(oldest);
  oldest->given[0] = '\0';
  canonical_path(given, oldest->path);
  strlcpy(oldest->given, given, MAXPGPATH);
  oldest->writes = writes;
  oldest->statement = oldest->looked.statement = 0;
  oldest->used = ++uses;
  return oldest;
}

void forget_handles(const char* path) {
  int i;
  for (i = 0; i < NUM_ENTRIES; ++i) {
    if (entries[i].given[0] == '\0' || strcmp(entries[i].path, path) != 0) continue;
    close_entry(&entries[i]);
    entries[i].statement = entries[i].looked.statement = 0;
  }
}

/* --- Does the file belong to the table? --------------------------------------------------------------------------- */

/* Returns NULL, or why the table may have rows whose keys are not in the file. */
static const char* doubt_of_table(Entry* entry) {
  const char* difference;
  if (!definition_read(entry->table.tab, entry->table.attnum, &entry->now))
    return psprintf("%s is gone", entry->table.name);
  difference = definition_difference(&entry->table, &entry->now);
  return difference != NULL ? psprintf("%s %s", entry->table.name, difference) : NULL;
}

static uint64 mark_of(const Entry* entry) { return bfs_get_mark(entry->filter, own_number(), (uint64)entry->timeline); }

/* A writer that opens the file concurrently stores its mark in the file before it registers it.  So the mark is read
 * again. */
bool is_older_copy(Entry* entry) {
  uint64 before, mark = 0;
  do {
    before = mark;
    mark = mark_of(entry);
    if (mark < entry->mark) return true;
    entry->mark = mark;
    if (!registry_has_opening_after(entry->path, mark)) return false;
  } while (mark != before);
  return true;
}

/* Compares the file with the registry.  Returns NULL, or why a "no" does not count. */
static const char* compare(Entry* entry, const bfs_statistics* facts, Snapshot snapshot) {
  Registered known;
  bool standby = RecoveryInProgress();
  const char* why;
  if (!registry_read(entry->path, snapshot, &known)) return "this database does not know the file (yet)";
  if (memcmp(facts->file_id, known.file_id, FILE_ID_BYTES) != 0) return "the file is not the one that was built last";
  if (!standby && known.timeline != (int64)GetWALInsertionTimeLine())
    return "the database was restored or promoted since the file was built";
  entry->timeline = known.timeline;
  entry->mark = known.mark;
  if (is_older_copy(entry)) return "the file is an older copy";
  if (!standby && entry->mark > GetXLogInsertRecPtr()) return "the database is older than the file";
  entry->key_type = known.key_type;
  entry->of_table = known.of_table;
  entry->table = known.table;
  if (!entry->writes && known.of_table && (why = doubt_of_table(entry)) != NULL) return why;
  entry->built_by = XidFromFullTransactionId(known.built_by);
  /* So long ago that 32 bits no longer identify the transaction. */
  if (U64FromFullTransactionId(ReadNextFullTransactionId()) - U64FromFullTransactionId(known.built_by) > (1u << 30))
    entry->built_by = InvalidTransactionId;
  return NULL;
}

/* Returns NULL, or why a "no" of this file does not count. */
static const char* doubt(Entry* entry, Snapshot snapshot) {
  char note[NOTE_BYTES] = "";
  bfs_statistics facts = BFS_STATISTICS_INIT;
  Registered known;
  bool is_known;
  entry->kept = entry->trimmed = false;
  if (bfs_stats(entry->filter, 0, &facts, NULL) != BFS_OK) return "its note cannot be read";
  memcpy(note, facts.note, Min(facts.note_bytes, sizeof note - 1));
  entry->kept = entry->trimmed = strncmp(note, "postgresql ", 11) == 0;
  entry->of_others = entry->kept && !is_own_note(note);
  if (entry->kept && !entry->of_others) return compare(entry, &facts, snapshot);
  is_known = registry_read(entry->path, snapshot, &known);
  if (entry->of_others && (entry->writes || is_known || !trust_other_databases)) {
    pg_clean_ascii(note);
    return psprintf("another database keeps the file (%s)", note);
  }
  entry->kept = false;
  return is_known ? "the file is not the one that was built last" : NULL;
}

/* The snapshot of a cursor, or of REPEATABLE READ, may see rows that were deleted before the file was built. */
static bool counts_in(const Entry* entry, Snapshot snapshot) {
  if (!entry->kept || !TransactionIdIsValid(entry->built_by)) return true;
  return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC &&
         !TransactionIdIsCurrentTransactionId(entry->built_by) && !XidInMVCCSnapshot(entry->built_by, snapshot);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static bool open_entry(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  /* Guarded: SIGBUS of a backend would restart the whole server. */
  uint64 flags = (entry->writes ? BFS_WRITE : BFS_READ) | BFS_GUARD;
  if (!entry->writes) options.lock_timeout_ms = LOOKUP_WAITS_MS;
  if (bfs_open(entry->path, flags, &options, &entry->filter, &error) == BFS_OK) return true;
  entry->filter = NULL;
  snprintf(entry->problem, sizeof entry->problem, "%s", error.message);
  return false;
}

bool is_to_be_told(Entry* entry) {
  TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (entry->told == statement) return false;
  entry->told = statement;
  return true;
}

static Moment moment(void) {
  Moment now = {GetCurrentStatementStartTimestamp(), 0, 0, 0, 0, definitions_changes};
  if (ActiveSnapshotSet()) {
    Snapshot snapshot = GetActiveSnapshot();
    now.xmax = snapshot->xmax;
    now.xcnt = snapshot->xcnt;
    now.subxcnt = snapshot->subxcnt;
    now.command = snapshot->curcid;
  }
  return now;
}

/* No transaction has ended between the two moments. */
static bool same_transactions(const Moment* one, const Moment* other) {
  return one->xmax == other->xmax && one->xcnt == other->xcnt && one->subxcnt == other->subxcnt;
}

static bool same_moment(const Moment* one, const Moment* other) {
  return one->statement == other->statement && same_transactions(one, other) && one->command == other->command &&
         one->changes == other->changes;
}

static bool is_in_doubt(const bfs_filter* filter) {
  int32_t health = bfs_health(filter);
  return health != BFS_OK && health != BFS_EFILLING;
}

static void refuse(Entry* entry, const char* why) {
  snprintf(entry->problem, sizeof entry->problem, "%s: %s", entry->path, why);
  close_entry(entry);
}

static bool table_is_as_it_was(Entry* entry, const Moment* now) {
  if (!entry->of_table) return true;
  if (now->changes == entry->looked.changes) {
    if (same_transactions(now, &entry->looked)) return true;
    if (definition_is_untouched(&entry->now, now->changes)) return true;
  }
  return doubt_of_table(entry) == NULL;
}

/* While no transaction ends, and this one has written nothing, a snapshot sees no row of an opening later than the mark
 * that was seen. */
static bool has_its_mark(Entry* entry, const Moment* now) {
  if (!entry->kept) return true;
  if (same_transactions(now, &entry->looked) && !TransactionIdIsValid(GetTopTransactionIdIfAny()))
    return mark_of(entry) >= entry->mark;
  return !is_older_copy(entry);
}

static bool is_judged_otherwise(const Entry* entry) {
  return entry->on_standby != RecoveryInProgress() || (entry->of_others && !trust_other_databases);
}

/* Closes a file that another one replaced, or whose table or server has changed: it is opened again, for the registry
 * may also be newer. */
static void close_if_outdated(Entry* entry, const Moment* now) {
  if (entry->filter == NULL) return;
  if (is_judged_otherwise(entry) || is_in_doubt(entry->filter) || bfs_is_current(entry->filter, NULL) != 1 ||
      !has_its_mark(entry, now) || !table_is_as_it_was(entry, now))
    close_entry(entry);
}

static void look_at_reader(Entry* entry, const Moment* now) {
  const char* why;
  close_if_outdated(entry, now);
  if (build_of(entry->path) != NULL) {
    refuse(entry, "this transaction has built or detached the filter, which counts from the commit on");
  } else if (RecoveryInProgress() && !trust_on_standby) {
    refuse(entry, "a standby does not get the file's keys");
  } else if (entry->filter == NULL && open_entry(entry)) {
    entry->on_standby = RecoveryInProgress();
    why = ActiveSnapshotSet() ? doubt(entry, InvalidSnapshot) : "there is no snapshot";
    if (why != NULL) refuse(entry, why);
  }
  if (entry->filter == NULL && is_to_be_told(entry))
    ereport(WARNING, (errmsg("bfstore: %s", entry->problem), errdetail("Every key is answered \"maybe\".")));
}

/* READ COMMITTED checks the condition again for a row that it waited for, with the row's new values but no new
 * snapshot.  The row's transaction sent its changes of the triggers before it unlocked the row. */
static void hear_of_changes(const Entry* entry) {
  if (entry->of_table && !IsolationUsesXactSnapshot()) AcceptInvalidationMessages();
}

Entry* reader_of(const char* given) {
  Entry* entry = entry_of(given, false);
  Moment now;
  hear_of_changes(entry);
  now = moment();
  if (!same_moment(&entry->looked, &now)) {
    look_at_reader(entry, &now);
    entry->locked = false;
    entry->counts = entry->filter != NULL && counts_in(entry, ActiveSnapshotSet() ? GetActiveSnapshot() : NULL);
    entry->looked = now;
  }
  return entry;
}

/* Step 4 of the engine's protocol.  The position is read first: every transaction that committed before it has its keys
 * in the file. */
static void register_opening(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  Registered known;
  uint64 position = next_position();
  const char* why = doubt(entry, GetLatestSnapshot());
  if (entry->kept && bfs_health(entry->filter) == BFS_EFILLING) {
    entry->filling = true;
    return;
  }
  if (why != NULL) {
    refuse(entry, why);
    return;
  }
  if (entry->kept) {
    if (!registry_read(entry->path, GetLatestSnapshot(), &known) ||
        sync_at(entry->filter, (uint64)known.timeline, position, &error) != BFS_OK) {
      refuse(entry, error.message);
      return;
    }
    registry_add_opening(entry->path, position);
    entry->registered_just_now = true;
    /* A process that opened another file at the path before the row existed did not see the row. */
    if (bfs_is_current(entry->filter, NULL) != 1) {
      refuse(entry, "the file was replaced while it was opened");
      return;
    }
  }
  entry->registered = true;
}

static void look_at_writer(Entry* entry) {
  if (entry->filter != NULL && (is_in_doubt(entry->filter) || bfs_is_current(entry->filter, NULL) != 1 ||
                                (entry->kept && entry->registered && is_older_copy(entry))))
    close_entry(entry);
  if (entry->filter == NULL && !open_entry(entry)) return;
  if (!entry->registered && !entry->filling) register_opening(entry);
}

Entry* writer_of(const char* given) {
  Entry* entry = entry_of(given, true);
  TimestampTz statement = GetCurrentStatementStartTimestamp();
  Entry* built = build_of(entry->path);
  if (built != NULL) return built;
  if (entry->statement != statement || entry->filter == NULL || (!entry->registered && !entry->filling)) {
    entry->statement = 0;
    look_at_writer(entry);
    entry->statement = statement;
  }
  return entry;
}
