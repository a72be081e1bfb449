/* The shortest storage engine with a filter in front of it: rows are lines in a log, and one process at a time has it.
 * It may be killed at any moment, and the machine may go down: it never says "absent" of a row that it acknowledged.
 *
 *   cc -std=c99 engine_small.c $(pkg-config --cflags --libs bfstore) -o engine_small
 *   ./engine_small FOLDER put KEY...   appends a row for each key, and prints the key when the row is durable
 *   ./engine_small FOLDER get KEY...   prints "KEY: there", "KEY: absent", or "KEY: absent, not looked up"
 *
 * The numbers are those of the steps in guide/engines.md.  engine.c is one for many processes. */
#define _DEFAULT_SOURCE /* flock */
#include <bfstore_engine.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { OWNER = 1, EPOCH_BYTES = 21 }; /* the log's first line is its epoch */
static bfs_error error = BFS_ERROR_INIT;

static void stop(const char* what, const char* why) {
  fprintf(stderr, "engine_small: %s: %s\n", what, why);
  exit(2);
}

static void must(int good, const char* what) { /* of a call of bfstore */
  if (!good) stop(what, error.message);
}

static void system_must(int good, const char* what) { /* of a call of the system */
  if (!good) stop(what, strerror(errno));
}

/* Calls add_or_look for each whole line after that position of the log.  Returns where the last one ends. */
static long each_row(FILE* log, long from, int (*add_or_look)(void*, const char*, size_t), void* with) {
  char line[256];
  for (fseek(log, from, SEEK_SET); fgets(line, sizeof line, log) != NULL; from = ftell(log)) {
    const size_t bytes = strlen(line);
    if (bytes == 0 || line[bytes - 1] != '\n')
      break; /* the process was killed while it wrote this row, or the power was cut */
    if (add_or_look(with, line, bytes - 1)) return -1;
  }
  return from;
}

static int add(void* filter, const char* key, size_t bytes) {
  const int32_t code = bfs_add(filter, key, bytes);
  if (code < 0) stop("a key could not be added", bfs_strerror(code));
  return 0;
}

static int is_it(void* wanted, const char* key, size_t bytes) {
  return strlen(wanted) == bytes && memcmp(wanted, key, bytes) == 0;
}

int main(int count, char** words) {
  char path[4096], epoch[EPOCH_BYTES + 1] = "";
  if (count < 4) stop("usage", "engine_small FOLDER put|get KEY...");
  snprintf(path, sizeof path, "%s/log", words[1]);
  const int fd = open(path, O_RDWR | O_CREAT, 0644);
  FILE* const log = fd < 0 ? NULL : fdopen(fd, "r+");
  system_must(log != NULL && flock(fd, LOCK_EX) == 0, "the log cannot be opened");
  if (pread(fd, epoch, EPOCH_BYTES, 0) != EPOCH_BYTES) { /* a new log has a new epoch */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(epoch, sizeof epoch, "%020lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    system_must(pwrite(fd, epoch, EPOCH_BYTES, 0) == EPOCH_BYTES && fsync(fd) == 0, "the log cannot be written");
  }
  const uint64_t number = strtoull(epoch, NULL, 10);

  snprintf(path, sizeof path, "%s/filter.bf", words[1]);
  const bfs_options options = {sizeof options, .capacity = 1000000, .fpr = 0.01};
  bfs_filter* filter;
  int recovers = 0;
  int32_t code = bfs_open(path, BFS_EXCLUSIVE | BFS_CREATE, &options, &filter, &error);
  if (code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING) {
    recovers = 1;
    code = bfs_open(path, BFS_EXCLUSIVE | BFS_RECOVER, NULL, &filter, &error);
  }
  must(code >= 0, "the filter cannot be opened");
  /* 4: add the rows after the mark.  A mark after the log's end is of another log. */
  const long end = lseek(fd, 0, SEEK_END);
  uint64_t mark = bfs_get_mark(filter, OWNER, number);
  if (mark < EPOCH_BYTES || mark > (uint64_t)end) mark = EPOCH_BYTES;
  long at = each_row(log, (long)mark, add, filter);
  system_must(ftruncate(fd, at) == 0, "the log cannot be cut after its last whole row");
  if (recovers) must(bfs_finish_recovery(filter, OWNER, &error) >= 0, "the recovery did not end");

  for (int i = 3; i < count; ++i) {
    const size_t bytes = strlen(words[i]);
    if (strcmp(words[2], "put") == 0) {
      words[i][bytes] = '\n';
      system_must(pwrite(fd, words[i], bytes + 1, at) == (ssize_t)bytes + 1 && fsync(fd) == 0,
                  "a row was not written"); /* 1 */
      add(filter, words[i], bytes);         /* 2 */
      at += (long)bytes + 1;
      printf("%.*s\n", (int)bytes, words[i]);
      fflush(stdout);
    } else if (bfs_contains(filter, words[i], bytes) == 0) {
      printf("%s: absent, not looked up\n", words[i]);
    } else {
      printf("%s: %s\n", words[i], each_row(log, EPOCH_BYTES, is_it, words[i]) < 0 ? "there" : "absent");
    }
  }
  const bfs_owner_mark here = {OWNER, (uint64_t)at, number, 0, 0};
  must(bfs_sync(filter, &here, &error) == BFS_OK, "the filter could not be synced"); /* 3 */
  must(bfs_close(filter, &error) == BFS_OK, "the filter could not be closed");
  return 0;
}
