/* The files of filters: their owner, the position in the server's log that marks them, and dropping them. */
#include "internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "access/xlog.h"
#include "common/string.h"
#include "miscadmin.h"
#include "replication/message.h"
#include "storage/fd.h"

void canonical_path(const char* given, char* path) {
  if (!is_absolute_path(given))
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("bfstore: \"%s\" is not an absolute path", given)));
  if (strlen(given) >= MAXPGPATH)
    ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG), errmsg("bfstore: the path is too long")));
  strlcpy(path, given, MAXPGPATH);
  canonicalize_path(path);
}

/* --- The owner of a file ------------------------------------------------------------------------------------------ */

/* The note has the data directory: a copy of that directory has the same system identifier, but is another server. */
void own_note(char note[NOTE_BYTES]) {
  char directory[PATH_MAX];
  snprintf(note, NOTE_BYTES, "postgresql " UINT64_FORMAT " %u %s", GetSystemIdentifier(), MyDatabaseId,
           realpath(DataDir, directory) != NULL ? directory : DataDir);
}

static int length_without_directory(const char* note) {
  const char* system = strchr(note, ' ');
  const char* database = system != NULL ? strchr(system + 1, ' ') : NULL;
  const char* directory = database != NULL ? strchr(database + 1, ' ') : NULL;
  return directory != NULL ? (int)(directory - note) : (int)strlen(note);
}

/* A standby has another directory than the primary whose file it shares. */
bool is_own_note(const char* note) {
  char own[NOTE_BYTES];
  int length;
  own_note(own);
  if (!RecoveryInProgress()) return strcmp(note, own) == 0;
  length = length_without_directory(own);
  return length_without_directory(note) == length && strncmp(note, own, (size_t)length) == 0;
}

/* Reads the note from the first page: this works also for a file that cannot be opened (see FORMAT.md). */
static bool read_note_of_others(const char* path, char note[NOTE_BYTES]) {
  char page[4096 + 1] = "";
  int file = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
  int bytes = file >= 0 ? (int)read(file, page, sizeof page - 1) : 0;
  char* found = bytes > 0 ? memmem(page, (size_t)bytes, "postgresql ", 11) : NULL;
  if (file >= 0) CloseTransientFile(file);
  if (found == NULL || is_own_note(found)) return false;
  pg_clean_ascii(found);
  strlcpy(note, found, NOTE_BYTES);
  return true;
}

bool is_file_of_others(const char* path) {
  char note[NOTE_BYTES];
  return read_note_of_others(path, note);
}

void refuse_file_of_others(const char* path) {
  char note[NOTE_BYTES];
  if (!read_note_of_others(path, note)) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("bfstore: another database keeps %s", path),
                  errdetail("The file's note is \"%s\".", note),
                  errhint("Call bf_detach here, and bf_attach with another path.  If that database is gone, remove "
                          "the file first.")));
}

/* The owner of the marks. */
uint64 own_number(void) { return GetSystemIdentifier(); }

int32_t sync_at(bfs_filter* filter, uint64 timeline, uint64 position, bfs_error* error) {
  const bfs_owner_mark mark = {.owner = own_number(), .mark = position, .epoch = timeline};
  return bfs_sync(filter, &mark, error);
}

/* Writes a record to the log: so positions are never equal, and a flushed one is not given again after a crash. */
uint64 next_position(void) {
  XLogRecPtr position = LogLogicalMessage("bfstore", "", 0, false);
  XLogFlush(position);
  return position;
}

/* --- An entry's file ---------------------------------------------------------------------------------------------- */

void close_entry(Entry* entry) {
  if (entry->filter != NULL) bfs_close(entry->filter, NULL);
  entry->filter = NULL;
  entry->registered = entry->registered_just_now = entry->filling = entry->kept = entry->trimmed = false;
  entry->of_table = entry->counts = false;
  entry->built_by = InvalidTransactionId;
  entry->key_type = InvalidOid;
}

bool make_filling(Entry* entry, bfs_error* error) {
  bfs_options options = BFS_OPTIONS_INIT;
  char note[NOTE_BYTES];
  close_entry(entry);
  own_note(note);
  options.capacity = 1024;
  options.fpr = 0.01;
  options.note = note;
  options.note_bytes = strlen(note);
  if (bfs_create(entry->path, BFS_REPLACE | BFS_FILLING | BFS_GUARD, &options, &entry->filter, error) != BFS_OK) {
    entry->filter = NULL;
    return false;
  }
  entry->kept = entry->filling = true;
  return true;
}

void drop_filter(Entry* entry) {
  bfs_error error = BFS_ERROR_INIT;
  refuse_file_of_others(entry->path);
  if (!make_filling(entry, &error))
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("bfstore: %s", error.message),
                    errdetail("The filter could neither take the row's key nor be dropped.")));
}
