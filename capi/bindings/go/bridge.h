/* Calls of the C ABI from Go.  Structs are passed by value, and pointers as separate arguments, since C must not get
 * memory of Go that has pointers in it.  Pointer arguments have types without pointers, so cgo does not check them at
 * each call. */
#ifndef BFSTORE_GO_BRIDGE_H
#define BFSTORE_GO_BRIDGE_H

#include <bfstore_interop.h>
#include <bfstore_memory.h>
#include <stdlib.h>

/* --- Making and opening --- */

/* Flags and options of a call. Its numbers are here, and its bytes of any length are separate arguments. */
typedef struct bridge_given {
  bfs_options options; /* without pointers */
  uint64_t flags;
  uint64_t seed;
  bfs_range range;
  int32_t fd;
  uint8_t file_id[16];
  uint8_t has_seed, has_range, has_fd, has_file_id;
} bridge_given;

/* Points into *given. */
static inline bfs_options bridge_options(const bridge_given* given, const char* like, const uint8_t* note,
                                         const uint8_t* secret, const uint32_t* seeds) {
  bfs_options options = given->options;
  options.struct_bytes = sizeof options;
  options.like = like;
  options.note = note;
  options.secret = secret;
  options.seeds = seeds;
  if (given->has_seed) options.seed = &given->seed;
  if (given->has_range) options.range = &given->range;
  if (given->has_fd) options.fd = &given->fd;
  if (given->has_file_id) options.file_id = given->file_id;
  return options;
}

static inline int32_t bridge_create(const char* path, bridge_given given, const char* like, const uint8_t* note,
                                    const uint8_t* secret, const uint32_t* seeds, bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_create(path, given.flags, &options, out, error);
}

static inline int32_t bridge_open(const char* path, bridge_given given, const char* like, const uint8_t* note,
                                  const uint8_t* secret, const uint32_t* seeds, bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_open(path, given.flags, &options, out, error);
}

static inline int64_t bridge_format(uint8_t* buffer, uint64_t bytes, bridge_given given, const char* like,
                                    const uint8_t* note, const uint8_t* secret, const uint32_t* seeds, bfs_filter** out,
                                    bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_format(buffer, bytes, given.flags, &options, out, error);
}

static inline int32_t bridge_open_memory(const uint8_t* data, uint64_t bytes, bridge_given given, const uint8_t* secret,
                                         bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(&given, NULL, NULL, secret, NULL);
  return bfs_open_memory(data, bytes, given.flags, &options, out, error);
}

/* --- One key --- */

static inline int32_t bridge_contains(const bfs_filter* filter, _GoString_ key) {
  return bfs_contains(filter, _GoStringPtr(key), _GoStringLen(key));
}

static inline int32_t bridge_add(bfs_filter* filter, _GoString_ key) {
  return bfs_add(filter, _GoStringPtr(key), _GoStringLen(key));
}

static inline int32_t bridge_remove(bfs_filter* filter, _GoString_ key) {
  return bfs_remove(filter, _GoStringPtr(key), _GoStringLen(key));
}

static inline int32_t bridge_count(const bfs_filter* filter, _GoString_ key) {
  const bfs_key one = {_GoStringPtr(key), _GoStringLen(key)};
  const bfs_keys keys = bfs_keys_pairs(&one, 1);
  uint8_t count = 0;
  const int64_t result = bfs_count_keys(filter, &keys, &count);
  return result < 0 ? (int32_t)result : count;
}

static inline int32_t bridge_count_digest(const bfs_filter* filter, uint64_t digest) {
  const bfs_keys keys = bfs_keys_digests(&digest, 1);
  uint8_t count = 0;
  const int64_t result = bfs_count_keys(filter, &keys, &count);
  return result < 0 ? (int32_t)result : count;
}

static inline int32_t bridge_remove_digest(bfs_filter* filter, uint64_t digest) {
  const bfs_keys keys = bfs_keys_digests(&digest, 1);
  return (int32_t)bfs_remove_keys(filter, &keys);
}

static inline int32_t bridge_digest(const bfs_filter* filter, _GoString_ key, uint64_t* digest) {
  return bfs_digest(filter, _GoStringPtr(key), _GoStringLen(key), digest);
}

static inline int32_t bridge_bare_contains(const uint8_t* data, uint64_t bytes, _GoString_ key) {
  return bfs_bare_contains(data, bytes, _GoStringPtr(key), _GoStringLen(key));
}

typedef struct bridge_integer {
  uint8_t bytes[8];
} bridge_integer;

/* Makes the key of an integer: 8 bytes, little-endian, on every machine. */
static inline bridge_integer bridge_integer_key(uint64_t number) {
  bridge_integer key;
  for (int i = 0; i < 8; ++i) key.bytes[i] = (uint8_t)(number >> 8 * i);
  return key;
}

static inline int32_t bridge_contains_integer(const bfs_filter* filter, uint64_t number) {
  const bridge_integer key = bridge_integer_key(number);
  return bfs_contains(filter, key.bytes, sizeof key.bytes);
}

static inline int32_t bridge_add_integer(bfs_filter* filter, uint64_t number) {
  const bridge_integer key = bridge_integer_key(number);
  return bfs_add(filter, key.bytes, sizeof key.bytes);
}

static inline int32_t bridge_contains_any(const bfs_filter* const* filters, size_t count, _GoString_ key,
                                          uint8_t* which) {
  return bfs_contains_any(filters, count, _GoStringPtr(key), _GoStringLen(key), which);
}

/* --- Many keys --- */

