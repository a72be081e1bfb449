/* Shared by the programs here in C and C++: what an original says of absent keys, and a line of files.tsv. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAbsent = 1000000, kFew = 10000 };

/* FNV-1a of 64 bits. */
static uint64_t folded(uint64_t fold, uint32_t number) {
  for (int i = 0; i < 4; ++i) fold = (fold ^ (number >> (8 * i) & 255)) * 0x100000001b3u;
  return fold;
}

static void print_row(const char* name, const char* format, const char* options, const char* prefix, int count,
                      int (*has)(void* filter, const char* key, size_t bytes), void* filter, const char* original) {
  uint64_t fold = 0xcbf29ce484222325u, few_fold = 0;
  int found = 0, few = 0;
  for (int i = 0; i < kAbsent; ++i) {
    char key[32];
    const size_t bytes = (size_t)snprintf(key, sizeof key, "absent-%d", i);
    if (has(filter, key, bytes)) {
      fold = folded(fold, (uint32_t)i);
      ++found;
    }
    if (i == kFew - 1) {
      few = found;
      few_fold = fold;
    }
  }
  printf("%s\t%s\t-\t%s\t%s\t%d\t%d\t%016llx\t%d\t%016llx\t%s\tutf8\n", name, format, options, prefix, count, found,
         (unsigned long long)fold, few, (unsigned long long)few_fold, original);
}
