/* RedisBloom's chains of filters.  Each of them becomes a classic filter with RedisBloom's hash: the same bits, and so
 * the same answers.  bfstore's reader of that format checks the numbers. */
#include "redisbloom.h"

#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <inttypes.h>
#include <string.h>

#include "memory.h"
#include "server.h"

/* A flag of a chain. */
#define NO_SCALING 8

/* Little-endian, without gaps, as RedisBloom writes them. */
struct __attribute__((packed)) dumped_chain {
  uint64_t items;
  uint32_t num_links, flags, expansion;
};
struct __attribute__((packed)) dumped_link {
  uint64_t num_bytes, num_bits, items;
  double fpr, bits_per_key;
  uint32_t num_probes;
  uint64_t capacity;
  uint8_t log2_bits; /* of the first versions, which rounded m up to a power of two: its logarithm.  Otherwise 0 */
};

static struct dumped_chain chain_of(const char* chunk) {
  struct dumped_chain chain;
  memcpy(&chain, chunk, sizeof chain);
  return chain;
}

static struct dumped_link link_of(const char* chunk, uint32_t number) {
  struct dumped_link link;
  memcpy(&link, chunk + sizeof(struct dumped_chain) + number * sizeof link, sizeof link);
  return link;
}

/* Neither dump is mistaken for the other.  This module's begins with eight letters.  RedisBloom's begins with the
 * number of its keys, and these letters would be more than 2^61 of them: check_chain accepts at most 2^30 in each of at
 * most 2^10 filters. */
int redisbloom_is_header(const char* chunk, size_t num_bytes) {
  if (num_bytes <= sizeof(struct dumped_chain)) return 0;
  const struct dumped_chain chain = chain_of(chunk);
  return chain.items >> 61 == 0 && num_bytes == sizeof chain + (uint64_t)chain.num_links * sizeof(struct dumped_link);
}

/* --- The first chunk ---------------------------------------------------------------------------------------------- */

/* Lets the library check what it reads of a dump: also that the m and the k of each filter agree with its other
 * numbers. */
static int check_format(const char* chunk, size_t num_bytes) {
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  bfs_foreign told = BFS_FOREIGN_INIT;
  bfs_error error = BFS_ERROR_INIT;
  form.format = "redisbloom";
  form.name = "the first chunk";
  const int code = bfs_foreign_inspect(&form, chunk, num_bytes, 0, NULL, &told, &error);
  return code == BFS_OK || code == BFS_ENOMEM ? code : value_refuse("%s", error.message);
}

static int check_link(const struct dumped_link* link, uint32_t number) {
  if (link->capacity > MAX_CAPACITY)
    return value_refuse("filter %" PRIu32 " of the dump is for %" PRIu64 " keys, and at most %llu are held", number,
                        link->capacity, MAX_CAPACITY);
  if (link->items > link->capacity)
    return value_refuse("filter %" PRIu32 " of the dump counts %" PRIu64 " keys, and is for %" PRIu64, number,
                        link->items, link->capacity);
  return 0;
}

static int check_chain(const char* chunk) {
  const struct dumped_chain chain = chain_of(chunk);
  const int grows = (chain.flags & NO_SCALING) == 0;
  uint64_t items = 0;
  uint32_t i;
  int code = 0;
  for (i = 0; i < chain.num_links && code == 0; ++i) {
    const struct dumped_link link = link_of(chunk, i);
    code = check_link(&link, i + 1);
    items += link.items;
  }
  if (code != 0) return code;
  if (items != chain.items)
    return value_refuse("the dump counts %" PRIu64 " keys, and its filters %" PRIu64, chain.items, items);
  if (!grows && chain.num_links > 1)
    return value_refuse("the dump has several filters, and a flag that it does not scale");
  if (grows && (chain.expansion == 0 || chain.expansion > MAX_EXPANSION))
    return value_refuse("the dump has an expansion of %" PRIu32 ", and 1 to %d are held", chain.expansion,
                        MAX_EXPANSION);
  if (grows && !(link_of(chunk, 0).fpr < 0.5))
    return value_refuse("the first filter of a dump that scales has half of the chain's rate, which is below 1");
  return 0;
}