static inline bfs_keys bridge_keys(bfs_keys keys, const uint8_t* data, const uint8_t* offsets,
                                   const uint8_t* validity) {
  keys.struct_bytes = sizeof keys;
  keys.data = data;
  keys.offsets = offsets;
  keys.validity = validity;
  return keys;
}

static inline int64_t bridge_add_keys(bfs_filter* filter, bfs_keys given, const uint8_t* data, const uint8_t* offsets,
                                      const uint8_t* validity) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_add_keys(filter, &keys);
}

static inline int64_t bridge_remove_keys(bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                         const uint8_t* offsets, const uint8_t* validity) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_remove_keys(filter, &keys);
}

// Gives memory for sorting many keys. Without it the answers are the same, and take longer.
static inline void bridge_lend_scratch(bfs_keys* keys) {
  keys->scratch_bytes = bfs_scratch_for(keys->count);
  keys->scratch = keys->scratch_bytes == 0 ? NULL : malloc(keys->scratch_bytes);
  if (keys->scratch == NULL) keys->scratch_bytes = 0;
}

static inline int64_t bridge_contains_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                           const uint8_t* offsets, const uint8_t* validity, uint8_t* answers) {
  bfs_keys keys = bridge_keys(given, data, offsets, validity);
  bridge_lend_scratch(&keys);
  const int64_t found = bfs_contains_keys(filter, &keys, answers);
  free(keys.scratch);
  return found;
}

static inline int64_t bridge_select_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                         const uint8_t* offsets, const uint8_t* validity, uint32_t* indices) {
  bfs_keys keys = bridge_keys(given, data, offsets, validity);
  bridge_lend_scratch(&keys);
  const int64_t found = bfs_select_keys(filter, &keys, indices);
  free(keys.scratch);
  return found;
}

static inline int64_t bridge_digest_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                         const uint8_t* offsets, const uint8_t* validity, uint64_t* digests) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_digest_keys(filter, &keys, digests);
}

static inline int64_t bridge_count_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                        const uint8_t* offsets, const uint8_t* validity, uint8_t* counts) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_count_keys(filter, &keys, counts);
}

static inline int32_t bridge_build(const char* path, bridge_given made, const char* like, const uint8_t* note,
                                   const uint8_t* secret, const uint32_t* seeds, bfs_keys given, const uint8_t* data,
                                   const uint8_t* offsets, const uint8_t* validity, bfs_filter** out,
                                   bfs_error* error) {
  const bfs_options options = bridge_options(&made, like, note, secret, seeds);
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_build(path, made.flags, &options, &keys, out, error);
}

static inline int32_t bridge_bare_build(uint8_t* buffer, uint64_t bytes, uint32_t layout, uint32_t hash, bfs_keys given,
                                        const uint8_t* data, const uint8_t* offsets, const uint8_t* validity) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_bare_build(buffer, bytes, layout, hash, &keys);
}

/* --- void pointers as bytes --- */

static inline int32_t bridge_bare_contains_digest(const uint8_t* data, uint64_t bytes, uint64_t digest) {
  return bfs_bare_contains_digest(data, bytes, digest);
}

static inline int64_t bridge_dump(const bfs_filter* filter, uint8_t* buffer, uint64_t bytes, uint64_t flags,
                                  bfs_error* error) {
  return bfs_dump(filter, buffer, bytes, flags, error);
}

static inline int32_t bridge_import_bits(bfs_filter* filter, const uint8_t* bits, uint64_t bytes, uint32_t order,
                                         bfs_error* error) {
  return bfs_import_bits(filter, bits, bytes, order, error);
}

static inline int32_t bridge_export_bits(const bfs_filter* filter, uint8_t* bits, uint64_t bytes, uint32_t order,
                                         bfs_error* error) {
  return bfs_export_bits(filter, bits, bytes, order, error);
}

/* --- Filters of other programs; the pointers in a form are C's --- */

static inline int32_t bridge_foreign_inspect(const bfs_foreign_form* form, const uint8_t* first, uint64_t bytes,
                                             bfs_foreign* out, bfs_error* error) {
  return bfs_foreign_inspect(form, first, bytes, 0, NULL, out, error);
}

static inline int32_t bridge_foreign_inspect_for(const bfs_foreign_form* form, const uint8_t* first, uint64_t bytes,
                                                 bridge_given given, const char* like, const uint8_t* note,
                                                 const uint8_t* secret, const uint32_t* seeds, bfs_foreign* out,
                                                 bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_foreign_inspect(form, first, bytes, given.flags, &options, out, error);
}

static inline int32_t bridge_foreign_open(const char* path, const bfs_foreign_form* form, bridge_given given,
                                          const char* like, const uint8_t* note, const uint8_t* secret,
                                          const uint32_t* seeds, bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_foreign_open(path, form, given.flags, &options, out, error);
}

static inline int32_t bridge_foreign_import(const char* path, const bfs_foreign_form* form, const uint8_t* data,
                                            uint64_t bytes, bridge_given given, const char* like, const uint8_t* note,
                                            const uint8_t* secret, const uint32_t* seeds, bfs_filter** out,
                                            bfs_error* error) {
  const bfs_options options = bridge_options(&given, like, note, secret, seeds);
  return bfs_foreign_import(path, form, data, bytes, given.flags, &options, out, error);
}

static inline int64_t bridge_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, uint8_t* buffer,
                                            uint64_t bytes, bfs_error* error) {
  return bfs_foreign_export(filter, form, buffer, bytes, error);
}

#endif
