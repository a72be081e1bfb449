/* Calls of the C ABI that take a struct, with the fields that tests need, so that a test makes them in one line. C and
 * C++. */
#ifndef BFSTORE_TESTS_ABI_CALLS_H
#define BFSTORE_TESTS_ABI_CALLS_H

#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <string.h>

/* Of a filter with this secret, 16 bytes, or NULL. */
static inline bfs_options options_with(const void* secret) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.secret = secret;
  options.secret_bytes = secret == NULL ? 0 : 16;
  return options;
}

static inline int32_t open_with(const char* path, uint64_t flags, const void* secret, bfs_filter** out,
                                bfs_error* error) {
  const bfs_options options = options_with(secret);
  return bfs_open(path, flags, &options, out, error);
}

static inline int32_t open_memory_with(const void* bytes, uint64_t num_bytes, uint64_t flags, const void* secret,
                                       bfs_filter** out, bfs_error* error) {
  const bfs_options options = options_with(secret);
  return bfs_open_memory(bytes, num_bytes, flags, &options, out, error);
}

static inline int32_t sync_at(bfs_filter* filter, uint64_t owner, uint64_t epoch, uint64_t position, bfs_error* error) {
  bfs_owner_mark mark = {0, 0, 0, 0, 0};
  mark.owner = owner;
  mark.epoch = epoch;
  mark.mark = position;
  return bfs_sync(filter, &mark, error);
}

static inline int32_t copy_with(const bfs_filter* filter, const char* path, uint64_t flags, uint32_t mode,
                                bfs_error* error) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.mode = mode;
  return bfs_copy(filter, path, flags, &options, error);
}

/* A sealed copy of a file, as a program makes it: one that opens the source. */
static inline int32_t seal_with(const char* from, const char* to, uint64_t flags, uint32_t mode, bfs_error* error) {
  bfs_filter* filter = NULL;
  int32_t closed = 0;
  int32_t code = bfs_open(from, BFS_READ | (flags & BFS_ANY_FILESYSTEM), NULL, &filter, error);
  if (code < 0) return code;
  code = copy_with(filter, to, flags | BFS_SEALED, mode, error);
  closed = bfs_close(filter, code < 0 ? NULL : error);
  return code < 0 ? code : closed;
}

static inline int32_t build_bare(void* buffer, uint64_t bytes, uint32_t layout, const void* const* keys,
                                 const size_t* key_bytes, size_t count) {
  const bfs_keys made = bfs_keys_pointers(keys, key_bytes, count);
  return bfs_bare_build(buffer, bytes, layout, 0, &made);
}

static inline int32_t build_bare_digests(void* buffer, uint64_t bytes, uint32_t layout, uint32_t hash,
                                         const uint64_t* digests, size_t count) {
  const bfs_keys made = bfs_keys_digests(digests, count);
  return bfs_bare_build(buffer, bytes, layout, hash, &made);
}

static inline int64_t add_digests(bfs_filter* filter, const uint64_t* digests, size_t count) {
  const bfs_keys made = bfs_keys_digests(digests, count);
  return bfs_add_keys(filter, &made);
}

static inline int64_t contains_digests(const bfs_filter* filter, const uint64_t* digests, size_t count,
                                       uint8_t* answers) {
  const bfs_keys made = bfs_keys_digests(digests, count);
  return bfs_contains_keys(filter, &made, answers);
}

/* How often one key is in the filter, or a code. */
static inline int64_t count_of(const bfs_filter* filter, const bfs_keys* one) {
  uint8_t count = 99;
  const int64_t code = bfs_count_keys(filter, one, &count);
  return code < 0 ? code : count;
}

static inline int64_t count_one(const bfs_filter* filter, const void* key, size_t key_bytes) {
  const bfs_keys made = bfs_keys_pointers(&key, &key_bytes, 1);
  return count_of(filter, &made);
}

static inline int64_t count_digest(const bfs_filter* filter, uint64_t digest) {
  const bfs_keys made = bfs_keys_digests(&digest, 1);
  return count_of(filter, &made);
}

static inline int64_t remove_digest(bfs_filter* filter, uint64_t digest) {
  const bfs_keys made = bfs_keys_digests(&digest, 1);
  return bfs_remove_keys(filter, &made);
}

