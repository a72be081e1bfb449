/* The parts of a source of many keys, and the memory that they need. */
#include "_internal.h"

int source_add(Source* source, const bfs_keys* part) {
  bfs_keys* parts = PyMem_Realloc(source->parts, (source->num_parts + 1) * sizeof *parts);
  if (parts == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  parts[source->num_parts++] = *part;
  source->parts = parts;
  source->count += part->count;
  return 0;
}

void* source_memory(Source* source, size_t count, size_t item_bytes) {
  if (count > (size_t)PY_SSIZE_T_MAX / item_bytes) return PyErr_NoMemory();
  PyObject* room = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * item_bytes));
  if (room == NULL) return NULL;
  int kept = PyList_Append(source->kept, room);
  Py_DECREF(room);
  return kept < 0 ? NULL : PyBytes_AsString(room);
}

/* Releasing the kept objects may run code of the caller, which must not see a pending exception. */
void source_close(Source* source) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (source->view.obj != NULL) PyBuffer_Release(&source->view);
  PyMem_Free(source->parts);
  Py_XDECREF(source->kept);
  PyErr_Restore(kind, value, trace);
}
