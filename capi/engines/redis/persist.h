/* How values are kept: snapshots (RDB), the append-only file, DUMP and RESTORE, BF.SCANDUMP and BF.LOADCHUNK. */
#ifndef BFSTORE_ENGINES_REDIS_PERSIST_H
#define BFSTORE_ENGINES_REDIS_PERSIST_H

#include "server.h"
#include "value.h"

/* Of a chunk, at most: in BF.SCANDUMP and in the append-only file.  A proof is of the chunks, one by one, so that
 * another number is another format. */
#define CHUNK_BYTES (1u << 20)
/* Of a string in a snapshot, at most, which is part of the format, too.  A string that finds no memory ends the
 * loading: the server cannot skip it. */
#define STRING_BYTES 4096
#define ENCODING_VERSION 1 /* of snapshots */

void* persist_load(RedisModuleIO* io, int version);
void persist_save(RedisModuleIO* io, void* value);
void persist_rewrite(RedisModuleIO* io, RedisModuleString* key, void* value);
/* What a snapshot has before its keys and after them: nothing, but its loading calls the second one. */
void persist_save_border(RedisModuleIO* io, int when);
int persist_load_border(RedisModuleIO* io, int version, int when);
void persist_leave_snapshot(void); /* a loading begins, ends or fails */
void persist_digest(RedisModuleDigest* digest, void* value);

/* The first chunk of a dump: the numbers of a value without its bits, and the proof of these.  Memory of the server's,
 * which the caller frees. */
char* persist_header(const struct value* value, size_t* num_bytes);

/* The value of such a chunk, whose bits are to come.  NULL and *code where it is not one. */
struct value* persist_read_header(const char* header, size_t num_bytes, int* code);

/* A byte of a value. {0, 0, 0} is the first one. */
struct place {
  uint64_t offset;
  uint32_t link;
  uint64_t in_link;
};
struct place persist_place(const struct value* value, uint64_t offset);

/* At most that many of the value's bytes from `place` on, which do not cross the end of a filter; 0 at the end of what
 * is there (value.loaded).  The place is then where they end. */
size_t persist_bytes(const struct value* value, struct place* place, size_t most, const char** bytes);
size_t persist_chunk(const struct value* value, struct place* place, const char** bytes);

/* Takes in the chunk that ends at `end`.  0, or VALUE_BAD_OFFSET, and then it begins elsewhere than at value.loaded; or
 * VALUE_BAD_DATA, and then all are wanted again: the last one came, and together they are not what was dumped; or
 * VALUE_GREW, and then the value is in doubt: its dump has more than its header said. */
int persist_take_chunk(struct value* value, uint64_t end, const char* bytes, size_t num_bytes);

/* Is this process reading its own log?  Only a command of it, or a value of its snapshot, names a file that is the
 * server's own: a RESTORE in the log has a value from anywhere. */
int persist_is_own_log(RedisModuleCtx* ctx);

#endif
