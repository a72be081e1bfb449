/* A client of the headers of the C ABI in strict C99: calls every function with checks of what it promises.
 * Argument: a directory for its files. Prints "C99 client: N checks passed". */
#define _POSIX_C_SOURCE 200809L /* fork */
#include "bfstore.h"
#include "bfstore_codes.h"
#include "bfstore_engine.h"
#include "bfstore_interop.h"
#include "bfstore_memory.h"
#include "bfstore_sets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../support/abi_calls.h"

static int checks_passed;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
    ++checks_passed;                                                          \
  } while (0)

#define KEYS 1000

static char path[600], other_path[600];

static bfs_options options_for(uint64_t capacity, double fpr) {
  bfs_options options;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.capacity = capacity;
  options.fpr = fpr;
  return options;
}

static bfs_error fresh_error(void) {
  bfs_error error;
  memset(&error, 0, sizeof error);
  error.struct_bytes = sizeof error;
  return error;
}

static bfs_statistics facts(const bfs_filter* filter, uint64_t flags) {
  bfs_statistics stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_bytes = sizeof stats;
  CHECK(bfs_stats(filter, flags, &stats, NULL) == BFS_OK);
  return stats;
}

/* splitmix64's finalizer: stands for an owner's own hash. */
static uint64_t well_mixed(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15u) ^ (x >> 7);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static void version_and_texts(void) {
  CHECK(strcmp(bfs_version(), EXPECTED_VERSION) == 0);
  char of_header[32]; /* BFS_VERSION's numbers as text; bfs_version() has the text of meson.build */
  snprintf(of_header, sizeof of_header, "%d.%d.%d", BFS_VERSION_MAJOR, BFS_VERSION_MINOR, BFS_VERSION_PATCH);
  CHECK(strcmp(of_header, bfs_version()) == 0);
  CHECK(strlen(bfs_strerror(BFS_OK)) > 0);
  CHECK(strcmp(bfs_strerror(BFS_EUNCLEAN), bfs_strerror(BFS_EPOISONED)) != 0);
  CHECK(strlen(bfs_strerror(-12345)) > 0);
  CHECK(strcmp(bfs_code_name(BFS_EUNCLEAN), "BFS_EUNCLEAN") == 0 && strcmp(bfs_code_name(-12345), "BFS_E?") == 0);
  CHECK(strcmp(bfs_layout_name(BFS_LAYOUT_COUNTING), "counting") == 0 && bfs_layout_name(4711) == NULL);
  CHECK(strcmp(bfs_hash_name(BFS_HASH_JAYBIRD), "jaybird") == 0 && bfs_hash_name(4711) == NULL);
  CHECK(bfs_layout_named("classic") == BFS_LAYOUT_CLASSIC && bfs_layout_named("classical") == BFS_EINVAL);
  CHECK(bfs_hash_named("siphash") == BFS_HASH_SIPHASH && bfs_hash_named(NULL) == BFS_EINVAL);
  CHECK(strcmp(bfs_code_name(BFS_ESECRET), "BFS_ESECRET") == 0 && strcmp(bfs_code_name(-202), "BFS_EMALFORMED") == 0);
  CHECK(BFS_IS_CALL_ERROR(BFS_EINVAL) && !BFS_IS_CALL_ERROR(BFS_OK) && !BFS_IS_CALL_ERROR(BFS_EUNCLEAN));
  CHECK(BFS_IS_STATE_ERROR(BFS_EUNCLEAN) && !BFS_IS_STATE_ERROR(BFS_EMALFORMED) && BFS_IS_MALFORMED(BFS_EMALFORMED));
}

static void create_add_ask_close(void) {
  const bfs_options options = options_for(KEYS, 0.01);
  bfs_error error = fresh_error();
  bfs_filter* filter = NULL;
  bfs_filter* second = (bfs_filter*)&options; /* bfs_create must set it to NULL */
  uint64_t digest = 0;
  uint64_t empty_digest = 0;

  CHECK(bfs_create(path, 0, &options, &filter, &error) == BFS_OK);
  CHECK(filter != NULL);
  CHECK(bfs_contains(filter, "a", 1) == 0);
  CHECK(bfs_add(filter, "a", 1) == 1);
  CHECK(bfs_add(filter, "a", 1) == 0);
  CHECK(bfs_contains(filter, "a", 1) == 1);
  CHECK(bfs_contains(filter, NULL, 0) == 0);
  CHECK(bfs_add(filter, NULL, 0) == 1); /* the empty key */
  CHECK(bfs_contains(filter, "", 0) == 1);

  CHECK(bfs_digest(filter, "b", 1, &digest) == BFS_OK);
  CHECK(bfs_digest(filter, NULL, 0, &empty_digest) == BFS_OK);
  CHECK(digest != empty_digest);
  CHECK(bfs_contains_digest(filter, empty_digest) == 1);
  CHECK(bfs_contains_digest(filter, digest) == 0);
  CHECK(bfs_add_digest(filter, digest) == 1);
  CHECK(bfs_contains(filter, "b", 1) == 1);

  CHECK(bfs_create(path, 0, &options, &second, &error) == BFS_EEXIST);
  CHECK(second == NULL);
  CHECK(error.code == BFS_EEXIST);
  CHECK(strstr(error.message, path) != NULL);
  CHECK(bfs_create(path, 0, &options, &second, NULL) == BFS_EEXIST);

  CHECK(facts(filter, 0).keys_added == 3);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_close(NULL, NULL) == BFS_OK);
}

