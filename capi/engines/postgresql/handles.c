/* The filters that this backend has open, and whether a "no" of theirs counts.  A path is looked at once in each
 * statement of the client, and in each transaction of it: a file that took its place is noticed there. */
#include "internal.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "replication/message.h"
#include "storage/ipc.h"
#include "utils/snapmgr.h"

#define NUM_ENTRIES 32
#define LOOKUP_WAITS_MS 100

bool trust_on_standby = false;
bool trust_other_databases = false;

static Entry entries[NUM_ENTRIES];
static uint64 uses = 0;

static void close_entry(Entry* entry) {
  if (entry->filter != NULL) bfs_close(entry->filter, NULL);
  entry->filter = NULL;
  entry->registered = entry->registered_just_now = entry->filling = entry->kept = false;
  entry->built_by = InvalidTransactionId;
  entry->key_type = InvalidOid;
}

/* The last writer of a file marks it clean: it is not unclean after a power cut then. */
static void close_all(int code, Datum argument) {
  int i;
  (void)code;
  (void)argument;
  for (i = 0; i < NUM_ENTRIES; ++i) close_entry(&entries[i]);
}

/* An opening that did not commit is written down again, before the next add.  A file that was compared with a row that
 * did not commit is compared again.  Every path is looked at again: until here the lock of the table held off
 * bf_attach, and one CALL or DO has many transactions. */
static void end_openings_of_now(bool committed) {
  int i;
  for (i = 0; i < NUM_ENTRIES; ++i) {
    Entry* entry = &entries[i];
    entry->statement = 0;
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

void canonical_path(const char* given, char* path) {
  if (!is_absolute_path(given))
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("bfstore: \"%s\" is not an absolute path", given)));
  if (strlen(given) >= MAXPGPATH)
    ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG), errmsg("bfstore: the path is too long")));
  strlcpy(path, given, MAXPGPATH);
  canonicalize_path(path);
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
  oldest->statement = 0;
  oldest->used = ++uses;
  return oldest;
}

void forget_handles(const char* path) {
  int i;
  for (i = 0; i < NUM_ENTRIES; ++i) {
    if (entries[i].given[0] == '\0' || strcmp(entries[i].path, path) != 0) continue;
    close_entry(&entries[i]);
    entries[i].statement = 0;
  }
}

/* --- Which file it is --------------------------------------------------------------------------------------------- */

void own_note(char note[NOTE_BYTES]) {
  snprintf(note, NOTE_BYTES, "postgresql " UINT64_FORMAT " %u", GetSystemIdentifier(), MyDatabaseId);
}

/* The owner of the marks. */
uint64 own_number(void) { return GetSystemIdentifier(); }

/* A record of its own in the log: positions are never equal, and one that was flushed is not given again after a crash.
 */
uint64 next_position(void) {
  XLogRecPtr position = LogLogicalMessage("bfstore", "", 0, false);
  XLogFlush(position);
  return position;
}

/* What is known of the file in the registry. */
static const char* compare(Entry* entry, Snapshot snapshot, uint64* mark) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  Registered known;
  bool standby = RecoveryInProgress();
  if (!registry_read(entry->path, snapshot, &known)) return "this database does not know the file (yet)";
  if (bfs_stats(entry->filter, 0, &facts, NULL) != BFS_OK) return "the file cannot be read";
  if (memcmp(facts.file_id, known.file_id, FILE_ID_BYTES) != 0) return "the file is not the one that was built last";
  if (!standby && known.timeline != (int64)GetWALInsertionTimeLine())
    return "the database was restored or promoted since the file was built";
  *mark = bfs_get_mark(entry->filter, own_number(), (uint64)known.timeline);
  if (*mark < known.mark || registry_has_opening_after(entry->path, *mark)) return "the file is an older copy";
  if (!standby && *mark > GetXLogInsertRecPtr()) return "the database is older than the file";
  entry->key_type = known.key_type;
  entry->built_by = XidFromFullTransactionId(known.built_by);
  /* So long ago that 32 bits do not tell it any more. */
  if (U64FromFullTransactionId(ReadNextFullTransactionId()) - U64FromFullTransactionId(known.built_by) > (1u << 30))
    entry->built_by = InvalidTransactionId;
  return NULL;
}

/* NULL, or why a "no" of this file counts for nothing. */
static const char* doubt(Entry* entry, Snapshot snapshot, uint64* mark) {
  char note[NOTE_BYTES] = "", own[NOTE_BYTES];
  Registered known;
  int64 bytes = bfs_get_note(entry->filter, note, sizeof note - 1, NULL);
  entry->kept = bytes > 0 && strncmp(note, "postgresql ", 11) == 0;
  if (bytes < 0) return "its note cannot be read";
  own_note(own);
  entry->foreign = entry->kept && strcmp(note, own) != 0;
  if (entry->kept && !entry->foreign) return compare(entry, snapshot, mark);
  if (registry_read(entry->path, snapshot, &known)) return "the file is not the one that was built last";
  if (!entry->kept) return NULL;
  if (entry->writes || !trust_other_databases) return "another database keeps the file";
  entry->kept = false;
  return NULL;
}

