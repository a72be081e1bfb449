/* Stored forms of values: snapshots (RDB), the append-only file, DUMP and RESTORE, BF.SCANDUMP and BF.LOADCHUNK. */
#ifndef BFSTORE_ENGINES_REDIS_PERSIST_H
#define BFSTORE_ENGINES_REDIS_PERSIST_H

#include "server.h"
#include "value.h"

/* Largest chunk, in BF.SCANDUMP and in the append-only file.  Part of the format: a proof is computed chunk by
 * chunk. */
#define CHUNK_BYTES (1u << 20)
/* Largest string in a snapshot; also part of the format.  If a string finds no memory, loading ends: the server cannot
 * skip it. */
#define STRING_BYTES 4096
#define ENCODING_VERSION 1 /* of snapshots */

void* persist_load(RedisModuleIO* io, int version);
void persist_save(RedisModuleIO* io, void* value);
void persist_rewrite(RedisModuleIO* io, RedisModuleString* key, void* value);
/* The parts of a snapshot before and after its keys: both are empty, but loading one calls the second function. */
void persist_save_border(RedisModuleIO* io, int when);
int persist_load_border(RedisModuleIO* io, int version, int when);
void persist_leave_snapshot(void); /* call it when a loading begins, ends or fails */
void persist_digest(RedisModuleDigest* digest, void* value);

/* Returns the first chunk of a dump: the numbers of a value without its bits, and their proof.  Of a dump of RedisBloom
 * that has not arrived completely: its first chunk.  The server's memory, which the caller frees. */
char* persist_header(const struct value* value, size_t* num_bytes);

/* Returns the value of such a chunk, also one of RedisBloom, whose bits are still missing.  Returns NULL and sets *code
 * if the chunk is not one. */
struct value* persist_read_header(const char* header, size_t num_bytes, int* code);

/* The position of a byte in a value.  {0, 0, 0} is the first byte. */
struct place {
  uint64_t offset;
  uint32_t link;
  uint64_t in_link;
};
struct place persist_place(const struct value* value, uint64_t offset);

/* Returns at most `most` of the value's bytes from `place` on, not beyond the end of a filter; 0 at the end of the
 * bytes that exist (value.loaded).  Moves the place to their end. */
size_t persist_bytes(const struct value* value, struct place* place, size_t most, const char** bytes);
size_t persist_chunk(const struct value* value, struct place* place, const char** bytes);

/* Takes in the chunk that ends at `end`.  Returns 0; VALUE_BAD_OFFSET if the chunk does not begin at value.loaded;
 * VALUE_BAD_DATA if the last chunk came and all are not what was dumped (then all must come again); or VALUE_GREW if
 * the dump has more than its header said (then the value is in doubt). */
int persist_take_chunk(struct value* value, uint64_t end, const char* bytes, size_t num_bytes);

/* Returns whether this process is reading its own log.  Only a command of that log, or a value of its snapshot, names
 * the server's own file: a RESTORE in the log has a value from anywhere. */
int persist_is_own_log(RedisModuleCtx* ctx);

#endif
