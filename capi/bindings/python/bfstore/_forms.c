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
  const bfs_owner_mark position = {numbers[0], numbers[2], numbers[1], 0, 0};
  CALL(bfs_sync(filter, &position, &error));
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

/* Argument: the epoch that is to end, or None: the epoch of now, if it is due. */
static PyObject* handle_turn(PyObject* self, PyObject* object) {
  uint64_t from_epoch = BFS_IF_DUE;
  if (object != Py_None && digest_of(object, &from_epoch) < 0) return NULL;
  CALL(bfs_turn(filter, from_epoch, &error));
  return PyBool_FromLong((long)done);
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

static PyObject* handle_health(PyObject* self, PyObject* unused) {
  (void)unused;
  const Handle* handle = (const Handle*)self;
  return PyLong_FromLong(handle->filter == NULL ? BFS_ESHUT : bfs_health(handle->filter));
}

/* Arguments: the path, the flags, the options. */
static PyObject* handle_copy(PyObject* self, PyObject* arguments) {
  PyObject *path = NULL, *given = NULL;
  unsigned long long flags = 0;
  bfs_options options;
  if (!PyArg_ParseTuple(arguments, "O&KO!", PyUnicode_FSConverter, &path, &flags, &PyDict_Type, &given)) return NULL;
  const char* to = PyBytes_AsString(path);
  PyObject* result = NULL;
  bfs_error error = BFS_ERROR_INIT;
  bfs_filter* filter = fill_options(&options, given) < 0 ? NULL : handle_begin((Handle*)self);
  if (filter != NULL) {
    int32_t code;
    WITHOUT_GIL(code = bfs_copy(filter, to, flags, &options, &error));
    handle_end((Handle*)self);
    result = none_or_raise(code, &error);
  }
  Py_DECREF(path);
  return result;
}

/* One call of the library that writes the filter into a buffer, and returns the bytes or a code. */
typedef struct Writing {
  int64_t (*write)(const struct Writing* writing, const bfs_filter* filter, void* buffer, uint64_t bytes,
                   bfs_error* error);
  uint64_t flags;        /* of bfs_dump */
  bfs_foreign_form form; /* of bfs_foreign_export */
} Writing;

static int64_t write_dump(const Writing* writing, const bfs_filter* filter, void* buffer, uint64_t bytes,
                          bfs_error* error) {
  return bfs_dump(filter, buffer, bytes, writing->flags, error);
}

static int64_t write_foreign(const Writing* writing, const bfs_filter* filter, void* buffer, uint64_t bytes,
                             bfs_error* error) {
  return bfs_foreign_export(filter, &writing->form, buffer, bytes, error);
}

/* Returns the size, or -1 with an exception. */
static int64_t write_to(PyObject* self, const Writing* writing, void* buffer, int64_t bytes, int32_t* code) {
  bfs_error error = BFS_ERROR_INIT;
  int64_t done = BFS_ESHUT;
  const bfs_filter* filter = handle_begin((Handle*)self);
  if (filter == NULL) return -1;
  WITHOUT_GIL(done = writing->write(writing, filter, buffer, (uint64_t)bytes, &error));
  handle_end((Handle*)self);
  *code = done < 0 ? (int32_t)done : BFS_OK;
  if (done < 0) raise_code(*code, &error);
  return done < 0 ? -1 : done;
}

/* Returns the filter's bytes.  A handle that follows its path may need another size in each call: a buffer that became
 * too short is BFS_EINVAL, which is then tried again. */
static PyObject* written(PyObject* self, const Writing* writing) {
  int32_t code = BFS_OK;
  int64_t needed = write_to(self, writing, NULL, 0, &code);
  for (int tries = 0; needed >= 0; tries++) {
    PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)needed);
    if (bytes == NULL) return NULL;
    const int64_t room = needed, done = write_to(self, writing, PyBytes_AsString(bytes), room, &code);
    if (done == room) return bytes;
    PyObject* shorter = done < 0 ? NULL : PyBytes_FromStringAndSize(PyBytes_AsString(bytes), (Py_ssize_t)done);
    Py_DECREF(bytes);
    if (done >= 0) return shorter;
    if (code != BFS_EINVAL || tries == 9) return NULL;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    needed = write_to(self, writing, NULL, 0, &code);
    if (needed < 0 || needed != room) {
      Py_XDECREF(kind);
      Py_XDECREF(value);
      Py_XDECREF(trace);
    } else { /* the size was right: something else is not valid */
      PyErr_Restore(kind, value, trace);
      return NULL;
    }
  }
  return NULL;
}

static PyObject* handle_dump(PyObject* self, PyObject* object) {
  Writing writing = {write_dump, 0, BFS_FOREIGN_FORM_INIT};
  return digest_of(object, &writing.flags) < 0 ? NULL : written(self, &writing);
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
  Writing writing = {write_foreign, 0, BFS_FOREIGN_FORM_INIT};
  unsigned int order = 0;
  if (!PyArg_ParseTuple(arguments, "sI", &writing.form.format, &order)) return NULL;
  writing.form.order = order;
  return written(self, &writing);
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
    {"_sync", handle_sync, METH_VARARGS, NULL},
    {"_get_mark", handle_get_mark, METH_VARARGS, NULL},
    NONE("_list_marks", handle_list_marks, ""),
    NONE("_health", handle_health, ""),
    ONE("_turn", handle_turn, ""),
    {"_copy", handle_copy, METH_VARARGS, NULL},
    ONE("_dump", handle_dump, ""),
    ONE("_merge", handle_merge, ""),
    ONE("_compare", handle_compare, ""),
    {"_import_bits", handle_import_bits, METH_VARARGS, NULL},
    {"_export_bits", handle_export_bits, METH_VARARGS, NULL},
    {"_export_foreign", handle_export_foreign, METH_VARARGS, NULL},
    ONE("_stats", handle_stats, ""),
    {NULL, NULL, 0, NULL},
};
