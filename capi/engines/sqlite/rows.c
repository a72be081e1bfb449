/* bfstore's extension of SQLite: rows between their BEFORE and AFTER triggers. */
#include "internal.h"
SQLITE_EXTENSION_INIT3

/* Counts a row.  A row may change within another one, by a foreign key action.  Every AFTER trigger follows a BEFORE
 * trigger of its row. */
void enter_row(struct filter* filter, int is_late) {
  ++filter->depth;
  if (is_late && filter->late_at == 0) filter->late_at = filter->depth;
}

void leave_row(struct filter* filter) {
  if (filter->late_at == filter->depth) filter->late_at = 0;
  if (filter->depth > 0) --filter->depth;
}

static int writes_now(sqlite3* db) {
  sqlite3_stmt* statement = NULL;
  while ((statement = sqlite3_next_stmt(db, statement)) != NULL)
    if (sqlite3_stmt_busy(statement) && !sqlite3_stmt_readonly(statement)) return 1;
  return 0;
}

/* A row may also end without its AFTER trigger: by a constraint, or in an UPDATE that changes no key.  It ends at the
 * latest with its statement. */
int has_late_row(const struct connection* connection, struct filter* filter) {
  if (filter->late_at != 0 && !writes_now(connection->db)) filter->late_at = filter->depth = 0;
  return filter->late_at != 0;
}
