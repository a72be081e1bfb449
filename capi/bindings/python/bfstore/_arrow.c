/* Columns of Apache Arrow, through its C data interface (https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html) and its PyCapsules: neither pyarrow nor its headers are needed. */
#include <stdlib.h>

#include "_internal.h"

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

static int unsound(const char* words) {
  PyErr_Format(PyExc_ValueError, "the Arrow array is unsound: %s", words);
  return -1;
}

/* --- One array ---------------------------------------------------------------------------------------------------- */

/* Adds a column.  Arrow passes no length of the data: the last offset has to suffice.  The library refuses a negative
 * one. */
static int add_column(Source* source, const struct ArrowArray* array, bfs_keys* part, int wide) {
  if (array->n_buffers != 3 || array->buffers[1] == NULL) return unsound("a column of text has three buffers");
  int64_t end = 0;
  if (wide) {
    const int64_t* offsets = (const int64_t*)array->buffers[1] + array->offset;
    part->offsets = offsets;
    end = offsets[array->length];
  } else {
    const int32_t* offsets = (const int32_t*)array->buffers[1] + array->offset;
    part->offsets = offsets;
    end = offsets[array->length];
  }
  part->kind = wide ? BFS_KEYS_COLUMN64 : BFS_KEYS_COLUMN32;
  part->data = array->buffers[2];
  part->data_bytes = (uint64_t)end;
  return source_add(source, part);
}

static int add_fixed(Source* source, const struct ArrowArray* array, bfs_keys* part, int64_t key_bytes) {
  if (array->n_buffers != 2 || array->buffers[1] == NULL || key_bytes <= 0)
    return unsound("a column of a fixed width has two buffers");
  if (array->offset > INT64_MAX / key_bytes) return unsound("its offset is too large");
  part->kind = BFS_KEYS_FIXED;
  part->data = (const char*)array->buffers[1] + array->offset * key_bytes;
  part->key_bytes = (uint64_t)key_bytes;
  return source_add(source, part);
}

static int add_digests(Source* source, const struct ArrowArray* array, bfs_keys* part) {
  if (array->n_buffers != 2 || array->buffers[1] == NULL) return unsound("a column of numbers has two buffers");
  if ((uintptr_t)array->buffers[1] % 8 != 0) return unsound("its numbers are not aligned");
  part->kind = BFS_KEYS_DIGESTS;
  part->data = (const uint64_t*)array->buffers[1] + array->offset;
  return source_add(source, part);
}

/* A view has 16 bytes: the length, and then the bytes (at most 12), or 4 of them, the buffer and the offset in it. */
static int key_of_view(const struct ArrowArray* array, const char* view, bfs_key* key) {
  const int64_t num_data = array->n_buffers - 3;
  const int64_t* lengths = (const int64_t*)array->buffers[array->n_buffers - 1];
  int32_t bytes, index, offset;
  memcpy(&bytes, view, 4);
  memcpy(&index, view + 8, 4);
  memcpy(&offset, view + 12, 4);
  if (bytes < 0) return unsound("a length is negative");
  key->bytes = (size_t)bytes;
  key->data = view + 4;
  if (bytes <= 12) return 0;
  if (index < 0 || index >= num_data || offset < 0 || lengths[index] < bytes || offset > lengths[index] - bytes)
    return unsound("a view is outside of its buffer");
  key->data = (const char*)array->buffers[2 + index] + offset;
  return 0;
}

static int is_null(const bfs_keys* part, int64_t i) {
  const uint64_t bit = part->validity_offset + (uint64_t)i;
  return part->validity != NULL && (part->validity[bit / 8] >> (bit % 8) & 1) == 0;
}

static int add_views(Source* source, const struct ArrowArray* array, bfs_keys* part) {
  if (array->n_buffers < 3 || array->buffers[1] == NULL) return unsound("a column of views has at least three buffers");
  bfs_key* pairs = source_memory(source, (size_t)array->length, sizeof *pairs);
  if (pairs == NULL) return -1;
  const char* views = (const char*)array->buffers[1] + array->offset * 16;
  for (int64_t i = 0; i < array->length; i++) {
    pairs[i].data = NULL;
    pairs[i].bytes = 0;
    if (!is_null(part, i) && key_of_view(array, views + i * 16, &pairs[i]) < 0) return -1;
  }
  part->kind = BFS_KEYS_PAIRS;
  part->data = pairs;
  return source_add(source, part);
}

static int refuse_format(const char* format, int digests) {
  PyErr_Format(
      PyExc_TypeError,
      digests ? "digests are a column of uint64, not of Arrow's '%s'"
              : "keys are a column of text, binary, int64 or uint64, not of Arrow's '%s': cast it, or choose a column",
      format);
  return -1;
}

