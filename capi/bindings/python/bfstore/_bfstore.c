/* The extension bfstore._bfstore: the functions of the module.  Users read and call bfstore/__init__.py, which calls
 * these. */
#include "_internal.h"

/* --- Making and opening ------------------------------------------------------------------------------------------- */

/* The parts of a call that makes a filter: a path (NULL for none) or a buffer, the flags and the options. */
typedef struct Making {
  Handle* handle;
  PyObject* path;
  const char* path_text;
  unsigned long long flags;
  bfs_options options;
} Making;

static int path_or_none(PyObject* object, void* out) {
  if (object != Py_None) return PyUnicode_FSConverter(object, out);
  *(PyObject**)out = NULL;
  return 1;
}

static int making_fill(Making* making, PyObject* type, PyObject* name, PyObject* given) {
  if (fill_options(&making->options, given) == 0) making->handle = (Handle*)handle_new((PyTypeObject*)type, name);
  if (making->handle != NULL) {
    making->handle->synced = (making->flags & BFS_READ) != 0;
    return 0;
  }
  Py_CLEAR(making->path);
  return -1;
}

/* Arguments: the class, the name for messages, the path or None, the flags, the options.  After 0, making_end must
 * follow. */
static int making_begin(Making* making, PyObject* arguments) {
  PyObject *type = NULL, *name = NULL, *given = NULL;
  memset(making, 0, sizeof *making);
  if (!PyArg_ParseTuple(arguments, "O!UO&KO!", &PyType_Type, &type, &name, path_or_none, &making->path, &making->flags,
                        &PyDict_Type, &given))
    return -1;
  making->path_text = making->path == NULL ? NULL : PyBytes_AsString(making->path);
  return making_fill(making, type, name, given);
}

/* Arguments: those of making_begin, with a buffer instead of the path.  Without BFS_READ the buffer is written to. */
static int making_begin_in(Making* making, PyObject* arguments) {
  PyObject *type = NULL, *name = NULL, *buffer = NULL, *given = NULL;
  memset(making, 0, sizeof *making);
  if (!PyArg_ParseTuple(arguments, "O!UOKO!", &PyType_Type, &type, &name, &buffer, &making->flags, &PyDict_Type,
                        &given))
    return -1;
  if (making_fill(making, type, name, given) < 0) return -1;
  making->handle->synced = 1; /* memory has nothing to sync */
  const int writes = (making->flags & (BFS_READ | BFS_PRIVATE)) == 0;
  if (PyObject_GetBuffer(buffer, &making->handle->view, writes ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0) return 0;
  making->handle->view.obj = NULL;
  Py_DECREF(making->handle);
  return -1;
}

/* `code`: at least 0, or an error, which may be an exception already. */
static PyObject* making_end(Making* making, int64_t code, const bfs_error* error) {
  Py_XDECREF(making->path);
  if (code >= 0) return (PyObject*)making->handle;
  if (!PyErr_Occurred()) raise_code_on(making->handle->name, (int32_t)code, error);
  Py_DECREF(making->handle);
  return NULL;
}

static PyObject* module_open(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin(&making, arguments) < 0) return NULL;
  int32_t code;
  WITHOUT_GIL(code = bfs_open(making.path_text, making.flags, &making.options, &making.handle->filter, &error));
  making.handle->follows = (making.flags & BFS_FOLLOW) != 0;
  making.handle->created = code == 1;
  return making_end(&making, code, &error);
}

static PyObject* module_create(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin(&making, arguments) < 0) return NULL;
  making.handle->created = 1;
  int32_t code;
  WITHOUT_GIL(code = bfs_create(making.path_text, making.flags, &making.options, &making.handle->filter, &error));
  return making_end(&making, code, &error);
}

/* Returns BFS_EFULL if there are more keys than a capacity that was promised, as bfs_build does. */
static int32_t check_capacity(const Making* making, const bfs_filter* made, bfs_error* error) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  const int32_t code = bfs_stats(made, 0, &facts, error);
  const int promised = making->options.capacity != 0 || making->options.num_bits == 0;
  if (code < 0 || !promised || !facts.saturated) return code;
  (void)snprintf(error->message, sizeof error->message,
                 "%s: not built, for there are more keys than its capacity. Give a greater one, or none.",
                 making->path_text);
  return BFS_EFULL;
}

