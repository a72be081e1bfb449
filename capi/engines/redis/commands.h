/* The commands, and the settings that the module's arguments give them. */
#ifndef BFSTORE_ENGINES_REDIS_COMMANDS_H
#define BFSTORE_ENGINES_REDIS_COMMANDS_H

#include "server.h"
#include "value.h"

extern RedisModuleType* value_type;
extern struct shape default_shape; /* for values that BF.ADD makes */

int command_reserve(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_add(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_madd(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_insert(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_exists(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_mexists(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_info(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_card(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_scandump(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_loadchunk(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_rem(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_count(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_merge(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_turn(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);
int command_attach(RedisModuleCtx* ctx, RedisModuleString** argv, int argc);

#endif
