/* Chains of filters in the server's memory.  A key is in the newest filter that it was added to and is looked for in
 * all, the newest first.  No filter ever leaves the chain, so that no growth makes a "no". */
#include "value.h"

#include <math.h>
#include <string.h>

#include "attach.h"
#include "server.h"

#define ALIGNMENT 64
#define LOWEST_FPR 1e-15 /* of a filter of a long chain: more would need no more than a few bits a key more */

struct value* value_new(const struct shape* shape) {
  struct value* value = RM_Alloc(sizeof *value);
  memset(value, 0, sizeof *value);
  value->shape = *shape;
  return value;
}

void value_free(void* freed) {
  struct value* value = freed;
  uint32_t i;
  if (value == NULL) return;
  for (i = 0; i < value->num_links; ++i) {
    bfs_close(value->links[i].filter, NULL);
    RM_Free(value->links[i].memory);
  }
  if (value->links != NULL) RM_Free(value->links);
  attachment_free(value->attachment);
  RM_Free(value);
}

/* --- Links -------------------------------------------------------------------------------------------------------- */

/* Of the chain's rate each filter has half of what those before it left, so that the sum stays below it. */
static double link_fpr(const struct value* value) {
  if (value->shape.expansion == 0) return value->shape.fpr;
  return fmax(ldexp(value->shape.fpr, -(int)value->num_links - 1), fmin(LOWEST_FPR, value->shape.fpr / 2));
}

/* Equal on every replica: the numbers alone decide. */
static bfs_options link_options(const struct value* value, uint64_t capacity) {
  bfs_options options = BFS_OPTIONS_INIT;
  uint64_t id[2] = {value->shape.seed, value->num_links + 1};
  options.capacity = capacity;
  options.fpr = link_fpr(value);
  options.layout = value->shape.layout;
  options.seed = value->shape.seed;
  options.flags = BFS_OPTION_SEED | BFS_OPTION_FILE_ID;
  memcpy(options.file_id, id, sizeof id);
  return options;
}