/* Adds keys that come in several parts to a file without a name, and then gives it the name. */
static int32_t build_of_parts(const Making* making, const Source* source, bfs_filter** out, bfs_error* error) {
  bfs_options options = making->options;
  const int sized = options.capacity != 0 || options.num_bits != 0 || options.like != NULL;
  if (!sized && options.layout != BFS_LAYOUT_STATIC) /* the library counts the different keys of a static one */
    options.capacity = source->count == 0 ? 1 : source->count;
  bfs_filter* made = NULL;
  int64_t code = bfs_create(making->path_text, making->flags | BFS_EXCLUSIVE | BFS_UNPUBLISHED, &options, &made, error);
  for (size_t i = 0; code >= 0 && i < source->num_parts; i++) {
    code = bfs_add_keys(made, &source->parts[i]);
    if (code < 0) /* bfs_add_keys has no words */
      (void)snprintf(error->message, sizeof error->message, "%s: not built: %s", making->path_text,
                     bfs_strerror((int32_t)code));
  }
  if (code >= 0) code = check_capacity(making, made, error);
  if (code >= 0) code = bfs_publish(made, error);
  if (code < 0) {
    bfs_abandon(made);
    made = NULL;
  }
  *out = made;
  return code < 0 ? (int32_t)code : BFS_OK;
}

static int32_t build_of(const Making* making, const Source* source, bfs_filter** out, bfs_error* error) {
  const bfs_keys none = bfs_keys_pairs(NULL, 0);
  if (source->num_parts > 1) return build_of_parts(making, source, out, error);
  const bfs_keys* keys = source->num_parts == 0 ? &none : source->parts;
  return bfs_build(making->path_text, making->flags, &making->options, keys, out, error);
}

/* Arguments: those of making_begin as a tuple, the keys, their width. */
static PyObject* module_build(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *first = NULL, *keys = NULL;
  Py_ssize_t width = 0;
  Making making;
  Source source;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O!On", &PyTuple_Type, &first, &keys, &width)) return NULL;
  if (making_begin(&making, first) < 0) return NULL;
  int32_t code = BFS_EINVAL;
  if (source_open(&source, keys, width, 0, 0) == 0) {
    WITHOUT_GIL(code = build_of(&making, &source, &making.handle->filter, &error));
    source_close(&source);
  }
  making.handle->created = 1;
  making.handle->synced = 1;
  return making_end(&making, code, &error);
}

static PyObject* module_is_stream(PyObject* self, PyObject* keys) {
  (void)self;
  return PyBool_FromLong(is_stream(keys));
}

/* --- Filters of other programs ------------------------------------------------------------------------------------ */

static PyObject* module_foreign_formats(PyObject* self, PyObject* unused) {
  (void)self;
  (void)unused;
  PyObject* names = PyList_New(0);
  const char* name = NULL;
  for (uint32_t i = 0; names != NULL && (name = bfs_foreign_name(i)) != NULL; i++) {
    PyObject* text = PyUnicode_FromString(name);
    if (text == NULL || PyList_Append(names, text) < 0) Py_CLEAR(names);
    Py_XDECREF(text);
  }
  return names;
}

/* Arguments: the path, the flags. */
static PyObject* module_recognize_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* path = NULL;
  unsigned long long flags = 0;
  if (!PyArg_ParseTuple(arguments, "O&K", PyUnicode_FSConverter, &path, &flags)) return NULL;
  const char* text = PyBytes_AsString(path);
  bfs_error error = BFS_ERROR_INIT;
  PyObject* names = PyList_New(0);
  const char* name = "";
  for (uint32_t i = 0; names != NULL && name != NULL; i++) {
    int32_t code;
    WITHOUT_GIL(code = bfs_foreign_recognize(text, flags, i, &name, &error));
    PyObject* one = code < 0 ? raise_code(code, &error) : name == NULL ? NULL : PyUnicode_FromString(name);
    if (PyErr_Occurred() || (one != NULL && PyList_Append(names, one) < 0)) Py_CLEAR(names);
    Py_XDECREF(one);
  }
  Py_DECREF(path);
  return names;
}