static void open_in_each_mode(void) {
  bfs_error error = fresh_error();
  bfs_filter* reader = NULL;
  bfs_filter* writer = NULL;
  bfs_filter* exclusive = NULL;
  bfs_options threads = BFS_OPTIONS_INIT;

  CHECK(bfs_open(path, BFS_READ, NULL, &reader, NULL) == BFS_OK);
  CHECK(bfs_contains(reader, "a", 1) == 1);
  CHECK(bfs_add(reader, "c", 1) == BFS_EREADONLY);
  CHECK(bfs_contains(reader, "c", 1) == 0);
  CHECK(bfs_open(path, BFS_WRITE, NULL, &writer, &error) == BFS_OK);
  CHECK(bfs_add(writer, "c", 1) == 1);
  CHECK(bfs_contains(reader, "c", 1) == 1); /* seen at once */
  CHECK(bfs_open(path, BFS_EXCLUSIVE, NULL, &exclusive, &error) == BFS_EBUSY);
  CHECK(exclusive == NULL && error.code == BFS_EBUSY);
  CHECK(sync_at(writer, 7, 0, 100, NULL) == BFS_OK);
  CHECK(sync_at(writer, 7, 0, 99, NULL) == BFS_OK && bfs_sync(writer, NULL, NULL) == BFS_OK); /* marks never go back */
  CHECK(bfs_get_mark(writer, 7, 0) == 100);
  CHECK(bfs_get_mark(writer, 8, 0) == 0);
  {
    bfs_owner_mark marks[3];
    CHECK(sync_at(writer, 8, 3, 5, NULL) == BFS_OK);
    CHECK(bfs_get_mark(writer, 8, 2) == 0); /* 8 has a mark of another epoch */
    CHECK(bfs_list_marks(writer, NULL, 0, NULL) == 2);
    marks[1].owner = 99;
    CHECK(bfs_list_marks(writer, marks, 1, NULL) == 2);
    CHECK(marks[0].owner == 7 && marks[0].mark == 100 && marks[0].epoch == 0 && marks[1].owner == 99);
    CHECK(bfs_list_marks(writer, marks, 3, NULL) == 2);
    CHECK(marks[1].owner == 8 && marks[1].mark == 5 && marks[1].epoch == 3);
    CHECK(marks[1].recovered == 0 && marks[1].reserved == 0);
    CHECK(bfs_drop_owner(writer, 8, NULL) == BFS_OK);
    CHECK(bfs_get_mark(writer, 8, 3) == 0);
    CHECK(bfs_list_marks(writer, marks, 3, NULL) == 1);
  }
  CHECK(bfs_close(writer, NULL) == BFS_OK);
  threads.threads = 2;
  CHECK(bfs_open(path, BFS_WRITE, &threads, &exclusive, &error) == BFS_EINVAL && exclusive == NULL);
  CHECK(bfs_open(path, BFS_EXCLUSIVE, &threads, &exclusive, &error) == BFS_OK);
  CHECK(bfs_add(exclusive, "d", 1) == 1);
  CHECK(bfs_close(exclusive, NULL) == BFS_OK);
  CHECK(facts(reader, 0).keys_added == 5);
  CHECK(bfs_close(reader, NULL) == BFS_OK);
  errno = 4711; /* no function touches it */
  CHECK(bfs_open("/nonexistent/filter.bf", BFS_READ, NULL, &reader, &error) == BFS_ENOENT);
  CHECK(errno == 4711 && error.os_errno == ENOENT);
  CHECK(bfs_open(path, 0, NULL, &reader, &error) == BFS_EINVAL);
  CHECK(bfs_open(path, BFS_READ | BFS_WRITE, NULL, &reader, &error) == BFS_EINVAL);
}

static void many_keys(void) {
  static char text[KEYS][12];
  static const void* keys[KEYS];
  static size_t lengths[KEYS];
  static int32_t offsets32[KEYS + 1];
  static int64_t offsets64[KEYS + 1];
  static uint64_t digests[KEYS];
  static uint8_t answers[KEYS];
  static uint32_t indices[KEYS];
  const bfs_options options = options_for(5 * KEYS, 1e-4);
  bfs_filter* filter = NULL;
  uint64_t added = 0;
  int i;

  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  for (i = 0; i < KEYS; ++i) {
    sprintf(text[i], "many%07d", i); /* 11 bytes and a NUL */
    keys[i] = text[i];
    lengths[i] = 11;
    offsets32[i] = 12 * i;
    offsets64[i] = 12 * i;
    digests[i] = well_mixed((uint64_t)i);
  }
  offsets32[KEYS] = 12 * KEYS;
  offsets64[KEYS] = 12 * KEYS;

  /* 11 bytes a key */
  CHECK(contains_many(filter, keys, lengths, KEYS, answers) == 0);
  added = (uint64_t)add_many(filter, keys, lengths, KEYS);
  CHECK(added > KEYS - 20 && added <= KEYS);
  CHECK(contains_many(filter, keys, lengths, KEYS, answers) == KEYS);
  CHECK(answers[0] == 1 && answers[KEYS - 1] == 1);
  CHECK(add_many(filter, keys, lengths, KEYS) == 0);
  /* keys with their NULs: 12 bytes a key, as an array and as columns */
  CHECK(contains_fixed(filter, text, 12, KEYS, answers) < 20);
  CHECK(add_fixed(filter, text, 12, KEYS) > KEYS - 20);
  CHECK(contains_fixed(filter, text, 12, KEYS, answers) == KEYS);
  CHECK(contains_column32(filter, text, offsets32, KEYS, answers) == KEYS);
  CHECK(contains_column64(filter, text, offsets64, KEYS, answers) == KEYS);
  CHECK(add_column32(filter, text, offsets32, KEYS) == 0);
  CHECK(add_column64(filter, text, offsets64, KEYS) == 0);
  /* digests */
  CHECK(contains_digests(filter, digests, KEYS, answers) < 20);
  CHECK(add_digests(filter, digests, KEYS) > KEYS - 20);
  CHECK(contains_digests(filter, digests, KEYS, answers) == KEYS);
  /* selection vectors: here every key may be present */
  CHECK(select_many(filter, keys, lengths, KEYS, indices) == KEYS && indices[KEYS - 1] == KEYS - 1);
  CHECK(select_fixed(filter, text, 12, KEYS, indices) == KEYS && indices[KEYS - 1] == KEYS - 1);
  CHECK(select_column32(filter, text, offsets32, KEYS, indices) == KEYS && indices[KEYS - 1] == KEYS - 1);
  CHECK(select_column64(filter, text, offsets64, KEYS, indices) == KEYS && indices[KEYS - 1] == KEYS - 1);
  CHECK(select_digests(filter, digests, KEYS, indices) == KEYS && indices[KEYS - 1] == KEYS - 1);
  /* offsets that go back: nothing is added, every answer is "maybe" */
  offsets32[5] = offsets32[4] - 1;
  offsets64[5] = offsets64[4] - 1;
  added = facts(filter, 0).keys_added;
  CHECK(add_column32(filter, text, offsets32, KEYS) == BFS_EINVAL);
  CHECK(add_column64(filter, text, offsets64, KEYS) == BFS_EINVAL);
  CHECK(facts(filter, 0).keys_added == added);
  memset(answers, 0, sizeof answers);
  CHECK(contains_column32(filter, text, offsets32, KEYS, answers) == BFS_EINVAL);
  CHECK(memchr(answers, 0, sizeof answers) == NULL);
  memset(answers, 0, sizeof answers);
  CHECK(contains_column64(filter, text, offsets64, KEYS, answers) == BFS_EINVAL);
  CHECK(memchr(answers, 0, sizeof answers) == NULL);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
}

