/* How much memory a filter may take. */
#ifndef BFSTORE_ENGINES_REDIS_MEMORY_H
#define BFSTORE_ENGINES_REDIS_MEMORY_H

#include <stdint.h>

#include "server.h"

#define MEMORY_LIMIT_NAME "bloom-memory-usage-limit" /* of the configuration, as in Valkey's module */
#define MEMORY_LIMIT_DEFAULT (128ll << 20)

/* Registers the configuration.  0 if the server refused. */
int memory_configure(RedisModuleCtx* ctx);

/* Says whether the server repeats now what its primary or its own log did.  Then no limit applies: it must have what
 * the primary has, and what it had.  A command says so with its context.  A value that the server loads or copies has
 * none (NULL): on a replica it may be the primary's. */
void memory_begin(RedisModuleCtx* ctx);
int memory_repeats(void);

/* May a filter that has `has` bytes get `more`?  0, VALUE_OVER_LIMIT or VALUE_NO_ROOM. */
int memory_check(uint64_t has, uint64_t more);

#endif
