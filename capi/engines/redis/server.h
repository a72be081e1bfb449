/* The parts of the module API of Redis (7.0 or later) and Valkey that this module uses: names, types and numbers.
 * Debian has no package with the server's own header.  Both servers give the functions under these names. */
#ifndef BFSTORE_ENGINES_REDIS_SERVER_H
#define BFSTORE_ENGINES_REDIS_SERVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleServerInfoData RedisModuleServerInfoData;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1
#define REDISMODULE_APIVER_1 1
#define REDISMODULE_READ 1
#define REDISMODULE_WRITE 2
#define REDISMODULE_OPEN_KEY_NOTOUCH (1 << 16)
#define REDISMODULE_KEYTYPE_EMPTY 0
#define REDISMODULE_POSTPONED_LEN (-1)
#define REDISMODULE_NOTIFY_GENERIC (1 << 2)
#define REDISMODULE_CTX_FLAGS_SLAVE (1 << 3)
#define REDISMODULE_CTX_FLAGS_REPLICATED (1 << 12)
#define REDISMODULE_CTX_FLAGS_LOADING (1 << 13)
#define REDISMODULE_CTX_FLAGS_RESP3 (1 << 22)
#define REDISMODULE_OPTIONS_HANDLE_IO_ERRORS 1
#define REDISMODULE_CONFIG_MEMORY (1 << 7)
#define REDISMODULE_AUX_BEFORE_RDB (1 << 0)
#define REDISMODULE_AUX_AFTER_RDB (1 << 1)
#define REDISMODULE_ERRORMSG_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef struct RedisModuleEvent {
  uint64_t id;
  uint64_t dataver;
} RedisModuleEvent;
#define REDISMODULE_EVENT_LOADING 3
#define REDISMODULE_SUBEVENT_LOADING_ENDED 3
#define REDISMODULE_EVENT_SHUTDOWN 5
#define REDISMODULE_EVENT_FORK_CHILD 13
#define REDISMODULE_SUBEVENT_FORK_CHILD_BORN 0
#define REDISMODULE_EVENT_CONFIG 16

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx*, RedisModuleString**, int);
typedef long long (*RedisModuleConfigGetNumericFunc)(const char*, void*);
typedef int (*RedisModuleConfigSetNumericFunc)(const char*, long long, void*, RedisModuleString**);
typedef int (*RedisModuleConfigApplyFunc)(RedisModuleCtx*, void*, RedisModuleString**);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx*, int);
typedef int (*RedisModuleNotificationFunc)(RedisModuleCtx*, int, const char*, RedisModuleString*);
typedef void (*RedisModuleTimerProc)(RedisModuleCtx*, void*);
typedef void (*RedisModuleEventCallback)(RedisModuleCtx*, RedisModuleEvent, uint64_t, void*);

/* The version of the struct below, which Redis 6.2 and later take. */
#define REDISMODULE_TYPE_METHOD_VERSION 3
typedef struct RedisModuleTypeMethods {
  uint64_t version;
  void* (*rdb_load)(RedisModuleIO*, int);
  void (*rdb_save)(RedisModuleIO*, void*);
  void (*aof_rewrite)(RedisModuleIO*, RedisModuleString*, void*);
  size_t (*mem_usage)(const void*);
  void (*digest)(RedisModuleDigest*, void*);
  void (*free)(void*);
  int (*aux_load)(RedisModuleIO*, int, int);
  void (*aux_save)(RedisModuleIO*, int);
  int aux_save_triggers;
  size_t (*free_effort)(RedisModuleString*, const void*);
  void (*unlink)(RedisModuleString*, const void*);
  void* (*copy)(RedisModuleString*, RedisModuleString*, const void*);
  int (*defrag)(void*, RedisModuleString*, void**);
} RedisModuleTypeMethods;

