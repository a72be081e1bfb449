/* Values in snapshots, logs and dumps.  The bytes of a filter are those of its memory: an embedded filter of bfstore,
 * which every machine and version reads. */
#include "persist.h"

#include <math.h>
#include <string.h>

#include "attach.h"

#define DUMP_MAGIC 0x31504d5544534642ull /* "BFSDUMP1" */

int persist_is_own_log(RedisModuleCtx* ctx) {
  int flags = RM_GetContextFlags(ctx);
  return (flags & REDISMODULE_CTX_FLAGS_LOADING) != 0 && (flags & REDISMODULE_CTX_FLAGS_SLAVE) == 0;
}

/* --- The borders of a snapshot ------------------------------------------------------------------------------------ */

static int in_snapshot;

void persist_save_border(RedisModuleIO* io, int when) { (void)io, (void)when; }

int persist_load_border(RedisModuleIO* io, int version, int when) {
  (void)io;
  in_snapshot = when == REDISMODULE_AUX_BEFORE_RDB;
  return version == ENCODING_VERSION ? REDISMODULE_OK : REDISMODULE_ERR;
}

void persist_leave_snapshot(void) { in_snapshot = 0; }

static int is_good_shape(const struct shape* shape) {
  return shape->fpr > 0 && shape->fpr < 1 && shape->capacity > 0 && shape->capacity <= MAX_CAPACITY &&
         shape->expansion <= MAX_EXPANSION && shape->layout <= BFS_LAYOUT_COUNTING &&
         (shape->layout != BFS_LAYOUT_COUNTING || shape->expansion == 0);
}

/* --- Snapshots ---------------------------------------------------------------------------------------------------- */

static void save_attachment(RedisModuleIO* io, struct attachment* attachment) {
  attachment_sync(attachment); /* where this process did not fork to save */
  RM_SaveStringBuffer(io, attachment->path, strlen(attachment->path) + 1);
  RM_SaveStringBuffer(io, (const char*)&attachment->state, sizeof attachment->state);
}

void persist_save(RedisModuleIO* io, void* saved) {
  const struct value* value = saved;
  const char* chunk;
  uint64_t at;
  size_t num_bytes;
  uint32_t i;
  RM_SaveUnsigned(io, value->attachment != NULL);
  if (value->attachment != NULL) {
    save_attachment(io, value->attachment);
    return;
  }
  RM_SaveDouble(io, value->shape.fpr);
  RM_SaveUnsigned(io, value->shape.capacity);
  RM_SaveUnsigned(io, value->shape.expansion);
  RM_SaveUnsigned(io, value->shape.seed);
  RM_SaveUnsigned(io, value->shape.layout);
  RM_SaveUnsigned(io, value->num_links);
  for (i = 0; i < value->num_links; ++i) {
    RM_SaveUnsigned(io, value->links[i].num_bytes);
    RM_SaveUnsigned(io, value->links[i].capacity);
    RM_SaveUnsigned(io, value->links[i].items);
  }
  RM_SaveUnsigned(io, value->loaded);
  for (at = 0; (num_bytes = persist_chunk(value, at, &chunk)) != 0; at += num_bytes)
    RM_SaveStringBuffer(io, chunk, num_bytes);
}

static struct value* load_attachment(RedisModuleIO* io) {
  struct shape none = {0.01, 1, 0, 0, 0};
  struct attachment_state state;
  size_t path_bytes, state_bytes;
  char* path = RM_LoadStringBuffer(io, &path_bytes);
  char* kept = RM_LoadStringBuffer(io, &state_bytes);
  struct value* value = NULL;
  if (path != NULL && kept != NULL && path_bytes > 1 && path[path_bytes - 1] == 0 && state_bytes == sizeof state) {
    memcpy(&state, kept, sizeof state);
    if (attachment_state_is_good(&state)) {
      value = value_new(&none);
      value->attachment = attachment_restore(path, &state, in_snapshot && persist_is_own_log(NULL));
    }
  }
  if (path != NULL) RM_Free(path);
  if (kept != NULL) RM_Free(kept);
  return value;
}

static int load_links(RedisModuleIO* io, struct value* value) {
  uint64_t count = RM_LoadUnsigned(io);
  for (; count > 0 && !RM_IsIOError(io); --count) {
    uint64_t num_bytes = RM_LoadUnsigned(io);
    uint64_t capacity = RM_LoadUnsigned(io);
    uint64_t items = RM_LoadUnsigned(io);
    if (RM_IsIOError(io) || num_bytes == 0 || value_add_link(value, num_bytes, capacity, items) != 0) return 0;
  }
  return !RM_IsIOError(io);
}

