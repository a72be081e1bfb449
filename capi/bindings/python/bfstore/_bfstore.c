/* The extension bfstore._bfstore: the functions of the module.  Users read and call bfstore/__init__.py, which calls
 * these. */
#include "_internal.h"

/* --- Making and opening ------------------------------------------------------------------------------------------- */

/* The parts of a call that makes a filter: a path (NULL for none), a buffer, and the options as a dict. */
typedef struct Making {
  Handle* handle;
  PyObject* path;
  const char* path_text;
  PyObject* given;
} Making;

static int path_or_none(PyObject* object, void* out) {
  if (object != Py_None) return PyUnicode_FSConverter(object, out);
  *(PyObject**)out = NULL;
  return 1;
}

/* Arguments: the class, the name for messages, the path or None, the options. */
static int making_begin(Making* making, PyObject* arguments) {
  PyObject *type = NULL, *name = NULL;
  memset(making, 0, sizeof *making);
  if (!PyArg_ParseTuple(arguments, "O!UO&O!", &PyType_Type, &type, &name, path_or_none, &making->path, &PyDict_Type,
                        &making->given))
    return -1;
  making->path_text = making->path == NULL ? NULL : PyBytes_AsString(making->path);
  making->handle = (Handle*)handle_new((PyTypeObject*)type, name);
  if (making->handle != NULL) return 0;
  Py_XDECREF(making->path);
  return -1;
}

/* Arguments: those of making_begin, with a buffer instead of the path. */
static int making_begin_in(Making* making, PyObject* arguments, int flags) {
  PyObject *type = NULL, *name = NULL, *buffer = NULL;
  memset(making, 0, sizeof *making);
  if (!PyArg_ParseTuple(arguments, "O!UOO!", &PyType_Type, &type, &name, &buffer, &PyDict_Type, &making->given))
    return -1;
  making->handle = (Handle*)handle_new((PyTypeObject*)type, name);
  if (making->handle == NULL) return -1;
  if (PyObject_GetBuffer(buffer, &making->handle->view, flags) == 0) return 0;
  making->handle->view.obj = NULL;
  Py_DECREF(making->handle);
  return -1;
}

static PyObject* making_end(Making* making, int32_t code, const bfs_error* error) {
  Py_XDECREF(making->path);
  if (code == BFS_OK) return (PyObject*)making->handle;
  Py_DECREF(making->handle);
  return PyErr_Occurred() ? NULL : raise_code(code, error);
}

/* Opens a file or a set.  A set refuses BFS_OPEN_FOLLOW. */
static PyObject* open_file(PyObject* arguments, int is_set) {
  Making making;
  bfs_open_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin(&making, arguments) < 0) return NULL;
  if (fill_open_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  bfs_filter** const out = &making.handle->filter;
  int32_t code;
  WITHOUT_GIL(code = is_set ? bfs_open_set(making.path_text, &options, out, &error)
                            : bfs_open_with(making.path_text, &options, out, &error));
  making.handle->follows = (options.flags & BFS_OPEN_FOLLOW) != 0;
  return making_end(&making, code, &error);
}

static PyObject* module_open(PyObject* self, PyObject* arguments) {
  (void)self;
  return open_file(arguments, 0);
}

static PyObject* module_open_set(PyObject* self, PyObject* arguments) {
  (void)self;
  return open_file(arguments, 1);
}

static PyObject* module_create(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin(&making, arguments) < 0) return NULL;
  if (fill_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  int32_t code;
  WITHOUT_GIL(code = bfs_create(making.path_text, &options, &making.handle->filter, &error));
  return making_end(&making, code, &error);
}

