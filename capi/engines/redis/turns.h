/* The primary ends epochs that are over, of filters with a window and of attached files with one.  The log and the
 * replicas get each turn of a filter as a command: BF.TURN key epoch. */
#ifndef BFSTORE_ENGINES_REDIS_TURNS_H
#define BFSTORE_ENGINES_REDIS_TURNS_H

#include "server.h"
#include "value.h"

/* Begins to look each second.  Call it once. */
void turns_begin(RedisModuleCtx* ctx);

/* Call this in each command that uses a value.  A value does not know the key that it has, and only a command does.
 * From then on its epochs end in time, until the key gets another name: then from the next command on. */
void turns_watch(RedisModuleCtx* ctx, const RedisModuleString* name, struct value* value);

/* Tells the log and the replicas that the value has ended the epoch before its current one. */
void turns_propagate(RedisModuleCtx* ctx, const RedisModuleString* name, const struct value* value);

#endif
