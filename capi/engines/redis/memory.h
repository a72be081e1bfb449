/* Limits on the memory of a filter. */
#ifndef BFSTORE_ENGINES_REDIS_MEMORY_H
#define BFSTORE_ENGINES_REDIS_MEMORY_H

#include <stdint.h>

#include "server.h"

#define MEMORY_LIMIT_NAME "bloom-memory-usage-limit" /* of the configuration, as in Valkey's module */
#define MEMORY_LIMIT_DEFAULT (128ll << 20)

/* Registers the configuration.  Returns 0 if the server refused. */
int memory_configure(RedisModuleCtx* ctx);

/* Checks whether a filter of `has` bytes may get `more`.  Returns 0, VALUE_OVER_LIMIT or VALUE_NO_ROOM.  A server that
 * repeats (server_repeats) has no limit: it must have what its primary has, and what it had itself. */
int memory_check(uint64_t has, uint64_t more);

#endif
