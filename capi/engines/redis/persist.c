/* Values in snapshots, logs and dumps.  The bytes of a filter are those of its memory: an embedded bfstore filter,
 * which every machine and version reads. */
#include "persist.h"

#include <bfstore_memory.h>
#include <string.h>

#include "attach.h"
#include "redisbloom.h"

#define DUMP_MAGIC 0x31504d5544534642ull         /* "BFSDUMP1": without the numbers of RedisBloom's filters */
#define DUMP_MAGIC_FOREIGN 0x32504d5544534642ull /* "BFSDUMP2": of a chain that has one of these */
#define DUMP_MAGIC_WINDOW 0x33504d5544534642ull  /* "BFSDUMP3": of a chain with a window, also with its times */
#define ASIDE_BYTES (1u << 16)                   /* for the strings of a snapshot, one at a time, also compressed */

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

/* Returns whether the primary, or the server's own log, repeats a RESTORE.  It cannot be refused: the key would be
 * missing, or keep its older value, and answer "no".  A snapshot can be refused: then the server does not start. */
static int is_repeated_restore(void) {
  int flags = RM_GetContextFlags(NULL);
  if ((flags & REDISMODULE_CTX_FLAGS_LOADING) != 0) return !in_snapshot;
  return (flags & REDISMODULE_CTX_FLAGS_SLAVE) != 0;
}

/* --- Headers ------------------------------------------------------------------------------------------------------ */

/* Little-endian on every machine that bfstore supports. */
struct dumped_value {
  uint64_t magic;
  double fpr;
  uint64_t capacity, expansion, seed, layout, num_links, proof;
  /* With DUMP_MAGIC_WINDOW alone: */
  uint64_t window_ms, epoch;
  struct moment since;
};

/* Returns the Fletcher checksum of a header. */
static uint64_t sum_of(const char* bytes, size_t num_bytes) {
  uint64_t low = 1, high = 0;
  size_t i;
  for (i = 0; i < num_bytes; ++i) {
    low = (low + (unsigned char)bytes[i]) % 0xfffffffbu;
    high = (high + low) % 0xfffffffbu;
  }
  return high << 32 | low;
}

/* Returns bfstore's digest of the bytes: XXH3 with 64 bits, as for a key. */
static uint64_t digest_of(const void* bytes, size_t num_bytes) {
  static _Alignas(64) char buffer[1024];
  static bfs_filter* digester;
  static const uint64_t seed = 0;
  bfs_options options = BFS_OPTIONS_INIT;
  uint64_t digest = 0;
  options.capacity = 1;
  options.fpr = 0.5;
  options.seed = &seed;
  if (digester == NULL && bfs_format(buffer, sizeof buffer, 0, &options, &digester, NULL) < 0) return 0;
  bfs_digest(digester, bytes, num_bytes, &digest);
  return digest;
}

/* Returns a proof that depends on every bit of the value. */
static uint64_t proof_of(const struct value* value) {
  struct place place = {0, 0, 0};
  uint64_t state[2] = {0, 0};
  const char* chunk;
  size_t num_bytes;
  while ((num_bytes = persist_chunk(value, &place, &chunk)) != 0) {
    state[1] = digest_of(chunk, num_bytes);
    state[0] = digest_of(state, sizeof state);
  }
  return state[0];
}

static uint64_t magic_of(const struct value* value) {
  uint32_t i;
  if (value->shape.window_ms != 0) return DUMP_MAGIC_WINDOW;
  for (i = 0; i < value->num_links; ++i)
    if (value->links[i].is.hash != 0) return DUMP_MAGIC_FOREIGN;
  return DUMP_MAGIC;
}

static size_t head_bytes(uint64_t magic) {
  return magic == DUMP_MAGIC_WINDOW ? sizeof(struct dumped_value) : offsetof(struct dumped_value, window_ms);
}

static size_t measure_bytes(uint64_t magic) {
  if (magic == DUMP_MAGIC_WINDOW) return sizeof(struct measure);
  return magic == DUMP_MAGIC ? offsetof(struct measure, hash) : offsetof(struct measure, kept_until);
}

/* Until all of RedisBloom's arrays are there, the value is stored as RedisBloom's dump. */
static char* foreign_header(const struct value* value, size_t* num_bytes) {
  char* header = RM_Alloc(value->foreign_bytes);
  memcpy(header, value->foreign, value->foreign_bytes);
  *num_bytes = value->foreign_bytes;
  return header;
}