/* Returns where a column ends, by its offsets. Without a cast, because C and C++ want different ones. */
static inline uint64_t end_of64(const int64_t* offsets, size_t count) {
  const int64_t end = offsets == NULL || offsets[count] < 0 ? 0 : offsets[count];
  uint64_t bytes = 0;
  memcpy(&bytes, &end, sizeof bytes);
  return bytes;
}

static inline uint64_t end_of32(const int32_t* offsets, size_t count) {
  const int64_t end[] = {offsets == NULL ? 0 : offsets[count]};
  return end_of64(end, 0);
}

/* A column as long as its offsets say. A test of data_bytes sets that itself. */
static inline bfs_keys column32_of(const void* bytes, const int32_t* offsets, size_t count) {
  bfs_keys made = bfs_keys_column32(bytes, 0, offsets, count);
  made.data_bytes = end_of32(offsets, count);
  return made;
}

static inline bfs_keys column64_of(const void* bytes, const int64_t* offsets, size_t count) {
  bfs_keys made = bfs_keys_column64(bytes, 0, offsets, count);
  made.data_bytes = end_of64(offsets, count);
  return made;
}

static inline int64_t add_many(bfs_filter* filter, const void* const* keys, const size_t* key_bytes, size_t count) {
  const bfs_keys made = bfs_keys_pointers(keys, key_bytes, count);
  return bfs_add_keys(filter, &made);
}

static inline int64_t contains_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes,
                                    size_t count, uint8_t* answers) {
  const bfs_keys made = bfs_keys_pointers(keys, key_bytes, count);
  return bfs_contains_keys(filter, &made, answers);
}

static inline int64_t select_many(const bfs_filter* filter, const void* const* keys, const size_t* key_bytes,
                                  size_t count, uint32_t* indices) {
  const bfs_keys made = bfs_keys_pointers(keys, key_bytes, count);
  return bfs_select_keys(filter, &made, indices);
}

static inline int64_t add_fixed(bfs_filter* filter, const void* keys, size_t key_bytes, size_t count) {
  const bfs_keys made = bfs_keys_fixed(keys, key_bytes, count);
  return bfs_add_keys(filter, &made);
}

static inline int64_t contains_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                                     uint8_t* answers) {
  const bfs_keys made = bfs_keys_fixed(keys, key_bytes, count);
  return bfs_contains_keys(filter, &made, answers);
}

static inline int64_t select_fixed(const bfs_filter* filter, const void* keys, size_t key_bytes, size_t count,
                                   uint32_t* indices) {
  const bfs_keys made = bfs_keys_fixed(keys, key_bytes, count);
  return bfs_select_keys(filter, &made, indices);
}

static inline int64_t add_column32(bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count) {
  const bfs_keys made = column32_of(bytes, offsets, count);
  return bfs_add_keys(filter, &made);
}

static inline int64_t contains_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets,
                                        size_t count, uint8_t* answers) {
  const bfs_keys made = column32_of(bytes, offsets, count);
  return bfs_contains_keys(filter, &made, answers);
}

static inline int64_t select_column32(const bfs_filter* filter, const void* bytes, const int32_t* offsets, size_t count,
                                      uint32_t* indices) {
  const bfs_keys made = column32_of(bytes, offsets, count);
  return bfs_select_keys(filter, &made, indices);
}

static inline int64_t add_column64(bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count) {
  const bfs_keys made = column64_of(bytes, offsets, count);
  return bfs_add_keys(filter, &made);
}

static inline int64_t contains_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets,
                                        size_t count, uint8_t* answers) {
  const bfs_keys made = column64_of(bytes, offsets, count);
  return bfs_contains_keys(filter, &made, answers);
}

static inline int64_t select_column64(const bfs_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                                      uint32_t* indices) {
  const bfs_keys made = column64_of(bytes, offsets, count);
  return bfs_select_keys(filter, &made, indices);
}

static inline int64_t select_digests(const bfs_filter* filter, const uint64_t* digests, size_t count,
                                     uint32_t* indices) {
  const bfs_keys made = bfs_keys_digests(digests, count);
  return bfs_select_keys(filter, &made, indices);
}

#endif
