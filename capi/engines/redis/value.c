/* Chains of filters in the server's memory.  A key is added to the newest filter, and looked up in all, the newest
 * first.  No filter ever leaves the chain, so growth makes no "no". */
#include "value.h"

#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach.h"
#include "memory.h"
#include "server.h"

#define ALIGNMENT 64
#define LOWEST_FPR_OF_A_KEY 0x1p-61 /* for a filter of a long chain: four times the limit of 64-bit digests */

struct value* value_new(const struct shape* shape) {
  struct value* value = RM_Alloc(sizeof *value);
  memset(value, 0, sizeof *value);
  value->shape = *shape;
  return value;
}

static void free_arrays(struct value* value) {
  uint32_t i;
  for (i = 0; i < value->num_links; ++i) {
    RM_Free(value->links[i].arriving);
    value->links[i].arriving = NULL;
    value->links[i].arriving_bytes = 0;
  }
  RM_Free(value->foreign);
  value->foreign = NULL;
  value->foreign_bytes = 0;
}

static void free_links(struct value* value) {
  uint32_t i;
  free_arrays(value);
  for (i = 0; i < value->num_links; ++i) {
    bfs_close(value->links[i].filter, NULL);
    RM_Free(value->links[i].memory);
  }
  if (value->links != NULL) RM_Free(value->links);
  value->links = NULL;
  value->num_links = 0;
  value->total = value->loaded = value->proof = value->dumped = 0;
}

void value_free(void* freed) {
  struct value* value = freed;
  if (value == NULL) return;
  free_links(value);
  attachment_free(value->attachment);
  RM_Free(value);
}

static int is_counting(const struct value* value) { return value->shape.layout == BFS_LAYOUT_COUNTING; }

/* --- Links -------------------------------------------------------------------------------------------------------- */

/* Each filter gets half of the rate that the filters before it left, so the sum stays below the chain's rate. */
static double link_fpr(const struct value* value, uint64_t capacity) {
  const double half = value->shape.fpr / 2;
  if (value->shape.expansion == 0) return value->shape.fpr;
  return fmax(ldexp(half, -(int)value->num_links), fmin((double)capacity * LOWEST_FPR_OF_A_KEY, half));
}

/* The options are equal on every replica: only the numbers decide.  `id` has the file_id that they point at. */
static bfs_options link_options(const struct value* value, uint64_t capacity, uint64_t id[2]) {
  bfs_options options = BFS_OPTIONS_INIT;
  id[0] = value->shape.seed;
  id[1] = value->num_links + 1;
  options.capacity = capacity;
  options.fpr = link_fpr(value, capacity);
  options.layout = value->shape.layout;
  options.seed = &value->shape.seed;
  options.file_id = (const uint8_t*)id;
  return options;
}

bfs_options value_options(const struct measure* measure) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.capacity = measure->capacity;
  options.layout = (uint32_t)measure->layout;
  options.hash = (uint32_t)measure->hash;
  options.num_bits = measure->num_bits;
  options.num_probes = (uint32_t)measure->num_probes;
  if (measure->hash == 0) options.fpr = measure->fpr;
  return options;
}

/* Checks the numbers: a client may have made them up. */
static int is_measure(const struct measure* measure) {
  if (measure->num_bytes == 0 || measure->capacity == 0 || measure->capacity > MAX_CAPACITY ||
      measure->items > measure->capacity || measure->layout > UINT32_MAX || measure->num_probes > UINT32_MAX ||
      (measure->hash != 0 && measure->hash != BFS_HASH_REDISBLOOM))
    return 0;
  /* The server itself kept these, perhaps with another version. */
  if (server_repeats()) return 1;
  const bfs_options options = value_options(measure);
  const int64_t needed = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  return needed >= 0 && (uint64_t)needed == measure->num_bytes;
}

