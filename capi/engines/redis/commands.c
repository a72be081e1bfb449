/* The BF commands: RedisBloom's, with its replies in both protocols, and our own (BF.ATTACH, BF.MERGE, BF.REM,
 * BF.COUNT, BF.TURN).  The log keeps a command as it came, and replicas get it so; adds become BF.MADD.  A command that
 * makes a value goes first, with the seed that was drawn.  So every replica has the same bits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attach.h"
#include "commands.h"
#include "persist.h"
#include "server.h"
#include "turns.h"
#include "value.h"
#include "wish.h"

RedisModuleType* value_type;
struct shape default_shape = {0.01, 100, 2, 0, 0, 0}; /* RedisBloom's defaults */

#define MESSAGE_BYTES 560

/* --- Replies ------------------------------------------------------------------------------------------------------ */

static int is_resp3(RedisModuleCtx* ctx) { return (RM_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) != 0; }

static int reply_code(RedisModuleCtx* ctx, int code) {
  char message[MESSAGE_BYTES];
  const char* text = value_error(code);
  if (text != NULL) return RM_ReplyWithError(ctx, text);
  snprintf(message, sizeof message, "ERR %s", bfs_strerror(code));
  return RM_ReplyWithError(ctx, message);
}

static int reply_yes_no(RedisModuleCtx* ctx, int code) {
  return code < 0 ? reply_code(ctx, code) : RM_ReplyWithBool(ctx, code);
}

/* Begins each command. */
static void begin(RedisModuleCtx* ctx) {
  RM_AutoMemory(ctx);
  server_begin(ctx);
}

/* --- Keys of the server ------------------------------------------------------------------------------------------- */

struct found {
  RedisModuleKey* key;
  struct value* value; /* NULL: there is no such key */
};

/* Returns 0 after sending an error if the key has a value of another type. */
static int find(RedisModuleCtx* ctx, RedisModuleString* name, int mode, struct found* found) {
  found->value = NULL;
  found->key = RM_OpenKey(ctx, name, mode);
  if (found->key == NULL || RM_KeyType(found->key) == REDISMODULE_KEYTYPE_EMPTY) return 1;
  if (RM_ModuleTypeGetType(found->key) != value_type) {
    RM_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    return 0;
  }
  found->value = RM_ModuleTypeGetValue(found->key);
  turns_watch(ctx, name, found->value);
  return 1;
}

/* Calls find(), and returns 0 also if the key does not exist. */
static int find_there(RedisModuleCtx* ctx, RedisModuleString* name, int mode, struct found* found) {
  if (!find(ctx, name, mode, found)) return 0;
  if (found->value != NULL) return 1;
  RM_ReplyWithError(ctx, "ERR not found");
  return 0;
}

/* --- Making and adding ------------------------------------------------------------------------------------------- */

static int reply_wrong(RedisModuleCtx* ctx, const char* wrong) {
  return wrong[0] == 0 ? RM_WrongArity(ctx) : RM_ReplyWithError(ctx, wrong);
}

/* 17 digits give the same double again. */
static void propagate_making(RedisModuleCtx* ctx, RedisModuleString* name, const struct value* value) {
  const struct shape* shape = &value->shape;
  RedisModuleString* words[12];
  size_t count = 0;
  char since[MOMENT_BYTES];
  words[count++] = name;
  words[count++] = RM_CreateStringPrintf(ctx, "%.17g", shape->fpr);
  words[count++] = RM_CreateStringPrintf(ctx, "%" PRIu64, shape->capacity);
  words[count++] = RM_CreateStringPrintf(ctx, "EXPANSION");
  words[count++] = RM_CreateStringPrintf(ctx, "%" PRIu64, shape->expansion);
  words[count++] = RM_CreateStringPrintf(ctx, "SEED");
  words[count++] = RM_CreateStringPrintf(ctx, "%" PRIu64, shape->seed);
  if (shape->layout != 0) {
    words[count++] = RM_CreateStringPrintf(ctx, "LAYOUT");
    words[count++] = RM_CreateStringPrintf(ctx, "%s", bfs_layout_name(shape->layout));
  }
  if (shape->window_ms == 0) {
    RM_Replicate(ctx, "BF.RESERVE", "v", words, count);
    return;
  }
  words[count++] = RM_CreateStringPrintf(ctx, "WINDOW");
  words[count++] = RM_CreateStringPrintf(ctx, "%" PRIu64, shape->window_ms);
  moment_write(&value->since, since);
  RM_Replicate(ctx, "BF.RESERVE", "vcc", words, count, "SINCE", since);
}

