/* The handle of a filter: its life.  bfstore.Filter, in __init__.py, is a subclass, and documents the methods with an
 * underscore. */
#include "_internal.h"

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

/* Closes a filter that was shut, at the end of the last call on it.  An error cannot be raised to the caller any
 * more. */
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

/* Shuts a filter that other threads are using: bfs_shut ends their work, and the last of them closes it.  A buffer
 * cannot be shut. */
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

/* The collector must not wait for a lock or the disk, so this does not sync: see bfs_abandon. */
void handle_dealloc(PyObject* self) {
  Handle* handle = (Handle*)self;
  PyTypeObject* type = Py_TYPE(self);
  bfs_filter* filter = handle->filter != NULL ? handle->filter : handle->ending;
  if (filter != NULL) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (PyErr_WarnFormat(PyExc_ResourceWarning, 1, "unclosed filter %S%s", handle->name,
                         handle->synced ? "" : ": what was added is not synced") < 0)
      PyErr_WriteUnraisable(NULL);
    PyErr_Restore(kind, value, trace);
    bfs_abandon(filter);
  }
  let_go_of_memory(handle);
  Py_XDECREF(handle->name);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* If other threads are in calls, abandoning would free their memory: so a shut ends these calls first. */
static PyObject* handle_abandon(PyObject* self, PyObject* unused) {
  (void)unused;
  Handle* handle = (Handle*)self;
  if (handle->calls > 0) return handle_close(self, NULL);
  if (handle->publishing) return raise_closed(handle);
  bfs_filter* filter = handle->filter;
  if (filter == NULL) Py_RETURN_NONE; /* another thread may still be closing it, and needs the memory */
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
  if (code == BFS_OK) handle->synced = 1;
  return none_or_raise(code, &error);
}

static PyObject* handle_closed(PyObject* self, void* unused) {
  (void)unused;
  const Handle* handle = (const Handle*)self;
  return PyBool_FromLong(handle->filter == NULL && !handle->publishing);
}

static PyObject* handle_created(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((const Handle*)self)->created);
}

static PyObject* handle_name(PyObject* self, void* unused) {
  (void)unused;
  return Py_NewRef(((Handle*)self)->name);
}

/* Refuses pickling: only a process that has the file's memory can use a handle. */
static PyObject* handle_reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  PyErr_Format(
      PyExc_TypeError,
      "%S: an open filter is neither pickled nor copied. Pass its path, and open it there; or copy() or dump() it",
      ((Handle*)self)->name);
  return NULL;
}

/* --- This file's part of the type --------------------------------------------------------------------------------- */

const PyMethodDef life_methods[] = {
    NONE("close", handle_close,
         "close($self, /)\n--\n\nCloses the filter.  The last writer of a file syncs it, and marks it clean.\n\n"
         "A call that is under way in another thread ends safely: its lookups answer \"maybe\"."),
    NONE("publish", handle_publish,
         "publish($self, /)\n--\n\nGives a filter that was created with unpublished=True its name; from then on it "
         "only reads."),
    NONE("__enter__", handle_enter, "__enter__($self, /)\n--\n\nThe filter."),
    {"__exit__", handle_exit, METH_VARARGS, PyDoc_STR("__exit__($self, /, *error)\n--\n\nclose().")},
    NONE("__reduce__", handle_reduce, "Refused: a filter is open in this process alone."),
    ONE("__reduce_ex__", handle_reduce, "Refused: a filter is open in this process alone."),
    NONE("abandon", handle_abandon,
         "abandon($self, /)\n--\n\nCloses the filter as if its process had been killed: nothing is synced, and an "
         "unpublished file vanishes."),
    {NULL, NULL, 0, NULL},
};

PyGetSetDef handle_properties[] = {
    {"closed", handle_closed, NULL, PyDoc_STR("Whether close() was called."), NULL},
    {"created", handle_created, NULL,
     PyDoc_STR("Whether this call made the filter: of open() with mode \"a\", False if the file was there."), NULL},
    {"name", handle_name, NULL, PyDoc_STR("The path as it was given; of a buffer, words."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