int value_add_link(struct value* value, uint64_t num_bytes, uint64_t capacity, uint64_t items) {
  struct link* link;
  if (value->num_links >= MAX_LINKS || num_bytes > SIZE_MAX - ALIGNMENT) return VALUE_NO_MEMORY;
  void* memory = RM_TryAlloc(num_bytes + ALIGNMENT);
  if (memory == NULL) return VALUE_NO_MEMORY;
  value->links = RM_Realloc(value->links, (value->num_links + 1) * sizeof *value->links);
  link = &value->links[value->num_links++];
  memset(link, 0, sizeof *link);
  link->memory = memory;
  link->bytes = (char*)(((uintptr_t)memory + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  link->num_bytes = num_bytes;
  link->capacity = capacity;
  link->items = items;
  value->total += num_bytes;
  return 0;
}

static void drop_last_link(struct value* value) {
  struct link* link = &value->links[--value->num_links];
  bfs_close(link->filter, NULL);
  RM_Free(link->memory);
  value->total -= link->num_bytes;
  value->loaded = value->total;
}

static int add_new_link(struct value* value, uint64_t capacity) {
  bfs_options options = link_options(value, capacity);
  uint64_t num_bytes;
  int code = bfs_required_bytes(&options, &num_bytes, NULL);
  if (code == BFS_ESIZING && options.layout == 0) { /* below what the blocked layout reaches */
    options.layout = BFS_LAYOUT_CLASSIC;
    code = bfs_required_bytes(&options, &num_bytes, NULL);
  }
  if (code == BFS_OK) code = value_add_link(value, num_bytes, capacity, 0);
  if (code != BFS_OK) return code;
  struct link* link = &value->links[value->num_links - 1];
  code = bfs_format(link->bytes, num_bytes, &options, &link->filter, NULL);
  value->loaded = value->total;
  if (code != BFS_OK) drop_last_link(value);
  return code;
}

struct value* value_make(const struct shape* shape, int* code) {
  struct value* value = value_new(shape);
  *code = add_new_link(value, shape->capacity);
  if (*code == BFS_OK) return value;
  value_free(value);
  return NULL;
}

int value_wrap(struct value* value) {
  bfs_open_options options = BFS_OPEN_OPTIONS_INIT;
  uint32_t i;
  options.flags = BFS_OPEN_WRITE;
  for (i = 0; i < value->num_links; ++i) {
    struct link* link = &value->links[i];
    if (link->filter != NULL) continue;
    if (bfs_wrap_with(link->bytes, link->num_bytes, &options, &link->filter, NULL) != BFS_OK) return VALUE_BAD_DATA;
  }
  return 0;
}

static int copy_link(struct value* into, const struct link* link) {
  int code = value_add_link(into, link->num_bytes, link->capacity, link->items);
  if (code != 0) return code;
  memcpy(into->links[into->num_links - 1].bytes, link->bytes, link->num_bytes);
  into->loaded = into->total;
  code = value_wrap(into);
  if (code != 0) drop_last_link(into);
  return code;
}

struct value* value_copy(const struct value* value) {
  struct value* copy;
  uint32_t i;
  if (value->attachment != NULL || !value_is_whole(value)) return NULL;
  copy = value_new(&value->shape);
  for (i = 0; i < value->num_links; ++i) {
    if (copy_link(copy, &value->links[i]) == 0) continue;
    value_free(copy);
    return NULL;
  }
  return copy;
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

int value_is_whole(const struct value* value) { return value->num_links > 0 && value->loaded == value->total; }

void value_doubt(struct value* value) {
  value->loaded = 0;
  if (value->attachment != NULL) attachment_doubt(value->attachment);
}

static int is_counting(const struct value* value) { return value->shape.layout == BFS_LAYOUT_COUNTING; }

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
  if (newest->items < newest->capacity) return 0;
  if (value->shape.expansion == 0) return VALUE_FULL;
  capacity = newest->capacity * value->shape.expansion; /* at most 2^30 * 2^15 */
  return add_new_link(value, capacity < MAX_CAPACITY ? capacity : MAX_CAPACITY);
}

int value_add(struct value* value, const char* key, size_t key_bytes) {
  int code;
  if (value->attachment != NULL) return attachment_add(value->attachment, key, key_bytes);
  if (!value_is_whole(value)) return VALUE_LOADING;
  /* A counting filter counts every add: one that was left out for a false positive would be missing once the key that
   * it was mistaken for is removed. */
  if (!is_counting(value) && value_contains(value, key, key_bytes) != 0) return 0;
  code = grow_if_full(value);
  if (code != 0) return code;
  struct link* newest = &value->links[value->num_links - 1];
  code = bfs_add(newest->filter, key, key_bytes);
  if (code == 1 || (code == 0 && is_counting(value))) ++newest->items;
  return code;
}

int value_remove(struct value* value, const char* key, size_t key_bytes) {
  int code;
  /* The server replays its log from a snapshot, and a file keeps what was removed: it would be removed twice. */
  if (value->attachment != NULL) return VALUE_FIXED;
  if (!is_counting(value)) return BFS_EUNSUPPORTED;
  if (!value_is_whole(value)) return VALUE_LOADING;
  code = bfs_remove(value->links[0].filter, key, key_bytes);
  if (code == 1 && value->links[0].items > 0) --value->links[0].items;
  return code;
}

int value_count(struct value* value, const char* key, size_t key_bytes) {
  if (value->attachment != NULL) return attachment_count(value->attachment, key, key_bytes);
  if (!is_counting(value)) return BFS_EUNSUPPORTED;
  if (!value_is_whole(value)) return VALUE_LOADING;
  return bfs_count(value->links[0].filter, key, key_bytes);
}

/* --- Merging ------------------------------------------------------------------------------------------------------ */

/* 1 if a link took the keys: it has the same size and seed, and room for as many. */
static int merge_in_place(struct value* into, const struct link* from) {
  uint32_t i;
  for (i = 0; i < into->num_links; ++i) {
    struct link* link = &into->links[i];
    if (link->num_bytes != from->num_bytes || link->items + from->items > link->capacity) continue;
    if (bfs_merge(link->filter, from->filter, NULL) != BFS_OK) continue;
    link->items += from->items;
    return 1;
  }
  return 0;
}

/* A copy joins the chain before its newest link, which stays the one that takes adds. */
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
  for (i = 0; i < value->num_links; ++i) sum += value->links[i].capacity;
  return sum;
}

uint64_t value_items(const struct value* value) {
  uint64_t sum = 0;
  uint32_t i;
  if (value->attachment != NULL) {
    bfs_statistics facts = attachment_statistics(value->attachment);
    return facts.keys_added - facts.keys_removed;
  }
  for (i = 0; i < value->num_links; ++i) sum += value->links[i].items;
  return sum;
}

/* The pages of an attached file are the page cache's, not the server's. */
size_t value_memory(const void* of) {
  const struct value* value = of;
  size_t sum = sizeof *value + value->num_links * sizeof *value->links + (size_t)value->total;
  sum += (size_t)value->num_links * ALIGNMENT;
  if (value->attachment != NULL) sum += attachment_memory(value->attachment);
  return sum;
}

const char* value_error(int code) {
  switch (code) {
    case VALUE_FULL:
      return "ERR non scaling filter is full";
    case VALUE_NO_MEMORY:
      return "ERR Insufficient memory to create filter";
    case VALUE_LOADING:
      return "ERR the filter is being loaded, or memory was short: it answers maybe";
    case VALUE_IN_DOUBT:
      return "ERR the attached file is in doubt and answers maybe: delete the key, and attach it again";
    case VALUE_FIXED:
      return "ERR not of an attached file";
    case VALUE_BAD_DATA:
      return "ERR received bad data";
    case VALUE_BAD_OFFSET:
      return "ERR invalid offset - no link found";
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