/* The forms of bfs_keys that the calls above do not have: pairs, and nulls. */
static void keys_with_nulls(void) {
  const bfs_options options = options_for(KEYS, 1e-4);
  const bfs_key pairs[] = {{"alpha", 5}, {NULL, 0}, {"beta", 4}};
  const uint8_t validity[] = {0x05 << 1}; /* the second is a null; the bitmap begins at bit 1 */
  bfs_keys keys = bfs_keys_pairs(pairs, 3);
  bfs_filter* filter = NULL;
  uint8_t answers[3] = {9, 9, 9};
  uint32_t indices[3] = {9, 9, 9};
  uint64_t digests[3] = {9, 9, 9};
  uint64_t digest = 0;

  keys.validity = validity;
  keys.validity_offset = 1;
  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_add_keys(filter, &keys) == 2);
  CHECK(bfs_contains(filter, NULL, 0) == 0); /* a null is not the empty key */
  CHECK(bfs_contains_keys(filter, &keys, answers) == 2 && answers[0] == 1 && answers[1] == 0 && answers[2] == 1);
  CHECK(bfs_select_keys(filter, &keys, indices) == 2 && indices[0] == 0 && indices[1] == 2);
  CHECK(bfs_digest(filter, "beta", 4, &digest) == BFS_OK);
  CHECK(bfs_digest_keys(filter, &keys, digests) == 3 && digests[1] == 0 && digests[2] == digest);
  keys.validity = NULL;
  CHECK(bfs_add_keys(filter, &keys) == 1 && bfs_contains(filter, NULL, 0) == 1);
  keys.kind = 99;
  CHECK(bfs_add_keys(filter, &keys) == BFS_EINVAL && bfs_add_keys(filter, NULL) == BFS_EINVAL);
  CHECK(bfs_contains_keys(filter, &keys, answers) == BFS_EINVAL && answers[1] == 1);
  CHECK(bfs_health(filter) == BFS_OK && bfs_health(NULL) == BFS_EINVAL);
  bfs_abandon(filter); /* as if this process had been killed: the next writer adopts the file */
  CHECK(bfs_open(other_path, BFS_EXCLUSIVE, NULL, &filter, NULL) == BFS_OK);
  CHECK(bfs_contains(filter, "beta", 4) == 1);
  CHECK(bfs_shut(filter, NULL) == BFS_OK && bfs_health(filter) == BFS_ESHUT);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
}

