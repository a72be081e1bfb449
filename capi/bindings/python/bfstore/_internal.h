/* Declarations that the sources of the extension share: the handle, one key, many keys, structs as dicts, errors. */
#ifndef BFSTORE_PYTHON_INTERNAL_H
#define BFSTORE_PYTHON_INTERNAL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000 /* one wheel for CPython 3.11 and later */
#include <Python.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfstore_interop.h"
#include "bfstore_memory.h"

/* Runs the statement while other threads may run Python. */
#define WITHOUT_GIL(...)                        \
  do {                                          \
    PyThreadState* saved = PyEval_SaveThread(); \
    __VA_ARGS__;                                \
    PyEval_RestoreThread(saved);                \
  } while (0)

/* --- Errors (_errors.c) ------------------------------------------------------------------------------------------- */

/* Raise the exception of bfstore/__init__.py that belongs to the code, and return NULL. */
PyObject* raise_code(int32_t code, const bfs_error* error);
PyObject* raise_code_on(PyObject* name, int32_t code,
                        const bfs_error* error);       /* the path of a file in `filename`, too */
PyObject* raise_code_of(PyObject* name, int32_t code); /* for functions without a bfs_error */
PyObject* none_or_raise(int32_t code, const bfs_error* error);

/* --- A handle (_handle.c) ----------------------------------------------------------------------------------------- */

/* The GIL guards every field.  `calls` counts the calls that run without the GIL: while it is not 0, the filter may be
 * shut but not freed; the last call frees it. */
typedef struct Handle {
  PyObject base;
  bfs_filter* filter; /* NULL: closed, or one thread uses it alone */
  bfs_filter* ending; /* shut while other threads are in calls */
  PyObject* name;     /* for messages */
  Py_buffer view;     /* the memory of format() and wrap() */
  Py_ssize_t calls;
  int publishing;
  int created; /* this handle made the filter */
  int follows; /* a lookup may open a file */
  int synced;  /* takes no keys that a sync would make durable */
} Handle;

/* Returns NULL with an exception. */
PyObject* handle_new(PyTypeObject* type, PyObject* name);
/* Returns the filter for a call without the GIL, or NULL with an exception.  handle_end must follow. */
bfs_filter* handle_begin(Handle* handle);
void handle_end(Handle* handle);
PyObject* raise_closed(const Handle* handle);

/* --- The handle's type (_type.c) ---------------------------------------------------------------------------------- */

/* Returns NULL with an exception. */
PyObject* handle_type_new(PyObject* module);

/* The parts of the type in each source.  A table ends with a method without a name. */
void handle_dealloc(PyObject* self); /* _handle.c */
extern PyGetSetDef handle_properties[];
extern const PyMethodDef life_methods[];
int handle_in(PyObject* self, PyObject* key); /* `key in filter` (_lookups.c) */
extern const PyMethodDef lookup_methods[];
extern const PyMethodDef form_methods[]; /* _forms.c */

/* A row of such a table: a method with one argument, without arguments, or with keywords. */
#define ONE(name, function, text) \
  { name, function, METH_O, PyDoc_STR(text) }
#define NONE(name, function, text) \
  { name, function, METH_NOARGS, PyDoc_STR(text) }
#define MANY(name, function, text) \
  { name, (PyCFunction)(void (*)(void))function, METH_VARARGS | METH_KEYWORDS, PyDoc_STR(text) }

/* --- One key (_keys.c) -------------------------------------------------------------------------------------------- */

typedef struct OneKey {
  const void* data;
  size_t bytes;
  unsigned char number[8]; /* the bytes of an int */
  Py_buffer view;          /* for a buffer; otherwise obj is NULL */
} OneKey;

/* Returns -1 with an exception.  After 0, key_close must follow. */
int key_open_other(OneKey* key, PyObject* object);

/* Returns -1 with an exception for a masked array, whose buffer also has the values under the mask. */
int refuse_masked(PyObject* object);

static inline int key_open(OneKey* key, PyObject* object) {
  Py_ssize_t bytes = 0;
  key->view.obj = NULL;
  if (PyBytes_CheckExact(object)) {
    char* data = NULL;
    if (PyBytes_AsStringAndSize(object, &data, &bytes) < 0) return -1;
    key->data = data;
  } else if (PyUnicode_CheckExact(object)) {
    key->data = PyUnicode_AsUTF8AndSize(object, &bytes); /* UnicodeEncodeError for a lone surrogate */
    if (key->data == NULL) return -1;
  } else {
    return key_open_other(key, object);
  }
  key->bytes = (size_t)bytes;
  return 0;
}

static inline void key_close(OneKey* key) {
  if (key->view.obj != NULL) PyBuffer_Release(&key->view);
}

/* Returns -1 with an exception. */
int digest_of(PyObject* object, uint64_t* digest);

/* --- Many keys (_parts.c, _arrow.c, _source.c) -------------------------------------------------------------------- */

/* The caller's keys as parts for bfs_*_keys.  `kept` and `view` keep their memory. */
typedef struct Source {
  bfs_keys* parts;
  size_t num_parts;
  uint64_t count;
  PyObject* kept;
  Py_buffer view;
  int digests;
  uint64_t first;
} Source;

void source_close(Source* source);
/* Returns -1 with an exception. */
int source_add(Source* source, const bfs_keys* part);
/* Returns memory that lasts as long as the source, or NULL with an exception. */
void* source_memory(Source* source, size_t count, size_t item_bytes);
/* Returns 1 if the object had an Arrow column, and adds its parts; 0 if it has none; -1 with an exception. */
int source_add_arrow(Source* source, PyObject* keys);
/* Returns -1 with an exception; then there is nothing to close.  `first`: the number of the first key, for messages. */
int source_open(Source* source, PyObject* keys, Py_ssize_t width, int digests, uint64_t first);

/* Returns whether the keys come one after the other, and not as a buffer or a column (_lookups.c). */
int is_stream(PyObject* keys);

/* --- Numbers, and structs as dicts (_fields.c) -------------------------------------------------------------------- */

/* Adds the numbers of the headers, under their names without BFS_.  Returns -1 with an exception. */
int add_numbers(PyObject* module);

/* Return -1 with an exception.  The dict's values must last as long as the struct. */
int fill_options(bfs_options* options, PyObject* given);
int fill_plan_request(bfs_plan_request* request, PyObject* given);
PyObject* dict_of_plan(const bfs_plan_result* plan);
PyObject* dict_of_statistics(const bfs_statistics* statistics);
PyObject* dict_of_comparison(const bfs_comparison* comparison);
PyObject* dict_of_foreign(const bfs_foreign* foreign);

#endif
