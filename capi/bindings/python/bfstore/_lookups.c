/* The methods of a handle that look up or change one key, or many. */
#include "_internal.h"

/* --- One key ------------------------------------------------------------------------------------------------------ */

enum verb { ADD, REMOVE, COUNT, CONTAINS, SELECT, DIGEST };

static int32_t count_one(const bfs_filter* filter, const OneKey* key) {
  const bfs_key pair = {key->data, key->bytes};
  const bfs_keys keys = bfs_keys_pairs(&pair, 1);
  uint8_t count = 0;
  const int64_t done = bfs_count_keys(filter, &keys, &count);
  return done < 0 ? (int32_t)done : count;
}

static inline int32_t of_key(bfs_filter* filter, enum verb verb, const OneKey* key) {
  switch (verb) {
    case ADD:
      return bfs_add(filter, key->data, key->bytes);
    case REMOVE:
      return bfs_remove(filter, key->data, key->bytes);
    case COUNT:
      return count_one(filter, key);
    default:
      return bfs_contains(filter, key->data, key->bytes);
  }
}

static inline int32_t of_digest(bfs_filter* filter, enum verb verb, uint64_t digest) {
  return verb == ADD ? bfs_add_digest(filter, digest) : bfs_contains_digest(filter, digest);
}

/* Returns whether the call may wait: an exclusive writer waits for other threads in calls, and a handle that follows
 * may open a file. */
static inline int may_wait(const Handle* handle, enum verb verb) {
  return handle->follows || (handle->calls > 0 && (verb == ADD || verb == REMOVE));
}

/* Returns the code.  Keeps the GIL if the call cannot wait: releasing it costs more than the lookup. */
static inline int32_t one_key(Handle* handle, enum verb verb, const OneKey* key) {
  if (!may_wait(handle, verb)) return of_key(handle->filter, verb, key);
  int32_t code;
  bfs_filter* filter = handle_begin(handle);
  WITHOUT_GIL(code = of_key(filter, verb, key));
  handle_end(handle);
  return code;
}

static inline int32_t one_digest(Handle* handle, enum verb verb, uint64_t digest) {
  if (!may_wait(handle, verb)) return of_digest(handle->filter, verb, digest);
  int32_t code;
  bfs_filter* filter = handle_begin(handle);
  WITHOUT_GIL(code = of_digest(filter, verb, digest));
  handle_end(handle);
  return code;
}

/* Returns at least 0, or -1 with an exception.  Makes the key first: that may run code that closes the handle. */
static inline int ask(PyObject* self, enum verb verb, PyObject* object) {
  OneKey key;
  Handle* handle = (Handle*)self;
  if (key_open(&key, object) < 0) return -1;
  int32_t code = BFS_ESHUT;
  if (handle->filter != NULL) code = one_key(handle, verb, &key);
  key_close(&key);
  if (code >= 0) return code;
  if (code == BFS_ESHUT)
    raise_closed(handle);
  else
    raise_code_of(handle->name, code);
  return -1;
}

static int ask_digest(PyObject* self, enum verb verb, PyObject* object) {
  uint64_t digest = 0;
  Handle* handle = (Handle*)self;
  if (digest_of(object, &digest) < 0) return -1;
  int32_t code = BFS_ESHUT;
  if (handle->filter != NULL) code = one_digest(handle, verb, digest);
  if (code >= 0) return code;
  if (code == BFS_ESHUT)
    raise_closed(handle);
  else
    raise_code_of(handle->name, code);
  return -1;
}

static PyObject* as_bool(int answer) { return answer < 0 ? NULL : PyBool_FromLong(answer); }
static PyObject* as_int(int answer) { return answer < 0 ? NULL : PyLong_FromLong(answer); }

int handle_in(PyObject* self, PyObject* key) { return ask(self, CONTAINS, key); }
static PyObject* handle_contains(PyObject* self, PyObject* key) { return as_bool(ask(self, CONTAINS, key)); }
static PyObject* handle_add(PyObject* self, PyObject* key) { return as_bool(ask(self, ADD, key)); }
static PyObject* handle_remove(PyObject* self, PyObject* key) { return as_bool(ask(self, REMOVE, key)); }
static PyObject* handle_count(PyObject* self, PyObject* key) { return as_int(ask(self, COUNT, key)); }
static PyObject* handle_contains_digest(PyObject* self, PyObject* digest) {
  return as_bool(ask_digest(self, CONTAINS, digest));
}
static PyObject* handle_add_digest(PyObject* self, PyObject* digest) { return as_bool(ask_digest(self, ADD, digest)); }

