/* Files of libbloom 2: bloom_save() of a filter of a rate of 1 %, and of another one.  The address that it saves with
 * its struct is another one in each run, and bloom_load() ignores it: it is made 0 here. */
#include "common.h"

#include <bloom.h>

static int has(void* filter, const char* key, size_t bytes) { return bloom_check(filter, key, (int)bytes) != 0; }

static void make(const char* folder, const char* name, const char* prefix, int count, double rate) {
  struct bloom made, loaded;
  char path[4096], key[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (bloom_init2(&made, 1000, rate) != 0) exit(1);
  for (int i = 0; i < count; ++i) bloom_add(&made, key, snprintf(key, sizeof key, "%s%d", prefix, i));
  remove(path);
  if (bloom_save(&made, path) != 0) exit(1);
  FILE* const file = fopen(path, "r+b");
  const unsigned char no_address[sizeof(void*)] = {0};
  fseek(file, 9 + 2 + (long)offsetof(struct bloom, bf), SEEK_SET);
  fwrite(no_address, 1, sizeof(void*), file);
  fclose(file);
  if (bloom_load(&loaded, path) != 0) exit(1);
  char original[32];
  snprintf(original, sizeof original, "libbloom %d.%d", made.major, made.minor);
  print_row(name, "libbloom", "-", prefix, count, has, &loaded, original);
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  make(argv[1], "libbloom.one-percent.bloom", "key-", 1000, 0.01);
  make(argv[1], "libbloom.five-permille.bloom", "cl\xc3\xa9-", 700, 0.005);
  return 0;
}