int value_add_link(struct value* value, const struct measure* measure) {
  struct link* link;
  if (value->num_links >= MAX_LINKS) return VALUE_LONGEST;
  if (!is_measure(measure)) return VALUE_BAD_DATA;
  if (measure->num_bytes > SIZE_MAX / 2) return VALUE_NO_MEMORY;
  int code = memory_check(value_memory(value), measure->num_bytes + ALIGNMENT + sizeof *link);
  if (code != 0) return code;
  void* memory = RM_TryAlloc(measure->num_bytes + ALIGNMENT);
  if (memory == NULL) return VALUE_NO_MEMORY;
  value->links = RM_Realloc(value->links, (value->num_links + 1) * sizeof *value->links);
  link = &value->links[value->num_links++];
  memset(link, 0, sizeof *link);
  link->is = *measure;
  link->memory = memory;
  link->bytes = (char*)(((uintptr_t)memory + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  value->total += measure->num_bytes;
  return 0;
}

static void drop_last_link(struct value* value) {
  struct link* link = &value->links[--value->num_links];
  bfs_close(link->filter, NULL);
  RM_Free(link->memory);
  value->total -= link->is.num_bytes;
  value->loaded = value->total;
}

/* Reads the numbers from the filter itself. */
static void learn(struct link* link) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  bfs_stats(link->filter, 0, &facts, NULL);
  link->is.fpr = facts.fpr;
  link->is.layout = facts.layout;
  link->seed = facts.seed;
}

static int add_new_link(struct value* value, uint64_t capacity) {
  uint64_t id[2];
  bfs_options options = link_options(value, capacity, id);
  int64_t num_bytes = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  if (num_bytes == BFS_ESIZING && options.layout == 0) { /* the blocked layout does not reach such a low rate */
    options.layout = BFS_LAYOUT_CLASSIC;
    num_bytes = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  }
  if (num_bytes < 0) return (int)num_bytes;
  struct measure measure = {(uint64_t)num_bytes, capacity, 0, options.fpr, options.layout, 0, 0, 0};
  int code = value_add_link(value, &measure);
  if (code != 0) return code;
  struct link* link = &value->links[value->num_links - 1];
  num_bytes = bfs_format(link->bytes, link->is.num_bytes, 0, &options, &link->filter, NULL);
  value->loaded = value->total;
  if (num_bytes >= 0) {
    learn(link);
    return 0;
  }
  drop_last_link(value);
  return (int)num_bytes;
}

struct value* value_make(const struct shape* shape, int* code) {
  struct value* value = value_new(shape);
  *code = add_new_link(value, shape->capacity);
  if (*code == BFS_OK) return value;
  value_free(value);
  return NULL;
}

/* Returns whether the filter has the announced numbers.  Only a counting filter removes keys, and it is alone. */
static int is_announced(const struct value* value, const struct link* link) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  bfs_stats(link->filter, 0, &facts, NULL);
  if ((facts.layout == BFS_LAYOUT_COUNTING) != is_counting(value) || (is_counting(value) && value->num_links > 1))
    return 0;
  if (link->is.hash != 0 &&
      (facts.hash != link->is.hash || facts.num_bits != link->is.num_bits || facts.num_probes != link->is.num_probes))
    return 0;
  return facts.capacity == link->is.capacity && facts.layout == link->is.layout && facts.fpr == link->is.fpr;
}

static int wrap_link(const struct value* value, struct link* link) {
  if (link->filter != NULL) return 0;
  if (bfs_open_memory(link->bytes, link->is.num_bytes, BFS_WRITE, NULL, &link->filter, NULL) != BFS_OK)
    return VALUE_BAD_DATA;
  if (!is_announced(value, link)) return VALUE_BAD_DATA;
  learn(link);
  return 0;
}

int value_wrap(struct value* value) {
  uint32_t i;
  int code = 0;
  for (i = 0; i < value->num_links && code == 0; ++i) code = wrap_link(value, &value->links[i]);
  return code;
}

void value_unwrap(struct value* value) {
  uint32_t i;
  for (i = 0; i < value->num_links; ++i) {
    bfs_close(value->links[i].filter, NULL);
    value->links[i].filter = NULL;
  }
  value->loaded = 0;
}

void value_drop_arrays(struct value* value) {
  uint32_t i;
  free_arrays(value);
  value->total = 0;
  for (i = 0; i < value->num_links; ++i) {
    learn(&value->links[i]);
    value->total += value->links[i].is.num_bytes;
  }
  value->loaded = value->total;
}

static int copy_link(struct value* into, const struct link* link) {
  int code = value_add_link(into, &link->is);
  if (code != 0) return code;
  struct link* newest = &into->links[into->num_links - 1];
  memcpy(newest->bytes, link->bytes, link->is.num_bytes);
  into->loaded = into->total;
  code = wrap_link(into, newest);
  if (code != 0) drop_last_link(into);
  return code;
}