static PyObject* handle_digest(PyObject* self, PyObject* object) {
  OneKey key;
  uint64_t digest = 0;
  Handle* handle = (Handle*)self;
  if (key_open(&key, object) < 0) return NULL;
  const int32_t code = handle->filter == NULL ? BFS_ESHUT : bfs_digest(handle->filter, key.data, key.bytes, &digest);
  key_close(&key);
  if (code == BFS_ESHUT) return raise_closed(handle);
  return code < 0 ? raise_code_of(handle->name, code) : PyLong_FromUnsignedLongLong(digest);
}

/* --- Many keys ---------------------------------------------------------------------------------------------------- */

/* Without memory for sorting the keys the answers are the same, and take longer. */
static int64_t of_sorted_keys(bfs_filter* filter, enum verb verb, const bfs_keys* given, void* out) {
  bfs_keys keys = *given;
  keys.scratch_bytes = bfs_scratch_for(keys.count);
  keys.scratch = keys.scratch_bytes == 0 ? NULL : malloc(keys.scratch_bytes);
  if (keys.scratch == NULL) keys.scratch_bytes = 0;
  const int64_t done = verb == CONTAINS ? bfs_contains_keys(filter, &keys, out) : bfs_select_keys(filter, &keys, out);
  free(keys.scratch);
  return done;
}

static int64_t of_keys(bfs_filter* filter, enum verb verb, const bfs_keys* keys, void* out) {
  switch (verb) {
    case ADD:
      return bfs_add_keys(filter, keys);
    case REMOVE:
      return bfs_remove_keys(filter, keys);
    case CONTAINS:
    case SELECT:
      return of_sorted_keys(filter, verb, keys, out);
    case COUNT:
      return bfs_count_keys(filter, keys, out);
    default:
      return bfs_digest_keys(filter, keys, out);
  }
}

static size_t answer_bytes(enum verb verb) {
  return verb == CONTAINS || verb == COUNT ? 1 : verb == SELECT ? 4 : verb == DIGEST ? 8 : 0;
}

/* Makes a part's indexes count from the first key of the whole source. */
static void move_numbers(uint32_t* numbers, int64_t count, uint64_t first) {
  for (int64_t i = 0; first != 0 && i < count; i++) numbers[i] += (uint32_t)first;
}

/* Returns the sum of the parts' results; for SELECT the parts' results follow each other in `out`. */
static int64_t of_parts(bfs_filter* filter, enum verb verb, const Source* source, char* out) {
  int64_t sum = 0;
  uint64_t asked = 0;
  for (size_t i = 0; i < source->num_parts; i++) {
    char* at = out == NULL ? NULL : out + (verb == SELECT ? (uint64_t)sum : asked) * answer_bytes(verb);
    const int64_t done = of_keys(filter, verb, &source->parts[i], at);
    if (done < 0) return done;
    if (verb == SELECT) move_numbers((uint32_t*)(void*)at, done, asked);
    sum += done;
    asked += source->parts[i].count;
  }
  return sum;
}

/* Runs a batch.  An empty list has no part, but the filter must still report whether it can be asked. */
static int64_t run(Handle* handle, enum verb verb, Source* source, char* out) {
  const bfs_keys none = bfs_keys_pairs(NULL, 0);
  if (source->num_parts == 0 && source_add(source, &none) < 0) return BFS_ENOMEM;
  int64_t done;
  bfs_filter* filter = handle_begin(handle);
  if (filter == NULL) return BFS_ESHUT;
  WITHOUT_GIL(done = of_parts(filter, verb, source, out));
  handle_end(handle);
  return done;
}

/* Returns the uint32 or uint64 numbers in `room` as a memoryview, which NumPy and array take without copying. */
static PyObject* numbers_in(PyObject* room, const char* format) {
  PyObject* bytes = PyMemoryView_FromObject(room);
  PyObject* numbers = bytes == NULL ? NULL : PyObject_CallMethod(bytes, "cast", "s", format);
  Py_XDECREF(bytes);
  return numbers;
}

