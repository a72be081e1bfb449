/* bfstore's extension of SQLite: bf_build(path, bf_keys(column)) writes a filter of a column.
 *
 * SQLite also calls the end of an aggregate when its query was interrupted or failed, and the aggregate cannot tell: it
 * would publish a filter that lacks keys.  So the aggregate bf_keys only collects.  SQLite calls bf_build only with the
 * result of a whole query, so bf_build writes the file. */
#include <stdlib.h>
#include <string.h>

#include <bfstore_memory.h>

#include "internal.h"
SQLITE_EXTENSION_INIT3

static const char TYPE[] = "bfstore keys"; /* the pointer's type */

/* The digests of all keys: 8 bytes each, whatever the length of the key. */
struct digests {
  bfs_filter* hash; /* an empty filter; the new one gets its seed */
  void* memory;
  uint64_t seed;
  uint64_t* values;
  sqlite3_uint64 count;
  sqlite3_uint64 room;
  int kinds;
};

static void free_digests(void* pointer) {
  struct digests* digests = pointer;
  if (digests == NULL) return;
  bfs_close(digests->hash, NULL);
  free(digests->memory);
  sqlite3_free(digests->values);
  sqlite3_free(digests);
}

static struct digests* new_digests(void) {
  struct digests* digests = sqlite3_malloc(sizeof *digests);
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_statistics facts = BFS_STATISTICS_INIT;
  int64_t bytes;
  if (digests == NULL) return NULL;
  memset(digests, 0, sizeof *digests);
  options.capacity = 1;
  if ((bytes = bfs_format(NULL, 0, 0, &options, NULL, NULL)) >= 0 &&
      (digests->memory = aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64)) != NULL &&
      bfs_format(digests->memory, (uint64_t)bytes, 0, &options, &digests->hash, NULL) >= 0 &&
      bfs_stats(digests->hash, 0, &facts, NULL) == BFS_OK) {
    digests->seed = facts.seed;
    return digests;
  }
  free_digests(digests);
  return NULL;
}

static int append_one(struct digests* digests, const struct key* key) {
  const sqlite3_uint64 room = digests->room == 0 ? 1024 : 2 * digests->room;
  uint64_t* values;
  if (digests->count == digests->room) {
    values = sqlite3_realloc64(digests->values, room * sizeof *values);
    if (values == NULL) return -1;
    digests->values = values;
    digests->room = room;
  }
  return bfs_digest(digests->hash, key->data, key->bytes, &digests->values[digests->count++]) == BFS_OK ? 0 : -1;
}

static int append(struct connection* connection, struct digests* digests, const struct key* key) {
  struct key folded;
  const int differs = folded_of(connection, key, &folded);
  digests->kinds |= key->kind;
  return differs < 0 || (differs && append_one(digests, &folded) != 0) || append_one(digests, key) != 0 ? -1 : 0;
}

void bf_keys_step(sqlite3_context* context, int count, sqlite3_value** values) {
  struct digests** digests = sqlite3_aggregate_context(context, sizeof *digests);
  struct key key;
  (void)count;
  if (digests != NULL && *digests == NULL) *digests = new_digests();
  if (digests == NULL || *digests == NULL)
    sqlite3_result_error_nomem(context);
  else if (key_of(values[0], &key) != 0)
    sqlite3_result_error_nomem(context);
  else if (key.kind != 0 && append(sqlite3_user_data(context), *digests, &key) != 0)
    sqlite3_result_error_nomem(context);
}

void bf_keys_final(sqlite3_context* context) {
  struct digests** digests = sqlite3_aggregate_context(context, 0);
  struct digests* all = digests == NULL ? new_digests() : *digests;
  if (digests != NULL) *digests = NULL;
  if (all == NULL)
    sqlite3_result_error_nomem(context);
  else
    sqlite3_result_pointer(context, all, TYPE, free_digests);
}

static int by_value(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

/* Removes repeated digests, since the filter is sized for distinct keys. */
static void without_repeats(struct digests* digests) {
  sqlite3_uint64 i, kept = 0;
  if (digests->count == 0) return; /* qsort must not get NULL */
  qsort(digests->values, digests->count, sizeof *digests->values, by_value);
  for (i = 0; i < digests->count; ++i)
    if (i == 0 || digests->values[i] != digests->values[i - 1]) digests->values[kept++] = digests->values[i];
  digests->count = kept;
}

/* Appends the words that note the kinds of keys.  Returns the number of all digests, or 0. */
static sqlite3_uint64 with_kinds(struct digests* digests) {
  const sqlite3_uint64 room = digests->count + NUMBER_OF_WORDS;
  uint64_t* values = sqlite3_realloc64(digests->values, room * sizeof *values);
  if (values == NULL) return 0;
  digests->values = values;
  digests->room = room;
  /* A filter without keys gets the mark of BLOBS, which never equal another kind: so it is known to have no other
   * kind. */
  return digests->count +
         digests_of_kinds(digests->hash, digests->kinds == 0 ? BLOBS : digests->kinds, values + digests->count);
}

static int32_t write_filter(const char* path, bfs_options* options, struct digests* digests, bfs_error* error) {
  const sqlite3_uint64 count = with_kinds(digests);
  const bfs_keys keys = bfs_keys_digests(digests->values, count);
  if (count == 0) return error->code = BFS_ENOMEM;
  if (options->capacity < count) options->capacity = count;
  options->seed = &digests->seed;
  return bfs_build(path, BFS_REPLACE | BFS_GUARD, options, &keys, NULL, error);
}

/* bf_build(path, bf_keys(column) [, fpr [, capacity]]) */
void bf_build(sqlite3_context* context, int count, sqlite3_value** values) {
  struct connection* connection = sqlite3_user_data(context);
  const char* name = text_of(context, values[0], "bf_build: the path");
  struct digests* digests = sqlite3_value_pointer(values[1], TYPE);
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_error error = BFS_ERROR_INIT;
  struct filter* filter;
  struct kept kept;
  if (name == NULL) return;
  if (digests == NULL) {
    sqlite3_result_error(context, "bf_build: the second argument is bf_keys(column)", -1);
    return;
  }
  find_filter(connection, name, 0, 0, &filter, &kept);
  if (filter == NULL) {
    sqlite3_result_error(context, "bf_build: not one database keeps this filter, or none can be read", -1);
    return;
  }
  options.mode = 0644;
  without_repeats(digests);
  if (count >= 3) options.fpr = sqlite3_value_double(values[2]);
  if (count >= 4 && sqlite3_value_int64(values[3]) > 0) options.capacity = (uint64_t)sqlite3_value_int64(values[3]);
  if (write_filter(filter->path, &options, digests, &error) != BFS_OK)
    fail(context, filter->path, &error);
  else
    sqlite3_result_int64(context, (sqlite3_int64)digests->count);
}
