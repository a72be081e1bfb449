/* The value of a key: a chain of filters in the server's memory, which grows, or one filter in a file that processes
 * outside the server share. */
#ifndef BFSTORE_ENGINES_REDIS_VALUE_H
#define BFSTORE_ENGINES_REDIS_VALUE_H

#include <bfstore.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CAPACITY (1ull << 30) /* of one filter, as in RedisBloom */
#define MAX_EXPANSION 32768
#define MAX_LINKS 1024 /* of a chain. RedisBloom's rates, each half of the last one, end at about as many */

/* Results of this module, below those of bfstore. */
#define VALUE_FULL (-1001)       /* it does not grow, and is at its capacity */
#define VALUE_NO_MEMORY (-1002)  /* for another filter */
#define VALUE_LOADING (-1003)    /* BF.LOADCHUNK has not brought all of it */
#define VALUE_IN_DOUBT (-1004)   /* an attached file that is not, or may not be, the one that has our keys */
#define VALUE_FIXED (-1005)      /* an attached file, which other programs give its size and content */
#define VALUE_BAD_DATA (-1006)   /* a chunk that is not of a dump */
#define VALUE_BAD_OFFSET (-1007) /* a chunk out of its turn */
#define VALUE_UNLIKE (-1008)     /* counting filters of different sizes or seeds */
#define VALUE_OVER_LIMIT (-1009) /* it would be larger than the operator allows: memory.h */
#define VALUE_NO_ROOM (-1010)    /* maxmemory does not leave as much */
#define VALUE_ON_REPLICA (-1011) /* a client of a replica wants to remove a key, which its primary may remove, too */
#define VALUE_GREW (-1012)       /* a chunk of a filter that grew while it was dumped */
#define VALUE_LONGEST (-1013)    /* a chain of MAX_LINKS does not grow */

struct shape {
  double fpr;         /* of the whole chain */
  uint64_t capacity;  /* of the first filter */
  uint64_t expansion; /* the next filter's capacity is that of the last, times this; 0: the value does not grow */
  uint64_t seed;
  uint32_t layout; /* BFS_LAYOUT_*, or 0 */
};

/* What decides a filter's size, and how many keys are in it. */
struct measure {
  uint64_t num_bytes;
  uint64_t capacity;
  uint64_t items; /* adds that were certainly new; counting: adds less removes */
  double fpr;     /* 0, and layout 0: as the filter itself says once its bytes are there */
  uint64_t layout;
};

struct link {
  struct measure is;
  void* memory;       /* as the server gave it */
  char* bytes;        /* the embedded filter: the first multiple of 64 in it */
  bfs_filter* filter; /* NULL until all bytes are there */
  uint64_t seed;      /* then: the filter's */
};

struct attachment; /* attach.h */

struct value {
  struct shape shape;
  uint32_t num_links;
  struct link* links; /* the oldest first */
  uint64_t total;     /* bytes of all links together */
  uint64_t loaded;    /* how many of them BF.LOADCHUNK brought; below total every answer is "maybe" */
  uint64_t proof;     /* until then: what persist_proof must say of all of them */
  uint64_t dumped;    /* total when BF.LOADCHUNK had brought the last one; 0: it brought none */
  struct attachment* attachment;
};

/* A value without links.  Ends with value_free, as does every value. */
struct value* value_new(const struct shape* shape);
void value_free(void* value);

/* Of this shape, with its first filter.  NULL and *code on an error. */
struct value* value_make(const struct shape* shape, int* code);

/* A copy with memory of its own.  NULL and *code where there is none, and of a value that is not whole, or attached. */
struct value* value_copy(const struct value* value, int* code);

/* Adds a link whose bytes are to come; 0 or a code.  Sizes that a client tells are believed only if a filter with the
 * other numbers has them: nothing is allocated before. */
int value_add_link(struct value* value, const struct measure* measure);

/* Wraps every link once its bytes are there.  A code if one of them is not the filter that was announced. */
int value_wrap(struct value* value);

/* The bytes are to come again, all of them. */
void value_unwrap(struct value* value);

/* 0: every answer is "maybe", and adds are refused. */
int value_is_whole(const struct value* value);

/* From now on every answer is "maybe", for good: a key is missing that the value should have. */
void value_doubt(struct value* value);

/* 1: certainly new; 0: may have been there; < 0: a code, and the key does not count as added. */
int value_add(struct value* value, const char* key, size_t key_bytes);
/* 0: a certain no. */
int value_contains(struct value* value, const char* key, size_t key_bytes);
/* Counting: 1, 0 (certainly not there, nothing changed) or a code. */
int value_remove(struct value* value, const char* key, size_t key_bytes);
/* Counting: how often, at most; otherwise a code. */
int value_count(struct value* value, const char* key, size_t key_bytes);

/* `into` answers "maybe" to every key of `from`, too. */
int value_merge(struct value* into, const struct value* from);

uint64_t value_capacity(const struct value* value);
uint64_t value_items(const struct value* value);
size_t value_memory(const void* value);

/* A sentence for a code of this module or of bfstore, as an error reply. */
const char* value_error(int code);

#endif