static PyObject* answers_in(PyObject* room, enum verb verb, int64_t done) {
  if (verb == CONTAINS || verb == COUNT) return Py_NewRef(room);
  if (verb == DIGEST) return numbers_in(room, "Q");
  if (verb != SELECT) return PyLong_FromLongLong(done);
  return PyByteArray_Resize(room, (Py_ssize_t)done * 4) < 0 ? NULL : numbers_in(room, "I");
}

static PyObject* batch_of(Handle* handle, enum verb verb, Source* source) {
  if (source->count > (uint64_t)PY_SSIZE_T_MAX / 8 || (verb == SELECT && source->count > UINT64_C(1) << 32)) {
    PyErr_SetString(PyExc_ValueError, "too many keys for one call");
    return NULL;
  }
  PyObject* room = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(source->count * answer_bytes(verb)));
  if (room == NULL) return NULL;
  PyObject* answers = NULL;
  const int64_t done = run(handle, verb, source, PyByteArray_AsString(room));
  if (done >= 0)
    answers = answers_in(room, verb, done);
  else if (!PyErr_Occurred())
    raise_code_of(handle->name, (int32_t)done);
  Py_DECREF(room);
  return answers;
}

static PyObject* batch_from(PyObject* self, enum verb verb, PyObject* keys, Py_ssize_t width, int digests,
                            uint64_t first) {
  Source source;
  if (source_open(&source, keys, width, digests, first) < 0) return NULL;
  PyObject* answers = batch_of((Handle*)self, verb, &source);
  source_close(&source);
  return answers;
}

static PyObject* batch(PyObject* self, enum verb verb, PyObject* keys, Py_ssize_t width, int digests) {
  return batch_from(self, verb, keys, width, digests, 0);
}

int is_stream(PyObject* keys) {
  return PyIter_Check(keys) && !PyObject_CheckBuffer(keys) && !PyObject_HasAttrString(keys, "__arrow_c_stream__") &&
         !PyObject_HasAttrString(keys, "__arrow_c_array__");
}

/* Returns the next keys of an iterator, at most `most`. */
static PyObject* next_keys(PyObject* iterator, Py_ssize_t most) {
  PyObject* keys = PyList_New(0);
  while (keys != NULL && PyList_Size(keys) < most) {
    PyObject* key = PyIter_Next(iterator);
    if (key == NULL && !PyErr_Occurred()) break;
    if (key == NULL || PyList_Append(keys, key) < 0) Py_CLEAR(keys);
    Py_XDECREF(key);
  }
  return keys;
}

/* Adds a piece at a time, so that the memory does not grow with the keys. */
static PyObject* add_stream(PyObject* self, PyObject* iterator, int digests) {
  enum { PIECE = 1 << 16 };
  long long sum = 0;
  uint64_t first = 0;
  for (Py_ssize_t got = PIECE; got == PIECE; first += PIECE) {
    PyObject* keys = next_keys(iterator, PIECE);
    if (keys == NULL) return NULL;
    got = PyList_Size(keys);
    PyObject* added = batch_from(self, ADD, keys, 0, digests, first);
    Py_DECREF(keys);
    if (added == NULL) return NULL;
    sum += PyLong_AsLongLong(added);
    Py_DECREF(added);
  }
  return PyLong_FromLongLong(sum);
}

static PyObject* batch_of_keys(PyObject* self, enum verb verb, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"keys", "width", NULL};
  PyObject* keys = NULL;
  Py_ssize_t width = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$n", names, &keys, &width)) return NULL;
  if (verb == ADD && width == 0 && is_stream(keys)) return add_stream(self, keys, 0);
  return batch(self, verb, keys, width, 0);
}

static PyObject* handle_add_many(PyObject* self, PyObject* a, PyObject* k) { return batch_of_keys(self, ADD, a, k); }
static PyObject* handle_remove_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, REMOVE, a, k);
}
static PyObject* handle_contains_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, CONTAINS, a, k);
}
static PyObject* handle_count_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, COUNT, a, k);
}
static PyObject* handle_select(PyObject* self, PyObject* a, PyObject* k) { return batch_of_keys(self, SELECT, a, k); }
static PyObject* handle_digest_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, DIGEST, a, k);
}
static PyObject* handle_add_digests(PyObject* self, PyObject* digests) {
  return is_stream(digests) ? add_stream(self, digests, 1) : batch(self, ADD, digests, 0, 1);
}
static PyObject* handle_remove_digests(PyObject* self, PyObject* digests) { return batch(self, REMOVE, digests, 0, 1); }
static PyObject* handle_contains_digests(PyObject* self, PyObject* digests) {
  return batch(self, CONTAINS, digests, 0, 1);
}
static PyObject* handle_count_digests(PyObject* self, PyObject* digests) { return batch(self, COUNT, digests, 0, 1); }
static PyObject* handle_select_digests(PyObject* self, PyObject* digests) { return batch(self, SELECT, digests, 0, 1); }