/* The snapshot of a cursor, or of REPEATABLE READ, may see rows that were deleted before the file was built. */
bool counts_in(const Entry* entry, Snapshot snapshot) {
  if (!entry->kept || !TransactionIdIsValid(entry->built_by)) return true;
  return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC &&
         !TransactionIdIsCurrentTransactionId(entry->built_by) && !XidInMVCCSnapshot(entry->built_by, snapshot);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static bool open_entry(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_open_options options = BFS_OPEN_OPTIONS_INIT;
  /* Guarded: SIGBUS of a backend would restart the whole server. */
  options.flags = (entry->writes ? BFS_OPEN_WRITE : BFS_OPEN_READ) | BFS_OPEN_GUARD;
  if (!entry->writes) options.lock_timeout_ms = LOOKUP_WAITS_MS;
  entry->foreign = false;
  if (bfs_open_with(entry->path, &options, &entry->filter, &error) == BFS_OK) return true;
  entry->filter = NULL;
  snprintf(entry->problem, sizeof entry->problem, "%s", error.message);
  return false;
}

static bool is_in_doubt(const bfs_filter* filter) {
  int32_t health = bfs_health(filter);
  return health != BFS_OK && health != BFS_EFILLING;
}

static void refuse(Entry* entry, const char* why) {
  snprintf(entry->problem, sizeof entry->problem, "%s: %s", entry->path, why);
  close_entry(entry);
}

static void look_at_reader(Entry* entry) {
  const char* why;
  uint64 mark;
  if (entry->filter != NULL && (is_in_doubt(entry->filter) || bfs_is_current(entry->filter, NULL) != 1))
    close_entry(entry);
  if (entry->filter != NULL && (!RecoveryInProgress() || trust_on_standby)) return;
  if (RecoveryInProgress() && !trust_on_standby) {
    refuse(entry, "a standby does not get the file's keys");
  } else if (open_entry(entry)) {
    why = ActiveSnapshotSet() ? doubt(entry, InvalidSnapshot, &mark) : "there is no snapshot";
    if (why != NULL) refuse(entry, why);
  }
  if (entry->filter == NULL)
    ereport(WARNING, (errmsg("bfstore: %s", entry->problem), errdetail("Every key is answered \"maybe\".")));
}

Entry* reader_of(const char* given) {
  Entry* entry = entry_of(given, false);
  TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (entry->statement != statement) {
    entry->statement = statement;
    look_at_reader(entry);
  }
  return entry;
}

/* Step 4 of the engine's protocol.  The position is read first: whatever committed before it has its keys in the
 * file. */
static void register_opening(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  Registered known;
  uint64 mark = 0, position = next_position();
  const char* why = doubt(entry, GetLatestSnapshot(), &mark);
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
        bfs_sync(entry->filter, own_number(), (uint64)known.timeline, position, &error) != BFS_OK) {
      refuse(entry, error.message);
      return;
    }
    registry_add_opening(entry->path, position);
    entry->registered_just_now = true;
    /* Who opened another file at the path before the row was there did not see the row. */
    if (bfs_is_current(entry->filter, NULL) != 1) {
      refuse(entry, "the file was replaced while it was opened");
      return;
    }
  }
  entry->registered = true;
}

static void look_at_writer(Entry* entry) {
  if (entry->filter != NULL && (is_in_doubt(entry->filter) || bfs_is_current(entry->filter, NULL) != 1))
    close_entry(entry);
  if (entry->filter == NULL && !open_entry(entry)) return;
  if (!entry->registered && !entry->filling) register_opening(entry);
}

Entry* writer_of(const char* given) {
  Entry* entry = entry_of(given, true);
  TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (entry->statement != statement || entry->filter == NULL || (!entry->registered && !entry->filling)) {
    entry->statement = 0;
    look_at_writer(entry);
    entry->statement = statement;
  }
  return entry;
}

/* The file of another database is not this one's to drop.  Handles of the file that it replaces answer "maybe" at once,
 * and those of this one until it is built again. */
void drop_filter(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  char note[NOTE_BYTES];
  if (entry->foreign) ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s", entry->problem)));
  close_entry(entry);
  own_note(note);
  options.capacity = 1024;
  options.fpr = 0.01;
  options.flags = BFS_OPTION_REPLACE | BFS_OPTION_FILLING | BFS_OPEN_GUARD;
  options.note = note;
  options.note_bytes = strlen(note);
  if (bfs_create(entry->path, &options, &entry->filter, &error) != BFS_OK) {
    entry->filter = NULL;
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s", error.message),
                    errdetail("The filter could neither take the row's key nor be dropped.")));
  }
  entry->kept = entry->filling = true;
}