/* Makes the value, and propagates the command that makes it. */
static int make(RedisModuleCtx* ctx, RedisModuleString* name, const struct wish* wish, struct found* found) {
  int code;
  found->value = value_make(&wish->shape, &code);
  if (found->value == NULL && server_repeats()) found->value = value_new(&wish->shape); /* answers "maybe" */
  if (found->value == NULL) {
    reply_code(ctx, code);
    return 0;
  }
  if (wish->is_dated) found->value->since = moment_here(&wish->since);
  RM_ModuleTypeSetValue(found->key, value_type, found->value);
  propagate_making(ctx, name, found->value);
  turns_watch(ctx, name, found->value);
  return 1;
}

/* BF.RESERVE key error capacity [EXPANSION n] [NONSCALING] [LAYOUT BLOCKED|CLASSIC|COUNTING] [SEED n] [WINDOW ms] */
int command_reserve(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct wish wish = wish_new(&default_shape);
  struct found found;
  const char* wrong;
  begin(ctx);
  if (argc < 4) return RM_WrongArity(ctx);
  wrong = wish_read_fpr(argv[2], &wish);
  if (wrong == NULL) wrong = wish_read_capacity(argv[3], &wish);
  if (wrong == NULL) wrong = wish_read(argv, argc, 4, 0, &wish);
  if (wrong != NULL) return reply_wrong(ctx, wrong);
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  /* If a primary makes a filter, it had none: so a value here comes from a client of this replica, not from the
   * primary. */
  if (found.value != NULL && !server_repeats()) return RM_ReplyWithError(ctx, "ERR item exists");
  if (!make(ctx, argv[1], &wish, &found)) return REDISMODULE_OK;
  return RM_ReplyWithSimpleString(ctx, "OK");
}

/* Adds the items, each with its answer; the first error is the last answer.  Added items go to the log and to replicas,
 * also if the answer is 0: a replica of another version or libm may have other false positives, and a file may have the
 * key from a process that did not sync it.  Other items do not go: a replica could add them, and grow differently. */
static void add_items(RedisModuleCtx* ctx, RedisModuleString* name, struct value* value, RedisModuleString** items,
                      int count, int is_one) {
  int is_told = server_repeats(); /* no client would get an error */
  int added = 0, answers = 0, code = 0;
  if (!is_one) RM_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
  for (; answers < count && code >= 0; ++answers) {
    size_t num_bytes;
    const char* key = RM_StringPtrLen(items[answers], &num_bytes);
    code = value_add(value, key, num_bytes);
    /* The master could add, but this server cannot: it lacks the memory for another filter, or the file. */
    if (code < 0 && is_told) value_doubt(value);
    if (code == VALUE_IN_DOUBT && is_told) code = 0; /* the value answers "maybe" to this key, too */
    reply_yes_no(ctx, code);
    added += code >= 0;
  }
  if (!is_one) RM_ReplySetArrayLength(ctx, answers);
  if (is_told) added = count; /* its own log repeats what its master did */
  if (added > 0) RM_Replicate(ctx, "BF.MADD", "sv", name, items, (size_t)added);
}

/* Finds the filter for an add, or makes one.  A primary first says that it makes a filter, and with which numbers:
 * without that, this server lost the key, and with it keys that the primary has. */
static int make_to_add(RedisModuleCtx* ctx, RedisModuleString* name, const struct wish* wish, struct found* found) {
  if (!server_repeats()) return make(ctx, name, wish, found);
  found->value = value_new(&wish->shape);
  RM_ModuleTypeSetValue(found->key, value_type, found->value);
  return 1;
}

