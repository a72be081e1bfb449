/* Calls of the C ABI from Go.  Structs are passed by value, and pointers as separate arguments, since C must not get
 * memory of Go that has pointers in it.  Pointer arguments have types without pointers, so cgo does not check them at
 * each call. */
#ifndef BFSTORE_GO_BRIDGE_H
#define BFSTORE_GO_BRIDGE_H

#include <bfstore.h>
#include <bfstore_interop.h>

/* --- Making and opening --- */

static inline bfs_options bridge_options(bfs_options options, const char* like, const uint8_t* note, const uint8_t* key,
                                         const uint32_t* seeds) {
  options.struct_bytes = sizeof options;
  options.like = like;
  options.note = note;
  options.key = key;
  options.seeds = seeds;
  return options;
}

static inline int32_t bridge_create(const char* path, bfs_options given, const char* like, const uint8_t* note,
                                    const uint8_t* key, const uint32_t* seeds, bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_create(path, &options, out, error);
}

static inline int32_t bridge_create_part(const char* path, bfs_options given, const char* like, const uint8_t* note,
                                         const uint8_t* key, const uint32_t* seeds, uint32_t part, uint32_t num_parts,
                                         bfs_filter** out, bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_create_part(path, &options, part, num_parts, out, error);
}

static inline int32_t bridge_required_bytes(bfs_options given, const char* like, const uint8_t* note,
                                            const uint8_t* key, const uint32_t* seeds, uint64_t* out,
                                            bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_required_bytes(&options, out, error);
}

static inline int32_t bridge_format(uint8_t* buffer, uint64_t bytes, bfs_options given, const char* like,
                                    const uint8_t* note, const uint8_t* key, const uint32_t* seeds, bfs_filter** out,
                                    bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_format(buffer, bytes, &options, out, error);
}

static inline bfs_open_options bridge_open_options(bfs_open_options options, const uint8_t* key) {
  options.struct_bytes = sizeof options;
  options.key = key;
  return options;
}

static inline int32_t bridge_open(const char* path, bfs_open_options given, const uint8_t* key, bfs_filter** out,
                                  bfs_error* error) {
  const bfs_open_options options = bridge_open_options(given, key);
  return bfs_open_with(path, &options, out, error);
}

static inline int32_t bridge_open_set(const char* manifest, bfs_open_options given, const uint8_t* key,
                                      bfs_filter** out, bfs_error* error) {
  const bfs_open_options options = bridge_open_options(given, key);
  return bfs_open_set(manifest, &options, out, error);
}

static inline int32_t bridge_wrap(uint8_t* buffer, uint64_t bytes, bfs_open_options given, const uint8_t* key,
                                  bfs_filter** out, bfs_error* error) {
  const bfs_open_options options = bridge_open_options(given, key);
  return bfs_wrap_with(buffer, bytes, &options, out, error);
}

static inline int32_t bridge_load(const uint8_t* data, uint64_t bytes, bfs_open_options given, const uint8_t* key,
                                  bfs_filter** out, bfs_error* error) {
  const bfs_open_options options = bridge_open_options(given, key);
  return bfs_load(data, bytes, &options, out, error);
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
  return bfs_count(filter, _GoStringPtr(key), _GoStringLen(key));
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

static inline int64_t bridge_contains_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                           const uint8_t* offsets, const uint8_t* validity, uint8_t* answers) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_contains_keys(filter, &keys, answers);
}

static inline int64_t bridge_select_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                         const uint8_t* offsets, const uint8_t* validity, uint32_t* indices) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_select_keys(filter, &keys, indices);
}

static inline int64_t bridge_digest_keys(const bfs_filter* filter, bfs_keys given, const uint8_t* data,
                                         const uint8_t* offsets, const uint8_t* validity, uint64_t* digests) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_digest_keys(filter, &keys, digests);
}

static inline int32_t bridge_bare_build(uint8_t* buffer, uint64_t bytes, uint32_t layout, bfs_keys given,
                                        const uint8_t* data, const uint8_t* offsets, const uint8_t* validity) {
  const bfs_keys keys = bridge_keys(given, data, offsets, validity);
  return bfs_bare_build(buffer, bytes, layout, &keys);
}

/* --- void pointers as bytes --- */

static inline int32_t bridge_bare_contains_digest(const uint8_t* data, uint64_t bytes, uint64_t digest) {
  return bfs_bare_contains_digest(data, bytes, digest);
}

static inline int32_t bridge_bare_build_digests(uint8_t* buffer, uint64_t bytes, uint32_t layout, uint32_t hash,
                                                const uint64_t* digests, size_t count) {
  return bfs_bare_build_digests(buffer, bytes, layout, hash, digests, count);
}

static inline int32_t bridge_dump(const bfs_filter* filter, uint8_t* buffer, uint64_t bytes, uint64_t flags,
                                  uint64_t* out_bytes, bfs_error* error) {
  return bfs_dump(filter, buffer, bytes, flags, out_bytes, error);
}

static inline int64_t bridge_get_note(const bfs_filter* filter, uint8_t* buffer, size_t capacity, bfs_error* error) {
  return bfs_get_note(filter, buffer, capacity, error);
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
  return bfs_foreign_inspect(form, first, bytes, 0, out, error);
}

static inline int32_t bridge_foreign_inspect_for(const bfs_foreign_form* form, const uint8_t* first, uint64_t bytes,
                                                 bfs_options given, const char* like, const uint8_t* note,
                                                 const uint8_t* key, const uint32_t* seeds, bfs_foreign* out,
                                                 bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_foreign_inspect(form, first, bytes, &options, out, error);
}

static inline int32_t bridge_foreign_import(const char* path, const bfs_foreign_form* form, const uint8_t* data,
                                            uint64_t bytes, bfs_options given, const char* like, const uint8_t* note,
                                            const uint8_t* key, const uint32_t* seeds, bfs_filter** out,
                                            bfs_error* error) {
  const bfs_options options = bridge_options(given, like, note, key, seeds);
  return bfs_foreign_import(path, form, data, bytes, &options, out, error);
}

static inline int32_t bridge_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, uint8_t* buffer,
                                            uint64_t bytes, uint64_t* out_bytes, bfs_error* error) {
  return bfs_foreign_export(filter, form, buffer, bytes, out_bytes, error);
}

#endif
