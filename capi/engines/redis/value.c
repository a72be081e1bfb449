/* Chains of filters in the server's memory.  A key is added to the newest filter, and looked up in all, the newest
 * first.  No filter ever leaves the chain, so growth makes no "no".  Only with a window a filter leaves it: when all of
 * its keys are older than the window. */
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

static int has_window(const struct value* value) { return value->shape.window_ms != 0; }

/* Returns the last epoch in which keys that are added in `epoch` count. */
static uint64_t kept_until(const struct value* value, uint64_t epoch) {
  return has_window(value) ? epoch + WINDOW_EPOCHS - 1 : 0;
}

/* Returns how many links have keys of the same epoch. */
static uint32_t links_kept_until(const struct value* value, uint64_t epoch) {
  uint32_t i, count = 0;
  for (i = 0; i < value->num_links; ++i) count += value->links[i].is.kept_until == epoch;
  return count;
}

/* Each epoch gets an equal share of the chain's rate.  Each filter gets half of the rate that the filters before it
 * left, so the sum stays below that. */
static double link_fpr(const struct value* value, uint64_t capacity, uint64_t until) {
  const double fpr = has_window(value) ? value->shape.fpr / WINDOW_EPOCHS : value->shape.fpr;
  if (value->shape.expansion == 0) return fpr;
  return fmax(ldexp(fpr / 2, -(int)links_kept_until(value, until)),
              fmin((double)capacity * LOWEST_FPR_OF_A_KEY, fpr / 2));
}