/* Reads a form: a tuple of the format, the order or 0, the column or None, the member or 0, and the name for messages
 * or None.  Returns -1 with an exception. */
static int fill_form(bfs_foreign_form* form, PyObject* given) {
  unsigned int order = 0, member = 0;
  *form = (bfs_foreign_form)BFS_FOREIGN_FORM_INIT;
  if (!PyArg_ParseTuple(given, "sIzIz", &form->format, &order, &form->column, &member, &form->name)) return -1;
  form->order = order;
  form->member = member;
  return 0;
}

/* Arguments: the flags, the options or None, the form, the bytes. */
static PyObject* module_inspect_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long flags = 0;
  PyObject *given = NULL, *of = NULL, *told = NULL;
  bfs_foreign_form form;
  bfs_options options;
  bfs_foreign found = BFS_FOREIGN_INIT;
  bfs_error error = BFS_ERROR_INIT;
  Py_buffer bytes;
  if (!PyArg_ParseTuple(arguments, "KOO!y*", &flags, &given, &PyTuple_Type, &of, &bytes)) return NULL;
  const bfs_options* said = given == Py_None ? NULL : &options;
  if (fill_form(&form, of) == 0 && (said == NULL || fill_options(&options, given) == 0)) {
    int32_t code;
    WITHOUT_GIL(code = bfs_foreign_inspect(&form, bytes.buf, (uint64_t)bytes.len, flags, said, &found, &error));
    told = code < 0 ? raise_code(code, &error) : dict_of_foreign(&found);
  }
  PyBuffer_Release(&bytes);
  return told;
}

/* Arguments: those of making_begin as a tuple, the form. */
static PyObject* module_open_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *first = NULL, *of = NULL;
  Making making;
  bfs_foreign_form form;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &first, &PyTuple_Type, &of)) return NULL;
  if (fill_form(&form, of) < 0 || making_begin(&making, first) < 0) return NULL;
  int32_t code;
  WITHOUT_GIL(
      code = bfs_foreign_open(making.path_text, &form, making.flags, &making.options, &making.handle->filter, &error));
  making.handle->synced = 1;
  return making_end(&making, code, &error);
}

/* Arguments: those of making_begin as a tuple, the form, the bytes. */
static PyObject* module_import_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *first = NULL, *of = NULL, *made = NULL;
  Making making;
  bfs_foreign_form form;
  bfs_error error = BFS_ERROR_INIT;
  Py_buffer bytes;
  if (!PyArg_ParseTuple(arguments, "O!O!y*", &PyTuple_Type, &first, &PyTuple_Type, &of, &bytes)) return NULL;
  if (fill_form(&form, of) == 0 && making_begin(&making, first) == 0) {
    int32_t code;
    WITHOUT_GIL(code = bfs_foreign_import(making.path_text, &form, bytes.buf, (uint64_t)bytes.len, making.flags,
                                          &making.options, &making.handle->filter, &error));
    making.handle->created = 1;
    making.handle->synced = (making.flags & BFS_UNPUBLISHED) == 0;
    made = making_end(&making, code, &error);
  }
  PyBuffer_Release(&bytes);
  return made;
}

/* --- In memory ---------------------------------------------------------------------------------------------------- */

static PyObject* module_format(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin_in(&making, arguments) < 0) return NULL;
  const Py_buffer* view = &making.handle->view;
  /* NULL would ask for the size alone.  An empty buffer is too short. */
  void* bytes = view->buf == NULL ? (void*)&making : view->buf;
  int64_t code;
  WITHOUT_GIL(
      code = bfs_format(bytes, (uint64_t)view->len, making.flags, &making.options, &making.handle->filter, &error));
  making.handle->created = 1;
  return making_end(&making, code, &error);
}