/* Function(result, name, parameters): RM_name is the server's RedisModule_name. */
#define REDISMODULE_FUNCTIONS(Function)                                                                               \
  Function(void*, TryAlloc, (size_t));                                                                                \
  Function(void*, Alloc, (size_t));                                                                                   \
  Function(void*, Realloc, (void*, size_t));                                                                          \
  Function(void, Free, (void*));                                                                                      \
  Function(void, SetModuleAttribs, (RedisModuleCtx*, const char*, int, int));                                         \
  Function(int, IsModuleNameBusy, (const char*));                                                                     \
  Function(void, SetModuleOptions, (RedisModuleCtx*, int));                                                           \
  Function(int, CreateCommand, (RedisModuleCtx*, const char*, RedisModuleCmdFunc, const char*, int, int, int));       \
  Function(RedisModuleType*, CreateDataType, (RedisModuleCtx*, const char*, int, const RedisModuleTypeMethods*));     \
  Function(int, SubscribeToServerEvent, (RedisModuleCtx*, RedisModuleEvent, RedisModuleEventCallback));               \
  Function(int, GetContextFlags, (RedisModuleCtx*));                                                                  \
  Function(void, AutoMemory, (RedisModuleCtx*));                                                                      \
  Function(uint64_t, CreateTimer, (RedisModuleCtx*, long long, RedisModuleTimerProc, void*));                         \
  Function(int, AvoidReplicaTraffic, (void));                                                                         \
  Function(int, GetSelectedDb, (RedisModuleCtx*));                                                                    \
  Function(int, SelectDb, (RedisModuleCtx*, int));                                                                    \
  Function(int, WrongArity, (RedisModuleCtx*));                                                                       \
  Function(void, Log, (RedisModuleCtx*, const char*, const char*, ...));                                              \
  Function(void, GetRandomBytes, (unsigned char*, size_t));                                                           \
  Function(RedisModuleKey*, OpenKey, (RedisModuleCtx*, RedisModuleString*, int));                                     \
  Function(int, SubscribeToKeyspaceEvents, (RedisModuleCtx*, int, RedisModuleNotificationFunc));                      \
  Function(int, KeyType, (RedisModuleKey*));                                                                          \
  Function(RedisModuleType*, ModuleTypeGetType, (RedisModuleKey*));                                                   \
  Function(void*, ModuleTypeGetValue, (RedisModuleKey*));                                                             \
  Function(int, ModuleTypeSetValue, (RedisModuleKey*, RedisModuleType*, void*));                                      \
  Function(int, ModuleTypeReplaceValue, (RedisModuleKey*, RedisModuleType*, void*, void**));                          \
  Function(const char*, StringPtrLen, (const RedisModuleString*, size_t*));                                           \
  Function(int, StringToLongLong, (const RedisModuleString*, long long*));                                            \
  Function(int, StringToULongLong, (const RedisModuleString*, unsigned long long*));                                  \
  Function(int, StringToDouble, (const RedisModuleString*, double*));                                                 \
  Function(RedisModuleString*, CreateString, (RedisModuleCtx*, const char*, size_t));                                 \
  Function(RedisModuleString*, CreateStringPrintf, (RedisModuleCtx*, const char*, ...));                              \
  Function(int, Replicate, (RedisModuleCtx*, const char*, const char*, ...));                                         \
  Function(int, ReplicateVerbatim, (RedisModuleCtx*));                                                                \
  Function(int, ReplyWithLongLong, (RedisModuleCtx*, long long));                                                     \
  Function(int, ReplyWithBool, (RedisModuleCtx*, int));                                                               \
  Function(int, ReplyWithNull, (RedisModuleCtx*));                                                                    \
  Function(int, ReplyWithError, (RedisModuleCtx*, const char*));                                                      \
  Function(int, ReplyWithSimpleString, (RedisModuleCtx*, const char*));                                               \
  Function(int, ReplyWithStringBuffer, (RedisModuleCtx*, const char*, size_t));                                       \
  Function(int, ReplyWithArray, (RedisModuleCtx*, long));                                                             \
  Function(int, ReplyWithMap, (RedisModuleCtx*, long));                                                               \
  Function(void, ReplySetArrayLength, (RedisModuleCtx*, long));                                                       \
  Function(void, SaveUnsigned, (RedisModuleIO*, uint64_t));                                                           \
  Function(uint64_t, LoadUnsigned, (RedisModuleIO*));                                                                 \
  Function(void, SaveDouble, (RedisModuleIO*, double));                                                               \
  Function(double, LoadDouble, (RedisModuleIO*));                                                                     \
  Function(void, SaveStringBuffer, (RedisModuleIO*, const char*, size_t));                                            \
  Function(char*, LoadStringBuffer, (RedisModuleIO*, size_t*));                                                       \
  Function(int, IsIOError, (RedisModuleIO*));                                                                         \
  Function(void, LogIOError, (RedisModuleIO*, const char*, const char*, ...));                                        \
  Function(void, EmitAOF, (RedisModuleIO*, const char*, const char*, ...));                                           \
  Function(int, RegisterNumericConfig,                                                                                \
           (RedisModuleCtx*, const char*, long long, unsigned, long long, long long, RedisModuleConfigGetNumericFunc, \
            RedisModuleConfigSetNumericFunc, RedisModuleConfigApplyFunc, void*));                                     \
  Function(int, LoadConfigs, (RedisModuleCtx*));                                                                      \
  Function(float, GetUsedMemoryRatio, (void));                                                                        \
  Function(RedisModuleServerInfoData*, GetServerInfo, (RedisModuleCtx*, const char*));                                \
  Function(void, FreeServerInfo, (RedisModuleCtx*, RedisModuleServerInfoData*));                                      \
  Function(unsigned long long, ServerInfoGetFieldUnsigned, (RedisModuleServerInfoData*, const char*, int*));          \
  Function(const char*, ServerInfoGetFieldC, (RedisModuleServerInfoData*, const char*));                              \
  Function(int, RegisterInfoFunc, (RedisModuleCtx*, RedisModuleInfoFunc));                                            \
  Function(int, InfoAddSection, (RedisModuleInfoCtx*, const char*));                                                  \
  Function(int, InfoAddFieldCString, (RedisModuleInfoCtx*, const char*, const char*));                                \
  Function(void, DigestAddStringBuffer, (RedisModuleDigest*, const char*, size_t));                                   \
  Function(void, DigestAddLongLong, (RedisModuleDigest*, long long));                                                 \
  Function(void, DigestEndSequence, (RedisModuleDigest*))

/* Functions that some servers lack: NULL in Redis 7.0. */
#define REDISMODULE_LATER_FUNCTIONS(Function)                                \
  Function(int, MustObeyClient, (RedisModuleCtx*));                          \
  Function(RedisModuleCommand*, GetCommand, (RedisModuleCtx*, const char*)); \
  Function(int, AddACLCategory, (RedisModuleCtx*, const char*));             \
  Function(int, SetCommandACLCategories, (RedisModuleCommand*, const char*))

#define REDISMODULE_DECLARE(result, name, parameters) extern result(*RM_##name) parameters
REDISMODULE_FUNCTIONS(REDISMODULE_DECLARE);
REDISMODULE_LATER_FUNCTIONS(REDISMODULE_DECLARE);

/* Finds the functions above.  Returns 0 if the server lacks one of the first list. */
int server_connect(RedisModuleCtx* ctx);

/* Learns whether the server now repeats what its primary or its own log did.  Then an error would reach no client.
 * Each command calls this with its context.  A value that is loaded or copied has no context (NULL): on a replica it
 * may come from the primary, or from a client of a writable replica. */
void server_begin(RedisModuleCtx* ctx);
int server_repeats(void);
uint64_t server_command(void); /* the number of the current command, from 1 on */

#endif
