/* C's program for the tests of all languages at once: its interface is in languages.py. Keys of a batch are pairs; the
 * samples of other languages give columns. */
#include <bfstore_engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLongestKey = 256 };

typedef struct {
  size_t count;
  bfs_key* keys;
} key_list;

static void stop(const char* why) {
  fprintf(stderr, "agree: %s\n", why);
  exit(1);
}

static void check(int64_t code) {
  if (code < 0) stop(bfs_strerror((int32_t)code));
}

/* Makes the keys first, first + step, ... below `end`. */
static key_list make_keys(const char* prefix, size_t first, size_t step, size_t end) {
  key_list made = {0, calloc(end + 1, sizeof(bfs_key))};
  char* text = malloc((end + 1) * kLongestKey);
  size_t number;

  if (!made.keys || !text) stop("out of memory");
  for (number = first; number < end; number += step, text += kLongestKey) {
    const int bytes = snprintf(text, kLongestKey, "%s-%zu", prefix, number);
    if (bytes < 0 || bytes >= kLongestKey) stop("the prefix is too long");
    made.keys[made.count++] = (bfs_key){text, (size_t)bytes};
  }
  return made;
}

static void create(const char* path, const char* capacity) {
  bfs_options options = {.struct_bytes = sizeof options, .capacity = strtoull(capacity, NULL, 10), .fpr = 0.01};
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter;
  if (bfs_create(path, 0, &options, &filter, &error) != BFS_OK || bfs_close(filter, &error) != BFS_OK)
    stop(error.message);
}

static bfs_filter* open_or_stop(const char* path, uint64_t flags) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter;
  if (bfs_open(path, flags, NULL, &filter, &error) != BFS_OK) stop(error.message);
  return filter;
}

static void close_or_stop(bfs_filter* filter) {
  bfs_error error = BFS_ERROR_INIT;
  if (bfs_close(filter, &error) != BFS_OK) stop(error.message);
}

static void add(const char* path, const char* prefix, size_t count) {
  bfs_filter* filter = open_or_stop(path, BFS_WRITE);
  const key_list even = make_keys(prefix, 0, 2, count), odd = make_keys(prefix, 1, 2, count);
  const bfs_keys batch = bfs_keys_pairs(odd.keys, odd.count);
  size_t i;

  for (i = 0; i < even.count; ++i) check(bfs_add(filter, even.keys[i].data, even.keys[i].bytes));
  check(bfs_add_keys(filter, &batch));
  close_or_stop(filter);
}

static void ask(const char* path, const char* prefix, size_t count) {
  bfs_filter* filter = open_or_stop(path, BFS_READ);
  const key_list all = make_keys(prefix, 0, 1, count);
  const bfs_keys batch = bfs_keys_pairs(all.keys, all.count);
  uint8_t* answers = malloc(count + 1);
  size_t i;

  if (!answers) stop("out of memory");
  check(bfs_contains_keys(filter, &batch, answers));
  for (i = 0; i < count; ++i) {
    const int32_t answer = bfs_contains(filter, all.keys[i].data, all.keys[i].bytes);
    check(answer);
    if (answer != answers[i]) stop("one by one and as a batch are not the same");
    putchar(answer ? '1' : '0');
  }
  putchar('\n');
  close_or_stop(filter);
}

static void fail(const char* path) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter;
  if (bfs_open(path, BFS_READ, NULL, &filter, &error) == BFS_OK) stop("opened");
  printf("%d %d bfs_error\n", error.code, error.os_errno);
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "create") == 0) {
    create(argv[2], argv[3]);
  } else if (argc == 5 && strcmp(argv[1], "add") == 0) {
    add(argv[2], argv[3], strtoull(argv[4], NULL, 10));
  } else if (argc == 5 && strcmp(argv[1], "ask") == 0) {
    ask(argv[2], argv[3], strtoull(argv[4], NULL, 10));
  } else if (argc == 3 && strcmp(argv[1], "fail") == 0) {
    fail(argv[2]);
  } else {
    stop("create PATH CAPACITY | add PATH PREFIX COUNT | ask PATH PREFIX COUNT | fail PATH");
  }
  return 0;
}
