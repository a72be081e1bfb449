/* One key as bytes: bytes and buffers of bytes are themselves, a str is its UTF-8, an int is 8 bytes, little-endian. */
#include "_internal.h"

static int refuse(PyObject* object) {
  PyErr_Format(PyExc_TypeError, "a key is bytes, str, int or a buffer of bytes, not %R", (PyObject*)Py_TYPE(object));
  return -1;
}

/* Takes -2**63 .. 2**64 - 1.  A negative number becomes its two's complement, so -1 and 2**64 - 1 are one key. */
static int open_int(OneKey* key, PyObject* number) {
  uint64_t value = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    value = (uint64_t)PyLong_AsLongLong(number);
    if (PyErr_Occurred()) {
      PyErr_SetString(PyExc_OverflowError, "an int that is a key has 64 bits");
      return -1;
    }
  }
  for (int i = 0; i < 8; i++) key->number[i] = (unsigned char)(value >> (8 * i));
  key->data = key->number;
  key->bytes = 8;
  return 0;
}

/* Takes NumPy's numbers, and other objects that are not an int but exactly an integer. */
static int open_index(OneKey* key, PyObject* object) {
  PyObject* number = PyNumber_Index(object);
  if (number == NULL) return -1;
  int done = open_int(key, number);
  Py_DECREF(number);
  return done;
}

static int is_bytes(const Py_buffer* view) {
  return view->itemsize == 1 && view->ndim == 1 &&
         (view->format == NULL || strcmp(view->format, "B") == 0 || strcmp(view->format, "c") == 0);
}

/* Takes a sequence of bytes.  An array of numbers is not a key: its bytes depend on the numbers' width.  Nor is a
 * number that shows its bytes, such as NumPy's datetime64: equal times in different units have different bytes. */
static int open_buffer(OneKey* key, PyObject* object) {
  if (refuse_masked(object) < 0) return -1;
  if (PyObject_GetBuffer(object, &key->view, PyBUF_ND | PyBUF_FORMAT) < 0) {
    key->view.obj = NULL;
    return -1;
  }
  if (is_bytes(&key->view) && PySequence_Check(object)) {
    key->data = key->view.buf;
    key->bytes = (size_t)key->view.len;
    return 0;
  }
  PyBuffer_Release(&key->view);
  key->view.obj = NULL;
  return PyIndex_Check(object) ? open_index(key, object) : refuse(object);
}

/* Refuses NumPy's masked arrays, which show the values under the mask. */
int refuse_masked(PyObject* object) {
  if (PyBytes_Check(object) || PyByteArray_Check(object) || PyMemoryView_Check(object)) return 0;
  PyObject* mask = NULL;
  PyObject* compressed = PyObject_GetAttrString(object, "compressed");
  if (compressed != NULL) mask = PyObject_GetAttrString(object, "mask");
  Py_XDECREF(compressed);
  if (mask == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
  }
  Py_DECREF(mask);
  PyErr_SetString(PyExc_TypeError, "a masked array: the keys that are not masked are its compressed()");
  return -1;
}

int key_open_other(OneKey* key, PyObject* object) {
  Py_ssize_t bytes = 0;
  if (PyUnicode_Check(object)) {
    key->data = PyUnicode_AsUTF8AndSize(object, &bytes);
    key->bytes = (size_t)bytes;
    return key->data == NULL ? -1 : 0;
  }
  if (PyBytes_Check(object)) { /* a subclass, such as NumPy's, whose buffer has another format */
    char* data = NULL;
    const int done = PyBytes_AsStringAndSize(object, &data, &bytes);
    key->data = data;
    key->bytes = (size_t)bytes;
    return done;
  }
  if (PyBool_Check(object) || PyFloat_Check(object)) return refuse(object);
  if (PyLong_Check(object)) return open_int(key, object);
  if (PyObject_CheckBuffer(object)) return open_buffer(key, object);
  return PyIndex_Check(object) ? open_index(key, object) : refuse(object);
}

int digest_of(PyObject* object, uint64_t* digest) {
  if (PyBool_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "a digest is an int, not a bool");
    return -1;
  }
  PyObject* number = PyNumber_Index(object);
  if (number == NULL) return -1;
  *digest = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return PyErr_Occurred() ? -1 : 0;
}
