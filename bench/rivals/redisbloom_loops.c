/* RedisBloom's own chain of filters, without Redis, as BF.RESERVE makes it, for bench/growing_rivals.py. */
#include "key_loops.h"

#include <redismodule.h>
#include <stdlib.h>

#include "sb.h"

void* (*RedisModule_Calloc)(size_t, size_t) = calloc;
void* (*RedisModule_TryCalloc)(size_t, size_t) = calloc;
void* (*RedisModule_Realloc)(void*, size_t) = realloc;
void (*RedisModule_Free)(void*) = free;

void* loops_chain_make(uint64_t capacity, double rate, uint32_t growth) {
  int error = 0;
  return SB_NewChain(capacity, rate, BLOOM_OPT_FORCE64 | BLOOM_OPT_NOROUND, growth, &error);
}
void loops_chain_free(void* chain) { SBChain_Free(chain); }

uint64_t loops_chain_bits(const SBChain* chain) {
  uint64_t bits = 0;
  for (size_t i = 0; i < chain->nfilters; ++i) bits += chain->filters[i].inner.bits;
  return bits;
}

int64_t loops_chain_add(SBChain* chain, const char* keys, uint64_t count) {
  int good = 1;
  const int64_t began = cpu_now();
  for (uint64_t i = 0; i < count; ++i) good &= SBChain_Add(chain, keys + i * KEY_BYTES, KEY_BYTES) >= 0;
  const int64_t ended = cpu_now();
  return good ? ended - began : -1;
}

int64_t loops_chain_ask(const SBChain* chain, const char* keys, uint64_t count, uint8_t* answers) {
  const int64_t began = cpu_now();
  for (uint64_t i = 0; i < count; ++i) answers[i] = SBChain_Check(chain, keys + i * KEY_BYTES, KEY_BYTES) != 0;
  return cpu_now() - began;
}