/* --- The methods ----------------------------------------------------------------------------------------------------
 */

const PyMethodDef lookup_methods[] = {
    ONE("contains", handle_contains,
        "contains($self, key, /)\n--\n\nWhat `key in filter` says: False is certain, True is \"maybe\"."),
    ONE("add", handle_add,
        "add($self, key, /)\n--\n\nAdds a key.  True: it was certainly new.  False: it may have been there.\n\n"
        "A key is bytes, a buffer of bytes, a str (its UTF-8) or an int of 64 bits (8 bytes, little-endian)."),
    ONE("remove", handle_remove,
        "remove($self, key, /)\n--\n\nTakes a key out again, in the counting layout.  False: it was certainly not "
        "there.\n\n"
        "Remove only keys that were added, each as often as it was added: anything else can make the filter\n"
        "answer no for other keys.  Never repeat a remove that raised an error."),
    ONE("count", handle_count,
        "count($self, key, /)\n--\n\nHow often the key was added and not removed, at most: 0 (a certain no) to 15.\n\n"
        "15 is 15 or more, or a doubt.  Only the counting layout counts."),
    ONE("digest", handle_digest, "digest($self, key, /)\n--\n\nThe key's 64-bit digest in this file."),
    ONE("contains_digest", handle_contains_digest,
        "contains_digest($self, digest, /)\n--\n\ncontains() of a key's digest."),
    ONE("add_digest", handle_add_digest, "add_digest($self, digest, /)\n--\n\nadd() of a key's digest."),
    MANY("add_many", handle_add_many,
         "add_many($self, keys, *, width=0)\n--\n\nAdds keys, and returns how many were certainly new.  Other threads "
         "run meanwhile.\n\n"
         "Keys: a list, tuple or other iterable of keys; an Arrow column of text, binary or 64-bit integers;\n"
         "a buffer of 64-bit integers, of rows of bytes, or of keys of `width` bytes each.  Nulls are not added.\n"
         "After an error some of the keys may be in the filter, and none counts as added."),
    MANY("remove_many", handle_remove_many,
         "remove_many($self, keys, *, width=0)\n--\n\nremove() of many keys: how many were not certainly absent.\n\n"
         "After an error some may have been removed: do not repeat the call."),
    MANY("contains_many", handle_contains_many,
         "contains_many($self, keys, *, width=0)\n--\n\nA bytearray with 0 for each key that is certainly absent (or "
         "null), else 1.\n\n"
         "Keys as in add_many().  itertools.compress(keys, mask) has those that may be present."),
    MANY("count_many", handle_count_many,
         "count_many($self, keys, *, width=0)\n--\n\ncount() of many keys: a bytearray of numbers from 0 to 15, 0 for "
         "a null."),
    MANY("select", handle_select,
         "select($self, keys, *, width=0)\n--\n\nThe numbers of the keys that may be present, ascending: a memoryview "
         "of uint32."),
    MANY("digest_many", handle_digest_many,
         "digest_many($self, keys, *, width=0)\n--\n\nThe digests of the keys, 0 for a null: a memoryview of uint64."),
    ONE("add_digests", handle_add_digests,
        "add_digests($self, digests, /)\n--\n\nadd_many() of digests: an iterable of ints, a buffer or Arrow column of "
        "uint64."),
    ONE("remove_digests", handle_remove_digests, "remove_digests($self, digests, /)\n--\n\nremove_many() of digests."),
    ONE("contains_digests", handle_contains_digests,
        "contains_digests($self, digests, /)\n--\n\ncontains_many() of digests."),
    ONE("count_digests", handle_count_digests, "count_digests($self, digests, /)\n--\n\ncount_many() of digests."),
    ONE("select_digests", handle_select_digests, "select_digests($self, digests, /)\n--\n\nselect() of digests."),
    {NULL, NULL, 0, NULL},
};
