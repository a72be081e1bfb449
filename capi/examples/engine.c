/* A small storage engine, complete: rows in an append-only log, and a filter that keeps it from looking for rows that
 * are not there.  Any number of processes put rows and read them at the same time, and may be killed at any moment.
 *
 *   cc -std=c99 engine.c $(pkg-config --cflags --libs bfstore) -o engine
 *   ./engine FOLDER put KEY VALUE    appends a row
 *   ./engine FOLDER load             a row for each line "KEY VALUE" of standard input; says "KEY" when it is durable
 *   ./engine FOLDER get KEY          the newest value; exit code 1 if there is none
 *   ./engine FOLDER answer           for each line "KEY" of standard input: "KEY = VALUE", or "KEY is absent"
 *   ./engine FOLDER sync             makes the filter durable up to the rows of now
 *   ./engine FOLDER rebuild          makes a new filter, while other processes read and write
 *   ./engine FOLDER compact          makes a new log of the newest rows; also after an older log was restored
 *
 * The numbers of the steps are those of bfstore_engine.h.  Where a real engine has an index, this
 * one reads its log from the beginning: that is what the filter saves. */
#define _DEFAULT_SOURCE /* flock */
#include <bfstore_engine.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OWNER 1 /* the filter has only one log */
#define MAGIC 0x32676f6c776f72ULL
#define NEVER UINT64_MAX /* a mark that no filter has */

/* The first bytes of the log.  A position is a number of bytes from the log's beginning. */
struct header {
  uint64_t magic;
  uint64_t epoch;        /* changes whenever the positions begin anew */
  uint64_t visible;      /* readers see the rows up to here: the keys of all of them are in the filter */
  uint64_t compared;     /* the mark of the filter that a writer compared last; an older filter has less */
  uint8_t filter_id[16]; /* its file_id: another file with that mark is a copy, which may lack keys */
  uint64_t checksum;
};

enum { ROW = 1, OPENED = 2 };

/* A record of the log: a row, or the note that a writer has opened the filter. */
struct record {
  uint64_t checksum;
  uint8_t kind;
  uint8_t key_bytes;
  uint8_t value_bytes;
  char key[24];
  char value[29];
};

struct engine {
  const char* folder;
  char log_path[4096];
  char filter_path[4096];
  int log;
  int writes;
  struct header header; /* as last read */
  bfs_filter* filter;   /* NULL: no filter can be trusted */
  uint64_t epoch;       /* readers: the header's when the filter was opened */
  uint64_t compared;    /* also */
};