/* Arguments: the flags, the options. */
static PyObject* module_required_bytes(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long flags = 0;
  PyObject* given = NULL;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "KO!", &flags, &PyDict_Type, &given)) return NULL;
  if (fill_options(&options, given) < 0) return NULL;
  int64_t bytes;
  WITHOUT_GIL(bytes = bfs_format(NULL, 0, flags, &options, NULL, &error));
  return bytes < 0 ? raise_code((int32_t)bytes, &error) : PyLong_FromLongLong(bytes);
}

/* With BFS_PRIVATE the library copies the bytes, so the buffer is released at once. */
static PyObject* module_open_memory(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin_in(&making, arguments) < 0) return NULL;
  Py_buffer* view = &making.handle->view;
  int32_t code;
  WITHOUT_GIL(code = bfs_open_memory(view->buf, (uint64_t)view->len, making.flags, &making.options,
                                     &making.handle->filter, &error));
  if ((making.flags & BFS_PRIVATE) != 0) PyBuffer_Release(view);
  return making_end(&making, code, &error);
}

/* --- Plans and files ---------------------------------------------------------------------------------------------- */

static PyObject* module_plan(PyObject* self, PyObject* given) {
  (void)self;
  bfs_plan_request request;
  bfs_plan_result plan = BFS_PLAN_RESULT_INIT;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyDict_Check(given)) return PyErr_Format(PyExc_TypeError, "a dict"), NULL;
  if (fill_plan_request(&request, given) < 0) return NULL;
  const int32_t code = bfs_plan(&request, &plan, &error);
  return code < 0 ? raise_code(code, &error) : dict_of_plan(&plan);
}

static PyObject* list_of_ranges(const bfs_range* ranges, uint64_t count) {
  PyObject* list = PyList_New(0);
  for (uint64_t i = 0; list != NULL && i < count; i++) {
    PyObject* one = Py_BuildValue("KK", (unsigned long long)ranges[i].offset, (unsigned long long)ranges[i].bytes);
    if (one == NULL || PyList_Append(list, one) < 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}

/* Arguments: the path, flags, the highest number of ranges.  Returns (number of all ranges, list of these). */
static PyObject* module_verify(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* path = NULL;
  unsigned long long flags = 0;
  Py_ssize_t capacity = 0;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O&Kn", PyUnicode_FSConverter, &path, &flags, &capacity)) return NULL;
  const char* text = PyBytes_AsString(path);
  bfs_range* ranges = PyMem_Calloc((size_t)capacity, sizeof *ranges);
  PyObject* result = NULL;
  int64_t found = 0;
  if (ranges == NULL) {
    PyErr_NoMemory();
  } else {
    WITHOUT_GIL(found = bfs_verify(text, flags, ranges, (size_t)capacity, &error));
    if (found < 0)
      raise_code((int32_t)found, &error);
    else
      result = Py_BuildValue("LN", (long long)found,
                             list_of_ranges(ranges, (uint64_t)(found < capacity ? found : capacity)));
  }
  PyMem_Free(ranges);
  Py_DECREF(path);
  return result;
}

/* Begins a call on each handle, and returns the number of begun ones; if fewer than all, an exception is set. */
static Py_ssize_t begin_all(PyObject* handles, PyObject* type, const bfs_filter** filters) {
  const Py_ssize_t count = PyTuple_Size(handles);
  Py_ssize_t begun = 0;
  for (; begun < count; begun++) {
    PyObject* one = PyTuple_GetItem(handles, begun);
    const int is_handle = PyObject_TypeCheck(one, (PyTypeObject*)type);
    if (is_handle == 0) PyErr_Format(PyExc_TypeError, "filters are wanted, not %R", (PyObject*)Py_TYPE(one));
    if (is_handle <= 0 || (filters[begun] = handle_begin((Handle*)one)) == NULL) break;
  }
  return begun;
}

/* Arguments: the class of handles, a tuple of them, the path, the flags, the options. */
static PyObject* of_filters(PyObject* arguments, int joins) {
  PyObject *type = NULL, *handles = NULL, *path = NULL, *given = NULL, *result = NULL;
  unsigned long long flags = 0;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O!O!O&KO!", &PyType_Type, &type, &PyTuple_Type, &handles, PyUnicode_FSConverter,
                        &path, &flags, &PyDict_Type, &given))
    return NULL;
  const char* text = PyBytes_AsString(path);
  const Py_ssize_t count = PyTuple_Size(handles);
  const bfs_filter** filters = PyMem_Calloc((size_t)count + 1, sizeof *filters);
  const Py_ssize_t begun = filters == NULL || fill_options(&options, given) < 0 ? 0 : begin_all(handles, type, filters);
  if (filters == NULL) PyErr_NoMemory();
  if (!PyErr_Occurred()) {
    int32_t code;
    WITHOUT_GIL(code = joins ? bfs_join(filters, (size_t)count, text, flags, &options, &error)
                             : bfs_intersect(filters, (size_t)count, text, flags, &options, &error));
    result = none_or_raise(code, &error);
  }
  for (Py_ssize_t i = 0; i < begun; i++) handle_end((Handle*)PyTuple_GetItem(handles, i));
  PyMem_Free(filters);
  Py_DECREF(path);
  return result;
}

