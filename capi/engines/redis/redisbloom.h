/* Chunks of RedisBloom's BF.SCANDUMP become filters of this module, so that a server can change sides.  Until the last
 * chunk has arrived, the value holds RedisBloom's arrays as they are. */
#ifndef BFSTORE_ENGINES_REDIS_REDISBLOOM_H
#define BFSTORE_ENGINES_REDIS_REDISBLOOM_H

#include "value.h"

/* Returns whether these bytes are the first chunk of such a dump.  No chunk of this module is taken for one. */
int redisbloom_is_header(const char* chunk, size_t num_bytes);

/* Returns the value of such a chunk, whose arrays are still missing.  Returns NULL and sets *code on an error. */
struct value* redisbloom_read_header(const char* chunk, size_t num_bytes, int* code);

/* Makes the filters of the arrays, once all bytes are there.  `seed` is for the filters that are added to the chain
 * later.  Returns 0; or a code, and the arrays are as they were. */
int redisbloom_finish(struct value* value, uint64_t seed);

#endif
