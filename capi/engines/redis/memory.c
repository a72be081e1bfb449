/* Limits on what clients may take of the server's memory: for one filter, and in all.  Both are checked before anything
 * is allocated. */
#include "memory.h"

#include <string.h>

#include "value.h"

/* Below this the server's own check before the command is enough. */
#define LARGE_BYTES (1u << 20)

static long long limit = MEMORY_LIMIT_DEFAULT;

static long long get_limit(const char* name, void* data) {
  (void)name, (void)data;
  return limit;
}

static int set_limit(const char* name, long long number, void* data, RedisModuleString** error) {
  (void)name, (void)data, (void)error;
  limit = number;
  return REDISMODULE_OK;
}

int memory_configure(RedisModuleCtx* ctx) {
  return RM_RegisterNumericConfig(ctx, MEMORY_LIMIT_NAME, MEMORY_LIMIT_DEFAULT, REDISMODULE_CONFIG_MEMORY, 0, INT64_MAX,
                                  get_limit, set_limit, NULL, NULL) == REDISMODULE_OK &&
         RM_LoadConfigs(ctx) == REDISMODULE_OK;
}

/* Returns what maxmemory leaves.  If the server evicts keys, it makes room, and a filter must fit into that. */
static uint64_t room(void) {
  float used = RM_GetUsedMemoryRatio();
  RedisModuleServerInfoData* told;
  const char* policy;
  double most;
  int code;
  if (!(used > 0)) return UINT64_MAX;
  told = RM_GetServerInfo(NULL, "memory");
  most = (double)RM_ServerInfoGetFieldUnsigned(told, "maxmemory", &code);
  policy = RM_ServerInfoGetFieldC(told, "maxmemory_policy");
  if (policy == NULL || strcmp(policy, "noeviction") == 0) most *= used < 1 ? 1 - used : 0;
  RM_FreeServerInfo(NULL, told);
  return (uint64_t)most;
}

int memory_check(uint64_t has, uint64_t more) {
  if (server_repeats()) return 0;
  if (more > (uint64_t)limit || has > (uint64_t)limit - more) return VALUE_OVER_LIMIT;
  return has + more >= LARGE_BYTES && more > room() ? VALUE_NO_ROOM : 0;
}