char* persist_header(const struct value* value, size_t* num_bytes) {
  if (value->foreign != NULL) return foreign_header(value, num_bytes);
  struct dumped_value head = {magic_of(value),        value->shape.fpr,  value->shape.capacity,
                              value->shape.expansion, value->shape.seed, value->shape.layout,
                              value->num_links,       value->proof,      value->shape.window_ms,
                              value->epoch,           value->since};
  const size_t of_head = head_bytes(head.magic), of_link = measure_bytes(head.magic);
  size_t length = of_head + value->num_links * of_link;
  char* header = RM_Alloc(length + sizeof(uint64_t));
  uint64_t sum;
  uint32_t i;
  if (value_is_whole(value)) head.proof = proof_of(value);
  memcpy(header, &head, of_head);
  for (i = 0; i < value->num_links; ++i) memcpy(header + of_head + i * of_link, &value->links[i].is, of_link);
  sum = sum_of(header, length);
  memcpy(header + length, &sum, sizeof sum);
  *num_bytes = length + sizeof sum;
  return header;
}

static int is_layout(uint64_t number) {
  return number == 0 || (number <= UINT32_MAX && bfs_layout_name((uint32_t)number) != NULL);
}

static int is_good_window(const struct dumped_value* head) {
  if (head->magic != DUMP_MAGIC_WINDOW) return head->magic == DUMP_MAGIC || head->magic == DUMP_MAGIC_FOREIGN;
  return head->window_ms > 0 && head->window_ms <= MAX_WINDOW_MS && head->epoch < MAX_EPOCH;
}

static int is_good_head(const struct dumped_value* head) {
  return is_good_window(head) && head->fpr > 0 && head->fpr < 1 && head->capacity > 0 &&
         head->capacity <= MAX_CAPACITY && head->expansion <= MAX_EXPANSION && is_layout(head->layout) &&
         (head->layout != BFS_LAYOUT_COUNTING || (head->expansion == 0 && head->num_links <= 1)) &&
         head->num_links <= MAX_LINKS;
}

static struct value* value_of_head(const struct dumped_value* head) {
  struct shape shape = {head->fpr,  head->capacity,         head->expansion,
                        head->seed, (uint32_t)head->layout, head->window_ms};
  struct value* value = value_new(&shape);
  value->proof = head->proof;
  value->epoch = head->epoch;
  value->since = moment_here(&head->since);
  return value;
}

/* Reads the part before the links.  Returns its length, or 0. */
static size_t read_head(const char* header, size_t num_bytes, struct dumped_value* head) {
  uint64_t sum;
  memset(head, 0, sizeof *head);
  if (num_bytes < sizeof head->magic) return 0;
  memcpy(&head->magic, header, sizeof head->magic);
  const size_t of_head = head_bytes(head->magic);
  if (num_bytes < of_head + sizeof sum) return 0;
  memcpy(head, header, of_head);
  memcpy(&sum, header + num_bytes - sizeof sum, sizeof sum);
  const int is_good = is_good_head(head) && sum == sum_of(header, num_bytes - sizeof sum) &&
                      num_bytes == of_head + head->num_links * measure_bytes(head->magic) + sizeof sum;
  return is_good ? of_head : 0;
}

struct value* persist_read_header(const char* header, size_t num_bytes, int* code) {
  struct dumped_value head;
  struct measure measure;
  uint64_t i;
  struct value* value;
  if (redisbloom_is_header(header, num_bytes)) return redisbloom_read_header(header, num_bytes, code);
  *code = VALUE_BAD_DATA;
  const size_t of_head = read_head(header, num_bytes, &head);
  if (of_head == 0) return NULL;
  const size_t of_link = measure_bytes(head.magic);
  memset(&measure, 0, sizeof measure);
  value = value_of_head(&head);
  *code = 0;
  for (i = 0; i < head.num_links && *code == 0; ++i) {
    memcpy(&measure, header + of_head + i * of_link, of_link);
    *code = value_add_link(value, &measure);
  }
  if (*code == 0 && !value_has_its_epochs(value)) *code = VALUE_BAD_DATA;
  if (*code == 0) return value;
  value_free(value);
  return NULL;
}

/* --- Chunks ------------------------------------------------------------------------------------------------------- */

/* The bytes of a link: its filter, or RedisBloom's array, from which the filter is made at the end. */
static char* bytes_of(const struct link* link) { return link->arriving != NULL ? link->arriving : link->bytes; }

static uint64_t length_of(const struct link* link) {
  return link->arriving != NULL ? link->arriving_bytes : link->is.num_bytes;
}

