/* The module: its value type, its commands and events, and its arguments. */
#include <stdio.h>
#include <string.h>

#include "attach.h"
#include "commands.h"
#include "memory.h"
#include "persist.h"
#include "server.h"
#include "turns.h"
#include "value.h"
#include "wish.h"

/* Clients identify RedisBloom by this name, and its commands by the version that introduced them (2.8.0). */
#define NAME "bf"
#define SPOKEN_VERSION 20800

/* Fills in INFO bf. */
static void tell(RedisModuleInfoCtx* info, int of_crash) {
  (void)of_crash;
  RM_InfoAddSection(info, "");
  RM_InfoAddFieldCString(info, "bfstore_version", bfs_version());
}

static void on_event(RedisModuleCtx* ctx, RedisModuleEvent event, uint64_t part, void* data) {
  (void)ctx, (void)data;
  /* The child writes the snapshot or log that replaces the old one, which this process then drops. */
  if (event.id == REDISMODULE_EVENT_FORK_CHILD && part == REDISMODULE_SUBEVENT_FORK_CHILD_BORN) attachments_sync();
  if (event.id == REDISMODULE_EVENT_LOADING) persist_leave_snapshot();
  if (event.id == REDISMODULE_EVENT_LOADING && part == REDISMODULE_SUBEVENT_LOADING_ENDED) attachments_loaded();
  if (event.id == REDISMODULE_EVENT_CONFIG) attachments_guard();
  if (event.id == REDISMODULE_EVENT_SHUTDOWN) attachments_close();
}

/* A server that repeats a COPY cannot refuse it: the copy would be missing, or the older value would stay, and both
 * answer "no" to keys that the primary's copy has. */
static void* copy(RedisModuleString* from, RedisModuleString* to, const void* copied) {
  const struct value* value = copied;
  struct value* made;
  int code;
  (void)from, (void)to;
  server_begin(NULL);
  made = value_copy(value, &code);
  if (made == NULL) RM_Log(NULL, "warning", "COPY: %s", value_error(code));
  if (made == NULL && server_repeats()) made = value_new(&value->shape); /* answers "maybe" */
  return made;
}

static void leave(RedisModuleString* name, const void* value) {
  const struct value* left = value;
  (void)name;
  if (left->attachment != NULL) attachment_leave(left->attachment);
}

/* The server also unlinks a value from a key that is renamed or moved, and then reports the new name. */
static int on_key_event(RedisModuleCtx* ctx, int type, const char* event, RedisModuleString* name) {
  RedisModuleKey* key;
  struct value* value;
  (void)type;
  if (!attachments_are_leaving()) return REDISMODULE_OK;
  if (strcmp(event, "del") == 0) attachments_left();
  if (strcmp(event, "rename_to") != 0 && strcmp(event, "move_to") != 0) return REDISMODULE_OK;
  RM_AutoMemory(ctx);
  key = RM_OpenKey(ctx, name, REDISMODULE_READ);
  if (key == NULL || RM_ModuleTypeGetType(key) != value_type) return REDISMODULE_OK;
  value = RM_ModuleTypeGetValue(key);
  if (value->attachment != NULL) attachment_stay(value->attachment);
  return REDISMODULE_OK;
}

/* Returns the number of steps in which the server would free the value: a chain of one filter is quick. */
static size_t free_effort(RedisModuleString* name, const void* value) {
  const struct value* freed = value;
  (void)name;
  return freed->attachment != NULL ? 1000 : freed->num_links + (size_t)(freed->total >> 16);
}

static int make_type(RedisModuleCtx* ctx) {
  RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                    .rdb_load = persist_load,
                                    .rdb_save = persist_save,
                                    .aof_rewrite = persist_rewrite,
                                    .mem_usage = value_memory,
                                    .digest = persist_digest,
                                    .free = value_free,
                                    .free_effort = free_effort,
                                    .aux_load = persist_load_border,
                                    .aux_save = persist_save_border,
                                    .aux_save_triggers = REDISMODULE_AUX_BEFORE_RDB | REDISMODULE_AUX_AFTER_RDB,
                                    .unlink = leave,
                                    .copy = copy};
  value_type = RM_CreateDataType(ctx, "bfstore-1", ENCODING_VERSION, &methods);
  return value_type != NULL;
}