static void publish_and_replace(void) {
  const bfs_options options = options_for(KEYS, 0.001);
  bfs_filter* filter = NULL;
  bfs_filter* reader = NULL;

  CHECK(bfs_create(other_path, BFS_UNPUBLISHED, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_add(filter, "early", 5) == 1);
  CHECK(bfs_open(other_path, BFS_READ, NULL, &reader, NULL) == BFS_ENOENT);
  CHECK(bfs_publish(filter, NULL) == BFS_OK);
  CHECK(bfs_open(other_path, BFS_READ, NULL, &reader, NULL) == BFS_OK);
  CHECK(bfs_contains(reader, "early", 5) == 1);
  CHECK(bfs_add(filter, "late", 4) == BFS_EREADONLY);
  CHECK(bfs_close(filter, NULL) == BFS_OK);

  CHECK(bfs_is_current(reader, NULL) == 1);
  CHECK(bfs_create(other_path, BFS_REPLACE | BFS_UNPUBLISHED, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_supersede(filter, NULL) == BFS_OK);
  CHECK(bfs_is_current(reader, NULL) == 0);
  CHECK(bfs_publish(filter, NULL) == BFS_OK);
  CHECK(bfs_contains(filter, "early", 5) == 0);
  CHECK(bfs_contains(reader, "absent", 6) == 1);
  CHECK(bfs_finish_recovery(filter, 0, NULL) == BFS_EREADONLY);
  CHECK(bfs_finish_filling(filter, NULL) == BFS_EREADONLY);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_close(reader, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
}

static void online_build(void) {
  const bfs_options options = options_for(KEYS, 0.001);
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* builder = NULL;
  bfs_filter* reader = NULL;

  CHECK(bfs_create(other_path, BFS_FILLING | BFS_UNPUBLISHED, &options, &builder, &error) == BFS_EINVAL &&
        builder == NULL);
  CHECK(bfs_create(other_path, BFS_FILLING, &options, &builder, NULL) == BFS_OK);
  CHECK(bfs_open(other_path, BFS_READ, NULL, &reader, NULL) == BFS_OK);
  CHECK(bfs_add(builder, "old", 3) == 1);
  CHECK(bfs_health(reader) == BFS_EFILLING && BFS_IS_STATE_ERROR(bfs_health(reader)));
  CHECK(bfs_contains(reader, "absent", 6) == 1);
  CHECK(seal_with(other_path, path, BFS_REPLACE, 0, &error) == BFS_EFILLING && error.code == BFS_EFILLING);
  CHECK(bfs_finish_filling(NULL, NULL) == BFS_EINVAL);
  CHECK(bfs_finish_filling(builder, &error) == BFS_OK);
  CHECK(bfs_health(reader) == BFS_OK);
  CHECK(bfs_contains(reader, "old", 3) == 1);
  CHECK(bfs_contains(reader, "absent", 6) == 0);
  CHECK(bfs_close(builder, NULL) == BFS_OK);
  CHECK(bfs_close(reader, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
}

static void buffers(void) {
  bfs_options options = options_for(100, 0.01);
  bfs_filter* filter = NULL;
  bfs_filter* wrapped = NULL;
  bfs_error error = BFS_ERROR_INIT;
  bfs_range range = {64, 0};
  bfs_options in_range = BFS_OPTIONS_INIT;
  int64_t needed = 0;
  uint64_t bytes = 0;
  unsigned char* block = NULL;
  unsigned char* buffer = NULL;
  FILE* file = NULL;

  options.note = "in a buffer";
  options.note_bytes = 11;
  needed = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  CHECK(needed > 0);
  bytes = (uint64_t)needed;
  block = malloc((size_t)bytes + 64);
  CHECK(block != NULL);
  buffer = block + (64 - (uintptr_t)block % 64) % 64;
  CHECK(bfs_format(buffer, bytes - 1, 0, &options, &filter, NULL) == BFS_EINVAL);
  CHECK(bfs_format(buffer, bytes, 0, &options, NULL, NULL) == BFS_EINVAL);
  CHECK(bfs_format(buffer, bytes, 0, &options, &filter, NULL) == needed);
  CHECK(bfs_add(filter, "kept", 4) == 1);
  CHECK(sync_at(filter, 0, 0, 1, NULL) == BFS_EINVAL);
  CHECK(bfs_get_mark(filter, 0, 0) == 0);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open_memory(buffer, bytes, BFS_READ, NULL, &wrapped, NULL) == BFS_OK);
  CHECK(bfs_contains(wrapped, "kept", 4) == 1 && bfs_contains(wrapped, "other", 5) == 0);
  CHECK(bfs_close(wrapped, NULL) == BFS_OK);

  file = fopen(other_path, "wb");
  CHECK(file != NULL);
  CHECK(fwrite("0123456789012345678901234567890123456789012345678901234567890123", 1, 64, file) == 64);
  CHECK(fwrite(buffer, 1, (size_t)bytes, file) == bytes && fclose(file) == 0);
  in_range.range = &range;
  CHECK(bfs_open(other_path, BFS_READ, &in_range, &filter, NULL) == BFS_OK);
  CHECK(bfs_contains(filter, "kept", 4) == 1 && bfs_contains(filter, "other", 5) == 0);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  range.offset = 0;
  CHECK(bfs_open(other_path, BFS_READ, &in_range, &filter, &error) == BFS_EMALFORMED && error.rule > 0);
  CHECK(remove(other_path) == 0);
  free(block);
}

static void bare_filters(void) {
  const char* texts[3] = {"one", "two", ""};
  const void* keys[3];
  const size_t key_bytes[3] = {3, 3, 0};
  const uint64_t digests[2] = {well_mixed(1), well_mixed(2)};
  unsigned char block[200];
  unsigned char* const buffer = block + 3; /* any address will do */
  const uint64_t bytes = bfs_bare_bytes(3, 10, 0);
  bfs_keys all;
  size_t i;

  for (i = 0; i < 3; ++i) keys[i] = texts[i];
  all = bfs_keys_pointers(keys, key_bytes, 3);
  CHECK(bytes == 64 + 8 && bfs_bare_bytes(3, 10, BFS_LAYOUT_CLASSIC) == 8 + 8);
  CHECK(bfs_bare_bytes(3, 10, 99) == 0 && bfs_bare_bytes(3, -1, 0) == 0);
  CHECK(bfs_bare_build(buffer, bytes, 0, 0, &all) == BFS_OK);
  for (i = 0; i < 3; ++i) CHECK(bfs_bare_contains(buffer, bytes, keys[i], key_bytes[i]) == 1);
  CHECK(bfs_bare_contains(buffer, bytes, "three", 5) == 0);
  CHECK(bfs_bare_contains(buffer, bytes, NULL, 0) == 1 && bfs_bare_contains(buffer, bytes, NULL, 1) == 1);
  CHECK(bfs_bare_contains(buffer, bytes - 1, "three", 5) == 1 && bfs_bare_contains(NULL, bytes, "three", 5) == 1);
  CHECK(bfs_bare_contains(buffer, UINT64_MAX, "three", 5) == 1);
  CHECK(build_bare(buffer, bytes - 1, 0, keys, key_bytes, 3) == BFS_EINVAL);
  CHECK(build_bare(buffer, bytes, 99, keys, key_bytes, 3) == BFS_EINVAL);
  CHECK(build_bare(NULL, bytes, 0, keys, key_bytes, 3) == BFS_EINVAL);
  CHECK(build_bare(buffer, bytes, 0, NULL, key_bytes, 3) == BFS_EINVAL);
  CHECK(bfs_bare_contains(buffer, bytes, "three", 5) == 0); /* as it was */

  CHECK(build_bare_digests(buffer, bytes, 0, BFS_HASH_EXTERNAL, digests, 2) == BFS_OK);
  CHECK(bfs_bare_contains_digest(buffer, bytes, digests[0]) == 1);
  CHECK(bfs_bare_contains_digest(buffer, bytes, digests[1]) == 1);
  CHECK(bfs_bare_contains_digest(buffer, bytes, well_mixed(3)) == 0);
  CHECK(bfs_bare_contains(buffer, bytes, "three", 5) == 1); /* its digest is unknown */
  CHECK(build_bare_digests(buffer, bytes, 0, BFS_HASH_SIPHASH, digests, 2) == BFS_EINVAL);
  CHECK(build_bare_digests(buffer, bytes, 0, 0, NULL, 2) == BFS_EINVAL);
  CHECK(build_bare_digests(buffer, bytes, 0, 0, NULL, 0) == BFS_OK);
  CHECK(bfs_bare_contains_digest(buffer, bytes, digests[0]) == 0);
}

static void parts(void) {
  const uint64_t seed = 5;
  bfs_options options = options_for(100, 0.01);
  bfs_filter* part[2] = {NULL, NULL};
  const bfs_filter* both[2];
  bfs_filter* all = NULL;
  bfs_error error;
  char whole[sizeof other_path + 8], list[sizeof other_path + 8];
  FILE* manifest = NULL;
  bfs_statistics stats;

  error.struct_bytes = sizeof error;
  snprintf(whole, sizeof whole, "%s.whole", other_path);
  options.seed = &seed;
  options.num_parts = 2;
  options.part = 2;
  CHECK(bfs_create(path, 0, &options, &part[0], &error) == BFS_EINVAL && part[0] == NULL);
  options.part = 0;
  CHECK(bfs_create(path, 0, &options, &part[0], &error) == BFS_OK);
  options.part = 1;
  CHECK(bfs_create(other_path, 0, &options, &part[1], NULL) == BFS_OK);
  stats = facts(part[1], 0);
  CHECK(stats.part == 1 && stats.num_parts == 2);
  CHECK(bfs_add_digest(part[0], 7) == 1 && bfs_add_digest(part[1], 7) == BFS_EPART);
  CHECK(bfs_contains_digest(part[0], 7) == 1 && bfs_contains_digest(part[1], 7) == BFS_EPART);
  both[0] = part[1];
  both[1] = part[0];
  CHECK(bfs_join(both, 1, whole, 0, NULL, &error) == BFS_EMISMATCH && strstr(error.message, "missing: 0") != NULL);
  CHECK(bfs_join(both, 2, whole, 0, NULL, &error) == BFS_OK && bfs_join(both, 2, NULL, 0, NULL, NULL) == BFS_EINVAL);
  CHECK(bfs_open(whole, BFS_READ, NULL, &all, NULL) == BFS_OK && bfs_contains_digest(all, 7) == 1);
  stats = facts(all, 0);
  CHECK(stats.part == 0 && stats.num_parts == 1);
  CHECK(bfs_close(all, NULL) == BFS_OK && bfs_close(part[0], NULL) == BFS_OK && bfs_close(part[1], NULL) == BFS_OK);

  snprintf(list, sizeof list, "%s.set", other_path);
  manifest = fopen(list, "w");
  CHECK(manifest != NULL && fprintf(manifest, "bfstore-set 1\n%s\n", path) > 0 && fclose(manifest) == 0);
  CHECK(bfs_open(list, BFS_READ, NULL, &all, &error) == BFS_OK && bfs_contains_digest(all, 7) == 1);
  CHECK(bfs_contains_digest(all, 8) == 0 && bfs_contains_digest(all, ~(uint64_t)0) == 1); /* part 1 is not listed */
  CHECK(bfs_add_digest(all, 7) == BFS_EREADONLY && bfs_close(all, NULL) == BFS_OK);
  CHECK(bfs_open(list, BFS_WRITE, NULL, &all, &error) == BFS_EINVAL && all == NULL); /* a list is only read */
  CHECK(remove(path) == 0 && remove(other_path) == 0 && remove(whole) == 0 && remove(list) == 0);
}

static void from_one_form_to_another(void) {
  bfs_options options = options_for(100, 0.01);
  const uint64_t seed = 0;
  static const uint8_t zeros[16] = {0};
  bfs_statistics stats;
  bfs_comparison comparison = BFS_COMPARISON_INIT;
  const bfs_filter* both[2] = {NULL, NULL};
  bfs_error error;
  bfs_filter* filter = NULL;
  unsigned char memory[1024];
  int64_t dumped = 0;
  uint64_t bytes = 0;

  error.struct_bytes = sizeof error;
  options.seed = &seed;
  options.file_id = zeros;
  CHECK(bfs_create(path, BFS_REPLACE, &options, &filter, &error) == BFS_EINVAL);
  options.file_id = (const uint8_t*)"sixteen bytes...";
  options.note = "my note";
  options.note_bytes = 7;
  CHECK(bfs_create(path, BFS_REPLACE, &options, &filter, NULL) == BFS_OK && bfs_add(filter, "key", 3) == 1);
  stats = facts(filter, 0);
  CHECK(stats.note_bytes == 7 && memcmp(stats.note, "my note", 8) == 0 && stats.num_seeds == 0);
  CHECK(memcmp(stats.file_id, "sixteen bytes...", 16) == 0);
  dumped = bfs_dump(filter, NULL, 0, 0, &error);
  CHECK(dumped > 100 && dumped < (int64_t)sizeof memory);
  bytes = (uint64_t)dumped;
  CHECK(bfs_dump(filter, memory + 1, bytes - 1, 0, &error) == BFS_EINVAL && error.code == BFS_EINVAL);
  CHECK(bfs_dump(filter, memory + 1, bytes, 0, NULL) == dumped);
  CHECK(copy_with(filter, other_path, BFS_SAME_FILE_ID, 0, &error) == BFS_OK);
  CHECK(bfs_copy(filter, other_path, 0, NULL, &error) == BFS_EEXIST && error.code == BFS_EEXIST);
  bfs_plan_request request = BFS_PLAN_REQUEST_INIT;
  bfs_plan_result plan = BFS_PLAN_RESULT_INIT;
  CHECK(bfs_plan(&request, &plan, &error) == BFS_EINVAL && strstr(error.message, "nothing was given") != NULL);
  request.capacity = 1000000;
  request.fpr = 0.01;
  CHECK(bfs_plan(&request, &plan, NULL) == BFS_OK && plan.layout == BFS_LAYOUT_BLOCKED && plan.num_probes == 6);
  CHECK((plan.abilities & BFS_CAN_ADD) != 0 && (plan.abilities & BFS_CAN_EXPIRE) == 0 && plan.cache_lines == 1);
  CHECK(bfs_merge(filter, filter, &error) == BFS_OK && bfs_merge(filter, NULL, &error) == BFS_EINVAL);
  CHECK(bfs_merge(NULL, filter, &error) == BFS_EINVAL && error.code == BFS_EINVAL);
  CHECK(bfs_import_bits(filter, memory, 64, BFS_BITS_BIG, &error) == BFS_EUNSUPPORTED); /* blocked */
  CHECK(bfs_export_bits(filter, NULL, 64, BFS_BITS_BIG, &error) == BFS_EINVAL);
  CHECK(bfs_compare(filter, filter, &comparison, &error) == BFS_OK && comparison.equal == 1 && comparison.differs == 0);
  CHECK(bfs_compare(filter, NULL, &comparison, &error) == BFS_EINVAL);
  CHECK(remove(other_path) == 0 && bfs_intersect(both, 2, other_path, 0, NULL, &error) == BFS_EINVAL);
  both[0] = both[1] = filter;
  CHECK(bfs_intersect(both, 2, other_path, 0, NULL, &error) == BFS_OK);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open_memory(memory + 1, bytes, BFS_READ | BFS_PRIVATE, NULL, &filter, &error) == BFS_OK);
  memset(memory, 0, sizeof memory);
  CHECK(bfs_contains(filter, "key", 3) == 1 && bfs_contains(filter, "another", 7) == 0);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open_memory(memory + 1, bytes, BFS_READ | BFS_PRIVATE, NULL, &filter, &error) == BFS_EMALFORMED &&
        filter == NULL);
  CHECK(bfs_open(other_path, BFS_WRITE, NULL, &filter, NULL) == BFS_OK && bfs_contains(filter, "key", 3) == 1);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(path) == 0 && remove(other_path) == 0);
}

static void filters_of_other_programs(void) {
  static const unsigned char bits[16] = {0, 0, 0, 0x80};
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  bfs_foreign told = BFS_FOREIGN_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  unsigned char out[16];
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter *filter = NULL, *there = NULL;
  const char* name = NULL;

  CHECK(bfs_foreign_name(0) != NULL && strcmp(bfs_foreign_name(0), "raw") == 0 &&
        bfs_foreign_name(4294967295u) == NULL);
  CHECK(bfs_foreign_inspect(&form, bits, 16, 0, NULL, &told, &error) == BFS_EINVAL); /* no format */
  form.format = "raw";
  CHECK(bfs_foreign_inspect(&form, bits, 16, 0, NULL, &told, &error) == BFS_OK && told.num_bits == 0 &&
        told.bytes == 0);
  CHECK(told.needs == (BFS_FOREIGN_NEEDS_SIZE | BFS_FOREIGN_NEEDS_ORDER | BFS_FOREIGN_NEEDS_HASH));
  options.num_bits = 124;
  options.num_probes = 4;
  form.order = BFS_BITS_BIG;
  CHECK(bfs_foreign_import(path, &form, bits, 16, 0, &options, &filter, &error) == BFS_EINVAL && filter == NULL);
  CHECK(strstr(error.message, "no hash given") != NULL);
  options.hash = BFS_HASH_MURMUR3;
  CHECK(bfs_foreign_inspect(&form, NULL, 0, 0, &options, &told, &error) == BFS_OK && told.bytes == 16);
  CHECK(bfs_foreign_import(path, &form, bits, 15, 0, &options, &filter, &error) == BFS_EINVAL);
  CHECK(bfs_foreign_import(path, &form, bits, 16, 0, &options, &filter, &error) == BFS_OK);
  CHECK(bfs_add(filter, "key", 3) == BFS_EREADONLY && bfs_contains(filter, "key", 3) == 0);
  CHECK(bfs_foreign_export(filter, &form, NULL, 0, &error) == 16);
  CHECK(bfs_foreign_export(filter, &form, out, 15, &error) == BFS_EINVAL && out[0] == 0xff);
  CHECK(bfs_foreign_export(filter, &form, out, 16, &error) == 16 && memcmp(out, bits, 16) == 0);
  CHECK(bfs_contains_any((const bfs_filter* const*)&filter, 1, "key", 3, out) == 0 && out[0] == 0);
  CHECK(bfs_foreign_recognize(path, 0, 0, &name, &error) == BFS_OK && name == NULL);
  CHECK(bfs_foreign_open(path, &form, 0, &options, &there, &error) == BFS_EINVAL && there == NULL); /* no array */
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(path) == 0);
}