struct place persist_place(const struct value* value, uint64_t offset) {
  struct place place = {offset, 0, offset};
  while (place.link < value->num_links && place.in_link >= length_of(&value->links[place.link]))
    place.in_link -= length_of(&value->links[place.link++]);
  return place;
}

size_t persist_bytes(const struct value* value, struct place* place, size_t most, const char** bytes) {
  const struct link* link;
  uint64_t num_bytes;
  if (place->offset >= value->loaded) return 0;
  link = &value->links[place->link];
  num_bytes = value->loaded - place->offset;
  if (num_bytes > length_of(link) - place->in_link) num_bytes = length_of(link) - place->in_link;
  if (num_bytes > most) num_bytes = most;
  *bytes = bytes_of(link) + place->in_link;
  place->offset += num_bytes;
  place->in_link += num_bytes;
  if (place->in_link == length_of(link)) {
    ++place->link;
    place->in_link = 0;
  }
  return (size_t)num_bytes;
}

size_t persist_chunk(const struct value* value, struct place* place, const char** bytes) {
  return persist_bytes(value, place, CHUNK_BYTES, bytes);
}

/* Compares the bytes with the dump, once the last byte has arrived.  A dump of RedisBloom has no proof: the seed of
 * later filters is one of its bits, equal on every replica, and no client knows it who does not know the filter. */
static int finish(struct value* value) {
  if (value->foreign != NULL) return redisbloom_finish(value, proof_of(value));
  if (value->proof != proof_of(value)) return VALUE_BAD_DATA;
  return value_wrap(value);
}

/* Returns whether this chunk follows the last one of the value's dump.  If so, the dumped filter got another link
 * meanwhile, for keys that this value lacks. */
static int is_after_its_dump(const struct value* value, uint64_t begin) {
  return value->dumped != 0 && begin == value->dumped;
}

int persist_take_chunk(struct value* value, uint64_t end, const char* bytes, size_t num_bytes) {
  uint64_t begin = end - num_bytes;
  struct place place;
  struct link* link;
  if (num_bytes != 0 && num_bytes <= end && is_after_its_dump(value, begin)) {
    value_doubt(value);
    return VALUE_GREW;
  }
  if (value->attachment != NULL || value->loaded == value->total || begin != value->loaded || num_bytes > end ||
      num_bytes == 0 || end > value->total)
    return VALUE_BAD_OFFSET;
  place = persist_place(value, begin);
  link = &value->links[place.link];
  if (num_bytes > length_of(link) - place.in_link) return VALUE_BAD_OFFSET;
  memcpy(bytes_of(link) + place.in_link, bytes, num_bytes);
  value->loaded = end;
  if (value->loaded < value->total) return 0;
  if (finish(value) != 0) {
    value_unwrap(value);
    return VALUE_BAD_DATA;
  }
  value->dumped = end;
  return 0;
}

/* --- Snapshots ---------------------------------------------------------------------------------------------------- */

static void save_attachment(RedisModuleIO* io, struct attachment* attachment) {
  attachment_sync(attachment); /* needed if this process did not fork to save */
  RM_SaveStringBuffer(io, attachment->path, strlen(attachment->path) + 1);
  RM_SaveStringBuffer(io, (const char*)&attachment->state, sizeof attachment->state);
}

void persist_save(RedisModuleIO* io, void* saved) {
  const struct value* value = saved;
  const char* bytes;
  char* header;
  struct place place = {0, 0, 0};
  size_t num_bytes;
  RM_SaveUnsigned(io, value->attachment != NULL);
  if (value->attachment != NULL) {
    save_attachment(io, value->attachment);
    return;
  }
  header = persist_header(value, &num_bytes);
  RM_SaveStringBuffer(io, header, num_bytes);
  RM_Free(header);
  RM_SaveUnsigned(io, value->loaded);
  while ((num_bytes = persist_bytes(value, &place, STRING_BYTES, &bytes)) != 0)
    RM_SaveStringBuffer(io, bytes, num_bytes);
}

static const struct shape no_shape = {0.01, 1, 0, 0, 0, 0};

static struct value* load_attachment(RedisModuleIO* io) {
  struct attachment_state state;
  size_t path_bytes, state_bytes;
  char* path = RM_LoadStringBuffer(io, &path_bytes);
  char* kept = RM_LoadStringBuffer(io, &state_bytes);
  struct value* value = NULL;
  if (path != NULL && kept != NULL && path_bytes > 1 && path[path_bytes - 1] == 0 && state_bytes == sizeof state) {
    memcpy(&state, kept, sizeof state);
    if (attachment_state_is_good(&state)) {
      value = value_new(&no_shape);
      value->attachment = attachment_restore(path, &state, in_snapshot && persist_is_own_log(NULL));
    }
  }
  if (path != NULL) RM_Free(path);
  if (kept != NULL) RM_Free(kept);
  return value;
}