static const struct {
  const char* name;
  RedisModuleCmdFunc run;
  const char* flags;
  int last_key;
  const char* categories; /* used where a module may add one (Redis 7.4, Valkey 8.0); older servers use the flags */
} commands[] = {
    {"bf.reserve", command_reserve, "write deny-oom fast", 1, "write fast"},
    {"bf.add", command_add, "write deny-oom fast", 1, "write fast"},
    {"bf.madd", command_madd, "write deny-oom fast", 1, "write fast"},
    {"bf.insert", command_insert, "write deny-oom fast", 1, "write fast"},
    {"bf.exists", command_exists, "readonly fast", 1, "read fast"},
    {"bf.mexists", command_mexists, "readonly fast", 1, "read fast"},
    {"bf.info", command_info, "readonly fast", 1, "read fast"},
    {"bf.card", command_card, "readonly fast", 1, "read fast"},
    {"bf.scandump", command_scandump, "readonly", 1, "read"},
    {"bf.loadchunk", command_loadchunk, "write deny-oom", 1, "write"},
    {"bf.rem", command_rem, "write fast", 1, "write fast"},
    {"bf.count", command_count, "readonly fast", 1, "read fast"},
    {"bf.merge", command_merge, "write deny-oom", -1, "write"},
    {"bf.turn", command_turn, "write", 1, "write"},
    {"bf.attach", command_attach, "write admin deny-script", 1, "write admin dangerous"},
};

static int make_commands(RedisModuleCtx* ctx) {
  int has_categories = RM_AddACLCategory != NULL && RM_SetCommandACLCategories != NULL && RM_GetCommand != NULL &&
                       RM_AddACLCategory(ctx, "bloom") == REDISMODULE_OK;
  char categories[64];
  size_t i;
  for (i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    if (RM_CreateCommand(ctx, commands[i].name, commands[i].run, commands[i].flags, 1, commands[i].last_key, 1) !=
        REDISMODULE_OK)
      return 0;
    snprintf(categories, sizeof categories, "%s bloom", commands[i].categories);
    if (has_categories) RM_SetCommandACLCategories(RM_GetCommand(ctx, commands[i].name), categories);
  }
  return 1;
}

static const char* read_folder(const RedisModuleString* word, struct wish* wish) {
  (void)wish;
  int length = snprintf(attach_folder, sizeof attach_folder, "%s/", RM_StringPtrLen(word, NULL));
  return attach_folder[0] == '/' && length < (int)sizeof attach_folder ? NULL : "ATTACH_FOLDER begins with a /";
}

/* Reads ERROR_RATE p and INITIAL_SIZE n, for keys that BF.ADD makes, as in RedisBloom; and ATTACH_FOLDER path, whose
 * files BF.ATTACH takes. */
static int read_arguments(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct wish wish = wish_new(&default_shape);
  const char* wrong = argc % 2 != 0 ? "an argument without its value" : NULL;
  int i;
  for (i = 0; i + 1 < argc && wrong == NULL; i += 2) {
    if (is_word(argv[i], "error_rate"))
      wrong = wish_read_fpr(argv[i + 1], &wish);
    else if (is_word(argv[i], "initial_size"))
      wrong = wish_read_capacity(argv[i + 1], &wish);
    else if (is_word(argv[i], "attach_folder"))
      wrong = read_folder(argv[i + 1], &wish);
    else
      wrong = "ERROR_RATE, INITIAL_SIZE and ATTACH_FOLDER are the arguments";
  }
  if (wrong != NULL) RM_Log(ctx, "warning", "bfstore: %s", wrong);
  default_shape = wish.shape;
  return wrong == NULL;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  static const uint64_t events[] = {REDISMODULE_EVENT_FORK_CHILD, REDISMODULE_EVENT_LOADING, REDISMODULE_EVENT_CONFIG,
                                    REDISMODULE_EVENT_SHUTDOWN};
  size_t i;
  if (!server_connect(ctx)) return REDISMODULE_ERR;
  if (RM_IsModuleNameBusy(NAME)) return REDISMODULE_ERR;
  RM_SetModuleAttribs(ctx, NAME, SPOKEN_VERSION, REDISMODULE_APIVER_1);
  if (!read_arguments(ctx, argv, argc) || !make_type(ctx) || !make_commands(ctx) || !memory_configure(ctx) ||
      RM_RegisterInfoFunc(ctx, tell) != REDISMODULE_OK)
    return REDISMODULE_ERR;
  /* Without a folder no file is opened, so the server's other commands need not pay for this. */
  if (attach_folder[0] != 0 &&
      RM_SubscribeToKeyspaceEvents(ctx, REDISMODULE_NOTIFY_GENERIC, on_key_event) != REDISMODULE_OK)
    return REDISMODULE_ERR;
  RM_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS);
  for (i = 0; i < sizeof events / sizeof events[0]; ++i) {
    RedisModuleEvent event = {events[i], 1};
    if (RM_SubscribeToServerEvent(ctx, event, on_event) != REDISMODULE_OK) return REDISMODULE_ERR;
  }
  turns_begin(ctx);
  return REDISMODULE_OK;
}
