/* The methods of a handle for marks, other forms of the filter, sets and facts. */
#include "_internal.h"

/* --- Marks, forms, facts ------------------------------------------------------------------------------------------ */

/* Defines the body of a method: one call of the library, without the GIL. */
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
  CALL(bfs_use_threads(filter, threads > 65 ? 65 : (uint32_t)threads, &error)); /* 65 is already too many */
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

/* Dumps the filter.  With "follow" each call may need another size, so the call returns the size. */
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

/* Returns the other filter of a call, counted like the first, or NULL with an exception.  Checks its type, not its
 * __class__: with __class__ an object may pretend to be a filter. */
static bfs_filter* other_begin(PyObject* self, PyObject* other) {
  PyObject* package = PyImport_ImportModule("bfstore._bfstore");
  PyObject* type = package == NULL ? NULL : PyObject_GetAttrString(package, "Handle");
  const int is_handle = type == NULL ? -1 : PyObject_TypeCheck(other, (PyTypeObject*)type);
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

/* Arguments: the format's name; the order of bits, or 0 if the format needs none. */
static PyObject* handle_export_foreign(PyObject* self, PyObject* arguments) {
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  unsigned int order = 0;
  if (!PyArg_ParseTuple(arguments, "sI", &form.format, &order)) return NULL;
  form.order = order;
  uint64_t bytes = 0;
  CALL(bfs_foreign_export(filter, &form, NULL, 0, &bytes, &error));
  PyObject* made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
  if (made == NULL) return NULL;
  char* data = PyBytes_AsString(made);
  uint64_t written = 0; /* fewer if the handle follows its path to another file */
  error = (bfs_error)BFS_ERROR_INIT;
  filter = handle_begin((Handle*)self);
  if (filter != NULL) {
    WITHOUT_GIL(done = bfs_foreign_export(filter, &form, data, bytes, &written, &error));
    handle_end((Handle*)self);
  }
  if (filter != NULL && done == BFS_OK)
    return written == bytes || _PyBytes_Resize(&made, (Py_ssize_t)written) == 0 ? made : NULL;
  Py_DECREF(made);
  return filter == NULL ? NULL : raise_code((int32_t)done, &error);
}

static PyObject* handle_note(PyObject* self, PyObject* unused) {
  (void)unused;
  char note[1024]; /* the longest note */
  CALL(bfs_get_note(filter, note, sizeof note, &error));
  return PyBytes_FromStringAndSize(note, (Py_ssize_t)(done < 1024 ? done : 1024));
}

static PyObject* handle_part(PyObject* self, PyObject* unused) {
  (void)unused;
  uint32_t part = 0, num_parts = 0;
  CALL(bfs_get_part(filter, &part, &num_parts, &error));
  return Py_BuildValue("II", (unsigned int)part, (unsigned int)num_parts);
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

const PyMethodDef form_methods[] = {
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
    NONE("part", handle_part,
         "part($self, /)\n--\n\nWhich part of a whole filter this is, from 0, and of how many: (0, 1) is a whole "
         "filter."),
    NONE("seeds", handle_seeds, "seeds($self, /)\n--\n\nThe seeds of the filter's hash, if it takes a list of them."),
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
    {"_export_foreign", handle_export_foreign, METH_VARARGS, NULL},
    ONE("_stats", handle_stats, ""),
    {NULL, NULL, 0, NULL},
};
