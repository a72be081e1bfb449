/* A client's options for a new filter. */
#ifndef BFSTORE_ENGINES_REDIS_WISH_H
#define BFSTORE_ENGINES_REDIS_WISH_H

#include "server.h"
#include "value.h"

struct wish {
  struct shape shape;
  struct moment since; /* SINCE, in a log: when the first epoch began */
  int is_dated, is_seeded, is_nonscaling, is_expanding, is_no_create, is_sized;
  int items; /* BF.INSERT: the number of the first item; 0: none */
};

struct wish wish_new(const struct shape* defaults);

/* Returns NULL, or the error as an error reply; "" is a wrong number of words. */
const char* wish_read_fpr(const RedisModuleString* word, struct wish* wish);
const char* wish_read_capacity(const RedisModuleString* word, struct wish* wish);

/* Reads the words from argv[at] on, and calls wish_check. */
const char* wish_read(RedisModuleString** argv, int argc, int at, int of_insert, struct wish* wish);

/* Checks that the options fit together.  Draws a seed if none was given. */
const char* wish_check(struct wish* wish);

/* Compares in either case. */
int is_word(const RedisModuleString* string, const char* word);

#endif