static PyObject* module_intersect(PyObject* self, PyObject* arguments) {
  (void)self;
  return of_filters(arguments, 0);
}

static PyObject* module_join(PyObject* self, PyObject* arguments) {
  (void)self;
  return of_filters(arguments, 1);
}

/* Arguments: three paths in the order of the C function, the flags, the options. */
static PyObject* of_paths(PyObject* arguments, int applies) {
  PyObject *first = NULL, *second = NULL, *third = NULL, *given = NULL, *result = NULL;
  unsigned long long flags = 0;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O&O&O&KO!", PyUnicode_FSConverter, &first, PyUnicode_FSConverter, &second,
                        PyUnicode_FSConverter, &third, &flags, &PyDict_Type, &given))
    return NULL;
  if (fill_options(&options, given) == 0) {
    const char *a = PyBytes_AsString(first), *b = PyBytes_AsString(second), *c = PyBytes_AsString(third);
    int32_t code;
    WITHOUT_GIL(code = applies ? bfs_apply_delta(a, b, c, flags, &options, &error)
                               : bfs_make_delta(a, b, c, flags, &options, &error));
    result = none_or_raise(code, &error);
  }
  Py_DECREF(first);
  Py_DECREF(second);
  Py_DECREF(third);
  return result;
}

static PyObject* module_make_delta(PyObject* self, PyObject* arguments) {
  (void)self;
  return of_paths(arguments, 0);
}

static PyObject* module_apply_delta(PyObject* self, PyObject* arguments) {
  (void)self;
  return of_paths(arguments, 1);
}

/* --- Any of several ----------------------------------------------------------------------------------------------- */

/* Releases the GIL only if a filter follows its path: see one_key in _lookups.c. */
static int32_t ask_any(PyObject* handles, const bfs_filter* const* filters, const OneKey* key, uint8_t* which) {
  const Py_ssize_t count = PyTuple_Size(handles);
  int waits = 0;
  for (Py_ssize_t i = 0; i < count; i++) waits |= ((const Handle*)PyTuple_GetItem(handles, i))->follows;
  if (!waits) return bfs_contains_any(filters, (size_t)count, key->data, key->bytes, which);
  int32_t code;
  WITHOUT_GIL(code = bfs_contains_any(filters, (size_t)count, key->data, key->bytes, which));
  return code;
}

/* Arguments: the class of handles, a tuple of them, the key, the answers or NULL.  Returns at least 0, or -1 with an
 * exception.  Begins the calls after the key is made: that may run code that closes a handle. */
static int32_t contains_any(PyObject* type, PyObject* handles, PyObject* object, uint8_t* which) {
  const Py_ssize_t count = PyTuple_Size(handles);
  OneKey key;
  if (key_open(&key, object) < 0) return -1;
  const bfs_filter** filters = PyMem_Calloc((size_t)count + 1, sizeof *filters);
  if (filters == NULL) PyErr_NoMemory();
  const Py_ssize_t begun = filters == NULL ? 0 : begin_all(handles, type, filters);
  int32_t code = -1;
  if (filters != NULL && begun == count) {
    code = ask_any(handles, filters, &key, which);
    if (code < 0) raise_code_of(NULL, code);
  }
  for (Py_ssize_t i = 0; i < begun; i++) handle_end((Handle*)PyTuple_GetItem(handles, i));
  PyMem_Free(filters);
  key_close(&key);
  return code < 0 ? -1 : code;
}