struct value* value_copy(const struct value* value, int* code) {
  struct value* copy;
  uint32_t i;
  *code = value->attachment != NULL ? VALUE_FIXED : value_is_whole(value) ? 0 : VALUE_LOADING;
  if (*code != 0) return NULL;
  copy = value_new(&value->shape);
  for (i = 0; i < value->num_links && *code == 0; ++i) *code = copy_link(copy, &value->links[i]);
  if (*code == 0) return copy;
  value_free(copy);
  return NULL;
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

int value_is_whole(const struct value* value) { return value->num_links > 0 && value->loaded == value->total; }

void value_doubt(struct value* value) {
  free_links(value);
  if (value->attachment != NULL) attachment_doubt(value->attachment);
}

int value_contains(struct value* value, const char* key, size_t key_bytes) {
  uint32_t i;
  if (value->attachment != NULL) return attachment_contains(value->attachment, key, key_bytes);
  if (!value_is_whole(value)) return 1;
  for (i = value->num_links; i > 0; --i)
    if (bfs_contains(value->links[i - 1].filter, key, key_bytes) != 0) return 1;
  return 0;
}

static int grow_if_full(struct value* value) {
  const struct link* newest = &value->links[value->num_links - 1];
  uint64_t capacity;
  if (newest->is.items < newest->is.capacity) return 0;
  /* The primary had room for this key: keys that a replica's clients add take no room from the primary's keys. */
  if (value->shape.expansion == 0) return server_repeats() ? 0 : VALUE_FULL;
  if (value->num_links == MAX_LINKS) return server_repeats() ? 0 : VALUE_LONGEST;
  capacity = newest->is.capacity * value->shape.expansion; /* at most 2^30 * 2^15 */
  return add_new_link(value, capacity < MAX_CAPACITY ? capacity : MAX_CAPACITY);
}

int value_add(struct value* value, const char* key, size_t key_bytes) {
  int code;
  if (value->attachment != NULL) return attachment_add(value->attachment, key, key_bytes);
  if (!value_is_whole(value)) return VALUE_LOADING;
  /* A counting filter counts every add: an add skipped for a false positive would be missing once the other key is
   * removed. */
  if (!is_counting(value) && value_contains(value, key, key_bytes) != 0) return 0;
  code = grow_if_full(value);
  if (code != 0) return code;
  struct link* newest = &value->links[value->num_links - 1];
  code = bfs_add(newest->filter, key, key_bytes);
  if ((code == 1 || (code == 0 && is_counting(value))) && newest->is.items < newest->is.capacity) ++newest->is.items;
  return code;
}

int value_remove(struct value* value, const char* key, size_t key_bytes) {
  int code;
  /* The server replays its log from a snapshot, and the file keeps a removal: so the key would be removed twice. */
  if (value->attachment != NULL) return VALUE_FIXED;
  if (!is_counting(value)) return BFS_EUNSUPPORTED;
  if (!value_is_whole(value)) return VALUE_LOADING;
  code = bfs_remove(value->links[0].filter, key, key_bytes);
  if (code == 1 && value->links[0].is.items > 0) --value->links[0].is.items;
  return code;
}

int value_count(struct value* value, const char* key, size_t key_bytes) {
  if (value->attachment != NULL) return attachment_count(value->attachment, key, key_bytes);
  if (!is_counting(value)) return BFS_EUNSUPPORTED;
  if (!value_is_whole(value)) return VALUE_LOADING;
  return bfs_count(value->links[0].filter, key, key_bytes);
}

/* --- Merging ------------------------------------------------------------------------------------------------------ */

/* Returns 1 if a link took the keys: it has the same size and seed, and room for them. */
static int merge_in_place(struct value* into, const struct link* from) {
  uint32_t i;
  for (i = 0; i < into->num_links; ++i) {
    struct link* link = &into->links[i];
    uint64_t items = link->is.items + from->is.items;
    int has_room = items <= link->is.capacity || (is_counting(into) && server_repeats()); /* see grow_if_full */
    if (link->is.num_bytes != from->is.num_bytes || link->seed != from->seed || !has_room) continue;
    if (bfs_merge(link->filter, from->filter, NULL) != BFS_OK) continue;
    link->is.items = items < link->is.capacity ? items : link->is.capacity;
    return 1;
  }
  return 0;
}

/* A copy joins the chain before its newest link, which still takes the adds. */
static int merge_as_link(struct value* into, const struct link* from) {
  uint32_t last = into->num_links;
  struct link swapped;
  int code = copy_link(into, from);
  if (code != 0 || last == 0) return code;
  swapped = into->links[last];
  into->links[last] = into->links[last - 1];
  into->links[last - 1] = swapped;
  return 0;
}

int value_merge(struct value* into, const struct value* from) {
  uint32_t i;
  int code = 0;
  if (into->attachment != NULL || from->attachment != NULL) return VALUE_FIXED;
  if (!value_is_whole(into) || !value_is_whole(from)) return VALUE_LOADING;
  if (is_counting(into) != is_counting(from)) return VALUE_UNLIKE;
  if (into == from) return 0;
  for (i = 0; i < from->num_links && code == 0; ++i) {
    if (merge_in_place(into, &from->links[i])) continue;
    code = is_counting(into) ? VALUE_UNLIKE : merge_as_link(into, &from->links[i]);
  }
  return code;
}

/* --- Facts -------------------------------------------------------------------------------------------------------- */

uint64_t value_capacity(const struct value* value) {
  uint64_t sum = 0;
  uint32_t i;
  if (value->attachment != NULL) return attachment_statistics(value->attachment).capacity;
  for (i = 0; i < value->num_links; ++i) sum += value->links[i].is.capacity;
  return sum;
}

uint64_t value_items(const struct value* value) {
  uint64_t sum = 0;
  uint32_t i;
  if (value->attachment != NULL) {
    bfs_statistics facts = attachment_statistics(value->attachment);
    return facts.keys_added - facts.keys_removed;
  }
  for (i = 0; i < value->num_links; ++i) sum += value->links[i].is.items;
  return sum;
}

/* The page cache owns the pages of an attached file, not the server. */
size_t value_memory(const void* of) {
  const struct value* value = of;
  size_t sum = sizeof *value + value->foreign_bytes;
  uint32_t i;
  for (i = 0; i < value->num_links; ++i) {
    const struct link* link = &value->links[i];
    sum += sizeof *link + ALIGNMENT + (size_t)(link->is.num_bytes + link->arriving_bytes);
  }
  if (value->attachment != NULL) sum += attachment_memory(value->attachment);
  return sum;
}

static char refused[600];

int value_refuse(const char* reason, ...) {
  const int begun = snprintf(refused, sizeof refused, "ERR received bad data: ");
  va_list words;
  va_start(words, reason);
  vsnprintf(refused + begun, sizeof refused - (size_t)begun, reason, words);
  va_end(words);
  return VALUE_REFUSED;
}

const char* value_error(int code) {
  switch (code) {
    case VALUE_FULL:
      return "ERR non scaling filter is full";
    case VALUE_LONGEST: /* RedisBloom's words, and what to do */
      return "ERR Maximum expansions reached: reserve a filter of more CAPACITY, or EXPANSION";
    case VALUE_NO_MEMORY:
      return "ERR Insufficient memory to create filter";
    case VALUE_LOADING:
      return "ERR the filter is being loaded, or lacks keys: it answers maybe";
    case VALUE_IN_DOUBT:
      return "ERR the attached file is in doubt and answers maybe: put it back, or delete the key and attach it again";
    case VALUE_FIXED:
      return "ERR not of an attached file";
    case VALUE_BAD_DATA:
      return "ERR received bad data";
    case VALUE_BAD_OFFSET:
      return "ERR invalid offset - no link found"; /* for a filter that takes no chunk */
    case VALUE_GREW:
      return "ERR the filter grew while it was dumped, and lacks keys: it answers maybe; delete the key, and load a "
             "new dump";
    case VALUE_OVER_LIMIT: /* the words of Valkey's module */
      return "ERR operation exceeds bloom object memory limit: see the configuration bf." MEMORY_LIMIT_NAME;
    case VALUE_NO_ROOM:
      return "OOM the filter does not fit into what 'maxmemory' leaves";
    case VALUE_REFUSED:
      return refused;
    case VALUE_ON_REPLICA:
      return "ERR remove the key on the primary: a key that a replica and its primary remove is removed twice";
    case VALUE_UNLIKE:
      return "ERR counting filters merge only with their equals in size and seed that have room";
    case BFS_ENOMEM:
      return "ERR Insufficient memory to create filter";
    case BFS_EUNSUPPORTED:
      return "ERR only filters with LAYOUT COUNTING remove and count keys";
    case BFS_ESIZING:
      return "ERR could not create filter";
    default:
      return NULL;
  }
}