/* `before` is a sealed file of `plain`. */
static void with_a_delta(const char* plain, const char* before) {
  char after[4096], delta[4096];
  bfs_error error;
  bfs_filter* filter = NULL;

  error.struct_bytes = sizeof error;
  CHECK(snprintf(after, sizeof after, "%s.after", plain) > 0 && snprintf(delta, sizeof delta, "%s.delta", plain) > 0);
  CHECK(bfs_open(plain, BFS_WRITE, NULL, &filter, NULL) == BFS_OK);
  CHECK(bfs_add(filter, "later", 5) == 1 && bfs_close(filter, NULL) == BFS_OK);
  CHECK(seal_with(plain, after, 0, 0, &error) == BFS_OK);
  CHECK(bfs_make_delta(before, NULL, delta, 0, NULL, &error) == BFS_EINVAL);
  CHECK(bfs_make_delta(after, before, delta, 0, NULL, &error) == BFS_EMISMATCH && error.code == BFS_EMISMATCH);
  CHECK(bfs_make_delta(before, after, delta, 0, NULL, &error) == BFS_OK);
  CHECK(bfs_make_delta(before, after, delta, 0, NULL, &error) == BFS_EEXIST);
  CHECK(bfs_make_delta(before, after, delta, BFS_REPLACE, NULL, &error) == BFS_OK);
  CHECK(bfs_apply_delta(after, delta, after, BFS_REPLACE, NULL, &error) == BFS_EMISMATCH);
  CHECK(bfs_apply_delta(before, before, after, BFS_REPLACE, NULL, &error) == BFS_EMALFORMED && error.rule == 3);
  CHECK(bfs_apply_delta(before, delta, after, BFS_FILLING, NULL, &error) == BFS_EINVAL);
  CHECK(remove(after) == 0 && bfs_apply_delta(before, delta, after, 0, NULL, &error) == BFS_OK);
  CHECK(bfs_open(after, BFS_READ | BFS_VERIFY, NULL, &filter, NULL) == BFS_OK);
  CHECK(bfs_contains(filter, "later", 5) == 1 && bfs_close(filter, NULL) == BFS_OK);
  CHECK(remove(after) == 0 && remove(delta) == 0);
}