/* The options are equal on every replica: only the numbers decide.  `id` has the file_id that they point at. */
static bfs_options link_options(const struct value* value, uint64_t capacity, uint64_t until, uint64_t id[2]) {
  bfs_options options = BFS_OPTIONS_INIT;
  id[0] = value->shape.seed;
  id[1] = until * 2 * MAX_LINKS + value->num_links + 1;
  options.capacity = capacity;
  options.fpr = link_fpr(value, capacity, until);
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

static uint64_t memory_of(const struct measure* measure) {
  return measure->num_bytes + ALIGNMENT + sizeof(struct link);
}

static int append_link(struct value* value, const struct measure* measure) {
  struct link* link;
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

int value_add_link(struct value* value, const struct measure* measure) {
  if (value->num_links >= MAX_LINKS) return VALUE_LONGEST;
  if (!is_measure(measure)) return VALUE_BAD_DATA;
  if (measure->num_bytes > SIZE_MAX / 2) return VALUE_NO_MEMORY;
  const int code = memory_check(value_memory(value), memory_of(measure));
  return code != 0 ? code : append_link(value, measure);
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

/* Finds out how large a link will be. */
static int measure_link(bfs_options* options, uint64_t until, struct measure* measure) {
  int64_t num_bytes = bfs_format(NULL, 0, 0, options, NULL, NULL);
  if (num_bytes == BFS_ESIZING && options->layout == 0) { /* the blocked layout does not reach such a low rate */
    options->layout = BFS_LAYOUT_CLASSIC;
    num_bytes = bfs_format(NULL, 0, 0, options, NULL, NULL);
  }
  if (num_bytes < 0) return (int)num_bytes;
  const struct measure found = {
      (uint64_t)num_bytes, options->capacity, 0, options->fpr, options->layout, 0, 0, 0, until};
  *measure = found;
  return 0;
}

/* `count`: links of this size for which there must be room, as far as the limits say; 0: the limits say nothing. */
static int add_new_link(struct value* value, uint64_t capacity, uint64_t until, uint64_t count) {
  uint64_t id[2];
  struct measure measure = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  bfs_options options = link_options(value, capacity, until, id);
  int code = measure_link(&options, until, &measure);
  if (code == 0 && count > 0) code = memory_check(value_memory(value), count * memory_of(&measure));
  if (code == 0) code = append_link(value, &measure);
  if (code != 0) return code;
  struct link* link = &value->links[value->num_links - 1];
  const int64_t num_bytes = bfs_format(link->bytes, link->is.num_bytes, 0, &options, &link->filter, NULL);
  value->loaded = value->total;
  if (num_bytes >= 0) {
    learn(link);
    return 0;
  }
  drop_last_link(value);
  return (int)num_bytes;
}

/* Returns how many keys the first filter of an epoch is for: the keys of a window come in 7 epochs, and more come in
 * the epochs before and after them. */
static uint64_t first_capacity(const struct shape* shape) {
  const uint64_t epochs = shape->window_ms == 0 ? 1 : WINDOW_EPOCHS - 1;
  return (shape->capacity + epochs - 1) / epochs;
}

/* With a window the value has filters for all epochs from the beginning, so that no later turn needs more memory than
 * the filters of one epoch. */
struct value* value_make(const struct shape* shape, int* code) {
  struct value* value = value_new(shape);
  const uint64_t epochs = has_window(value) ? WINDOW_EPOCHS : 1;
  uint64_t until;
  *code = 0;
  for (until = 0; until < epochs && *code == 0; ++until)
    *code = add_new_link(value, first_capacity(shape), until, epochs - until);
  value->since = moment_now();
  if (*code == 0) return value;
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
  copy->epoch = value->epoch;
  copy->since = value->since;
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
  return add_new_link(value, capacity < MAX_CAPACITY ? capacity : MAX_CAPACITY, newest->is.kept_until, 1);
}

/* Returns whether the key was added in the current epoch, or may have been. */
static int is_of_now(const struct value* value, const char* key, size_t key_bytes) {
  const uint64_t until = kept_until(value, value->epoch);
  uint32_t i;
  for (i = value->num_links; i > 0 && value->links[i - 1].is.kept_until == until; --i)
    if (bfs_contains(value->links[i - 1].filter, key, key_bytes) != 0) return 1;
  return 0;
}

int value_add(struct value* value, const char* key, size_t key_bytes) {
  int code, is_known;
  if (value->attachment != NULL) return attachment_add(value->attachment, key, key_bytes);
  if (!value_is_whole(value)) return VALUE_LOADING;
  /* A counting filter counts every add: an add skipped for a false positive would be missing once the other key is
   * removed. */
  is_known = !is_counting(value) && value_contains(value, key, key_bytes) != 0;
  /* A key that only an earlier epoch has would expire with that epoch. */
  if (is_known && (!has_window(value) || is_of_now(value, key, key_bytes))) return 0;
  code = grow_if_full(value);
  if (code != 0) return code;
  struct link* newest = &value->links[value->num_links - 1];
  code = bfs_add(newest->filter, key, key_bytes);
  if ((code == 1 || (code == 0 && is_counting(value))) && newest->is.items < newest->is.capacity) ++newest->is.items;
  return is_known && code > 0 ? 0 : code;
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

/* --- Windows ------------------------------------------------------------------------------------------------------ */

uint64_t value_epoch_ms(const struct value* value) {
  return (value->shape.window_ms + WINDOW_EPOCHS - 2) / (WINDOW_EPOCHS - 1);
}

int value_is_due(const struct value* value) {
  return has_window(value) && value_is_whole(value) && moment_age_ms(&value->since) >= value_epoch_ms(value);
}

int value_has_its_epochs(const struct value* value) {
  uint32_t i;
  uint64_t until = value->epoch;
  if (!has_window(value) || value->num_links == 0) return 1; /* none: in doubt */
  for (i = 0; i < value->num_links; ++i) {
    const uint64_t of_link = value->links[i].is.kept_until;
    if (of_link != until && (i == 0 || of_link != until + 1)) return 0;
    until = of_link;
  }
  return until == kept_until(value, value->epoch);
}

static void drop_first_links(struct value* value, uint32_t count) {
  uint32_t i;
  for (i = 0; i < count; ++i) {
    bfs_close(value->links[i].filter, NULL);
    RM_Free(value->links[i].memory);
    value->total -= value->links[i].is.num_bytes;
  }
  value->num_links -= count;
  memmove(value->links, value->links + count, value->num_links * sizeof *value->links);
  value->loaded = value->total;
}

/* The limits say nothing here: the filters of the ended epoch leave, and a turn that was refused would keep them. */
int value_turn(struct value* value, uint64_t from) {
  int code;
  if (value->attachment != NULL) return VALUE_FIXED;
  if (!has_window(value)) return VALUE_NO_WINDOW;
  if (!value_is_whole(value)) return VALUE_LOADING;
  if (from != value->epoch) return 0;
  code = add_new_link(value, first_capacity(&value->shape), kept_until(value, from + 1), 0);
  if (code != 0) return code;
  drop_first_links(value, links_kept_until(value, from));
  value->epoch = from + 1;
  value->since = moment_now();
  return 1;
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
  if (has_window(into) || has_window(from)) return VALUE_WINDOW;
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
  if (has_window(value)) return value->shape.capacity;
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
    case VALUE_TURNED_BY_PRIMARY:
      return "ERR the primary ends epochs, and its replicas follow";
    case VALUE_NO_WINDOW:
      return "ERR the filter has no window";
    case VALUE_WINDOW:
      return "ERR filters with a window are not merged: their epochs differ";
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
