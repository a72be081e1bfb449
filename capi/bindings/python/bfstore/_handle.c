/* The handle of a filter: what is called once for each key, or for very many.  bfstore.Filter, in __init__.py, has it
 * as its base, and says in words what the methods with an underscore do. */
#include "_bfstore.h"

/* --- Life --------------------------------------------------------------------------------------------------------- */

PyObject* handle_new(PyTypeObject* type, PyObject* name) {
  Handle* handle = (Handle*)PyType_GenericAlloc(type, 0);
  if (handle != NULL) handle->name = Py_NewRef(name);
  return (PyObject*)handle;
}

PyObject* raise_closed(const Handle* handle) {
  if (handle->publishing) {
    PyErr_Format(PyExc_ValueError, "%S: another thread publishes the filter at this moment", handle->name);
    return NULL;
  }
  return raise_code_of(handle->name, BFS_ESHUT);
}

static void let_go_of_memory(Handle* handle) {
  if (handle->view.obj != NULL) PyBuffer_Release(&handle->view);
}

/* The last call on a handle that was shut: what bfs_shut could not do is done now, and cannot be raised any more. */
static void finish_ending(Handle* handle) {
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = handle->ending;
  handle->ending = NULL;
  int32_t code;
  WITHOUT_GIL(code = bfs_close(filter, &error));
  let_go_of_memory(handle);
  if (code < 0) {
    raise_code(code, &error);
    PyErr_WriteUnraisable((PyObject*)handle);
  }
}

bfs_filter* handle_begin(Handle* handle) {
  if (handle->filter == NULL) {
    raise_closed(handle);
    return NULL;
  }
  handle->calls++;
  return handle->filter;
}

void handle_end(Handle* handle) {
  if (--handle->calls == 0 && handle->ending != NULL) finish_ending(handle);
}

/* Other threads are in calls: bfs_shut ends their work, and the last of them closes.  A buffer cannot be shut. */
static int32_t shut(Handle* handle, bfs_filter* filter, bfs_error* error) {
  int32_t code;
  handle->ending = filter;
  handle->calls++;
  WITHOUT_GIL(code = bfs_shut(filter, error));
  handle_end(handle);
  return code == BFS_EINVAL ? BFS_OK : code;
}

static PyObject* handle_close(PyObject* self, PyObject* unused) {
  (void)unused;
  Handle* handle = (Handle*)self;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = handle->filter;
  if (filter == NULL) {
    if (handle->publishing) return raise_closed(handle);
    Py_RETURN_NONE;
  }
  int32_t code;
  handle->filter = NULL;
  if (handle->calls > 0) return none_or_raise(shut(handle, filter, &error), &error);
  WITHOUT_GIL(code = bfs_close(filter, &error));
  let_go_of_memory(handle);
  return none_or_raise(code, &error);
}

/* The collector waits for no lock and no disk, so it does not sync: see bfs_abandon. */
static void handle_dealloc(PyObject* self) {
  Handle* handle = (Handle*)self;
  PyTypeObject* type = Py_TYPE(self);
  bfs_filter* filter = handle->filter != NULL ? handle->filter : handle->ending;
  if (filter != NULL) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (PyErr_WarnFormat(PyExc_ResourceWarning, 1, "unclosed filter %S: what was added is not synced", handle->name) <
        0)
      PyErr_WriteUnraisable(NULL);
    PyErr_Restore(kind, value, trace);
    bfs_abandon(filter);
  }
  let_go_of_memory(handle);
  Py_XDECREF(handle->name);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* With calls under way in other threads it would free what they use: they end first, with a shut. */
static PyObject* handle_abandon(PyObject* self, PyObject* unused) {
  (void)unused;
  Handle* handle = (Handle*)self;
  if (handle->calls > 0) return handle_close(self, NULL);
  if (handle->publishing) return raise_closed(handle);
  bfs_filter* filter = handle->filter;
  handle->filter = NULL;
  bfs_abandon(filter);
  let_go_of_memory(handle);
  Py_RETURN_NONE;
}

