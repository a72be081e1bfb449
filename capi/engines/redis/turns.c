/* A list of the keys that commands used, with the times at which their epochs end.  All of this is on the server's main
 * thread. */
#include "turns.h"

#include <string.h>

#include "attach.h"
#include "commands.h"

#define PERIOD_MS 1000
#define SHORT_PERIOD_MS 50 /* while a file is turned, and others may wait for that */
#define NANOSECONDS_IN_MS 1000000ull

/* A watched key.  The value that it has then says the same time as `watched`, and is 0 if no key is watched for it. */
struct watch {
  uint64_t due; /* nanoseconds since the boot */
  int database;
  char* name;
  size_t name_bytes;
};
static struct watch* list;
static size_t length, room;
static uint64_t last_walk; /* when the keys that were due were last looked at.  A value that was due before was not
                              found then: its key has another name */

void turns_watch(RedisModuleCtx* ctx, const RedisModuleString* name, struct value* value) {
  struct watch* watch;
  const char* bytes;
  if (value->shape.window_ms == 0 || (value->watched != 0 && value->watched >= last_walk)) return;
  if ((RM_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE) != 0) return; /* no walk would shorten the list */
  if (length == room) {
    room = room * 2 + 8;
    list = RM_Realloc(list, room * sizeof *list);
  }
  watch = &list[length++];
  watch->due = value->watched = value->since.nanoseconds + value_epoch_ms(value) * NANOSECONDS_IN_MS;
  watch->database = RM_GetSelectedDb(ctx);
  bytes = RM_StringPtrLen(name, &watch->name_bytes);
  watch->name = RM_Alloc(watch->name_bytes + 1);
  memcpy(watch->name, bytes, watch->name_bytes);
}

void turns_propagate(RedisModuleCtx* ctx, const RedisModuleString* name, const struct value* value) {
  char since[MOMENT_BYTES];
  moment_write(&value->since, since);
  RM_Replicate(ctx, "BF.TURN", "slcc", name, (long long)value->epoch - 1, "SINCE", since);
}

/* Opens the key to write to it only if its epoch is over: clients that watch it learn of nothing else. */
static struct value* find(RedisModuleCtx* ctx, RedisModuleString* name, int mode) {
  RedisModuleKey* key = RM_OpenKey(ctx, name, mode | REDISMODULE_OPEN_KEY_NOTOUCH);
  if (key == NULL || RM_ModuleTypeGetType(key) != value_type) return NULL;
  return RM_ModuleTypeGetValue(key);
}

/* Returns whether the key is watched further.  A turn that finds no memory is tried again. */
static int visit(RedisModuleCtx* ctx, struct watch* watch, uint64_t now) {
  RedisModuleString* name = RM_CreateString(ctx, watch->name, watch->name_bytes);
  struct value* value;
  RM_SelectDb(ctx, watch->database);
  value = find(ctx, name, REDISMODULE_READ);
  if (value == NULL || value->watched != watch->due) return 0;
  if (value_is_due(value)) {
    value = find(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (value == NULL) return 0;
    if (value_turn(value, value->epoch) == 1) turns_propagate(ctx, name, value);
  }
  watch->due = value->since.nanoseconds + value_epoch_ms(value) * NANOSECONDS_IN_MS;
  if (watch->due <= now) watch->due = now + 1;
  value->watched = watch->due;
  return 1;
}

static void walk(RedisModuleCtx* ctx) {
  const uint64_t now = moment_now().nanoseconds;
  size_t i = 0;
  if (now - last_walk < PERIOD_MS * NANOSECONDS_IN_MS / 2) return;
  last_walk = now;
  while (i < length) {
    struct watch* watch = &list[i];
    if (watch->due > now || visit(ctx, watch, now)) {
      ++i;
    } else {
      RM_Free(watch->name);
      *watch = list[--length];
    }
  }
}

static void on_time(RedisModuleCtx* ctx, void* data);

static void come_again(RedisModuleCtx* ctx, long long after_ms) { RM_CreateTimer(ctx, after_ms, on_time, NULL); }

void turns_begin(RedisModuleCtx* ctx) { come_again(ctx, PERIOD_MS); }

/* A replica ends no epoch of its own.  Nor does a server while CLIENT PAUSE or a failover stops its writes. */
static void on_time(RedisModuleCtx* ctx, void* data) {
  const int others = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING;
  int is_busy = 0;
  (void)data;
  RM_AutoMemory(ctx);
  if ((RM_GetContextFlags(ctx) & others) == 0 && !RM_AvoidReplicaTraffic()) {
    is_busy = attachments_turn();
    walk(ctx);
  }
  come_again(ctx, is_busy ? SHORT_PERIOD_MS : PERIOD_MS);
}