/* Arguments: those of create, the number of the part, and the number of parts. */
static PyObject* module_create_part(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  const Py_ssize_t before = PyTuple_Size(arguments) - 2;
  unsigned int part = 0, num_parts = 0;
  PyObject* numbers = PyTuple_GetSlice(arguments, before, before + 2);
  if (numbers == NULL) return NULL;
  const int parsed = PyArg_ParseTuple(numbers, "II", &part, &num_parts);
  Py_DECREF(numbers);
  if (!parsed) return NULL;
  PyObject* rest = PyTuple_GetSlice(arguments, 0, before);
  if (rest == NULL) return NULL;
  const int begun = making_begin(&making, rest);
  Py_DECREF(rest); /* `arguments` keeps its items */
  if (begun < 0) return NULL;
  if (fill_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  int32_t code;
  WITHOUT_GIL(code = bfs_create_part(making.path_text, &options, part, num_parts, &making.handle->filter, &error));
  return making_end(&making, code, &error);
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

/* Reads the last arguments of the functions for foreign bytes: the format, the order or 0, the bytes' name or None, and
 * the bytes.  Returns -1 with an exception.  After 0 the caller releases the bytes with PyBuffer_Release. */
static int foreign_begin(bfs_foreign_form* form, Py_buffer* bytes, PyObject* arguments) {
  unsigned int order = 0;
  *form = (bfs_foreign_form)BFS_FOREIGN_FORM_INIT;
  if (!PyArg_ParseTuple(arguments, "sIzy*", &form->format, &order, &form->name, bytes)) return -1;
  form->order = order;
  return 0;
}

/* Arguments: options or None, then those of foreign_begin. */
static PyObject* module_inspect_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* given = PyTuple_GetItem(arguments, 0);
  PyObject* rest = PyTuple_GetSlice(arguments, 1, PY_SSIZE_T_MAX);
  bfs_foreign_form form;
  Py_buffer bytes;
  if (given == NULL || rest == NULL || foreign_begin(&form, &bytes, rest) < 0) {
    Py_XDECREF(rest);
    return NULL;
  }
  bfs_options options;
  bfs_foreign found = BFS_FOREIGN_INIT;
  bfs_error error = BFS_ERROR_INIT;
  int32_t code = BFS_EINVAL;
  const int filled = given == Py_None ? 0 : fill_options(&options, given);
  if (filled == 0) {
    WITHOUT_GIL(code = bfs_foreign_inspect(&form, bytes.buf, (uint64_t)bytes.len, given == Py_None ? NULL : &options,
                                           &found, &error));
  }
  PyBuffer_Release(&bytes);
  Py_DECREF(rest);
  if (filled < 0) return NULL;
  return code < 0 ? raise_code(code, &error) : dict_of_foreign(&found);
}

/* Arguments: those of create, then those of foreign_begin. */
static PyObject* module_import_foreign(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  bfs_foreign_form form;
  Py_buffer bytes;
  PyObject* first = PyTuple_GetSlice(arguments, 0, 4);
  PyObject* rest = PyTuple_GetSlice(arguments, 4, PY_SSIZE_T_MAX);
  PyObject* made = NULL;
  if (first != NULL && rest != NULL && foreign_begin(&form, &bytes, rest) == 0) {
    if (making_begin(&making, first) == 0) {
      int32_t code = BFS_EINVAL;
      if (fill_options(&options, making.given) == 0) {
        WITHOUT_GIL(code = bfs_foreign_import(making.path_text, &form, bytes.buf, (uint64_t)bytes.len, &options,
                                              &making.handle->filter, &error));
      }
      made = making_end(&making, code, &error);
    }
    PyBuffer_Release(&bytes);
  }
  Py_XDECREF(first);
  Py_XDECREF(rest);
  return made;
}

/* --- In memory ---------------------------------------------------------------------------------------------------- */

static PyObject* module_format(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin_in(&making, arguments, PyBUF_WRITABLE) < 0) return NULL;
  const Py_buffer* view = &making.handle->view;
  if (fill_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  int32_t code;
  WITHOUT_GIL(code = bfs_format(view->buf, (uint64_t)view->len, &options, &making.handle->filter, &error));
  return making_end(&making, code, &error);
}

/* A reader of a buffer never writes to it, so the buffer may be read-only. */
static PyObject* wrap(PyObject* arguments, int flags) {
  Making making;
  bfs_open_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin_in(&making, arguments, flags) < 0) return NULL;
  const Py_buffer* view = &making.handle->view;
  if (fill_open_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  int32_t code;
  WITHOUT_GIL(code = bfs_wrap_with(view->buf, (uint64_t)view->len, &options, &making.handle->filter, &error));
  return making_end(&making, code, &error);
}

static PyObject* module_wrap_to_read(PyObject* self, PyObject* arguments) {
  (void)self;
  return wrap(arguments, PyBUF_SIMPLE);
}

static PyObject* module_wrap_to_write(PyObject* self, PyObject* arguments) {
  (void)self;
  return wrap(arguments, PyBUF_WRITABLE);
}

/* The library copies the bytes, so the buffer is released at once. */
static PyObject* module_load(PyObject* self, PyObject* arguments) {
  (void)self;
  Making making;
  bfs_open_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (making_begin_in(&making, arguments, PyBUF_SIMPLE) < 0) return NULL;
  Py_buffer* view = &making.handle->view;
  if (fill_open_options(&options, making.given) < 0) return making_end(&making, BFS_EINVAL, &error);
  int32_t code;
  WITHOUT_GIL(code = bfs_load(view->buf, (uint64_t)view->len, &options, &making.handle->filter, &error));
  PyBuffer_Release(view);
  return making_end(&making, code, &error);
}

/* --- Plans and files ---------------------------------------------------------------------------------------------- */

static PyObject* module_required_bytes(PyObject* self, PyObject* given) {
  (void)self;
  bfs_options options;
  bfs_error error = BFS_ERROR_INIT;
  uint64_t bytes = 0;
  if (!PyDict_Check(given)) return PyErr_Format(PyExc_TypeError, "a dict"), NULL;
  if (fill_options(&options, given) < 0) return NULL;
  int32_t code;
  WITHOUT_GIL(code = bfs_required_bytes(&options, &bytes, &error));
  return code < 0 ? raise_code(code, &error) : PyLong_FromUnsignedLongLong(bytes);
}

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

static PyObject* module_seal(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject *from = NULL, *to = NULL, *given = NULL;
  bfs_copy_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O&O&O!", PyUnicode_FSConverter, &from, PyUnicode_FSConverter, &to, &PyDict_Type,
                        &given))
    return NULL;
  const char *from_text = PyBytes_AsString(from), *to_text = PyBytes_AsString(to);
  PyObject* result = NULL;
  if (fill_copy_options(&options, given) == 0) {
    int32_t code;
    WITHOUT_GIL(code = bfs_seal(from_text, to_text, &options, &error));
    result = none_or_raise(code, &error);
  }
  Py_DECREF(from);
  Py_DECREF(to);
  return result;
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

