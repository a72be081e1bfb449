/* Prints the nanoseconds of a lookup of an absent key in a file of another program: one by one in the imported file and
 * in place, and 10,000 keys at once in both. Arguments: the file, its format, the number of its hash or 0, and a name
 * for the imported file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bfstore.h"
#include "bfstore_interop.h"

enum { KEYS = 10000, ROUNDS = 40, LONGEST = 16 };

static char keys[KEYS][LONGEST];
static uint64_t lengths[KEYS];

static void must(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int64_t one_by_one(const bfs_filter* filter) {
  int64_t maybes = 0;
  for (size_t i = 0; i < KEYS; ++i) maybes += bfs_contains(filter, keys[i], lengths[i]);
  return maybes;
}

static int64_t many(const bfs_filter* filter) {
  static const void* pointers[KEYS];
  static uint8_t answers[KEYS];
  bfs_keys all = BFS_KEYS_INIT;
  for (size_t i = 0; i < KEYS; ++i) pointers[i] = keys[i];
  all.kind = BFS_KEYS_POINTERS;
  all.count = KEYS;
  all.data = pointers;
  all.lengths = lengths;
  return bfs_contains_keys(filter, &all, answers);
}

static double best_of(int64_t (*ask)(const bfs_filter*), const bfs_filter* filter, int64_t expected) {
  double best = 1e18;
  for (int round = 0; round < ROUNDS; ++round) {
    const double begin = now();
    must(ask(filter) == expected, "the answers differ");
    if (now() - begin < best) best = now() - begin;
  }
  return best / KEYS;
}

int main(int argc, char** argv) {
  static unsigned char bytes[1 << 16];
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_filter *imported = NULL, *in_place = NULL;
  bfs_error error = BFS_ERROR_INIT;
  must(argc == 5, "four arguments");
  form.format = argv[2];
  options.hash = (uint32_t)atoi(argv[3]);
  FILE* file = fopen(argv[1], "rb");
  must(file != NULL, "cannot open the file");
  const size_t num_bytes = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  must(bfs_foreign_import(argv[4], &form, bytes, num_bytes, BFS_REPLACE, &options, &imported, &error) == BFS_OK,
       error.message);
  must(bfs_foreign_open(argv[1], &form, 0, &options, &in_place, &error) == BFS_OK, error.message);
  for (int i = 0; i < KEYS; ++i) lengths[i] = (uint64_t)snprintf(keys[i], LONGEST, "absent-%d", i);
  const int64_t expected = one_by_one(imported);
  printf("%.1f %.1f %.1f %.1f\n", best_of(one_by_one, imported, expected), best_of(one_by_one, in_place, expected),
         best_of(many, imported, expected), best_of(many, in_place, expected));
  must(bfs_close(imported, NULL) == BFS_OK && bfs_close(in_place, NULL) == BFS_OK, "close");
  return 0;
}