/* RedisBloom gives the first filter half of the rate of a chain that grows. */
static struct shape shape_of(const char* chunk) {
  const struct dumped_chain chain = chain_of(chunk);
  const struct dumped_link first = link_of(chunk, 0);
  const int grows = (chain.flags & NO_SCALING) == 0;
  const struct shape shape = {grows ? 2 * first.fpr : first.fpr, first.capacity, grows ? chain.expansion : 0, 0, 0, 0};
  return shape;
}

static int add_link(struct value* value, const struct dumped_link* dumped) {
  bfs_error error = BFS_ERROR_INIT;
  struct measure measure = {0,
                            dumped->capacity,
                            dumped->items,
                            0,
                            BFS_LAYOUT_CLASSIC,
                            BFS_HASH_REDISBLOOM,
                            dumped->num_bits,
                            dumped->num_probes,
                            0};
  const bfs_options options = value_options(&measure);
  const int64_t num_bytes = bfs_format(NULL, 0, 0, &options, NULL, &error);
  if (num_bytes < 0) return value_refuse("%s", error.message);
  measure.num_bytes = (uint64_t)num_bytes;
  return value_add_link(value, &measure);
}

static int add_links(struct value* value, const char* chunk) {
  uint32_t i;
  int code = 0;
  for (i = 0; i < chain_of(chunk).num_links && code == 0; ++i) {
    const struct dumped_link link = link_of(chunk, i);
    code = add_link(value, &link);
  }
  return code;
}

/* The arrays are freed once they have arrived.  So they are no part of what the limit bounds, but must be below it. */
static int add_arrays(struct value* value, const char* chunk) {
  uint32_t i;
  value->total = 0;
  for (i = 0; i < value->num_links; ++i) value->total += link_of(chunk, i).num_bytes;
  const int code = memory_check(0, value->total);
  for (i = 0; i < value->num_links && code == 0; ++i) {
    struct link* link = &value->links[i];
    link->arriving_bytes = link_of(chunk, i).num_bytes;
    link->arriving = RM_TryAlloc(link->arriving_bytes);
    if (link->arriving == NULL) return VALUE_NO_MEMORY;
  }
  return code;
}

struct value* redisbloom_read_header(const char* chunk, size_t num_bytes, int* code) {
  *code = check_format(chunk, num_bytes);
  if (*code == 0) *code = check_chain(chunk);
  if (*code != 0) return NULL;
  const struct shape shape = shape_of(chunk);
  struct value* value = value_new(&shape);
  value->foreign = RM_Alloc(num_bytes);
  value->foreign_bytes = num_bytes;
  memcpy(value->foreign, chunk, num_bytes);
  *code = add_links(value, chunk);
  if (*code == 0) *code = add_arrays(value, chunk);
  if (*code == 0) return value;
  value_free(value);
  return NULL;
}

/* --- After the last chunk ----------------------------------------------------------------------------------------- */

/* Each key that RedisBloom counted set a bit that was 0 before, and at most k.  No checksum says more. */
static int has_its_keys(const struct link* link) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  bfs_stats(link->filter, BFS_STATS_FILL, &facts, NULL);
  return facts.has_fill && facts.set_bits >= link->is.items && facts.set_bits <= link->is.items * link->is.num_probes;
}

/* The file_id is equal on every replica. */
static int make_filter(struct link* link, uint64_t seed, uint64_t number) {
  const uint64_t id[2] = {seed, number};
  bfs_options options = value_options(&link->is);
  options.file_id = (const uint8_t*)id;
  const int64_t num_bytes = bfs_format(link->bytes, link->is.num_bytes, 0, &options, &link->filter, NULL);
  if (num_bytes < 0) return (int)num_bytes;
  const int code = bfs_import_bits(link->filter, link->arriving, link->is.num_bits / 8, BFS_BITS_LITTLE, NULL);
  if (code != BFS_OK) return code;
  return has_its_keys(link) ? 0 : VALUE_BAD_DATA;
}

int redisbloom_finish(struct value* value, uint64_t seed) {
  uint32_t i;
  int code = 0;
  for (i = 0; i < value->num_links && code == 0; ++i) code = make_filter(&value->links[i], seed, i + 1);
  if (code != 0) return code;
  value->shape.seed = seed;
  value_drop_arrays(value);
  return 0;
}