static int add_to_key(RedisModuleCtx* ctx, RedisModuleString** argv, int argc, int is_one) {
  struct wish wish = wish_new(&default_shape);
  struct found found;
  begin(ctx);
  if (argc < 3 || (is_one && argc != 3)) return RM_WrongArity(ctx);
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  wish_check(&wish);
  if (found.value == NULL && !make_to_add(ctx, argv[1], &wish, &found)) return REDISMODULE_OK;
  add_items(ctx, argv[1], found.value, argv + 2, argc - 2, is_one);
  return REDISMODULE_OK;
}

int command_add(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) { return add_to_key(ctx, argv, argc, 1); }
int command_madd(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) { return add_to_key(ctx, argv, argc, 0); }

/* BF.INSERT key [CAPACITY n] [ERROR p] [EXPANSION n] [NONSCALING] [LAYOUT ..] [SEED n] [WINDOW ms] [NOCREATE] ITEMS
 * item .. */
int command_insert(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct wish wish = wish_new(&default_shape);
  struct found found;
  const char* wrong;
  begin(ctx);
  if (argc < 4) return RM_WrongArity(ctx);
  wrong = wish_read(argv, argc, 2, 1, &wish);
  if (wrong == NULL && (wish.items == 0 || wish.items == argc)) wrong = "";
  if (wrong != NULL) return reply_wrong(ctx, wrong);
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  if (found.value == NULL && wish.is_no_create) return RM_ReplyWithError(ctx, "ERR not found");
  if (found.value == NULL && !make_to_add(ctx, argv[1], &wish, &found)) return REDISMODULE_OK;
  add_items(ctx, argv[1], found.value, argv + wish.items, argc - wish.items, 0);
  return REDISMODULE_OK;
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static int ask(RedisModuleCtx* ctx, RedisModuleString** argv, int argc, int is_one) {
  struct found found;
  int i;
  begin(ctx);
  if (argc < 3 || (is_one && argc != 3)) return RM_WrongArity(ctx);
  if (!find(ctx, argv[1], REDISMODULE_READ, &found)) return REDISMODULE_OK;
  if (!is_one) RM_ReplyWithArray(ctx, argc - 2);
  for (i = 2; i < argc; ++i) {
    size_t num_bytes;
    const char* key = RM_StringPtrLen(argv[i], &num_bytes);
    RM_ReplyWithBool(ctx, found.value != NULL && value_contains(found.value, key, num_bytes) != 0);
  }
  return REDISMODULE_OK;
}

int command_exists(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) { return ask(ctx, argv, argc, 1); }
int command_mexists(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) { return ask(ctx, argv, argc, 0); }

int command_card(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  begin(ctx);
  if (argc != 2) return RM_WrongArity(ctx);
  if (!find(ctx, argv[1], REDISMODULE_READ, &found)) return REDISMODULE_OK;
  return RM_ReplyWithLongLong(ctx, found.value == NULL ? 0 : (long long)value_items(found.value));
}

static const struct {
  const char *word, *name;
} facts[] = {{"capacity", "Capacity"},
             {"size", "Size"},
             {"filters", "Number of filters"},
             {"items", "Number of items inserted"},
             {"expansion", "Expansion rate"},
             {"window", "Window"}, /* these three are not in RedisBloom: without a window only who asks gets them */
             {"epoch", "Epoch"},
             {"began", "Epoch began"},
             {"state", "State"}}; /* only a client that asks for it gets it */
#define NUM_FACTS ((int)(sizeof facts / sizeof facts[0]))
#define NUM_REDISBLOOM_FACTS 5

/* Returns "good", or why the value answers "maybe" to every key. */
static const char* state_of(const struct value* value) {
  if (value->attachment != NULL) return attachment_state(value->attachment);
  if (value_is_whole(value)) return "good";
  return value->num_links > 0 ? "loading" : "in doubt";
}

struct window {
  uint64_t milliseconds; /* 0: none */
  uint64_t epoch, began; /* in milliseconds since 1970 */
};

static struct window window_of(const struct value* value) {
  struct window window = {value->shape.window_ms, value->epoch, 0};
  if (value->attachment != NULL) {
    const bfs_statistics told = attachment_statistics(value->attachment);
    window.milliseconds = told.window_ms;
    window.epoch = told.epoch;
    window.began = told.turned_at / 1000000;
  } else if (window.milliseconds != 0) {
    window.began = moment_since_1970_ms(&value->since);
  }
  return window;
}

static void reply_window(RedisModuleCtx* ctx, const struct window* window, uint64_t fact) {
  if (window->milliseconds == 0)
    RM_ReplyWithNull(ctx);
  else
    RM_ReplyWithLongLong(ctx, (long long)fact);
}

static void reply_fact(RedisModuleCtx* ctx, const struct value* value, int fact) {
  const struct window window = window_of(value);
  switch (fact) {
    case 0:
      RM_ReplyWithLongLong(ctx, (long long)value_capacity(value));
      break;
    case 1:
      RM_ReplyWithLongLong(ctx, (long long)value_memory(value));
      break;
    case 2:
      RM_ReplyWithLongLong(ctx, value->attachment != NULL ? 1 : (long long)value->num_links);
      break;
    case 3:
      RM_ReplyWithLongLong(ctx, (long long)value_items(value));
      break;
    case 5:
      reply_window(ctx, &window, window.milliseconds);
      break;
    case 6:
      reply_window(ctx, &window, window.epoch);
      break;
    case 7:
      reply_window(ctx, &window, window.began);
      break;
    case 8:
      RM_ReplyWithSimpleString(ctx, state_of(value));
      break;
    default:
      if (value->shape.expansion == 0)
        RM_ReplyWithNull(ctx);
      else
        RM_ReplyWithLongLong(ctx, (long long)value->shape.expansion);
  }
}

/* BF.INFO key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION|WINDOW|EPOCH|BEGAN|STATE] */
int command_info(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  int i, count;
  begin(ctx);
  if (argc != 2 && argc != 3) return RM_WrongArity(ctx);
  if (!find_there(ctx, argv[1], REDISMODULE_READ, &found)) return REDISMODULE_OK;
  for (i = 0; argc == 3 && i < NUM_FACTS; ++i) {
    if (!is_word(argv[2], facts[i].word)) continue;
    if (!is_resp3(ctx))
      RM_ReplyWithArray(ctx, 1);
    else if (RM_ReplyWithMap(ctx, 1) == REDISMODULE_OK)
      RM_ReplyWithSimpleString(ctx, facts[i].name);
    reply_fact(ctx, found.value, i);
    return REDISMODULE_OK;
  }
  if (argc == 3) return RM_ReplyWithError(ctx, "ERR Invalid information value");
  count = window_of(found.value).milliseconds == 0 ? NUM_REDISBLOOM_FACTS : NUM_FACTS - 1;
  RM_ReplyWithMap(ctx, count);
  for (i = 0; i < count; ++i) {
    RM_ReplyWithSimpleString(ctx, facts[i].name);
    reply_fact(ctx, found.value, i);
  }
  return REDISMODULE_OK;
}

/* --- Dumps -------------------------------------------------------------------------------------------------------- */

/* BF.SCANDUMP key iterator returns the next iterator and a chunk.  The first chunk has the numbers, the others the
 * bits; a chunk's iterator is the offset of its end plus 1. */
int command_scandump(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  const char* chunk = "";
  char* header = NULL;
  long long at;
  size_t num_bytes;
  begin(ctx);
  if (argc != 3) return RM_WrongArity(ctx);
  if (RM_StringToLongLong(argv[2], &at) != REDISMODULE_OK || at < 0)
    return RM_ReplyWithError(ctx, "ERR Second argument must be numeric");
  if (!find_there(ctx, argv[1], REDISMODULE_READ, &found)) return REDISMODULE_OK;
  if (found.value->attachment != NULL) return reply_code(ctx, VALUE_FIXED);
  if (!value_is_whole(found.value)) return reply_code(ctx, VALUE_LOADING);
  if (at == 0) {
    chunk = header = persist_header(found.value, &num_bytes);
  } else {
    struct place place = persist_place(found.value, (uint64_t)at - 1);
    num_bytes = persist_chunk(found.value, &place, &chunk);
  }
  RM_ReplyWithArray(ctx, 2);
  RM_ReplyWithLongLong(ctx, at == 0 ? 1 : num_bytes == 0 ? 0 : at + (long long)num_bytes);
  RM_ReplyWithStringBuffer(ctx, chunk, num_bytes);
  if (header != NULL) RM_Free(header);
  return REDISMODULE_OK;
}

/* Sets the value.  Keeps the time at which the key expires. */
static void set_value(struct found* found, struct value* value) {
  struct value* old = found->value;
  if (old == NULL) {
    RM_ModuleTypeSetValue(found->key, value_type, value);
  } else if (RM_ModuleTypeReplaceValue(found->key, value_type, value, NULL) == REDISMODULE_OK) {
    if (old->attachment != NULL) attachment_leave(old->attachment);
    value_free(old);
  }
  found->value = value;
}

static int load_first_chunk(struct found* found, const char* chunk, size_t num_bytes) {
  int code;
  if (found->value != NULL && !server_repeats()) return VALUE_BAD_DATA;
  struct value* made = persist_read_header(chunk, num_bytes, &code);
  if (made == NULL && server_repeats()) made = value_new(&default_shape); /* answers "maybe" */
  if (made != NULL) set_value(found, made);
  return code;
}

static int reply_chunk(RedisModuleCtx* ctx, const struct value* value, int is_first, int code) {
  char message[MESSAGE_BYTES];
  if (code == VALUE_BAD_DATA && !is_first)
    return RM_ReplyWithError(ctx,
                             "ERR received bad data: the chunks are not those of one dump; load all of them again, "
                             "or make a new dump");
  if (code != VALUE_BAD_OFFSET || value->loaded == value->total) return reply_code(ctx, code);
  snprintf(message, sizeof message,
           "ERR invalid offset: the next chunk begins at byte %" PRIu64 ", and its iterator is 1 more than its end",
           value->loaded);
  return RM_ReplyWithError(ctx, message);
}

/* BF.LOADCHUNK key iterator chunk.  Every answer is "maybe" until the last chunk has arrived.  If a server cannot
 * repeat what its primary or its log did, it answers "maybe" permanently.  Changes that end in an error are repeated,
 * too. */
int command_loadchunk(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  const char* chunk;
  long long at;
  size_t num_bytes;
  int code;
  begin(ctx);
  if (argc != 4) return RM_WrongArity(ctx);
  if (RM_StringToLongLong(argv[2], &at) != REDISMODULE_OK)
    return RM_ReplyWithError(ctx, "ERR Second argument must be numeric");
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  chunk = RM_StringPtrLen(argv[3], &num_bytes);
  if (at == 1)
    code = load_first_chunk(&found, chunk, num_bytes);
  else if (found.value == NULL)
    return RM_ReplyWithError(ctx, "ERR not found");
  else
    code = at < 1 ? VALUE_BAD_OFFSET : persist_take_chunk(found.value, (uint64_t)at - 1, chunk, num_bytes);
  if (code == VALUE_BAD_OFFSET && server_repeats()) value_doubt(found.value);
  if (code == 0 || server_repeats() || (code == VALUE_BAD_DATA && at != 1) || code == VALUE_GREW)
    RM_ReplicateVerbatim(ctx);
  if (code != 0 && !server_repeats()) return reply_chunk(ctx, found.value, at == 1, code);
  return RM_ReplyWithSimpleString(ctx, "OK");
}

/* --- Our own commands --------------------------------------------------------------------------------------------- */

/* BF.REM key item: returns 1, or 0 if the item was certainly absent.  Only for keys that were added. */
int command_rem(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  size_t num_bytes;
  int code;
  begin(ctx);
  if (argc != 3) return RM_WrongArity(ctx);
  if (!find_there(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  if (!server_repeats() && (RM_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE) != 0)
    return reply_code(ctx, VALUE_ON_REPLICA);
  const char* key = RM_StringPtrLen(argv[2], &num_bytes);
  code = value_remove(found.value, key, num_bytes);
  if (code == 1) RM_ReplicateVerbatim(ctx);
  return reply_yes_no(ctx, code);
}

/* BF.COUNT key item: returns the largest number of times that the item may have been added; 15 means 15 or more. */
int command_count(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  size_t num_bytes;
  int code;
  begin(ctx);
  if (argc != 3) return RM_WrongArity(ctx);
  if (!find_there(ctx, argv[1], REDISMODULE_READ, &found)) return REDISMODULE_OK;
  const char* key = RM_StringPtrLen(argv[2], &num_bytes);
  code = value_count(found.value, key, num_bytes);
  return code < 0 ? reply_code(ctx, code) : RM_ReplyWithLongLong(ctx, code);
}

static int merge_sources(RedisModuleCtx* ctx, RedisModuleString** argv, int argc, struct value* into, int first) {
  struct found from;
  int code = 0, i;
  for (i = first; i < argc && code == 0; ++i) {
    if (!find_there(ctx, argv[i], REDISMODULE_READ, &from)) return 0;
    code = value_merge(into, from.value);
  }
  if (code == 0) return 1;
  reply_code(ctx, code);
  return 0;
}

/* If the master could merge and this server cannot, this server answers "maybe" from now on, also after a restart from
 * its own log. */
static int doubt_merge(RedisModuleCtx* ctx, struct found* into) {
  if (!server_repeats()) return REDISMODULE_OK;
  set_value(into, value_new(into->value != NULL ? &into->value->shape : &default_shape));
  RM_ReplicateVerbatim(ctx);
  return REDISMODULE_OK;
}

/* BF.MERGE destination source ..: a destination that does not exist becomes a copy of the first source.  All or
 * nothing: the union is made next to the destination. */
int command_merge(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found into, from;
  struct value* merged;
  int code;
  begin(ctx);
  if (argc < 3) return RM_WrongArity(ctx);
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &into)) return REDISMODULE_OK;
  if (!find_there(ctx, argv[2], REDISMODULE_READ, &from)) return doubt_merge(ctx, &into);
  merged = value_copy(into.value != NULL ? into.value : from.value, &code);
  if (merged != NULL && merged->shape.window_ms != 0) {
    value_free(merged);
    merged = NULL;
    code = VALUE_WINDOW;
  }
  if (merged == NULL || !merge_sources(ctx, argv, argc, merged, into.value != NULL ? 2 : 3)) {
    if (merged == NULL) reply_code(ctx, code);
    value_free(merged);
    return doubt_merge(ctx, &into);
  }
  set_value(&into, merged);
  RM_ReplicateVerbatim(ctx);
  return RM_ReplyWithSimpleString(ctx, "OK");
}

/* Ends an epoch of an attached file.  No log and no replica has to know: the file does. */
static int turn_file(RedisModuleCtx* ctx, struct attachment* attachment, uint64_t from) {
  char message[MESSAGE_BYTES];
  bfs_error error = BFS_ERROR_INIT;
  const int code = attachment_turn(attachment, from, &error);
  if (code >= 0 || error.message[0] == 0) return reply_yes_no(ctx, code);
  snprintf(message, sizeof message, "ERR %s", error.message);
  return RM_ReplyWithError(ctx, message);
}

/* A server that repeats a turn which it cannot make (no memory) would add the next keys to an older epoch. */
static int turn_filter(RedisModuleCtx* ctx, RedisModuleString* name, struct value* value, uint64_t from,
                       const struct moment* since) {
  int code;
  if (from == BFS_IF_DUE && value_is_due(value)) from = value->epoch; /* otherwise no epoch has this number */
  code = value_turn(value, from);
  if (code < 0 && server_repeats()) {
    value_doubt(value);
    code = 0;
  }
  if (code == 1 && since != NULL) value->since = moment_here(since);
  if (code == 1) turns_propagate(ctx, name, value);
  return reply_yes_no(ctx, code);
}

/* BF.TURN key [epoch]: returns 1 if it ended that epoch; or without a number, if it ended an epoch that was over.
 * SINCE, which the log and replicas get: when the primary did that. */
int command_turn(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  struct found found;
  struct moment since;
  unsigned long long from = BFS_IF_DUE;
  begin(ctx);
  if (argc != 2 && argc != 3 && !(argc == 5 && is_word(argv[3], "since"))) return RM_WrongArity(ctx);
  if (argc > 2 && RM_StringToULongLong(argv[2], &from) != REDISMODULE_OK)
    return RM_ReplyWithError(ctx, "ERR bad epoch");
  if (argc == 5 && !moment_read(RM_StringPtrLen(argv[4], NULL), &since)) return RM_ReplyWithError(ctx, "ERR bad time");
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  if (found.value == NULL && server_repeats()) return RM_ReplyWithBool(ctx, 0); /* a replica that lost the key */
  if (found.value == NULL) return RM_ReplyWithError(ctx, "ERR not found");
  if (!server_repeats() && (RM_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE) != 0)
    return reply_code(ctx, VALUE_TURNED_BY_PRIMARY);
  if (found.value->attachment != NULL) return turn_file(ctx, found.value->attachment, from);
  return turn_filter(ctx, argv[1], found.value, from, argc == 5 ? &since : NULL);
}

/* Restores an attachment from a log or a master, with the state that the value had. */
static struct attachment* restore_attachment(RedisModuleCtx* ctx, const char* path, int reads,
                                             RedisModuleString* text) {
  struct attachment_state state;
  if (!attachment_read_state(RM_StringPtrLen(text, NULL), &state)) return NULL;
  state.reads = (uint64_t)reads;
  return attachment_restore(path, &state, persist_is_own_log(ctx));
}

static void propagate_attachment(RedisModuleCtx* ctx, RedisModuleString** argv, const struct attachment* attachment) {
  char state[ATTACHMENT_STATE_BYTES];
  attachment_write_state(&attachment->state, state);
  RM_Replicate(ctx, "BF.ATTACH", "ssccc", argv[1], argv[2], attachment->state.reads ? "READONLY" : "READWRITE", "STATE",
               state);
}

/* BF.ATTACH key path [READWRITE|READONLY] */
int command_attach(RedisModuleCtx* ctx, RedisModuleString** argv, int argc) {
  bfs_error error = BFS_ERROR_INIT;
  char message[MESSAGE_BYTES];
  struct shape none = {0.01, 1, 0, 0, 0, 0};
  struct found found;
  struct attachment* made;
  struct value* value;
  size_t num_bytes;
  begin(ctx);
  if (argc != 3 && argc != 4 && !(argc == 6 && is_word(argv[4], "state"))) return RM_WrongArity(ctx);
  const char* path = RM_StringPtrLen(argv[2], &num_bytes);
  int reads = argc > 3 && is_word(argv[3], "readonly");
  if (argc > 3 && !reads && !is_word(argv[3], "readwrite")) return RM_ReplyWithError(ctx, "ERR READWRITE or READONLY");
  if (strlen(path) != num_bytes || (argc != 6 && !attachment_is_allowed(path)))
    return RM_ReplyWithError(ctx, "ERR the path is not in the ATTACH_FOLDER that the module was loaded with");
  if (!find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &found)) return REDISMODULE_OK;
  if (found.value != NULL && !server_repeats()) return RM_ReplyWithError(ctx, "ERR item exists"); /* see BF.RESERVE */
  made = argc == 6 ? restore_attachment(ctx, path, reads, argv[5]) : attachment_open(path, reads, &error);
  if (made == NULL) {
    snprintf(message, sizeof message, "ERR %s", argc == 6 ? "bad state" : error.message);
    return RM_ReplyWithError(ctx, message);
  }
  value = value_new(&none);
  value->attachment = made;
  set_value(&found, value);
  propagate_attachment(ctx, argv, made);
  return RM_ReplyWithSimpleString(ctx, "OK");
}
