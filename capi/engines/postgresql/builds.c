/* The files that this transaction builds or drops.  A file gets its name, or is dropped, when the transaction commits.
 * If the transaction is rolled back, the old file has kept its name, and takes rows as before.  Until the commit the
 * new file takes the keys of this transaction's rows: the table's lock holds off other transactions. */
#include "internal.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/memutils.h"

typedef struct Build {
  struct Build* before;
  SubTransactionId made_in;
  bool has_its_name;
  Entry entry; /* without a filter if the file is dropped */
} Build;

static Build* newest = NULL;

Entry* build_of(const char* path) {
  Build* build = newest;
  while (build != NULL && strcmp(build->entry.path, path) != 0) build = build->before;
  return build != NULL ? &build->entry : NULL;
}

void build_keep(const char* path, bfs_filter* filter) {
  Build* build = MemoryContextAllocZero(TopMemoryContext, sizeof *build);
  build->before = newest;
  build->made_in = GetCurrentSubTransactionId();
  build->entry.filter = filter;
  build->entry.writes = build->entry.kept = build->entry.registered = build->entry.building = true;
  strlcpy(build->entry.given, path, sizeof build->entry.given);
  strlcpy(build->entry.path, path, sizeof build->entry.path);
  strlcpy(build->entry.problem, "this transaction has detached the filter", sizeof build->entry.problem);
  newest = build;
}

/* Forgets the builds of one subtransaction, or all (InvalidSubTransactionId).  If a commit fails after a file got its
 * name, no row counts on that file, and the old one is gone: so the file becomes a filling one. */
static void forget(SubTransactionId made_in, bool aborts) {
  bfs_error ignored = BFS_ERROR_INIT;
  Build** place = &newest;
  while (*place != NULL) {
    Build* build = *place;
    if (made_in != InvalidSubTransactionId && build->made_in != made_in) {
      place = &build->before;
      continue;
    }
    *place = build->before;
    if (aborts && build->has_its_name) make_filling(&build->entry, &ignored);
    bfs_close(build->entry.filter, NULL);
    pfree(build);
  }
}

/* Gives the file its name.  Everything in it is durable before that. */
static void publish(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  if (entry->filter == NULL) {
    drop_filter(entry);
    return;
  }
  refuse_file_of_others(entry->path);
  if (sync_at(entry->filter, GetWALInsertionTimeLine(), next_position(), &error) != BFS_OK ||
      bfs_publish(entry->filter, &error) != BFS_OK)
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s", error.message)));
}

static void publish_all(void) {
  Build* build;
  for (build = newest; build != NULL; build = build->before)
    if (build_of(build->entry.path) == &build->entry) {
      publish(&build->entry);
      build->has_its_name = true;
    }
}

static void at_transaction_end(XactEvent event, void* argument) {
  (void)argument;
  if (event == XACT_EVENT_PRE_COMMIT) publish_all();
  if (event == XACT_EVENT_PRE_PREPARE && newest != NULL)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bfstore: a transaction that has built a filter cannot be prepared")));
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
    forget(InvalidSubTransactionId, event == XACT_EVENT_ABORT);
}

static void at_subtransaction_end(SubXactEvent event, SubTransactionId self, SubTransactionId parent, void* argument) {
  Build* build;
  (void)argument;
  if (event == SUBXACT_EVENT_ABORT_SUB) forget(self, true);
  for (build = newest; event == SUBXACT_EVENT_COMMIT_SUB && build != NULL; build = build->before)
    if (build->made_in == self) build->made_in = parent;
}

void builds_begin(void) {
  RegisterXactCallback(at_transaction_end, NULL);
  RegisterSubXactCallback(at_subtransaction_end, NULL);
}
