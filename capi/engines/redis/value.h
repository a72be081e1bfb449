/* The value of a key: a chain of filters in the server's memory, which grows, or one filter in a file that processes
 * outside the server share. */
#ifndef BFSTORE_ENGINES_REDIS_VALUE_H
#define BFSTORE_ENGINES_REDIS_VALUE_H

#include <bfstore_sets.h>
#include <stddef.h>
#include <stdint.h>

#include "moment.h"

#define MAX_CAPACITY (1ull << 30) /* of one filter, as in RedisBloom */
#define MAX_EXPANSION 32768
#define MAX_LINKS 1024 /* in a chain. RedisBloom halves the rate with each link, which ends at about this number */
#define MAX_WINDOW_MS (1ull << 40)
#define MAX_EPOCH (1ull << 50)
#define WINDOW_EPOCHS 8 /* of which a filter with a window has the keys: as many as the layout of that name has */

/* Results of this module, below those of bfstore. */
#define VALUE_FULL (-1001)              /* at its capacity, and cannot grow */
#define VALUE_NO_MEMORY (-1002)         /* none for another filter */
#define VALUE_LOADING (-1003)           /* BF.LOADCHUNK has not brought all of it */
#define VALUE_IN_DOUBT (-1004)          /* an attached file that may not be the one that has our keys */
#define VALUE_FIXED (-1005)             /* an attached file: other programs decide its size and content */
#define VALUE_BAD_DATA (-1006)          /* not a chunk of a dump */
#define VALUE_BAD_OFFSET (-1007)        /* a chunk out of order */
#define VALUE_UNLIKE (-1008)            /* counting filters of different sizes or seeds */
#define VALUE_OVER_LIMIT (-1009)        /* larger than the operator allows: see memory.h */
#define VALUE_NO_ROOM (-1010)           /* larger than what maxmemory leaves */
#define VALUE_ON_REPLICA (-1011)        /* a client of a replica removes a key, which the primary may also remove */
#define VALUE_GREW (-1012)              /* a chunk of a filter that grew while it was dumped */
#define VALUE_LONGEST (-1013)           /* a chain of MAX_LINKS does not grow */
#define VALUE_REFUSED (-1014)           /* a first chunk of RedisBloom that is refused, for a reason of its own */
#define VALUE_TURNED_BY_PRIMARY (-1015) /* a client of a replica ends an epoch */
#define VALUE_NO_WINDOW (-1016)         /* a filter whose keys do not expire */
#define VALUE_WINDOW (-1017)            /* a filter whose keys expire, which is not merged */

/* A window is the time in milliseconds for which a key is kept after its last add.  Time is divided into epochs, each
 * of a seventh of the window.  A chain with a window has links for the keys of the current epoch, and for those of the
 * 7 epochs before it. */
struct shape {
  double fpr;         /* of the whole chain */
  uint64_t capacity;  /* of the first filter; with a window: of all keys that come in one window */
  uint64_t expansion; /* factor from one filter's capacity to the next; 0: the value does not grow */
  uint64_t seed;
  uint32_t layout;    /* BFS_LAYOUT_*, or 0 */
  uint64_t window_ms; /* 0: no key expires */
};

/* The numbers that decide a filter's size, and the number of its keys. */
struct measure {
  uint64_t num_bytes;
  uint64_t capacity;
  uint64_t items; /* adds that were certainly new; counting: adds less removes */
  double fpr;     /* 0, and layout 0: read from the filter once its bytes are there */
  uint64_t layout;
  /* A filter of RedisBloom: these decide its size.  Otherwise 0. */
  uint64_t hash, num_bits, num_probes;
  uint64_t kept_until; /* with a window: the last epoch in which the keys count; otherwise 0 */
};

struct link {
  struct measure is;
  void* memory;       /* as the server gave it */
  char* bytes;        /* the embedded filter: the first multiple of 64 in it */
  bfs_filter* filter; /* NULL until all bytes are there */
  uint64_t seed;      /* then: the filter's */
  char* arriving;     /* until then, in a dump of RedisBloom: its array of bits; otherwise NULL */
  uint64_t arriving_bytes;
};

