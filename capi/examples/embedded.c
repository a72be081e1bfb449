/* A filter inside a file format of your own: made in memory, written where you like (at a multiple of 64), and later
 * asked in place, without a copy into memory.
 *
 *   cc embedded.c $(pkg-config --cflags --libs bfstore) -o embedded && ./embedded table.sst */
#include <bfstore_memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_AT 4096 /* where this format keeps its filter */

static const char* const rows[] = {"apple", "banana", "cherry"};

/* Writes the table: a page of this format, then the filter of its rows. */
static int write_table(const char* path) {
  bfs_options options = {.struct_bytes = sizeof options, .capacity = 3, .fpr = 0.001};
  static const char page[FILTER_AT] = "my own format, version 1";
  bfs_filter* filter = NULL;
  const int64_t bytes = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  void* buffer;
  FILE* file;
  size_t i;
  int good;

  if (bytes < 0) return 0;
  buffer = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  if (buffer == NULL || bfs_format(buffer, (uint64_t)bytes, 0, &options, &filter, NULL) < 0) return 0;
  for (i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (bfs_add(filter, rows[i], strlen(rows[i])) < 0) return 0;
  }
  bfs_close(filter, NULL); /* the bytes stay: they are yours to save */

  file = fopen(path, "wb");
  good = file != NULL && fwrite(page, 1, sizeof page, file) == sizeof page &&
         fwrite(buffer, 1, (size_t)bytes, file) == (size_t)bytes;
  good = file != NULL && fclose(file) == 0 && good;
  free(buffer);
  return good;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "table.sst";
  const bfs_range range = {.offset = FILTER_AT};
  const bfs_options options = {.struct_bytes = sizeof options, .range = &range};
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;

  if (!write_table(path)) return 1;
  if (bfs_open(path, BFS_READ, &options, &filter, &error) != BFS_OK) {
    fprintf(stderr, "embedded: %s\n", error.message);
    return 1;
  }
  printf("banana: %s\n", bfs_contains(filter, "banana", 6) == 0 ? "certainly absent" : "maybe present");
  printf("durian: %s\n", bfs_contains(filter, "durian", 6) == 0 ? "certainly absent" : "maybe present");
  bfs_close(filter, NULL);
  return 0;
}
