/* Calls of the C ABI that take a struct, with the fields that tests need, so that a test makes them in one line. C and
 * C++. */
#ifndef BFSTORE_TESTS_ABI_CALLS_H
#define BFSTORE_TESTS_ABI_CALLS_H

#include <bfstore.h>
#include <string.h>

/* `key`: 16 bytes, or NULL. */
static inline int32_t wrap_with(void* buffer, uint64_t bytes, uint64_t flags, const void* key, bfs_filter** out,
                                bfs_error* error) {
  bfs_open_options options = BFS_OPEN_OPTIONS_INIT;
  options.flags = flags;
  options.key = key;
  options.key_bytes = key == NULL ? 0 : 16;
  return bfs_wrap_with(buffer, bytes, &options, out, error);
}

static inline bfs_copy_options copy_options_of(uint64_t flags, uint32_t mode) {
  bfs_copy_options options = BFS_COPY_OPTIONS_INIT;
  options.flags = flags;
  options.mode = mode;
  return options;
}

static inline int32_t seal_with(const char* from, const char* to, uint64_t flags, uint32_t mode, bfs_error* error) {
  const bfs_copy_options options = copy_options_of(flags, mode);
  return bfs_seal(from, to, &options, error);
}

static inline int32_t save_with(const bfs_filter* filter, const char* path, uint64_t flags, uint32_t mode,
                                bfs_error* error) {
  const bfs_copy_options options = copy_options_of(flags, mode);
  return bfs_save(filter, path, &options, error);
}

static inline int32_t build_bare(void* buffer, uint64_t bytes, uint32_t layout, const void* const* keys,
                                 const size_t* key_bytes, size_t count) {
  const bfs_keys made = bfs_keys_pointers(keys, key_bytes, count);
  return bfs_bare_build(buffer, bytes, layout, &made);
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