struct attachment; /* attach.h */

struct value {
  struct shape shape;
  uint32_t num_links;
  struct link* links;  /* the oldest first */
  uint64_t epoch;      /* with a window: the current one, from 0 on */
  struct moment since; /* when it began, of this boot; never before the last add of the epoch before it */
  uint64_t watched;    /* see turns.h */
  uint64_t total;      /* bytes of all links together; of their arriving arrays, while they have them */
  uint64_t loaded;     /* bytes that BF.LOADCHUNK brought; below total every answer is "maybe" */
  uint64_t proof;      /* until then: the proof that all bytes together must have (proof_of in persist.c) */
  uint64_t dumped;     /* total when BF.LOADCHUNK brought the last byte; 0: no dump */
  char* foreign;       /* while the links have arriving arrays: the first chunk of RedisBloom's dump; otherwise NULL */
  size_t foreign_bytes;
  struct attachment* attachment;
};

/* Makes a value without links.  value_free ends it, as every value. */
struct value* value_new(const struct shape* shape);
void value_free(void* value);

/* Makes a value of this shape, with its first filter.  Returns NULL and sets *code on an error. */
struct value* value_make(const struct shape* shape, int* code);

/* Copies into new memory.  Returns NULL and sets *code if there is none, or the value is attached or not whole. */
struct value* value_copy(const struct value* value, int* code);

/* The options of a filter with these numbers. */
bfs_options value_options(const struct measure* measure);

/* Adds a link whose bytes are still missing; returns 0 or a code.  Believes sizes from a client only if a filter with
 * the other numbers has them: nothing is allocated before. */
int value_add_link(struct value* value, const struct measure* measure);

/* Wraps every link once its bytes are there.  Returns a code if one of them is not the filter that was announced. */
int value_wrap(struct value* value);

/* Forgets the bytes: all must come again. */
void value_unwrap(struct value* value);

/* Frees the arrays of RedisBloom, once the filters have their bits.  Then the value is whole. */
void value_drop_arrays(struct value* value);

/* Returns 0 if every answer is "maybe", and adds are refused. */
int value_is_whole(const struct value* value);

/* Makes every answer "maybe", permanently: the value lacks a key that it should have. */
void value_doubt(struct value* value);

/* Returns 1: certainly new; 0: may have been there; < 0: a code, and the key does not count as added. */
int value_add(struct value* value, const char* key, size_t key_bytes);
/* Returns 0 for a certain no. */
int value_contains(struct value* value, const char* key, size_t key_bytes);
/* Counting filters: returns 1, 0 (certainly absent, nothing changed) or a code. */
int value_remove(struct value* value, const char* key, size_t key_bytes);
/* Counting filters: returns an upper bound of the key's count, 0 to 15; otherwise a code. */
int value_count(struct value* value, const char* key, size_t key_bytes);

/* --- Windows */

/* Returns whether the current epoch has lasted for its time.  0 without a window. */
int value_is_due(const struct value* value);
uint64_t value_epoch_ms(const struct value* value); /* the length of an epoch */

/* Ends the epoch `from`, if it is the current one: drops the keys whose last epoch it was, and begins the next epoch.
 * Returns 1; 0 if it is another epoch; or a code, and nothing changed. */
int value_turn(struct value* value, uint64_t from);

/* Returns whether a chain with a window has the epochs that it should have.  1 without a window. */
int value_has_its_epochs(const struct value* value);

/* --- */

/* Makes `into` answer "maybe" to every key of `from`, too. */
int value_merge(struct value* into, const struct value* from);

uint64_t value_capacity(const struct value* value);
uint64_t value_items(const struct value* value);
size_t value_memory(const void* value);

/* Returns VALUE_REFUSED, and keeps the reason for value_error. */
__attribute__((format(printf, 1, 2))) int value_refuse(const char* reason, ...);

/* Returns an error reply for a code of this module or of bfstore. */
const char* value_error(int code);

#endif