static struct value* load_header(RedisModuleIO* io, int* code) {
  size_t num_bytes;
  char* header = RM_LoadStringBuffer(io, &num_bytes);
  struct value* value;
  void* aside;
  *code = VALUE_BAD_DATA;
  if (header == NULL) return NULL;
  /* Reserves memory for the strings before the filters take theirs. */
  aside = is_repeated_restore() ? RM_TryAlloc(ASIDE_BYTES) : NULL;
  value = persist_read_header(header, num_bytes, code);
  RM_Free(aside);
  RM_Free(header);
  return value;
}

static int load_bytes(RedisModuleIO* io, struct value* value) {
  struct place place = {0, 0, 0};
  size_t wanted, num_bytes;
  const char* bytes;
  value->loaded = RM_LoadUnsigned(io);
  if (RM_IsIOError(io) || value->loaded > value->total) return VALUE_BAD_DATA;
  while ((wanted = persist_bytes(value, &place, STRING_BYTES, &bytes)) != 0) {
    char* string = RM_LoadStringBuffer(io, &num_bytes);
    int fits = string != NULL && !RM_IsIOError(io) && num_bytes == wanted;
    if (fits) memcpy((char*)bytes, string, wanted);
    if (string != NULL) RM_Free(string);
    if (!fits) return VALUE_BAD_DATA;
  }
  return value->loaded < value->total ? 0 : finish(value);
}

/* Reads the bytes after the header of a value that was not made. */
static void skip_bytes(RedisModuleIO* io) {
  uint64_t rest = RM_LoadUnsigned(io);
  while (rest > 0 && !RM_IsIOError(io)) {
    size_t num_bytes = 0;
    char* string = RM_LoadStringBuffer(io, &num_bytes);
    if (string == NULL || num_bytes == 0 || num_bytes > rest) return;
    RM_Free(string);
    rest -= num_bytes;
  }
}

static struct value* load_filters(RedisModuleIO* io, int* code) {
  struct value* value = load_header(io, code);
  if (value == NULL)
    skip_bytes(io);
  else
    *code = load_bytes(io, value);
  if (*code == 0) return value;
  value_free(value);
  return NULL;
}

void* persist_load(RedisModuleIO* io, int version) {
  struct value* value;
  uint64_t is_attached = RM_LoadUnsigned(io);
  int code = VALUE_BAD_DATA;
  if (version != ENCODING_VERSION || RM_IsIOError(io) || is_attached > 1) return NULL;
  server_begin(NULL);
  value = is_attached ? load_attachment(io) : load_filters(io, &code);
  if (value != NULL) return value;
  RM_LogIOError(io, "warning", "a filter was not loaded: %s",
                value_error(code) != NULL ? value_error(code) : bfs_strerror(code));
  return is_repeated_restore() ? value_new(&no_shape) : NULL; /* answers "maybe" */
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
  struct place place = {0, 0, 0};
  size_t num_bytes;
  char* header;
  if (value->attachment != NULL) {
    rewrite_attachment(io, key, value->attachment);
    return;
  }
  header = persist_header(value, &num_bytes);
  RM_EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1ll, header, num_bytes);
  RM_Free(header);
  while ((num_bytes = persist_chunk(value, &place, &chunk)) != 0)
    RM_EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long)(place.offset + 1), chunk, num_bytes);
}

/* --- DEBUG DIGEST ------------------------------------------------------------------------------------------------- */

void persist_digest(RedisModuleDigest* digest, void* digested) {
  const struct value* value = digested;
  struct place place = {0, 0, 0};
  const char* chunk;
  size_t num_bytes;
  if (value->attachment != NULL)
    RM_DigestAddStringBuffer(digest, value->attachment->path, strlen(value->attachment->path));
  while ((num_bytes = persist_chunk(value, &place, &chunk)) != 0) RM_DigestAddStringBuffer(digest, chunk, num_bytes);
  RM_DigestAddLongLong(digest, (long long)value_items(value));
  if (value->shape.window_ms != 0) RM_DigestAddLongLong(digest, (long long)value->epoch);
  RM_DigestEndSequence(digest);
}
