/* The keys and filters that bench/bindings.py has every language ask, and the times of C, to which it compares them.
 *
 *   c make FOLDER COUNT      COUNT keys of 16 characters, of which every second is in FOLDER/blocked.bf and classic.bf
 *   c time FOLDER            a line for each way of asking: the layout, the way, nanoseconds a key, how many were maybe
 */
#include <bfstore_engine.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kKeyBytes = 16, kPasses = 5 };

static void fail(const char* what, const bfs_error* error) {
  fprintf(stderr, "%s: %s\n", what, error != NULL ? error->message : "failed");
  exit(1);
}

static FILE* opened(const char* folder, const char* name, const char* mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, mode);
  if (file == NULL) fail(path, NULL);
  return file;
}

/* Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014). */
static uint64_t mixed(uint64_t number) {
  uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void make_filter(const char* folder, const char* name, uint32_t layout, const char* keys, size_t count) {
  char path[4096];
  bfs_error error = BFS_ERROR_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  options.capacity = count / 2;
  options.bits_per_key = 10;
  options.layout = layout;
  bfs_filter* made = NULL;
  if (bfs_create(path, 0, &options, &made, &error) != BFS_OK) fail(path, &error);
  bfs_keys present = bfs_keys_fixed(keys, kKeyBytes, count / 2);
  present.stride = 2 * kKeyBytes;
  present.data_bytes = count * kKeyBytes;
  if (bfs_add_keys(made, &present) < 0) fail(path, NULL);
  if (bfs_close(made, &error) != BFS_OK) fail(path, &error);
}

static void make(const char* folder, size_t count) {
  char* keys = malloc(count * kKeyBytes + 1);
  if (keys == NULL) fail("keys", NULL);
  for (size_t i = 0; i < count; ++i) snprintf(keys + i * kKeyBytes, kKeyBytes + 1, "%016" PRIx64, mixed(i + 1));
  FILE* file = opened(folder, "keys", "wb");
  if (fwrite(keys, kKeyBytes, count, file) != count || fclose(file) != 0) fail("keys", NULL);
  make_filter(folder, "blocked.bf", BFS_LAYOUT_BLOCKED, keys, count);
  make_filter(folder, "classic.bf", BFS_LAYOUT_CLASSIC, keys, count);
  free(keys);
}

struct asked {
  const bfs_filter* filter;
  const char* bytes;
  size_t count;
  const void** pointers;
  size_t* lengths;
  int32_t* offsets;
  uint8_t* answers;
};

static size_t one(const struct asked* asked) {
  size_t maybes = 0;
  for (size_t i = 0; i < asked->count; ++i)
    maybes += (size_t)bfs_contains(asked->filter, asked->pointers[i], kKeyBytes);
  return maybes;
}

static size_t many(const struct asked* asked, bfs_keys keys) {
  const int64_t maybes = bfs_contains_keys(asked->filter, &keys, asked->answers);
  if (maybes < 0) fail("asking", NULL);
  return (size_t)maybes;
}

static size_t objects(const struct asked* asked) {
  return many(asked, bfs_keys_pointers(asked->pointers, asked->lengths, asked->count));
}

static size_t column(const struct asked* asked) {
  return many(asked, bfs_keys_column32(asked->bytes, asked->count * kKeyBytes, asked->offsets, asked->count));
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void time_way(const char* layout, const char* way, size_t (*ask)(const struct asked*),
                     const struct asked* asked) {
  double best = 1e9;
  size_t maybes = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double begin = seconds();
    maybes = ask(asked);
    const double taken = seconds() - begin;
    if (taken < best) best = taken;
  }
  printf("%s %s %.3f %zu\n", layout, way, best * 1e9 / (double)asked->count, maybes);
}

static char* read_keys(const char* folder, size_t* count) {
  FILE* file = opened(folder, "keys", "rb");
  fseek(file, 0, SEEK_END);
  const size_t bytes = (size_t)ftell(file);
  rewind(file);
  char* keys = malloc(bytes);
  if (keys == NULL || fread(keys, 1, bytes, file) != bytes) fail("keys", NULL);
  fclose(file);
  *count = bytes / kKeyBytes;
  return keys;
}

static void time_layout(const char* folder, const char* layout, struct asked* asked) {
  char path[4096];
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;
  snprintf(path, sizeof path, "%s/%s.bf", folder, layout);
  if (bfs_open(path, BFS_READ, NULL, &filter, &error) != BFS_OK) fail(path, &error);
  asked->filter = filter;
  time_way(layout, "one", one, asked);
  time_way(layout, "objects", objects, asked);
  time_way(layout, "column", column, asked);
  if (bfs_close(filter, &error) != BFS_OK) fail(path, &error);
}

static void time_all(const char* folder) {
  struct asked asked = {0};
  char* keys = read_keys(folder, &asked.count);
  asked.bytes = keys;
  asked.pointers = malloc(asked.count * sizeof *asked.pointers);
  asked.lengths = malloc(asked.count * sizeof *asked.lengths);
  asked.offsets = malloc((asked.count + 1) * sizeof *asked.offsets);
  asked.answers = malloc(asked.count);
  for (size_t i = 0; i < asked.count; ++i) {
    asked.pointers[i] = keys + i * kKeyBytes;
    asked.lengths[i] = kKeyBytes;
    asked.offsets[i] = (int32_t)(i * kKeyBytes);
  }
  asked.offsets[asked.count] = (int32_t)(asked.count * kKeyBytes);
  time_layout(folder, "blocked", &asked);
  time_layout(folder, "classic", &asked);
}

int main(int count, char** values) {
  if (count == 4 && strcmp(values[1], "make") == 0) {
    make(values[2], strtoull(values[3], NULL, 10));
  } else if (count == 3 && strcmp(values[1], "time") == 0) {
    time_all(values[2]);
  } else {
    fprintf(stderr, "usage: c make FOLDER COUNT | c time FOLDER\n");
    return 2;
  }
  return 0;
}
