/* Raises the exception that belongs to a code.  The classes are in __init__.py, where users read them. */
#include "_internal.h"

static PyObject* raise_words(PyObject* name, int32_t code, int os_errno, uint32_t rule, PyObject* words) {
  if (words == NULL) return NULL;
  PyObject* package = PyImport_ImportModule("bfstore");
  PyObject* error = package ? PyObject_CallMethod(package, "_error", "iiOIO", (int)code, os_errno, words,
                                                  (unsigned int)rule, name ? name : Py_None)
                            : NULL;
  if (error != NULL) PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_XDECREF(error);
  Py_XDECREF(package);
  Py_DECREF(words);
  return NULL;
}

PyObject* raise_code(int32_t code, const bfs_error* error) { return raise_code_on(NULL, code, error); }

PyObject* raise_code_on(PyObject* name, int32_t code, const bfs_error* error) {
  return raise_words(name, code, error->os_errno, error->rule,
                     PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace"));
}

PyObject* raise_code_of(PyObject* name, int32_t code) {
  return raise_words(
      name, code, 0, 0,
      name ? PyUnicode_FromFormat("%S: %s", name, bfs_strerror(code)) : PyUnicode_FromString(bfs_strerror(code)));
}

PyObject* none_or_raise(int32_t code, const bfs_error* error) {
  if (code < 0) return raise_code(code, error);
  Py_RETURN_NONE;
}