static int add_array(Source* source, const struct ArrowSchema* schema, const struct ArrowArray* array) {
  const char* format = schema->format;
  if (schema->dictionary != NULL) {
    PyErr_SetString(PyExc_TypeError, "the Arrow column is dictionary-encoded: decode it first");
    return -1;
  }
  const unsigned short one = 1;
  const int little = *(const unsigned char*)&one == 1;
  const int whole = strcmp(format, "L") == 0 || (strcmp(format, "l") == 0 && !source->digests);
  const int wide = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;
  const int column = wide || strcmp(format, "u") == 0 || strcmp(format, "z") == 0;
  const int views = strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0;
  const int fixed = strncmp(format, "w:", 2) == 0;
  if (source->digests ? !whole : !((whole && little) || column || views || fixed))
    return refuse_format(format, source->digests);
  if (array->length < 0 || array->offset < 0) return unsound("its length or offset is negative");
  if (array->length == 0) return 0; /* its buffers may be missing */
  bfs_keys part = BFS_KEYS_INIT;
  part.count = (uint64_t)array->length;
  if (array->n_buffers < 1 || array->buffers == NULL) return unsound("it has no buffers");
  part.validity = array->null_count == 0 ? NULL : (const uint8_t*)array->buffers[0];
  part.validity_offset = part.validity == NULL ? 0 : (uint64_t)array->offset;
  if (source->digests) return add_digests(source, array, &part);
  if (column) return add_column(source, array, &part, wide);
  if (views) return add_views(source, array, &part);
  return add_fixed(source, array, &part, fixed ? strtoll(format + 2, NULL, 10) : 8);
}

/* --- Arrays and streams ------------------------------------------------------------------------------------------- */

/* Keeps the object of a capsule until the source is closed. */
static int keep(Source* source, PyObject* object) {
  if (object == NULL) return -1;
  int done = PyList_Append(source->kept, object);
  Py_DECREF(object);
  return done;
}

static int add_capsules(Source* source, PyObject* pair) {
  if (keep(source, pair) < 0) return -1;
  if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) return unsound("__arrow_c_array__ gave no pair");
  const struct ArrowSchema* schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
  if (schema == NULL) return -1;
  const struct ArrowArray* array = PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
  return array == NULL ? -1 : add_array(source, schema, array);
}

static void release_schema(PyObject* capsule) {
  struct ArrowSchema* schema = PyCapsule_GetPointer(capsule, NULL);
  if (schema->release != NULL) schema->release(schema);
  PyMem_Free(schema);
}

static void release_array(PyObject* capsule) {
  struct ArrowArray* array = PyCapsule_GetPointer(capsule, NULL);
  if (array->release != NULL) array->release(array);
  PyMem_Free(array);
}

/* Returns zeroed memory, which the source keeps, and `end` frees. */
static void* keep_struct(Source* source, size_t bytes, PyCapsule_Destructor end) {
  void* made = PyMem_Calloc(1, bytes);
  if (made == NULL) return PyErr_NoMemory();
  PyObject* capsule = PyCapsule_New(made, NULL, end);
  if (capsule == NULL) PyMem_Free(made);
  return keep(source, capsule) < 0 ? NULL : made;
}

static int stream_failed(struct ArrowArrayStream* stream, int code) {
  const char* words = stream->get_last_error(stream);
  PyErr_Format(PyExc_OSError, "the Arrow stream failed: %s (errno %d)", words == NULL ? "it does not say why" : words,
               code);
  return -1;
}

static int add_stream(Source* source, PyObject* capsule) {
  if (keep(source, capsule) < 0) return -1;
  struct ArrowArrayStream* stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (stream == NULL) return -1;
  struct ArrowSchema* schema = keep_struct(source, sizeof *schema, release_schema);
  if (schema == NULL) return -1;
  int code = stream->get_schema(stream, schema);
  while (code == 0) {
    struct ArrowArray* array = keep_struct(source, sizeof *array, release_array);
    if (array == NULL) return -1;
    code = stream->get_next(stream, array);
    if (code != 0) break;
    if (array->release == NULL) return 0; /* the end */
    if (add_array(source, schema, array) < 0) return -1;
  }
  return stream_failed(stream, code);
}

int source_add_arrow(Source* source, PyObject* keys) {
  int done = 0;
  if (PyObject_HasAttrString(keys, "__arrow_c_array__")) {
    done = add_capsules(source, PyObject_CallMethod(keys, "__arrow_c_array__", NULL));
  } else if (PyObject_HasAttrString(keys, "__arrow_c_stream__")) {
    done = add_stream(source, PyObject_CallMethod(keys, "__arrow_c_stream__", NULL));
  } else {
    return 0;
  }
  return done < 0 ? -1 : 1;
}