static void sealed_files(void) {
  const bfs_options options = options_for(KEYS, 0.01);
  bfs_error error;
  bfs_range damaged[2];
  bfs_filter* filter = NULL;
  FILE* file = NULL;

  error.struct_bytes = sizeof error;
  CHECK(bfs_create(path, BFS_REPLACE, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_add(filter, "key", 3) == 1 && bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_verify(path, 0, damaged, 2, &error) == BFS_ENOTSEALED && error.code == BFS_ENOTSEALED);
  CHECK(seal_with(path, other_path, 0, 0640, &error) == BFS_OK);
  CHECK(seal_with(path, other_path, 0, 0, &error) == BFS_EEXIST);
  CHECK(seal_with(path, other_path, BFS_REPLACE, 0, &error) == BFS_OK);
  CHECK(bfs_verify(other_path, 0, damaged, 2, &error) == 0);
  with_a_delta(path, other_path);
  file = fopen(other_path, "r+b");
  CHECK(file != NULL && fseek(file, 16384, SEEK_SET) == 0 && fwrite("damage", 1, 6, file) == 6 && fclose(file) == 0);
  CHECK(bfs_verify(other_path, 0, damaged, 2, &error) == 1);
  CHECK(damaged[0].offset == 16384 && damaged[0].bytes > 0);
  CHECK(bfs_open(other_path, BFS_READ | BFS_VERIFY, NULL, &filter, &error) == BFS_EDAMAGED && filter == NULL);
  CHECK(bfs_open(other_path, BFS_READ | BFS_TOLERATE_DAMAGE, NULL, &filter, &error) == BFS_OK);
  CHECK(bfs_contains(filter, "key", 3) == 1 && bfs_contains(filter, "in the damaged chunk", 20) == 1);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(path) == 0 && remove(other_path) == 0);
}

