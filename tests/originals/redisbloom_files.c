/* Chunks of BF.SCANDUMP, the header and then the bits, one after the other: by RedisBloom's own chains of filters,
 * without Redis.  Chains of one link, of several links, and of one link that does not scale; and chains of the flags
 * of its first versions, which rounded m up to a power of two. */
#include "common.h"

#include <redismodule.h>

#include "sb.h"

void* (*RedisModule_Calloc)(size_t, size_t) = calloc;
void* (*RedisModule_TryCalloc)(size_t, size_t) = calloc;
void* (*RedisModule_Realloc)(void*, size_t) = realloc;
void (*RedisModule_Free)(void*) = free;

enum { kRounded = BLOOM_OPT_FORCE64, kToday = BLOOM_OPT_FORCE64 | BLOOM_OPT_NOROUND };

static int has(void* chain, const char* key, size_t bytes) { return SBChain_Check(chain, key, bytes); }

static void make(const char* folder, const char* name, const char* prefix, int count, uint64_t capacity, double rate,
                 unsigned options, unsigned growth) {
  int error = 0;
  SBChain* const made = SB_NewChain(capacity, rate, options, growth, &error);
  char path[4096], key[64];
  if (made == NULL) exit(1);
  for (int i = 0; i < count; ++i) SBChain_Add(made, key, (size_t)snprintf(key, sizeof key, "%s%d", prefix, i));
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* const file = fopen(path, "wb");
  size_t bytes = 0;
  char* const header = SBChain_GetEncodedHeader(made, &bytes);
  fwrite(header, 1, bytes, file);
  const char* message = NULL;
  SBChain* const loaded = SB_NewChainFromHeader(header, bytes, &message);
  if (loaded == NULL) exit(1);
  SB_FreeEncodedHeader(header);
  long long next = SB_CHUNKITER_INIT;
  for (const char* chunk; (chunk = SBChain_GetEncodedChunk(made, &next, &bytes, 1 << 24)) != NULL;) {
    fwrite(chunk, 1, bytes, file);
    if (SBChain_LoadEncodedChunk(loaded, next, chunk, bytes, &message) != 0) exit(1);
  }
  fclose(file);
  print_row(name, "redisbloom", "-", prefix, count, has, loaded, REDISBLOOM);
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  make(argv[1], "redisbloom.one-link.dump", "key-", 1000, 1000, 0.01, kToday, 2);
  make(argv[1], "redisbloom.five-links.dump", "key-", 1000, 50, 0.01, kToday, 2);
  make(argv[1], "redisbloom.no-scaling.dump", "cl\xc3\xa9-", 300, 321, 0.003, kToday | BLOOM_OPT_NO_SCALING, 0);
  make(argv[1], "redisbloom.rounded.dump", "key-", 700, 100, 0.02, kRounded, 4);
  return 0;
}
