/* Reads the options for a new filter from a client's words: BF.RESERVE and BF.INSERT. */
#include "wish.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

int is_word(const RedisModuleString* string, const char* word) {
  size_t num_bytes;
  const char* text = RM_StringPtrLen(string, &num_bytes);
  return num_bytes == strlen(word) && strncasecmp(text, word, num_bytes) == 0;
}

struct wish wish_new(const struct shape* defaults) {
  struct wish wish;
  memset(&wish, 0, sizeof wish);
  wish.shape = *defaults;
  return wish;
}

const char* wish_read_fpr(const RedisModuleString* word, struct wish* wish) {
  if (RM_StringToDouble(word, &wish->shape.fpr) != REDISMODULE_OK) return "ERR bad error rate";
  if (!(wish->shape.fpr > 0 && wish->shape.fpr < 1)) return "ERR error rate must be in the range (0.000000, 1.000000)";
  return NULL;
}

const char* wish_read_capacity(const RedisModuleString* word, struct wish* wish) {
  long long number;
  if (RM_StringToLongLong(word, &number) != REDISMODULE_OK) return "ERR bad capacity";
  if (number < 1 || (unsigned long long)number > MAX_CAPACITY)
    return "ERR capacity must be in the range [1, 1073741824]";
  wish->shape.capacity = (uint64_t)number;
  return NULL;
}

static const char* read_expansion(const RedisModuleString* word, struct wish* wish) {
  long long number;
  if (RM_StringToLongLong(word, &number) != REDISMODULE_OK) return "ERR bad expansion";
  if (number < 0 || number > MAX_EXPANSION) return "ERR expansion must be in the range [0, 32768]";
  wish->shape.expansion = (uint64_t)number;
  wish->is_expanding = number > 0;
  return NULL;
}

/* The library's names are lowercase; a client's words may be in any case. */
static const char* read_layout(const RedisModuleString* word, struct wish* wish) {
  char name[32];
  size_t num_bytes, i;
  const char* text = RM_StringPtrLen(word, &num_bytes);
  int32_t number = BFS_EINVAL;
  if (num_bytes < sizeof name && memchr(text, 0, num_bytes) == NULL) {
    for (i = 0; i < num_bytes; ++i) name[i] = (char)tolower((unsigned char)text[i]);
    name[num_bytes] = 0;
    number = bfs_layout_named(name);
  }
  if (number < 0) return "ERR bad layout";
  wish->shape.layout = (uint32_t)number;
  return NULL;
}

static const char* read_seed(const RedisModuleString* word, struct wish* wish) {
  unsigned long long number;
  if (RM_StringToULongLong(word, &number) != REDISMODULE_OK) return "ERR bad seed";
  wish->shape.seed = number;
  wish->is_seeded = 1;
  return NULL;
}

static const char* read_window(const RedisModuleString* word, struct wish* wish) {
  long long number;
  if (RM_StringToLongLong(word, &number) != REDISMODULE_OK) return "ERR bad window";
  if (number < 1 || (unsigned long long)number > MAX_WINDOW_MS)
    return "ERR window must be in the range [1, 1099511627776] milliseconds";
  wish->shape.window_ms = (uint64_t)number;
  return NULL;
}

static const char* read_since(const RedisModuleString* word, struct wish* wish) {
  wish->is_dated = moment_read(RM_StringPtrLen(word, NULL), &wish->since);
  return wish->is_dated ? NULL : "ERR bad time";
}

typedef const char* (*reader)(const RedisModuleString* word, struct wish* wish);

static reader reader_of(const RedisModuleString* word, int of_insert) {
  if (of_insert && is_word(word, "error")) return wish_read_fpr;
  if (of_insert && is_word(word, "capacity")) return wish_read_capacity;
  if (is_word(word, "expansion")) return read_expansion;
  if (is_word(word, "layout")) return read_layout;
  if (is_word(word, "seed")) return read_seed;
  if (is_word(word, "window")) return read_window;
  if (is_word(word, "since")) return read_since;
  return NULL;
}

/* Counting filters do not grow: in a chain it would be unknown which filter has the key to remove. */
const char* wish_check(struct wish* wish) {
  if (wish->shape.layout >= BFS_LAYOUT_WINDOW && wish->shape.layout <= BFS_LAYOUT_WINDOW_2)
    return "ERR a layout of files: a filter in memory whose keys expire has WINDOW milliseconds";
  if (wish->shape.layout == BFS_LAYOUT_GROWING)
    return "ERR a layout of files: a filter in memory grows in every layout, by EXPANSION";
  if (wish->shape.layout == BFS_LAYOUT_COUNTING && wish->shape.window_ms != 0)
    return "ERR counting filters have no window";
  if (wish->is_nonscaling && wish->is_expanding) return "ERR Nonscaling filters cannot expand";
  if (wish->shape.layout == BFS_LAYOUT_COUNTING && wish->is_expanding) return "ERR counting filters cannot expand";
  if (wish->is_nonscaling || wish->shape.layout == BFS_LAYOUT_COUNTING) wish->shape.expansion = 0;
  if (wish->is_no_create && wish->is_sized) return "ERR NOCREATE goes with neither CAPACITY nor ERROR";
  if (!wish->is_seeded) RM_GetRandomBytes((unsigned char*)&wish->shape.seed, sizeof wish->shape.seed);
  return NULL;
}

const char* wish_read(RedisModuleString** argv, int argc, int at, int of_insert, struct wish* wish) {
  const char* wrong = NULL;
  for (; at < argc && wrong == NULL; ++at) {
    reader read = reader_of(argv[at], of_insert);
    if (of_insert && is_word(argv[at], "items")) {
      wish->items = at + 1;
      break;
    }
    if (is_word(argv[at], "nonscaling"))
      wish->is_nonscaling = 1;
    else if (of_insert && is_word(argv[at], "nocreate"))
      wish->is_no_create = 1;
    else if (read == NULL)
      return "ERR Unknown argument received";
    else if (at + 1 == argc)
      return is_word(argv[at], "expansion") ? "ERR no expansion" : "";
    else {
      wish->is_sized |= read == wish_read_fpr || read == wish_read_capacity;
      wrong = read(argv[++at], wish);
    }
  }
  return wrong != NULL ? wrong : wish_check(wish);
}