static void with_a_secret(void) {
  static const unsigned char secret[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  static const unsigned char other[16] = {1};
  const bfs_range range = {0, 0};
  bfs_options options = options_for(100, 0.01);
  bfs_options with_secret = options_with(secret);
  bfs_options without = BFS_OPTIONS_INIT;
  bfs_error error = fresh_error();
  bfs_filter* filter = NULL;
  int64_t needed = 0;
  uint64_t bytes = 0;
  unsigned char* block = NULL;
  unsigned char* buffer = NULL;
  FILE* file = NULL;

  options.hash = BFS_HASH_SIPHASH;
  CHECK(bfs_create(other_path, 0, &options, &filter, &error) == BFS_ESECRET);
  options.secret = secret;
  options.secret_bytes = 16;
  CHECK(bfs_create(other_path, 0, &options, &filter, &error) == BFS_OK);
  CHECK(bfs_add(filter, "secret", 6) == 1 && bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open(other_path, BFS_READ, NULL, &filter, &error) == BFS_ESECRET && filter == NULL);
  CHECK(open_with(other_path, BFS_READ, other, &filter, &error) == BFS_ESECRET && filter == NULL);
  CHECK(bfs_open(other_path, BFS_READ, &with_secret, &filter, &error) == BFS_OK);
  CHECK(bfs_contains(filter, "secret", 6) == 1 && bfs_contains(filter, "other", 5) == 0);
  CHECK(bfs_close(filter, NULL) == BFS_OK);

  needed = bfs_format(NULL, 0, 0, &options, NULL, NULL);
  CHECK(needed > 0);
  bytes = (uint64_t)needed;
  block = malloc((size_t)bytes + 64);
  CHECK(block != NULL);
  buffer = block + (64 - (uintptr_t)block % 64) % 64;
  CHECK(bfs_format(buffer, bytes, 0, &options, &filter, NULL) == needed && bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open_memory(buffer, bytes, BFS_READ, NULL, &filter, NULL) == BFS_ESECRET);
  CHECK(bfs_open_memory(buffer, bytes, BFS_READ, &with_secret, &filter, NULL) == BFS_OK);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  file = fopen(other_path, "wb");
  CHECK(file != NULL);
  CHECK(fwrite(buffer, 1, (size_t)bytes, file) == bytes && fclose(file) == 0);
  without.range = with_secret.range = &range;
  CHECK(bfs_open(other_path, BFS_READ, &without, &filter, NULL) == BFS_ESECRET);
  CHECK(bfs_open(other_path, BFS_READ, &with_secret, &filter, NULL) == BFS_OK && bfs_close(filter, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
  free(block);
}

static void statistics(void) {
  bfs_options options = options_for(KEYS, 0.01);
  bfs_filter* filter = NULL;
  bfs_statistics stats;
  int i;

  options.layout = BFS_LAYOUT_CLASSIC;
  options.hash = BFS_HASH_EXTERNAL;
  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  for (i = 1; i <= KEYS; ++i) CHECK(bfs_add_digest(filter, well_mixed((uint64_t)i)) >= 0);
  CHECK(bfs_add(filter, "key", 3) == BFS_EDIGESTONLY);
  CHECK(bfs_contains(filter, "key", 3) == BFS_EDIGESTONLY);
  stats = facts(filter, 0);
  CHECK(stats.has_fill == 0 && stats.set_bits == 0);
  stats = facts(filter, BFS_STATS_FILL);
  CHECK(stats.layout == BFS_LAYOUT_CLASSIC && stats.hash == BFS_HASH_EXTERNAL);
  CHECK(stats.capacity == KEYS && stats.fpr > 0 && stats.fpr <= 0.01);
  CHECK(stats.health == BFS_OK && stats.has_fill == 1);
  CHECK(stats.body_bytes == 8 * ((stats.num_bits + 63) / 64));
  CHECK(stats.set_bits > 0 && stats.set_bits <= (uint64_t)KEYS * stats.num_probes);
  CHECK(fabs(stats.fill_ratio - (double)stats.set_bits / (double)stats.num_bits) < 1e-12);
  CHECK(fabs(stats.estimated_keys - KEYS) < 0.1 * KEYS);
  CHECK(stats.estimated_fpr > 0.005 && stats.estimated_fpr < 0.015);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(remove(other_path) == 0);
}

/* The counting layout: keys are removed and counted; other layouts refuse that. */
static void counters(void) {
  bfs_options options = options_for(KEYS, 1e-4);
  const bfs_key pairs[] = {{"alpha", 5}, {"beta", 4}, {"gamma", 5}};
  const bfs_keys keys = bfs_keys_pairs(pairs, 3);
  bfs_statistics stats = BFS_STATISTICS_INIT;
  bfs_filter* filter = NULL;
  uint64_t digest = 0;
  uint8_t counts[3] = {99, 99, 99};

  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_remove(filter, "alpha", 5) == BFS_EUNSUPPORTED && count_one(filter, "alpha", 5) == BFS_EUNSUPPORTED);
  CHECK(bfs_remove_keys(filter, &keys) == BFS_EUNSUPPORTED);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
  options.layout = BFS_LAYOUT_COUNTING;
  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_add_keys(filter, &keys) == 3 && bfs_add(filter, "alpha", 5) == 0);
  CHECK(bfs_digest(filter, "alpha", 5, &digest) == BFS_OK);
  CHECK(count_one(filter, "alpha", 5) == 2 && count_digest(filter, digest) == 2);
  CHECK(bfs_count_keys(filter, &keys, counts) == 3 && counts[0] == 2 && counts[1] == 1 && counts[2] == 1);
  CHECK(bfs_remove_keys(filter, &keys) == 3);
  CHECK(bfs_count_keys(filter, &keys, counts) == 1 && counts[0] == 1 && counts[1] == 0);
  CHECK(bfs_count(NULL, "a", 1) == BFS_EINVAL);
  CHECK(count_one(filter, "beta", 4) == 0 && bfs_contains(filter, "alpha", 5) == 1);
  CHECK(bfs_remove(filter, "beta", 4) == 0 && remove_digest(filter, digest) == 1);
  CHECK(bfs_contains(filter, "alpha", 5) == 0);
  CHECK(bfs_stats(filter, BFS_STATS_FILL, &stats, NULL) == BFS_OK && stats.set_bits == 0);
  CHECK(stats.keys_added == 4 && stats.keys_removed == 4);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
}

static void nobody_knows_the_number_of_keys(void) {
  bfs_options most = options_for(0, 0.01);
  bfs_options folding = BFS_OPTIONS_INIT;
  bfs_statistics stats = BFS_STATISTICS_INIT;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;
  char folded[sizeof other_path + 8];

  snprintf(folded, sizeof folded, "%s.folded", other_path);
  most.capacity_at_most = 100000;
  CHECK(bfs_create(other_path, 0, &most, &filter, NULL) == BFS_OK);
  CHECK(bfs_add(filter, "alpha", 5) == 1);
  folding.fpr = 0.01;
  CHECK(bfs_copy(filter, folded, BFS_SEALED, &folding, NULL) == BFS_OK);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
  CHECK(bfs_open(folded, BFS_READ, NULL, &filter, NULL) == BFS_OK && bfs_contains(filter, "alpha", 5) == 1);
  CHECK(bfs_stats(filter, 0, &stats, NULL) == BFS_OK && stats.num_bits == 512);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(folded) == 0);
  most.layout = BFS_LAYOUT_STATIC;
  CHECK(bfs_create(other_path, BFS_UNPUBLISHED, &most, &filter, &error) == BFS_EUNSUPPORTED);
  CHECK(strstr(error.message, "cannot be folded") != NULL);
}

static void keys_expire(void) {
  bfs_options options = options_for(1000, 0.01);
  bfs_statistics stats = BFS_STATISTICS_INIT;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = NULL;
  int i;

  CHECK(strcmp(bfs_layout_name(BFS_LAYOUT_WINDOW_4), "window-4") == 0);
  CHECK(bfs_layout_named("window-2") == BFS_LAYOUT_WINDOW_2);
  CHECK(bfs_turn(NULL, BFS_IF_DUE, NULL) == BFS_EINVAL);
  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_turn(filter, 0, &error) == BFS_EUNSUPPORTED && strstr(error.message, "do not expire") != NULL);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
  options.window_ms = 3600000;
  CHECK(bfs_create(other_path, 0, &options, &filter, NULL) == BFS_OK);
  CHECK(bfs_add(filter, "alpha", 5) == 1);
  CHECK(bfs_turn(filter, BFS_IF_DUE, NULL) == 0 && bfs_turn(filter, 1, NULL) == 0 && bfs_turn(filter, 0, NULL) == 1);
  CHECK(bfs_stats(filter, BFS_STATS_FILL, &stats, NULL) == BFS_OK);
  CHECK(stats.layout == BFS_LAYOUT_WINDOW && stats.epochs == 8 && stats.epoch == 1 && stats.turn_due == 0);
  CHECK(stats.window_ms == 3600000 && stats.turned_at > 1700000000ull * 1000000000);
  CHECK(stats.keys_of_epochs[0] == 0 && stats.keys_of_epochs[1] > 0.5 && stats.keys_of_epochs[2] == 0);
  for (i = 1; i < 8; ++i) CHECK(bfs_contains(filter, "alpha", 5) == 1 && bfs_turn(filter, (uint64_t)i, NULL) == 1);
  CHECK(bfs_contains(filter, "alpha", 5) == 0);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
}

