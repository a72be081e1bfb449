/* Finds the functions of the server's module API by name, and learns for whom a command runs. */
#include "server.h"

#define DEFINE(result, name, parameters) result(*RM_##name) parameters
REDISMODULE_FUNCTIONS(DEFINE);
REDISMODULE_LATER_FUNCTIONS(DEFINE);

typedef int (*get_api)(const char* name, void* function);

int server_connect(RedisModuleCtx* ctx) {
  get_api find = *(get_api*)ctx; /* the first field of the context of OnLoad */
  int missing = 0;
#define FIND(result, name, parameters) missing |= find("RedisModule_" #name, &RM_##name) != REDISMODULE_OK
#define TRY(result, name, parameters) (void)find("RedisModule_" #name, &RM_##name)
  REDISMODULE_FUNCTIONS(FIND);
  REDISMODULE_LATER_FUNCTIONS(TRY);
  return !missing;
}

static int repeats;
static uint64_t commands;

void server_begin(RedisModuleCtx* ctx) {
  int marks = REDISMODULE_CTX_FLAGS_LOADING;
  marks |= ctx == NULL ? REDISMODULE_CTX_FLAGS_SLAVE : REDISMODULE_CTX_FLAGS_REPLICATED;
  ++commands;
  repeats = (RM_GetContextFlags(ctx) & marks) != 0;
  if (ctx != NULL && RM_MustObeyClient != NULL) repeats |= RM_MustObeyClient(ctx) != 0;
}

int server_repeats(void) { return repeats; }

uint64_t server_command(void) { return commands; }