static int load_bytes(RedisModuleIO* io, struct value* value) {
  uint64_t at;
  size_t wanted, num_bytes;
  const char* place;
  value->loaded = RM_LoadUnsigned(io);
  if (RM_IsIOError(io) || value->loaded > value->total) return 0;
  for (at = 0; (wanted = persist_chunk(value, at, &place)) != 0; at += wanted) {
    char* chunk = RM_LoadStringBuffer(io, &num_bytes);
    int fits = chunk != NULL && !RM_IsIOError(io) && num_bytes == wanted;
    if (fits) memcpy((char*)place, chunk, wanted);
    if (chunk != NULL) RM_Free(chunk);
    if (!fits) return 0;
  }
  return value->loaded < value->total || value_wrap(value) == 0;
}

void* persist_load(RedisModuleIO* io, int version) {
  struct shape shape;
  struct value* value;
  uint64_t is_attached = RM_LoadUnsigned(io);
  if (version != ENCODING_VERSION || RM_IsIOError(io) || is_attached > 1) return NULL;
  if (is_attached) return load_attachment(io);
  shape.fpr = RM_LoadDouble(io);
  shape.capacity = RM_LoadUnsigned(io);
  shape.expansion = RM_LoadUnsigned(io);
  shape.seed = RM_LoadUnsigned(io);
  shape.layout = (uint32_t)RM_LoadUnsigned(io);
  if (RM_IsIOError(io) || !is_good_shape(&shape)) return NULL;
  value = value_new(&shape);
  if (load_links(io, value) && load_bytes(io, value)) return value;
  RM_LogIOError(io, "warning", "a filter is damaged, or there is no memory for it");
  value_free(value);
  return NULL;
}

/* --- Dumps in chunks ---------------------------------------------------------------------------------------------- */

/* Little-endian on every machine that bfstore is for. */
struct dumped_value {
  uint64_t magic;
  double fpr;
  uint64_t capacity, expansion, seed, layout, num_links;
};
struct dumped_link {
  uint64_t num_bytes, capacity, items;
};

/* Fletcher's sum: RESTORE and snapshots have a checksum of the server's, and a chunk has none. */
static uint64_t sum_of(const char* bytes, size_t num_bytes) {
  uint64_t low = 1, high = 0;
  size_t i;
  for (i = 0; i < num_bytes; ++i) {
    low = (low + (unsigned char)bytes[i]) % 0xfffffffbu;
    high = (high + low) % 0xfffffffbu;
  }
  return high << 32 | low;
}

char* persist_header(const struct value* value, size_t* num_bytes) {
  struct dumped_value head = {DUMP_MAGIC,        value->shape.fpr,    value->shape.capacity, value->shape.expansion,
                              value->shape.seed, value->shape.layout, value->num_links};
  size_t length = sizeof head + value->num_links * sizeof(struct dumped_link);
  char* header = RM_Alloc(length + sizeof(uint64_t));
  uint64_t sum;
  uint32_t i;
  memcpy(header, &head, sizeof head);
  for (i = 0; i < value->num_links; ++i) {
    struct dumped_link link = {value->links[i].num_bytes, value->links[i].capacity, value->links[i].items};
    memcpy(header + sizeof head + i * sizeof link, &link, sizeof link);
  }
  sum = sum_of(header, length);
  memcpy(header + length, &sum, sizeof sum);
  *num_bytes = length + sizeof sum;
  return header;
}

struct value* persist_read_header(const char* header, size_t num_bytes, int* code) {
  struct dumped_value head;
  struct shape shape;
  uint64_t sum, i;
  struct value* value;
  *code = VALUE_BAD_DATA;
  if (num_bytes < sizeof head + sizeof sum) return NULL;
  memcpy(&head, header, sizeof head);
  memcpy(&sum, header + num_bytes - sizeof sum, sizeof sum);
  if (head.magic != DUMP_MAGIC || sum != sum_of(header, num_bytes - sizeof sum)) return NULL;
  if (head.num_links > MAX_LINKS || head.layout > BFS_LAYOUT_COUNTING ||
      num_bytes != sizeof head + head.num_links * sizeof(struct dumped_link) + sizeof sum)
    return NULL;
  shape = (struct shape){head.fpr, head.capacity, head.expansion, head.seed, (uint32_t)head.layout};
  if (!is_good_shape(&shape)) return NULL;
  value = value_new(&shape);
  *code = 0;
  for (i = 0; i < head.num_links; ++i) {
    struct dumped_link link;
    memcpy(&link, header + sizeof head + i * sizeof link, sizeof link);
    *code = link.num_bytes == 0 ? VALUE_BAD_DATA : value_add_link(value, link.num_bytes, link.capacity, link.items);
    if (*code != 0) {
      value_free(value);
      return NULL;
    }
  }
  return value;
}