static PyObject* module_contains_any(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *type = NULL, *handles = NULL, *key = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O", &PyType_Type, &type, &PyTuple_Type, &handles, &key)) return NULL;
  const int32_t maybes = contains_any(type, handles, key, NULL);
  return maybes < 0 ? NULL : PyBool_FromLong(maybes);
}

/* Returns bytes with 1 for each filter that may have the key, and 0 for each other one. */
static PyObject* module_which(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *type = NULL, *handles = NULL, *key = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O", &PyType_Type, &type, &PyTuple_Type, &handles, &key)) return NULL;
  PyObject* answers = PyBytes_FromStringAndSize(NULL, PyTuple_Size(handles));
  if (answers != NULL && contains_any(type, handles, key, (uint8_t*)PyBytes_AsString(answers)) < 0) Py_CLEAR(answers);
  return answers;
}

/* --- Bare filters ------------------------------------------------------------------------------------------------- */

static PyObject* module_bare_contains(PyObject* self, PyObject* arguments) {
  (void)self;
  Py_buffer bytes;
  PyObject* object = NULL;
  OneKey key;
  if (!PyArg_ParseTuple(arguments, "y*O", &bytes, &object)) return NULL;
  PyObject* answer = NULL;
  if (key_open(&key, object) == 0) {
    answer = PyBool_FromLong(bfs_bare_contains(bytes.buf, (uint64_t)bytes.len, key.data, key.bytes));
    key_close(&key);
  }
  PyBuffer_Release(&bytes);
  return answer;
}

static PyObject* module_bare_contains_digest(PyObject* self, PyObject* arguments) {
  (void)self;
  Py_buffer bytes;
  PyObject* object = NULL;
  uint64_t digest = 0;
  if (!PyArg_ParseTuple(arguments, "y*O", &bytes, &object)) return NULL;
  PyObject* answer = NULL;
  if (digest_of(object, &digest) == 0)
    answer = PyBool_FromLong(bfs_bare_contains_digest(bytes.buf, (uint64_t)bytes.len, digest));
  PyBuffer_Release(&bytes);
  return answer;
}

static PyObject* module_bare_bytes(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* number = NULL;
  double bits_per_key = 0;
  unsigned int layout = 0;
  if (!PyArg_ParseTuple(arguments, "OdI", &number, &bits_per_key, &layout)) return NULL;
  const unsigned long long keys = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) return NULL;
  return PyLong_FromUnsignedLongLong(bfs_bare_bytes(keys, bits_per_key, layout));
}

static int32_t build_bare(void* bytes, uint64_t size, uint32_t layout, uint32_t hash, const Source* source) {
  const bfs_keys none = bfs_keys_pairs(NULL, 0);
  return bfs_bare_build(bytes, size, layout, hash, source->num_parts == 0 ? &none : source->parts);
}