/* Arguments: the class of handles, a tuple of them, the path, the options. */
static PyObject* of_filters(PyObject* arguments, int joins) {
  PyObject *type = NULL, *handles = NULL, *path = NULL, *given = NULL, *result = NULL;
  bfs_copy_options options;
  bfs_error error = BFS_ERROR_INIT;
  if (!PyArg_ParseTuple(arguments, "O!O!O&O!", &PyType_Type, &type, &PyTuple_Type, &handles, PyUnicode_FSConverter,
                        &path, &PyDict_Type, &given))
    return NULL;
  const char* text = PyBytes_AsString(path);
  const Py_ssize_t count = PyTuple_Size(handles);
  const bfs_filter** filters = PyMem_Calloc((size_t)count + 1, sizeof *filters);
  const Py_ssize_t begun =
      filters == NULL || fill_copy_options(&options, given) < 0 ? 0 : begin_all(handles, type, filters);
  if (filters == NULL) PyErr_NoMemory();
  if (!PyErr_Occurred()) {
    int32_t code;
    WITHOUT_GIL(code = joins ? bfs_join(filters, (size_t)count, text, &options, &error)
                             : bfs_intersect(filters, (size_t)count, text, &options, &error));
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
  const bfs_keys* keys = source->num_parts == 0 ? &none : source->parts;
  if (!source->digests) return bfs_bare_build(bytes, size, layout, keys);
  return keys->validity != NULL ? BFS_EINVAL
                                : bfs_bare_build_digests(bytes, size, layout, hash, keys->data, keys->count);
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
  if (source_open(&source, keys, width, hash != 0) < 0) return NULL;
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
    {"open_set", module_open_set, METH_VARARGS, NULL},
    {"create", module_create, METH_VARARGS, NULL},
    {"foreign_formats", module_foreign_formats, METH_NOARGS, NULL},
    {"inspect_foreign", module_inspect_foreign, METH_VARARGS, NULL},
    {"import_foreign", module_import_foreign, METH_VARARGS, NULL},
    {"format", module_format, METH_VARARGS, NULL},
    {"wrap_to_read", module_wrap_to_read, METH_VARARGS, NULL},
    {"wrap_to_write", module_wrap_to_write, METH_VARARGS, NULL},
    {"load", module_load, METH_VARARGS, NULL},
    {"required_bytes", module_required_bytes, METH_O, NULL},
    {"plan", module_plan, METH_O, NULL},
    {"seal", module_seal, METH_VARARGS, NULL},
    {"verify", module_verify, METH_VARARGS, NULL},
    {"create_part", module_create_part, METH_VARARGS, NULL},
    {"join", module_join, METH_VARARGS, NULL},
    {"intersect", module_intersect, METH_VARARGS, NULL},
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
  const int done = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject*)type);
  Py_XDECREF(type);
  return done < 0 ? done : add_numbers(module);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void*)module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bfstore._bfstore", "See bfstore.", 0, module_methods, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__bfstore(void) { return PyModuleDef_Init(&definition); }