/* The link that has the byte at *offset, which becomes the offset in it; NULL after the end. */
static struct link* link_at(const struct value* value, uint64_t* offset) {
  uint32_t i;
  for (i = 0; i < value->num_links; ++i) {
    if (*offset < value->links[i].num_bytes) return &value->links[i];
    *offset -= value->links[i].num_bytes;
  }
  return NULL;
}

size_t persist_chunk(const struct value* value, uint64_t offset, const char** bytes) {
  uint64_t rest = offset < value->loaded ? value->loaded - offset : 0;
  const struct link* link = link_at(value, &offset);
  if (link == NULL || rest == 0) return 0;
  *bytes = link->bytes + offset;
  if (rest > link->num_bytes - offset) rest = link->num_bytes - offset;
  return rest < CHUNK_BYTES ? (size_t)rest : CHUNK_BYTES;
}

/* In their order, so that none is missing in the end.  One that comes again changes nothing. */
int persist_take_chunk(struct value* value, uint64_t end, const char* bytes, size_t num_bytes) {
  uint64_t begin = end - num_bytes;
  struct link* link;
  if (value->attachment != NULL || value->loaded == value->total || num_bytes > end || begin > value->loaded ||
      end > value->total)
    return VALUE_BAD_OFFSET;
  if (end <= value->loaded) return 0;
  link = link_at(value, &begin);
  if (link == NULL || num_bytes > link->num_bytes - begin) return VALUE_BAD_DATA;
  bfs_close(link->filter, NULL); /* which is there if the value came into doubt, and knows the old bytes' numbers */
  link->filter = NULL;
  memcpy(link->bytes + begin, bytes, num_bytes);
  value->loaded = end;
  if (value->loaded < value->total || value_wrap(value) == 0) return 0;
  value->loaded = 0; /* the bytes are no filter: the value waits for others, and answers "maybe" */
  return VALUE_BAD_DATA;
}

/* --- The append-only file ----------------------------------------------------------------------------------------- */

static void rewrite_attachment(RedisModuleIO* io, RedisModuleString* key, struct attachment* attachment) {
  char state[ATTACHMENT_STATE_BYTES];
  attachment_write_state(&attachment->state, state);
  RM_EmitAOF(io, "BF.ATTACH", "scccc", key, attachment->path, attachment->state.reads ? "READONLY" : "READWRITE",
             "STATE", state);
}

void persist_rewrite(RedisModuleIO* io, RedisModuleString* key, void* rewritten) {
  const struct value* value = rewritten;
  const char* chunk;
  size_t num_bytes;
  uint64_t at = 0;
  char* header;
  if (value->attachment != NULL) {
    rewrite_attachment(io, key, value->attachment);
    return;
  }
  header = persist_header(value, &num_bytes);
  RM_EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1ll, header, num_bytes);
  RM_Free(header);
  while ((num_bytes = persist_chunk(value, at, &chunk)) != 0) {
    at += num_bytes;
    RM_EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long)(at + 1), chunk, num_bytes);
  }
}

/* --- DEBUG DIGEST ------------------------------------------------------------------------------------------------- */

void persist_digest(RedisModuleDigest* digest, void* digested) {
  const struct value* value = digested;
  const char* chunk;
  size_t num_bytes;
  uint64_t at;
  if (value->attachment != NULL)
    RM_DigestAddStringBuffer(digest, value->attachment->path, strlen(value->attachment->path));
  for (at = 0; (num_bytes = persist_chunk(value, at, &chunk)) != 0; at += num_bytes)
    RM_DigestAddStringBuffer(digest, chunk, num_bytes);
  RM_DigestAddLongLong(digest, (long long)value_items(value));
  RM_DigestEndSequence(digest);
}