static void die(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("engine: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

static void check(int good, const char* what) {
  if (!good) die("%s: %s", what, strerror(errno));
}

/* Returns the FNV-1a hash: it detects a torn write, but no attack. */
static uint64_t checksum_of(const void* bytes, size_t count) {
  const unsigned char* at = bytes;
  uint64_t hash = 0xcbf29ce484222325ULL;
  while (count-- > 0) hash = (hash ^ *at++) * 0x100000001b3ULL;
  return hash;
}

/* --- The log ------------------------------------------------------------------------------------------------------ */

/* Reads the header, which a writer may write at the same time. */
static void read_header(struct engine* engine) {
  struct header* header = &engine->header;
  int tries;
  for (tries = 0; tries < 1000; ++tries) {
    const ssize_t got = pread(engine->log, header, sizeof *header, 0);
    check(got >= 0, engine->log_path);
    if (got == sizeof *header && header->magic == MAGIC &&
        header->checksum == checksum_of(header, offsetof(struct header, checksum)))
      return;
  }
  die("%s: is not a log", engine->log_path);
}

static void write_header(int log, struct header* header) {
  header->magic = MAGIC;
  header->checksum = checksum_of(header, offsetof(struct header, checksum));
  check(pwrite(log, header, sizeof *header, 0) == sizeof *header, "writing the log's header");
}

/* Returns whether a whole record is at `at`. */
static int read_record(int log, uint64_t at, struct record* record) {
  const ssize_t got = pread(log, record, sizeof *record, (off_t)at);
  check(got >= 0, "reading the log");
  return got == sizeof *record &&
         record->checksum == checksum_of(&record->kind, sizeof *record - offsetof(struct record, kind));
}

/* Appends a record, and makes it durable.  Returns the position after it. */
static uint64_t append(int log, uint64_t at, struct record* record) {
  record->checksum = checksum_of(&record->kind, sizeof *record - offsetof(struct record, kind));
  check(pwrite(log, record, sizeof *record, (off_t)at) == sizeof *record, "appending to the log");
  check(fdatasync(log) == 0, "syncing the log");
  return at + sizeof *record;
}

/* Returns a number that no log of this engine had. */
static uint64_t new_epoch(uint64_t old) {
  struct timespec now;
  uint64_t number;
  clock_gettime(CLOCK_REALTIME, &now);
  number = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  return number > old ? number : old + 1;
}

/* Returns whether the path still names the open log: compacting gives it another one. */
static int log_is_current(const struct engine* engine) {
  struct stat open_one, named_one;
  if (engine->log < 0 || fstat(engine->log, &open_one) != 0 || stat(engine->log_path, &named_one) != 0) return 0;
  return open_one.st_ino == named_one.st_ino && open_one.st_dev == named_one.st_dev;
}

/* Makes the name of a new file durable: otherwise a power cut may remove it. */
static void sync_folder(const struct engine* engine) {
  const int folder = open(engine->folder, O_RDONLY | O_DIRECTORY);
  check(folder >= 0 && fsync(folder) == 0, engine->folder);
  close(folder);
}

/* Opens the log.  A filter that was compared with another log has to be compared with this one. */
static void open_log(struct engine* engine) {
  if (engine->log >= 0) close(engine->log);
  bfs_close(engine->filter, NULL);
  engine->filter = NULL;
  engine->log = open(engine->log_path, engine->writes ? O_RDWR | O_CREAT : O_RDONLY, 0644);
  check(engine->log >= 0, engine->log_path);
}

static void unlock_log(struct engine* engine) { flock(engine->log, LOCK_UN); }

/* Locks the log: one process at a time appends, adds and makes visible.  The kernel frees the lock of a killed
 * process. */
static void lock_log(struct engine* engine) {
  struct stat facts;
  for (;;) {
    if (!log_is_current(engine)) open_log(engine);
    check(flock(engine->log, LOCK_EX) == 0, engine->log_path);
    if (log_is_current(engine)) break;
  }
  check(fstat(engine->log, &facts) == 0, engine->log_path);
  if (facts.st_size == 0) {
    struct header first = {MAGIC, 0, sizeof(struct header), NEVER, {0}, 0};
    first.epoch = new_epoch(0);
    write_header(engine->log, &first);
    sync_folder(engine);
  }
  read_header(engine);
}

/* --- The filter, for readers and writers -------------------------------------------------------------------------- */

/* Returns whether the open filter is the one that a writer compared last.  An older state of the same file (cp) has a
 * lower mark.  A copy (bfs_copy) has the mark, but another file_id, and lacks later keys. */
static int is_compared(const struct engine* engine) {
  const struct header* header = &engine->header;
  bfs_statistics facts = {.struct_bytes = sizeof facts};
  return bfs_get_mark(engine->filter, OWNER, header->epoch) >= header->compared &&
         bfs_stats(engine->filter, 0, &facts, NULL) == BFS_OK &&
         memcmp(facts.file_id, header->filter_id, sizeof facts.file_id) == 0;
}

/* --- The filter, for writers -------------------------------------------------------------------------------------- */

/* Makes the keys of all records up to `mark` durable. */
static int32_t sync_up_to(bfs_filter* filter, uint64_t epoch, uint64_t mark, bfs_error* error) {
  const bfs_owner_mark all = {.owner = OWNER, .epoch = epoch, .mark = mark};
  return bfs_sync(filter, &all, error);
}

/* Adds the keys of all records from `at` on.  Returns the position after the last one, or 0 if the filter takes no more
 * keys: `at` is never 0. */
static uint64_t add_from(const struct engine* engine, bfs_filter* filter, uint64_t at) {
  struct record record;
  for (; read_record(engine->log, at, &record); at += sizeof record) {
    if (record.kind == ROW && bfs_add(filter, record.key, record.key_bytes) < 0) return 0;
  }
  return at;
}

/* Replaces the filter, if any, by a new one of all rows.  Needs no lock.  A row that another process appends meanwhile
 * is either in the log when bfs_supersede returns, and is added here; or its add is refused after that, and the process
 * that appended it adds it to the new filter. */
static void build_filter(const struct engine* engine) {
  bfs_error error = {.struct_bytes = sizeof error};
  bfs_options options = {.struct_bytes = sizeof options, .fpr = 0.01, .mode = 0644};
  bfs_filter* fresh;
  struct stat facts;
  uint64_t at;
  check(fstat(engine->log, &facts) == 0, engine->log_path);
  options.capacity = 10000 + 2 * (uint64_t)facts.st_size / sizeof(struct record);
  if (bfs_create(engine->filter_path, BFS_UNPUBLISHED | BFS_REPLACE, &options, &fresh, &error) != BFS_OK)
    die("%s", error.message);
  at = add_from(engine, fresh, sizeof(struct header));
  if (at != 0 && bfs_supersede(fresh, &error) != BFS_OK) die("%s", error.message);
  if (at != 0) at = add_from(engine, fresh, at);
  if (at == 0) die("%s: a new filter takes no keys", engine->filter_path);
  if (sync_up_to(fresh, engine->header.epoch, at, &error) != BFS_OK || bfs_publish(fresh, &error) != BFS_OK)
    die("%s", error.message);
  bfs_close(fresh, NULL);
}

/* Returns BFS_OK, or why no filter can continue: then `recovers` says whether it must be recovered. */
static int32_t open_to_write(struct engine* engine, int* recovers) {
  bfs_error error = {.struct_bytes = sizeof error};
  int32_t code = bfs_open(engine->filter_path, BFS_WRITE, NULL, &engine->filter, &error);
  *recovers = code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING;
  if (*recovers) code = bfs_open(engine->filter_path, BFS_WRITE | BFS_RECOVER, NULL, &engine->filter, &error);
  /* A failure that passes, or that a person can mend, is no reason to throw a filter away. */
  if (code == BFS_EBUSY || code == BFS_EACCES || code == BFS_ENOMEM || code == BFS_ESYSTEM || code == BFS_ENOSPC)
    die("%s", error.message);
  return code;
}

/* Does step 4.  The record distinguishes this opening from all others: a filter that was saved before has a lower mark,
 * even if no row was put since.  Returns 0 if the filter was replaced meanwhile. */
static int compare(struct engine* engine, int recovers) {
  struct record opened = {0, OPENED, 0, 0, {0}, {0}};
  struct header* header = &engine->header;
  bfs_statistics facts = {.struct_bytes = sizeof facts};
  uint64_t mark = bfs_get_mark(engine->filter, OWNER, header->epoch);
  uint64_t end = header->visible;
  struct record record;
  while (read_record(engine->log, end, &record)) end += sizeof record;
  if (mark > end) { /* the log is older than the filter: its next positions are not those of the mark */
    header->epoch = new_epoch(header->epoch);
    header->compared = NEVER;
    write_header(engine->log, header);
    mark = 0;
  }
  if (add_from(engine, engine->filter, mark == 0 ? sizeof(struct header) : mark) == 0) return 0;
  end = append(engine->log, end, &opened);
  if (sync_up_to(engine->filter, header->epoch, end, NULL) != BFS_OK) return 0;
  if (recovers && bfs_finish_recovery(engine->filter, OWNER, NULL) < 0) return 0;
  if (bfs_stats(engine->filter, 0, &facts, NULL) != BFS_OK) return 0;
  memcpy(header->filter_id, facts.file_id, sizeof header->filter_id);
  header->visible = header->compared = end;
  write_header(engine->log, header);
  return 1;
}

/* Opens the filter, and compares it.  The log is locked. */
static void open_filter(struct engine* engine) {
  int tries, recovers;
  for (tries = 0; tries < 10; ++tries) {
    bfs_close(engine->filter, NULL);
    engine->filter = NULL;
    if (open_to_write(engine, &recovers) != BFS_OK) {
      build_filter(engine); /* no filter exists, or it is damaged */
    } else if (compare(engine, recovers)) {
      return;
    }
  }
  die("%s: can not be used", engine->filter_path);
}

/* Makes sure that the right filter is open.  The log is locked.  Another process may have compared another file since,
 * or a program may have moved one to the path: then keys added to this one would be in no file that has a name. */
static void have_filter(struct engine* engine) {
  if (engine->filter == NULL || !is_compared(engine) || bfs_is_current(engine->filter, NULL) != 1) open_filter(engine);
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* Appends a row.  A killed process may have appended rows before this one without adding them: they are added with it,
 * since they become visible with it. */
static void put(struct engine* engine, const char* key, const char* value) {
  struct record row = {0, ROW, 0, 0, {0}, {0}};
  struct record record;
  uint64_t end;
  if (strlen(key) > sizeof row.key || strlen(value) > sizeof row.value) die("%s: is too long", key);
  row.key_bytes = (uint8_t)strlen(key);
  row.value_bytes = (uint8_t)strlen(value);
  memcpy(row.key, key, row.key_bytes);
  memcpy(row.value, value, row.value_bytes);
  lock_log(engine);
  have_filter(engine);
  end = engine->header.visible;
  while (read_record(engine->log, end, &record)) end += sizeof record;
  append(engine->log, end, &row);                                 /* 1 */
  end = add_from(engine, engine->filter, engine->header.visible); /* 2 */
  if (end == 0) {
    open_filter(engine); /* adds all missing rows, including this one */
  } else {
    engine->header.visible = end;
    write_header(engine->log, &engine->header);
  }
  unlock_log(engine);
}

/* Does step 3.  Every row up to what is visible has returned from an add, in one process or another: the low-water
 * mark.  A sync that failed is never tried again: the filter is recovered. */
static void sync_filter(struct engine* engine) {
  uint64_t mark;
  lock_log(engine);
  have_filter(engine);
  mark = engine->header.visible;
  unlock_log(engine);
  if (sync_up_to(engine->filter, engine->header.epoch, mark, NULL) == BFS_OK) return;
  lock_log(engine);
  open_filter(engine);
  unlock_log(engine);
}

/* Opens the filter that was last compared with this log.  Without it every row has to be looked for. */
static void trust_filter(struct engine* engine) {
  if (engine->filter != NULL && engine->epoch == engine->header.epoch && engine->compared == engine->header.compared)
    return;
  bfs_close(engine->filter, NULL);
  engine->filter = NULL;
  if (bfs_open(engine->filter_path, BFS_READ, NULL, &engine->filter, NULL) != BFS_OK) return;
  engine->epoch = engine->header.epoch;
  engine->compared = engine->header.compared;
  if (is_compared(engine)) return;
  bfs_close(engine->filter, NULL);
  engine->filter = NULL;
}

/* Reads the header before the filter: every row that was visible then has its key in the filter. */
static int get(struct engine* engine, const char* key, struct record* found) {
  struct record record;
  uint64_t at;
  int there = 0;
  if (!log_is_current(engine)) open_log(engine);
  read_header(engine);
  trust_filter(engine);
  if (engine->filter != NULL && bfs_contains(engine->filter, key, strlen(key)) == 0) return 0;
  for (at = sizeof(struct header); at < engine->header.visible; at += sizeof record) {
    if (!read_record(engine->log, at, &record)) die("%s: is damaged at %llu", engine->log_path, (unsigned long long)at);
    if (record.kind != ROW || record.key_bytes != strlen(key) || memcmp(record.key, key, record.key_bytes) != 0)
      continue;
    *found = record;
    there = 1;
  }
  if (!there && engine->filter != NULL && bfs_is_current(engine->filter, NULL) != 1) {
    bfs_close(engine->filter, NULL); /* superseded: it answers "maybe" to every key */
    engine->filter = NULL;
  }
  return there;
}

/* Returns whether no newer row has the same key. */
static int is_newest(const struct engine* engine, uint64_t at, const struct record* row) {
  struct record later;
  while ((at += sizeof later) < engine->header.visible) {
    if (read_record(engine->log, at, &later) && later.kind == ROW && later.key_bytes == row->key_bytes &&
        memcmp(later.key, row->key, row->key_bytes) == 0)
      return 0;
  }
  return 1;
}

/* Makes a new log, whose positions begin anew.  So it has another epoch, and no reader trusts a filter before a writer
 * has compared one with it. */
static void compact(struct engine* engine) {
  struct header header = {MAGIC, 0, sizeof header, NEVER, {0}, 0};
  struct record record;
  char path[sizeof engine->log_path + 8];
  uint64_t at;
  int log;
  lock_log(engine);
  open_filter(engine);
  snprintf(path, sizeof path, "%s.new", engine->log_path);
  log = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  check(log >= 0, path);
  for (at = sizeof header; at < engine->header.visible; at += sizeof record) {
    if (!read_record(engine->log, at, &record) || record.kind != ROW || !is_newest(engine, at, &record)) continue;
    check(pwrite(log, &record, sizeof record, (off_t)header.visible) == sizeof record, path);
    header.visible += sizeof record;
  }
  header.epoch = new_epoch(engine->header.epoch);
  write_header(log, &header);
  check(fsync(log) == 0 && rename(path, engine->log_path) == 0, path);
  sync_folder(engine);
  close(log);
  unlock_log(engine);
  lock_log(engine); /* the new log */
  open_filter(engine);
  unlock_log(engine);
}

/* Builds a new filter.  Readers trust it once it is compared. */
static void rebuild(struct engine* engine) {
  lock_log(engine);
  unlock_log(engine);
  build_filter(engine);
  lock_log(engine);
  open_filter(engine);
  unlock_log(engine);
}

static void load(struct engine* engine) {
  char key[25], value[30];
  while (scanf("%24s %29s", key, value) == 2) {
    put(engine, key, value);
    printf("%s\n", key);
    fflush(stdout);
  }
}

static void answer(struct engine* engine) {
  struct record row;
  char key[25];
  while (scanf("%24s", key) == 1) {
    if (get(engine, key, &row))
      printf("%s = %.*s\n", key, (int)row.value_bytes, row.value);
    else
      printf("%s is absent\n", key);
    fflush(stdout);
  }
}

static int get_one(struct engine* engine, const char* key) {
  struct record row;
  if (!get(engine, key, &row)) return 1;
  printf("%.*s\n", (int)row.value_bytes, row.value);
  return 0;
}

/* Syncs the last rows, so that the next writer has nothing to add. */
static void close_writer(struct engine* engine) {
  if (engine->filter != NULL) sync_filter(engine);
  if (bfs_close(engine->filter, NULL) != BFS_OK)
    die("%s: closing it failed; it is recovered next time", engine->filter_path);
}

int main(int argc, char** argv) {
  static struct engine engine = {.log = -1};
  const char* command = argc > 2 ? argv[2] : "";
  int exit_code = 0;
  if (argc < 3) die("say FOLDER and what to do");
  engine.folder = argv[1];
  snprintf(engine.log_path, sizeof engine.log_path, "%s/rows.log", argv[1]);
  snprintf(engine.filter_path, sizeof engine.filter_path, "%s/rows.bf", argv[1]);
  engine.writes = strcmp(command, "get") != 0 && strcmp(command, "answer") != 0;
  if (strcmp(command, "put") == 0 && argc == 5)
    put(&engine, argv[3], argv[4]);
  else if (strcmp(command, "get") == 0 && argc == 4)
    exit_code = get_one(&engine, argv[3]);
  else if (strcmp(command, "load") == 0)
    load(&engine);
  else if (strcmp(command, "answer") == 0)
    answer(&engine);
  else if (strcmp(command, "sync") == 0)
    sync_filter(&engine);
  else if (strcmp(command, "rebuild") == 0)
    rebuild(&engine);
  else if (strcmp(command, "compact") == 0)
    compact(&engine);
  else
    die("%s: put, get, load, answer, sync, rebuild or compact", command);
  if (engine.writes)
    close_writer(&engine);
  else
    bfs_close(engine.filter, NULL);
  return exit_code;
}