static PyObject* handle_enter(PyObject* self, PyObject* unused) {
  (void)unused;
  return ((Handle*)self)->filter == NULL ? raise_closed((Handle*)self) : Py_NewRef(self);
}

static PyObject* handle_exit(PyObject* self, PyObject* unused) {
  (void)unused;
  return handle_close(self, NULL);
}

static PyObject* handle_publish(PyObject* self, PyObject* unused) {
  (void)unused;
  Handle* handle = (Handle*)self;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = handle->filter;
  if (filter == NULL) return raise_closed(handle);
  if (handle->calls > 0) {
    PyErr_Format(PyExc_ValueError, "%S: other threads use the filter, which publish() needs for itself", handle->name);
    return NULL;
  }
  int32_t code;
  handle->filter = NULL;
  handle->publishing = 1;
  WITHOUT_GIL(code = bfs_publish(filter, &error));
  handle->publishing = 0;
  handle->filter = filter;
  return none_or_raise(code, &error);
}

/* --- One key ------------------------------------------------------------------------------------------------------ */

enum verb { ADD, REMOVE, COUNT, CONTAINS, SELECT, DIGEST };

static inline int32_t of_key(bfs_filter* filter, enum verb verb, const OneKey* key) {
  switch (verb) {
    case ADD:
      return bfs_add(filter, key->data, key->bytes);
    case REMOVE:
      return bfs_remove(filter, key->data, key->bytes);
    case COUNT:
      return bfs_count(filter, key->data, key->bytes);
    default:
      return bfs_contains(filter, key->data, key->bytes);
  }
}

static inline int32_t of_digest(bfs_filter* filter, enum verb verb, uint64_t digest) {
  switch (verb) {
    case ADD:
      return bfs_add_digest(filter, digest);
    case REMOVE:
      return bfs_remove_digest(filter, digest);
    case COUNT:
      return bfs_count_digest(filter, digest);
    default:
      return bfs_contains_digest(filter, digest);
  }
}

/* An exclusive writer waits for the other threads that use it, and a handle that follows may open a file. */
static inline int may_wait(const Handle* handle, enum verb verb) {
  return handle->follows || (handle->calls > 0 && (verb == ADD || verb == REMOVE));
}

/* The code.  Without a wait the GIL stays: to let go of it costs more than the lookup. */
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

/* At least 0; -1: an exception is set.  The key first: to make it may run code that closes the handle. */
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

static int handle_in(PyObject* self, PyObject* key) { return ask(self, CONTAINS, key); }
static PyObject* handle_contains(PyObject* self, PyObject* key) { return as_bool(ask(self, CONTAINS, key)); }
static PyObject* handle_add(PyObject* self, PyObject* key) { return as_bool(ask(self, ADD, key)); }
static PyObject* handle_remove(PyObject* self, PyObject* key) { return as_bool(ask(self, REMOVE, key)); }
static PyObject* handle_count(PyObject* self, PyObject* key) { return as_int(ask(self, COUNT, key)); }
static PyObject* handle_contains_digest(PyObject* self, PyObject* digest) {
  return as_bool(ask_digest(self, CONTAINS, digest));
}
static PyObject* handle_add_digest(PyObject* self, PyObject* digest) { return as_bool(ask_digest(self, ADD, digest)); }
static PyObject* handle_remove_digest(PyObject* self, PyObject* digest) {
  return as_bool(ask_digest(self, REMOVE, digest));
}
static PyObject* handle_count_digest(PyObject* self, PyObject* digest) {
  return as_int(ask_digest(self, COUNT, digest));
}

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

static int64_t of_keys(bfs_filter* filter, enum verb verb, const bfs_keys* keys, void* out) {
  switch (verb) {
    case ADD:
      return bfs_add_keys(filter, keys);
    case REMOVE:
      return bfs_remove_keys(filter, keys);
    case CONTAINS:
      return bfs_contains_keys(filter, keys, out);
    case SELECT:
      return bfs_select_keys(filter, keys, out);
    default:
      return bfs_digest_keys(filter, keys, out);
  }
}