static void built_once(void) {
  const uint64_t seed = 1;
  const bfs_key pairs[] = {{"alpha", 5}, {"beta", 4}, {"alpha", 5}};
  const bfs_keys keys = bfs_keys_pairs(pairs, 3);
  bfs_options options = BFS_OPTIONS_INIT;
  bfs_plan_request request = BFS_PLAN_REQUEST_INIT;
  bfs_plan_result plan = BFS_PLAN_RESULT_INIT;
  bfs_error error = fresh_error();
  bfs_filter* filter = NULL;

  CHECK(strcmp(bfs_layout_name(BFS_LAYOUT_STATIC), "static") == 0 && bfs_layout_named("static") == BFS_LAYOUT_STATIC);
  request.layout = BFS_LAYOUT_STATIC;
  request.capacity = 1000;
  CHECK(bfs_plan(&request, &plan, NULL) == BFS_OK && plan.abilities == BFS_CAN_BUILD);
  options.layout = BFS_LAYOUT_STATIC;
  options.seed = &seed;
  CHECK(bfs_create(other_path, 0, &options, &filter, &error) == BFS_EUNSUPPORTED && filter == NULL);
  CHECK(strstr(error.message, "bfs_build") != NULL && strstr(error.message, "publish") != NULL);
  CHECK(bfs_build(other_path, 0, &options, &keys, &filter, &error) == BFS_OK);
  CHECK(bfs_contains(filter, "alpha", 5) == 1 && bfs_contains(filter, "gamma", 5) == 0);
  CHECK(facts(filter, 0).capacity == 2 && facts(filter, 0).keys_added == 2);
  CHECK(facts(filter, 0).layout == BFS_LAYOUT_STATIC && bfs_add(filter, "gamma", 5) == BFS_ESEALED);
  CHECK(bfs_close(filter, NULL) == BFS_OK);
  CHECK(bfs_open(other_path, BFS_WRITE, NULL, &filter, &error) == BFS_ESEALED);
  CHECK(bfs_create(other_path, BFS_UNPUBLISHED | BFS_REPLACE, &options, &filter, &error) == BFS_OK);
  CHECK(bfs_add(filter, "gamma", 5) == 0 && bfs_add_keys(filter, &keys) == 0);
  CHECK(bfs_contains(filter, "never", 5) == 1 && bfs_health(filter) == BFS_EFILLING);
  CHECK(bfs_remove(filter, "gamma", 5) == BFS_EUNSUPPORTED && bfs_supersede(filter, &error) == BFS_EUNSUPPORTED);
  CHECK(sync_at(filter, 1, 0, 1, &error) == BFS_EUNSUPPORTED && strstr(error.message, "publish") != NULL);
  CHECK(bfs_publish(filter, &error) == BFS_OK && bfs_health(filter) == BFS_OK);
  CHECK(bfs_contains(filter, "gamma", 5) == 1 && bfs_contains(filter, "never", 5) == 0);
  CHECK(bfs_publish(filter, &error) == BFS_EINVAL && facts(filter, 0).capacity == 3);
  CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
}

static void open_or_create(void) {
  bfs_options options = options_for(KEYS, 0.01);
  bfs_error error = fresh_error();
  bfs_filter* first = NULL;
  bfs_filter* second = NULL;

  CHECK(bfs_open(other_path, BFS_READ | BFS_CREATE, &options, &first, &error) == BFS_EINVAL && first == NULL);
  CHECK(bfs_open(other_path, BFS_WRITE, NULL, &first, &error) == BFS_ENOENT); /* nothing was made */
  CHECK(bfs_open(other_path, BFS_WRITE | BFS_CREATE, &options, &first, &error) == 1);
  CHECK(bfs_add(first, "key", 3) == 1);
  options.capacity = 7; /* another size is no error */
  CHECK(bfs_open(other_path, BFS_WRITE | BFS_CREATE, &options, &second, &error) == 0);
  CHECK(bfs_contains(second, "key", 3) == 1 && facts(second, 0).capacity == KEYS && bfs_close(second, NULL) == BFS_OK);
  options.layout = BFS_LAYOUT_CLASSIC;
  CHECK(bfs_open(other_path, BFS_WRITE | BFS_CREATE, &options, &second, &error) == BFS_EMISMATCH && second == NULL);
  CHECK(strstr(error.message, "layout") != NULL);
  CHECK(bfs_close(first, NULL) == BFS_OK && remove(other_path) == 0);
}

static void built_of_keys(void) {
  const bfs_key pairs[] = {{"alpha", 5}, {"beta", 4}};
  const bfs_keys keys = bfs_keys_pairs(pairs, 2);
  bfs_error error = fresh_error();
  bfs_filter* filter = NULL;

  CHECK(bfs_build(other_path, 0, NULL, &keys, &filter, &error) == BFS_OK);
  CHECK(bfs_contains(filter, "alpha", 5) == 1 && bfs_contains(filter, "gamma", 5) == 0);
  CHECK(facts(filter, 0).capacity == 2 && bfs_add(filter, "gamma", 5) == BFS_EREADONLY);
  CHECK(bfs_build(other_path, 0, NULL, &keys, NULL, &error) == BFS_EEXIST);
  CHECK(bfs_build(other_path, BFS_REPLACE, NULL, &keys, NULL, &error) == BFS_OK);
  CHECK(bfs_health(filter) == BFS_ESUPERSEDED && bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
}

/* In a process of its own: opens the file or makes it, adds a key of its own, and closes it.  Exit code 10 if it made
 * the file, 11 if it was there. */
static int race_of_one(int number) {
  const bfs_options options = options_for(KEYS, 1e-4);
  bfs_error error = fresh_error();
  bfs_filter* filter = NULL;
  const int32_t code = bfs_open(other_path, BFS_WRITE | BFS_CREATE, &options, &filter, &error);
  if (code < 0) fprintf(stderr, "race: %d: %s\n", (int)code, error.message);
  if (code < 0 || bfs_add(filter, &number, sizeof number) != 1 || bfs_close(filter, &error) != BFS_OK) return 1;
  return code == 1 ? 10 : 11;
}

/* Four processes at once, 40 times, and no file before each: one makes it, and no key of the others is lost. */
static void race(void) {
  enum { ROUNDS = 40, PROCESSES = 4 };
  int round, number, found = 0;
  for (round = 0; round < ROUNDS; ++round) {
    pid_t children[PROCESSES];
    int made = 0, gate[2];
    bfs_filter* filter = NULL;
    char byte = 0;
    CHECK(pipe(gate) == 0);
    for (number = 0; number < PROCESSES; ++number) {
      children[number] = fork();
      if (children[number] == 0) {
        close(gate[1]);
        (void)!read(gate[0], &byte, 1); /* until all are there */
        _exit(race_of_one(number));
      }
      CHECK(children[number] > 0);
    }
    close(gate[0]);
    close(gate[1]);
    for (number = 0; number < PROCESSES; ++number) {
      int status = 0;
      CHECK(waitpid(children[number], &status, 0) == children[number] && WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 11);
      made += WEXITSTATUS(status) == 10;
    }
    CHECK(made == 1);
    CHECK(bfs_open(other_path, BFS_READ, NULL, &filter, NULL) == BFS_OK);
    for (number = 0; number < PROCESSES; ++number) found += bfs_contains(filter, &number, sizeof number) == 1;
    CHECK(facts(filter, 0).keys_added == PROCESSES);
    CHECK(bfs_close(filter, NULL) == BFS_OK && remove(other_path) == 0);
  }
  CHECK(found == ROUNDS * PROCESSES);
}

int main(int argc, char** argv) {
  if (argc != 2 || strlen(argv[1]) > 500) return 3;
  sprintf(path, "%s/c99.bf", argv[1]);
  sprintf(other_path, "%s/c99-other.bf", argv[1]);
  version_and_texts();
  create_add_ask_close();
  open_in_each_mode();
  many_keys();
  keys_with_nulls();
  with_a_secret();
  from_one_form_to_another();
  parts();
  filters_of_other_programs();
  sealed_files();
  publish_and_replace();
  online_build();
  buffers();
  bare_filters();
  counters();
  statistics();
  nobody_knows_the_number_of_keys();
  keys_expire();
  built_once();
  open_or_create();
  built_of_keys();
  race();
  printf("C99 client: %d checks passed\n", checks_passed);
  return 0;
}