/* Arguments: the size, the layout, the hash (for digests; 0: keys are given), the keys, their width. */
static PyObject* module_bare_build(PyObject* self, PyObject* arguments) {
  (void)self;
  Py_ssize_t size = 0, width = 0;
  unsigned int layout = 0, hash = 0;
  PyObject* keys = NULL;
  Source source;
  if (!PyArg_ParseTuple(arguments, "nIIOn", &size, &layout, &hash, &keys, &width)) return NULL;
  if (size < 0) {
    PyErr_SetString(PyExc_ValueError, "a bare filter has no negative size");
    return NULL;
  }
  if (source_open(&source, keys, width, hash != 0, 0) < 0) return NULL;
  PyObject* built = PyBytes_FromStringAndSize(NULL, size);
  if (built != NULL && source.num_parts > 1) {
    PyErr_SetString(PyExc_ValueError, "a bare filter is built of one array: combine the chunks of the column");
    Py_CLEAR(built);
  }
  if (built != NULL) {
    int32_t code;
    char* data = PyBytes_AsString(built);
    WITHOUT_GIL(code = build_bare(data, (uint64_t)size, layout, hash, &source));
    if (code < 0) {
      Py_CLEAR(built);
      raise_code_of(NULL, code);
    }
  }
  source_close(&source);
  return built;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

static PyObject* module_version(PyObject* self, PyObject* unused) {
  (void)self;
  (void)unused;
  return PyUnicode_FromString(bfs_version());
}

static PyObject* module_strerror(PyObject* self, PyObject* code) {
  (void)self;
  int number = 0;
  return !PyArg_Parse(code, "i", &number) ? NULL : PyUnicode_FromString(bfs_strerror(number));
}

static PyObject* module_code_name(PyObject* self, PyObject* code) {
  (void)self;
  int number = 0;
  return !PyArg_Parse(code, "i", &number) ? NULL : PyUnicode_FromString(bfs_code_name(number));
}

/* Returns the name, or the number as text if the library does not know it. */
static PyObject* name_or_number(PyObject* object, const char* (*name_of)(uint32_t)) {
  const unsigned long number = PyLong_AsUnsignedLong(object);
  if (PyErr_Occurred()) return NULL;
  const char* name = number > UINT32_MAX ? NULL : name_of((uint32_t)number);
  return name == NULL ? PyObject_Str(object) : PyUnicode_FromString(name);
}

static PyObject* module_layout_name(PyObject* self, PyObject* number) {
  (void)self;
  return name_or_number(number, bfs_layout_name);
}

static PyObject* module_hash_name(PyObject* self, PyObject* number) {
  (void)self;
  return name_or_number(number, bfs_hash_name);
}

/* --- The module --------------------------------------------------------------------------------------------------- */

static PyMethodDef module_methods[] = {
    {"open", module_open, METH_VARARGS, NULL},
    {"create", module_create, METH_VARARGS, NULL},
    {"build", module_build, METH_VARARGS, NULL},
    {"is_stream", module_is_stream, METH_O, NULL},
    {"foreign_formats", module_foreign_formats, METH_NOARGS, NULL},
    {"inspect_foreign", module_inspect_foreign, METH_VARARGS, NULL},
    {"recognize_foreign", module_recognize_foreign, METH_VARARGS, NULL},
    {"open_foreign", module_open_foreign, METH_VARARGS, NULL},
    {"import_foreign", module_import_foreign, METH_VARARGS, NULL},
    {"format", module_format, METH_VARARGS, NULL},
    {"open_memory", module_open_memory, METH_VARARGS, NULL},
    {"required_bytes", module_required_bytes, METH_VARARGS, NULL},
    {"plan", module_plan, METH_O, NULL},
    {"verify", module_verify, METH_VARARGS, NULL},
    {"join", module_join, METH_VARARGS, NULL},
    {"make_delta", module_make_delta, METH_VARARGS, NULL},
    {"apply_delta", module_apply_delta, METH_VARARGS, NULL},
    {"intersect", module_intersect, METH_VARARGS, NULL},
    {"contains_any", module_contains_any, METH_VARARGS, NULL},
    {"which", module_which, METH_VARARGS, NULL},
    {"bare_contains", module_bare_contains, METH_VARARGS, NULL},
    {"bare_contains_digest", module_bare_contains_digest, METH_VARARGS, NULL},
    {"bare_bytes", module_bare_bytes, METH_VARARGS, NULL},
    {"bare_build", module_bare_build, METH_VARARGS, NULL},
    {"version", module_version, METH_NOARGS, NULL},
    {"strerror", module_strerror, METH_O, NULL},
    {"code_name", module_code_name, METH_O, NULL},
    {"layout_name", module_layout_name, METH_O, NULL},
    {"hash_name", module_hash_name, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject* module) {
  PyObject* type = handle_type_new(module);
  const int done = type == NULL ? -1 : PyModule_AddObjectRef(module, "Handle", type);
  Py_XDECREF(type);
  return done < 0 ? done : add_numbers(module);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void*)module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bfstore._bfstore", "See bfstore.", 0, module_methods, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__bfstore(void) { return PyModuleDef_Init(&definition); }