static size_t answer_bytes(enum verb verb) {
  return verb == CONTAINS ? 1 : verb == SELECT ? 4 : verb == DIGEST ? 8 : 0;
}

/* The numbers of a part are counted from the part's first key. */
static void move_numbers(uint32_t* numbers, int64_t count, uint64_t first) {
  for (int64_t i = 0; first != 0 && i < count; i++) numbers[i] += (uint32_t)first;
}

/* The sum of what the parts return; of SELECT they follow each other in `out`. */
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

/* An empty list has no part: the filter still says whether it can be asked. */
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

/* uint32 or uint64 numbers in `room`, as a memoryview, which NumPy and array take without copying. */
static PyObject* numbers_in(PyObject* room, const char* format) {
  PyObject* bytes = PyMemoryView_FromObject(room);
  PyObject* numbers = bytes == NULL ? NULL : PyObject_CallMethod(bytes, "cast", "s", format);
  Py_XDECREF(bytes);
  return numbers;
}

static PyObject* answers_in(PyObject* room, enum verb verb, int64_t done) {
  if (verb == CONTAINS) return Py_NewRef(room);
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

static PyObject* batch(PyObject* self, enum verb verb, PyObject* keys, Py_ssize_t width, int digests) {
  Source source;
  if (source_open(&source, keys, width, digests) < 0) return NULL;
  PyObject* answers = batch_of((Handle*)self, verb, &source);
  source_close(&source);
  return answers;
}

static PyObject* batch_of_keys(PyObject* self, enum verb verb, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"keys", "width", NULL};
  PyObject* keys = NULL;
  Py_ssize_t width = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$n", names, &keys, &width)) return NULL;
  return batch(self, verb, keys, width, 0);
}

static PyObject* handle_add_many(PyObject* self, PyObject* a, PyObject* k) { return batch_of_keys(self, ADD, a, k); }
static PyObject* handle_remove_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, REMOVE, a, k);
}
static PyObject* handle_contains_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, CONTAINS, a, k);
}
static PyObject* handle_select(PyObject* self, PyObject* a, PyObject* k) { return batch_of_keys(self, SELECT, a, k); }
static PyObject* handle_digest_many(PyObject* self, PyObject* a, PyObject* k) {
  return batch_of_keys(self, DIGEST, a, k);
}
static PyObject* handle_add_digests(PyObject* self, PyObject* digests) { return batch(self, ADD, digests, 0, 1); }
static PyObject* handle_remove_digests(PyObject* self, PyObject* digests) { return batch(self, REMOVE, digests, 0, 1); }
static PyObject* handle_contains_digests(PyObject* self, PyObject* digests) {
  return batch(self, CONTAINS, digests, 0, 1);
}
static PyObject* handle_select_digests(PyObject* self, PyObject* digests) { return batch(self, SELECT, digests, 0, 1); }

/* --- Marks, forms, facts ------------------------------------------------------------------------------------------ */

/* A method whose body is one call of the library, without the GIL. */
#define CALL(call)                                  \
  bfs_error error = BFS_ERROR_INIT;                 \
  int64_t done;                                     \
  bfs_filter* filter = handle_begin((Handle*)self); \
  if (filter == NULL) return NULL;                  \
  WITHOUT_GIL(done = (call));                       \
  handle_end((Handle*)self);                        \
  if (done < 0) return raise_code((int32_t)done, &error)

static PyObject* handle_sync(PyObject* self, PyObject* arguments) {
  PyObject *owner, *epoch, *mark;
  uint64_t numbers[3];
  if (!PyArg_ParseTuple(arguments, "OOO", &owner, &epoch, &mark)) return NULL;
  if (digest_of(owner, &numbers[0]) < 0 || digest_of(epoch, &numbers[1]) < 0 || digest_of(mark, &numbers[2]) < 0)
    return NULL;
  CALL(bfs_sync(filter, numbers[0], numbers[1], numbers[2], &error));
  Py_RETURN_NONE;
}

