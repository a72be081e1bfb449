/* Many keys at once, as a database has them: a column of 64-bit ids and a column of strings. A batch hides the memory's
 * latency: its lookups are several times as fast as one by one.
 *
 *   cc batch.c $(pkg-config --cflags --libs bfstore) -o batch && ./batch ids.bf */
#include <bfstore_engine.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 200000

static void stop(const char* what, int64_t code) {
  fprintf(stderr, "batch: %s: %s\n", what, bfs_strerror((int32_t)code));
  exit(1);
}

/* A column of fixed width: each key directly follows the one before. Even ids are in the table, odd ones are not. */
static void ids(bfs_filter* filter) {
  static uint64_t in_table[ROWS], asked[ROWS];
  static uint8_t answers[ROWS];
  const bfs_keys rows = bfs_keys_fixed(in_table, sizeof *in_table, ROWS);
  const bfs_keys questions = bfs_keys_fixed(asked, sizeof *asked, ROWS);
  int64_t added, maybe;
  size_t i, found = 0;

  for (i = 0; i < ROWS; ++i) {
    in_table[i] = 2 * i;
    asked[i] = i; /* half of them exist */
  }
  added = bfs_add_keys(filter, &rows);
  if (added < 0) stop("add", added);
  maybe = bfs_contains_keys(filter, &questions, answers);
  if (maybe < 0) stop("ask", maybe); /* then every answer is 1: look the rows up, as without a filter */
  for (i = 0; i < ROWS; i += 2) found += answers[i];
  printf(
      "ids: %d asked, %zu of %d present ones found, %s\n", ROWS, found, ROWS / 2,
      maybe - (int64_t)found <= ROWS / 2 / 100 ? "at most 1 % of the others are false positives" : "TOO MANY MAYBES");
}

/* A column of strings in the form of Apache Arrow: one buffer of bytes, and the offsets where strings begin and end. */
static void strings(bfs_filter* filter) {
  const char bytes[] = "anchoragebostoncairo";
  const int32_t offsets[] = {0, 9, 15, 15, 20}; /* "anchorage", "boston", "" and "cairo" */
  const size_t count = sizeof offsets / sizeof *offsets - 1;
  const bfs_keys cities = bfs_keys_column32(bytes, sizeof bytes - 1, offsets, count);
  uint8_t answers[4];
  int64_t maybe;

  maybe = bfs_add_keys(filter, &cities);
  if (maybe < 0) stop("add", maybe);
  maybe = bfs_contains_keys(filter, &cities, answers);
  printf("strings: %d of %zu may be present\n", (int)maybe, count);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "ids.bf";
  bfs_options options = {.struct_bytes = sizeof options, .capacity = ROWS + 1000, .fpr = 0.005};
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;

  if (bfs_create(path, BFS_REPLACE, &options, &filter, &error) != BFS_OK) { /* also that of an earlier run */
    fprintf(stderr, "batch: %s\n", error.message);
    return 1;
  }
  ids(filter);
  strings(filter);
  return bfs_close(filter, NULL) == BFS_OK ? 0 : 1;
}