static PyObject* handle_get_mark(PyObject* self, PyObject* arguments) {
  PyObject *owner, *epoch;
  uint64_t numbers[2];
  if (!PyArg_ParseTuple(arguments, "OO", &owner, &epoch)) return NULL;
  if (digest_of(owner, &numbers[0]) < 0 || digest_of(epoch, &numbers[1]) < 0) return NULL;
  const Handle* handle = (const Handle*)self;
  if (handle->filter == NULL) return raise_closed(handle);
  return PyLong_FromUnsignedLongLong(bfs_get_mark(handle->filter, numbers[0], numbers[1]));
}

static PyObject* list_of_marks(const bfs_owner_mark* marks, int64_t count) {
  PyObject* list = PyList_New(0);
  for (int64_t i = 0; list != NULL && i < count; i++) {
    PyObject* one = Py_BuildValue("KKKN", (unsigned long long)marks[i].owner, (unsigned long long)marks[i].mark,
                                  (unsigned long long)marks[i].epoch, PyBool_FromLong((long)marks[i].recovered));
    if (one == NULL || PyList_Append(list, one) < 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}

static PyObject* handle_list_marks(PyObject* self, PyObject* unused) {
  (void)unused;
  bfs_owner_mark marks[64];
  CALL(bfs_list_marks(filter, marks, 64, &error));
  return list_of_marks(marks, done < 64 ? done : 64);
}

static PyObject* handle_drop_owner(PyObject* self, PyObject* object) {
  uint64_t owner = 0;
  if (digest_of(object, &owner) < 0) return NULL;
  CALL(bfs_drop_owner(filter, owner, &error));
  Py_RETURN_NONE;
}

static PyObject* handle_finish_recovery(PyObject* self, PyObject* object) {
  uint64_t owner = 0;
  if (digest_of(object, &owner) < 0) return NULL;
  CALL(bfs_finish_recovery(filter, owner, &error));
  return PyBool_FromLong((long)done);
}

static PyObject* handle_finish_filling(PyObject* self, PyObject* unused) {
  (void)unused;
  CALL(bfs_finish_filling(filter, &error));
  Py_RETURN_NONE;
}

static PyObject* handle_supersede(PyObject* self, PyObject* unused) {
  (void)unused;
  CALL(bfs_supersede(filter, &error));
  Py_RETURN_NONE;
}

static PyObject* handle_is_current(PyObject* self, PyObject* unused) {
  (void)unused;
  CALL(bfs_is_current(filter, &error));
  return PyBool_FromLong((long)done);
}

static PyObject* handle_use_threads(PyObject* self, PyObject* object) {
  uint64_t threads = 0;
  if (digest_of(object, &threads) < 0) return NULL;
  CALL(bfs_use_threads(filter, threads > 65 ? 65 : (uint32_t)threads, &error)); /* 65 is too many, too */
  Py_RETURN_NONE;
}

static PyObject* handle_health(PyObject* self, PyObject* unused) {
  (void)unused;
  const Handle* handle = (const Handle*)self;
  return PyLong_FromLong(handle->filter == NULL ? BFS_ESHUT : bfs_health(handle->filter));
}

static PyObject* handle_save(PyObject* self, PyObject* arguments) {
  PyObject *path = NULL, *given = NULL;
  bfs_copy_options options;
  if (!PyArg_ParseTuple(arguments, "O&O!", PyUnicode_FSConverter, &path, &PyDict_Type, &given)) return NULL;
  const char* to = PyBytes_AsString(path);
  PyObject* result = NULL;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = fill_copy_options(&options, given) < 0 ? NULL : handle_begin((Handle*)self);
  if (filter != NULL) {
    int32_t code;
    WITHOUT_GIL(code = bfs_save(filter, to, &options, &error));
    handle_end((Handle*)self);
    result = none_or_raise(code, &error);
  }
  Py_DECREF(path);
  return result;
}

/* A handle that follows may need another size at each call, and the call says which. */
static PyObject* handle_dump(PyObject* self, PyObject* object) {
  uint64_t flags = 0, bytes = 0;
  if (digest_of(object, &flags) < 0) return NULL;
  CALL(bfs_dump(filter, NULL, 0, flags, &bytes, &error));
  for (int tries = 0;; tries++) {
    PyObject* dumped = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (dumped == NULL) return NULL;
    char* data = PyBytes_AsString(dumped);
    const uint64_t room = bytes;
    if ((filter = handle_begin((Handle*)self)) == NULL) {
      Py_DECREF(dumped);
      return NULL;
    }
    WITHOUT_GIL(done = bfs_dump(filter, data, room, flags, &bytes, &error));
    handle_end((Handle*)self);
    if (done == BFS_OK && bytes == room) return dumped;
    Py_DECREF(dumped);
    if (done < 0 && (done != BFS_EINVAL || bytes == room)) return raise_code((int32_t)done, &error);
    if (tries == 9) return raise_code_of(((Handle*)self)->name, BFS_EBUSY);
  }
}

/* The other filter of a call, counted like the first.  NULL: an exception is set. */
static bfs_filter* other_begin(PyObject* self, PyObject* other) {
  PyObject* package = PyImport_ImportModule("bfstore._bfstore");
  PyObject* type = package == NULL ? NULL : PyObject_GetAttrString(package, "Handle");
  const int is_handle = type == NULL ? -1 : PyObject_IsInstance(other, type);
  Py_XDECREF(type);
  Py_XDECREF(package);
  if (is_handle < 0) return NULL;
  if (is_handle) return handle_begin((Handle*)other);
  PyErr_Format(PyExc_TypeError, "%S: the other one is a filter, not %R", ((Handle*)self)->name,
               (PyObject*)Py_TYPE(other));
  return NULL;
}

static PyObject* handle_merge(PyObject* self, PyObject* object) {
  const bfs_filter* other = other_begin(self, object);
  if (other == NULL) return NULL;
  bfs_error error = BFS_ERROR_INIT;
  int32_t code = BFS_ESHUT;
  bfs_filter* filter = handle_begin((Handle*)self);
  if (filter != NULL) {
    WITHOUT_GIL(code = bfs_merge(filter, other, &error));
    handle_end((Handle*)self);
  }
  handle_end((Handle*)object);
  return filter == NULL ? NULL : none_or_raise(code, &error);
}

static PyObject* handle_compare(PyObject* self, PyObject* object) {
  const bfs_filter* other = other_begin(self, object);
  if (other == NULL) return NULL;
  bfs_error error = BFS_ERROR_INIT;
  bfs_comparison found = BFS_COMPARISON_INIT;
  int32_t code = BFS_ESHUT;
  const bfs_filter* filter = handle_begin((Handle*)self);
  if (filter != NULL) {
    WITHOUT_GIL(code = bfs_compare(filter, other, &found, &error));
    handle_end((Handle*)self);
  }
  handle_end((Handle*)object);
  if (filter == NULL) return NULL;
  return code < 0 ? raise_code(code, &error) : dict_of_comparison(&found);
}

static PyObject* handle_import_bits(PyObject* self, PyObject* arguments) {
  Py_buffer bits;
  int order = 0;
  if (!PyArg_ParseTuple(arguments, "y*i", &bits, &order)) return NULL;
  bfs_error error = BFS_ERROR_INIT;
  int32_t code = BFS_OK;
  bfs_filter* filter = handle_begin((Handle*)self);
  if (filter != NULL) {
    WITHOUT_GIL(code = bfs_import_bits(filter, bits.buf, (uint64_t)bits.len, (uint32_t)order, &error));
    handle_end((Handle*)self);
  }
  PyBuffer_Release(&bits);
  return filter == NULL ? NULL : none_or_raise(code, &error);
}

static PyObject* handle_export_bits(PyObject* self, PyObject* arguments) {
  Py_ssize_t bytes = 0;
  int order = 0;
  if (!PyArg_ParseTuple(arguments, "ni", &bytes, &order)) return NULL;
  PyObject* bits = PyBytes_FromStringAndSize(NULL, bytes);
  if (bits == NULL) return NULL;
  char* data = PyBytes_AsString(bits);
  bfs_error error = BFS_ERROR_INIT;
  int32_t code = BFS_OK;
  bfs_filter* filter = handle_begin((Handle*)self);
  if (filter != NULL) {
    WITHOUT_GIL(code = bfs_export_bits(filter, data, (uint64_t)bytes, (uint32_t)order, &error));
    handle_end((Handle*)self);
  }
  if (filter != NULL && code == BFS_OK) return bits;
  Py_DECREF(bits);
  return filter == NULL ? NULL : raise_code(code, &error);
}

static PyObject* handle_note(PyObject* self, PyObject* unused) {
  (void)unused;
  char note[1024]; /* the most that a file can have */
  CALL(bfs_get_note(filter, note, sizeof note, &error));
  return PyBytes_FromStringAndSize(note, (Py_ssize_t)(done < 1024 ? done : 1024));
}

static PyObject* handle_seeds(PyObject* self, PyObject* unused) {
  (void)unused;
  uint32_t seeds[64]; /* k is at most 64 */
  CALL(bfs_get_seeds(filter, seeds, 64, &error));
  PyObject* list = PyList_New(0);
  for (int64_t i = 0; list != NULL && i < done && i < 64; i++) {
    PyObject* seed = PyLong_FromUnsignedLong(seeds[i]);
    if (seed == NULL || PyList_Append(list, seed) < 0) Py_CLEAR(list);
    Py_XDECREF(seed);
  }
  return list;
}

static PyObject* handle_stats(PyObject* self, PyObject* object) {
  uint64_t flags = 0;
  bfs_statistics facts = BFS_STATISTICS_INIT;
  if (digest_of(object, &flags) < 0) return NULL;
  CALL(bfs_stats(filter, flags, &facts, &error));
  return dict_of_statistics(&facts);
}

static PyObject* handle_closed(PyObject* self, void* unused) {
  (void)unused;
  const Handle* handle = (const Handle*)self;
  return PyBool_FromLong(handle->filter == NULL && !handle->publishing);
}

static PyObject* handle_name(PyObject* self, void* unused) {
  (void)unused;
  return Py_NewRef(((Handle*)self)->name);
}

/* Only a process that has the file's memory can use a handle. */
static PyObject* handle_reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  PyErr_Format(
      PyExc_TypeError,
      "%S: an open filter is neither pickled nor copied. Pass its path, and open it there; or save() or dump() it",
      ((Handle*)self)->name);
  return NULL;
}

/* --- The type ----------------------------------------------------------------------------------------------------- */

#define ONE(name, function, text) \
  { name, function, METH_O, PyDoc_STR(text) }
#define NONE(name, function, text) \
  { name, function, METH_NOARGS, PyDoc_STR(text) }
#define MANY(name, function, text) \
  { name, (PyCFunction)(void (*)(void))function, METH_VARARGS | METH_KEYWORDS, PyDoc_STR(text) }

static PyMethodDef handle_methods[] = {
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
        "count($self, key, /)\n--\n\nHow often the key was added and not removed, at most: 0 (a certain no) to 15, or "
        "more."),
    ONE("digest", handle_digest, "digest($self, key, /)\n--\n\nThe key's 64-bit digest in this file."),
    ONE("contains_digest", handle_contains_digest,
        "contains_digest($self, digest, /)\n--\n\ncontains() of a key's digest."),
    ONE("add_digest", handle_add_digest, "add_digest($self, digest, /)\n--\n\nadd() of a key's digest."),
    ONE("remove_digest", handle_remove_digest, "remove_digest($self, digest, /)\n--\n\nremove() of a key's digest."),
    ONE("count_digest", handle_count_digest, "count_digest($self, digest, /)\n--\n\ncount() of a key's digest."),
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
    ONE("select_digests", handle_select_digests, "select_digests($self, digests, /)\n--\n\nselect() of digests."),
    NONE("close", handle_close,
         "close($self, /)\n--\n\nCloses the filter.  The last writer of a file syncs it, and marks it clean.\n\n"
         "A call that is under way in another thread ends safely: its lookups answer \"maybe\"."),
    NONE("publish", handle_publish,
         "publish($self, /)\n--\n\nGives a filter that was created with unpublished=True its name; from then on it "
         "only reads."),
    NONE("supersede", handle_supersede,
         "supersede($self, /)\n--\n\nSupersedes the file that has the name now, before publish(): its writers are "
         "refused from now on."),
    ONE("drop_owner", handle_drop_owner,
        "drop_owner($self, owner, /)\n--\n\nForgets an owner of marks, durably.  Drop one whose rows are gone."),
    ONE("finish_recovery", handle_finish_recovery,
        "finish_recovery($self, owner, /)\n--\n\nThe owner has added again what came after its mark.  True: the "
        "recovery is over.\n\n"
        "For a filter that was opened with recover=True."),
    NONE("finish_filling", handle_finish_filling,
         "finish_filling($self, /)\n--\n\nEnds an online build (create with filling=True): every key has returned from "
         "an add."),
    NONE("is_current", handle_is_current,
         "is_current($self, /)\n--\n\nWhether the path still names this file, whole.  Asks the file system."),
    ONE("use_threads", handle_use_threads,
        "use_threads($self, threads, /)\n--\n\nThe number of threads (1 to 64) of add_many() from now on, of an "
        "exclusive writer."),
    NONE("note", handle_note, "note($self, /)\n--\n\nThe note that the filter was made with; b\"\" if it has none."),
    NONE("seeds", handle_seeds, "seeds($self, /)\n--\n\nThe seeds of the filter's hash, if it takes a list of them."),
    NONE("__enter__", handle_enter, "__enter__($self, /)\n--\n\nThe filter."),
    {"__exit__", handle_exit, METH_VARARGS, PyDoc_STR("__exit__($self, /, *error)\n--\n\nclose().")},
    NONE("__reduce__", handle_reduce, "Refused: a filter is open in this process alone."),
    ONE("__reduce_ex__", handle_reduce, "Refused: a filter is open in this process alone."),
    NONE("abandon", handle_abandon,
         "abandon($self, /)\n--\n\nCloses the filter as if its process had been killed: nothing is synced, and an "
         "unpublished file vanishes."),
    {"_sync", handle_sync, METH_VARARGS, NULL},
    {"_get_mark", handle_get_mark, METH_VARARGS, NULL},
    NONE("_list_marks", handle_list_marks, ""),
    NONE("_health", handle_health, ""),
    {"_save", handle_save, METH_VARARGS, NULL},
    ONE("_dump", handle_dump, ""),
    ONE("_merge", handle_merge, ""),
    ONE("_compare", handle_compare, ""),
    {"_import_bits", handle_import_bits, METH_VARARGS, NULL},
    {"_export_bits", handle_export_bits, METH_VARARGS, NULL},
    ONE("_stats", handle_stats, ""),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef handle_properties[] = {
    {"closed", handle_closed, NULL, PyDoc_STR("Whether close() was called."), NULL},
    {"name", handle_name, NULL, PyDoc_STR("The path as it was given; of a buffer, words."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, (void*)handle_dealloc},
    {Py_tp_methods, handle_methods},
    {Py_tp_getset, handle_properties},
    {Py_sq_contains, (void*)handle_in},
    {0, NULL},
};

PyType_Spec handle_spec = {"bfstore._bfstore.Handle", sizeof(Handle), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, handle_slots};
