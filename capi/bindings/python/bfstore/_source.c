/* Many keys: lists and other iterables, buffers of keys of one width, arrays of 64-bit integers. */
#include "_internal.h"

/* --- Lists -------------------------------------------------------------------------------------------------------- */

/* Copies a key that is in a buffer, since the buffer is released before the call. */
static int copy_key(Source* source, OneKey* key, bfs_key* pair) {
  void* room = source_memory(source, key->bytes, 1);
  if (room == NULL) return -1;
  if (key->bytes > 0) memcpy(room, key->data, key->bytes);
  pair->data = room;
  return 0;
}

static int add_pair(Source* source, PyObject* object, bfs_key* pair, unsigned char* number) {
  OneKey key;
  if (key_open(&key, object) < 0) return -1;
  pair->data = key.data;
  pair->bytes = key.bytes;
  int done = 0;
  if (key.data == key.number) {
    memcpy(number, key.number, sizeof key.number);
    pair->data = number;
  } else if (key.view.obj != NULL) {
    done = copy_key(source, &key, pair);
  }
  key_close(&key);
  return done;
}

/* Says which key of a list an error is about.  The text of a UnicodeEncodeError is made of its fields, so it gets a
 * note. */
static int name_key(const Source* source, size_t i) {
  PyObject *kind, *error, *trace;
  const unsigned long long number = source->first + i;
  PyErr_Fetch(&kind, &error, &trace);
  PyErr_NormalizeException(&kind, &error, &trace);
  if (kind == PyExc_TypeError || kind == PyExc_OverflowError) {
    PyErr_Format(kind, "key %llu: %S", number, error);
    Py_DECREF(kind);
    Py_DECREF(error);
    Py_XDECREF(trace);
    return -1;
  }
  PyObject* note = PyUnicode_FromFormat("key %llu", number);
  PyObject* done = note == NULL ? NULL : PyObject_CallMethod(error, "add_note", "O", note);
  Py_XDECREF(note);
  Py_XDECREF(done);
  PyErr_Restore(kind, error, trace);
  return -1;
}

/* Adds the keys of a list.  One block of numbers holds all ints of the list; a list without an int needs none. */
static int add_keys_of(Source* source, PyObject* tuple, size_t count) {
  bfs_key* pairs = source_memory(source, count, sizeof *pairs);
  unsigned char* numbers = NULL;
  unsigned char none[8];
  if (pairs == NULL) return -1;
  for (size_t i = 0; i < count; i++) {
    PyObject* object = PyTuple_GetItem(tuple, (Py_ssize_t)i);
    int exact = PyBytes_CheckExact(object) || PyUnicode_CheckExact(object);
    if (!exact && numbers == NULL && (numbers = source_memory(source, count, 8)) == NULL) return -1;
    if (add_pair(source, object, &pairs[i], exact ? none : numbers + 8 * i) < 0) return name_key(source, i);
  }
  bfs_keys part = bfs_keys_pairs(pairs, count);
  return source_add(source, &part);
}

static int add_digests_of(Source* source, PyObject* tuple, size_t count) {
  uint64_t* digests = source_memory(source, count, sizeof *digests);
  if (digests == NULL) return -1;
  for (size_t i = 0; i < count; i++)
    if (digest_of(PyTuple_GetItem(tuple, (Py_ssize_t)i), &digests[i]) < 0) return name_key(source, i);
  bfs_keys part = bfs_keys_digests(digests, count);
  return source_add(source, &part);
}

/* Makes a tuple, since another thread may change a list as soon as the GIL is released. */
static int add_iterable(Source* source, PyObject* keys) {
  PyObject* tuple = PySequence_Tuple(keys);
  if (tuple == NULL) return -1;
  int done = PyList_Append(source->kept, tuple);
  size_t count = (size_t)PyTuple_Size(tuple);
  if (done == 0) done = source->digests ? add_digests_of(source, tuple, count) : add_keys_of(source, tuple, count);
  Py_DECREF(tuple);
  return done;
}

/* --- Buffers ------------------------------------------------------------------------------------------------------ */

static int refuse(PyObject* kind, const char* words) {
  PyErr_SetString(kind, words);
  return -1;
}

static int host_is_little(void) {
  const unsigned short one = 1;
  return *(const unsigned char*)&one == 1;
}

/* Returns the letter of an item's format, if its bytes are little-endian (or, with `native`, in the host's order); 0
 * for any other format. */
static char letter_of(const Py_buffer* view, int native) {
  const char* format = view->format == NULL ? "B" : view->format;
  int is_native = view->itemsize == 1 || *format != '<';
  if (*format != 0 && strchr("<@=", *format) != NULL) format++;
  if (is_native != native && view->itemsize > 1 && !host_is_little()) return 0;
  while (*format >= '0' && *format <= '9') format++;
  return format[0] != 0 && format[1] == 0 ? format[0] : 0;
}

/* Returns the bytes from one item of a dimension to the next.  ctypes gives no strides, even if asked for them. */
static Py_ssize_t stride_of(const Py_buffer* view, int dimension) {
  if (view->strides != NULL) return view->strides[dimension];
  return dimension == view->ndim - 1 ? view->itemsize : view->shape[view->ndim - 1] * view->itemsize;
}

static int add_fixed(Source* source, Py_ssize_t key_bytes, Py_ssize_t stride, Py_ssize_t count) {
  if (key_bytes <= 0) return refuse(PyExc_ValueError, "keys of a fixed width have at least one byte");
  if (count > 1 && stride < key_bytes) return refuse(PyExc_ValueError, "the keys in the buffer overlap, or descend");
  bfs_keys part = bfs_keys_fixed(source->view.buf, (size_t)key_bytes, (size_t)count);
  part.stride = count > 1 ? (uint64_t)stride : 0;
  return source_add(source, &part);
}

static int add_bytes(Source* source, Py_ssize_t width) {
  const Py_buffer* view = &source->view;
  if (stride_of(view, view->ndim - 1) != 1 && view->shape[view->ndim - 1] > 1)
    return refuse(PyExc_ValueError, "the bytes of a key do not follow each other in the buffer");
  if (view->ndim == 2) {
    if (width != 0 && width != view->shape[1]) return refuse(PyExc_ValueError, "the rows have another width");
    return add_fixed(source, view->shape[1], stride_of(view, 0), view->shape[0]);
  }
  if (width == 0)
    return refuse(PyExc_TypeError,
                  "a buffer of bytes needs width=, the bytes of each key; for a single key there are other methods");
  if (view->len % width != 0) return refuse(PyExc_ValueError, "the buffer's length is not a multiple of width");
  return add_fixed(source, width, width, view->len / width);
}

static int add_digest_buffer(Source* source) {
  const Py_buffer* view = &source->view;
  const char letter = letter_of(view, 1);
  if (view->ndim != 1 || view->itemsize != 8 || (letter != 'Q' && letter != 'L'))
    return refuse(PyExc_TypeError, "digests are unsigned 64-bit integers, as in array('Q')");
  if ((stride_of(view, 0) != 8 && view->shape[0] > 1) || (uintptr_t)view->buf % 8 != 0)
    return refuse(PyExc_ValueError, "the digests are not aligned, or do not follow each other");
  bfs_keys part = bfs_keys_digests(view->buf, (size_t)view->shape[0]);
  return source_add(source, &part);
}

/* Adds a buffer as rows of bytes, 64-bit integers, or text that NumPy padded.  Returns 0 if the caller must iterate
 * over it. */
static int add_key_buffer(Source* source, Py_ssize_t width) {
  const Py_buffer* view = &source->view;
  const char letter = letter_of(view, 0);
  if (letter == 'O' || letter == 'w') return 0;
  if (view->itemsize == 1 && (letter == 'B' || letter == 'c')) return add_bytes(source, width) < 0 ? -1 : 1;
  if (view->ndim == 1 && view->itemsize == 8 && letter != 0 && strchr("qQlLnN", letter) != NULL &&
      (width == 0 || width == 8))
    return add_fixed(source, 8, stride_of(view, 0), view->shape[0]) < 0 ? -1 : 1;
  if (view->ndim == 1 && (letter == 's' || letter == 'x')) {
    if (width == view->itemsize) return add_fixed(source, width, stride_of(view, 0), view->shape[0]) < 0 ? -1 : 1;
    return refuse(PyExc_TypeError,
                  "text of a fixed width is padded with NULs: width= of the items takes it so, a list does not");
  }
  PyErr_Format(PyExc_TypeError,
               "keys in a buffer are rows of bytes or 64-bit integers in little-endian order, not '%s'",
               view->format == NULL ? "B" : view->format);
  return -1;
}

static int add_buffer(Source* source, PyObject* keys, Py_ssize_t width) {
  if (refuse_masked(keys) < 0) return -1;
  if (PyObject_GetBuffer(keys, &source->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    source->view.obj = NULL;
    return -1;
  }
  if (source->view.ndim < 1 || source->view.ndim > 2 || source->view.shape == NULL)
    return refuse(PyExc_TypeError, "many keys are in a buffer of one or two dimensions");
  if (source->digests) return add_digest_buffer(source) < 0 ? -1 : 1;
  return add_key_buffer(source, width);
}

/* --- All kinds ---------------------------------------------------------------------------------------------------- */

static int add_any(Source* source, PyObject* keys, Py_ssize_t width) {
  if (PyUnicode_Check(keys))
    return refuse(
        PyExc_TypeError,
        "a str is one key, for add() or contains(); this is for many: a list or another iterable of keys, or a column");
  if (width < 0) return refuse(PyExc_ValueError, "width is negative");
  if (!PyList_Check(keys) && !PyTuple_Check(keys)) {
    int done = width == 0 ? source_add_arrow(source, keys) : 0;
    if (done == 0 && PyObject_CheckBuffer(keys)) done = add_buffer(source, keys, width);
    if (done != 0) return done < 0 ? -1 : 0;
  }
  if (width != 0) return refuse(PyExc_TypeError, "width= is for buffers");
  if (PyType_GetSlot(Py_TYPE(keys), Py_tp_iter) == NULL && !PySequence_Check(keys)) {
    PyErr_Format(PyExc_TypeError, "keys are a list or another iterable of keys, a buffer or a column, not %R",
                 (PyObject*)Py_TYPE(keys));
    return -1;
  }
  return add_iterable(source, keys);
}

int source_open(Source* source, PyObject* keys, Py_ssize_t width, int digests, uint64_t first) {
  memset(source, 0, sizeof *source);
  source->first = first;
  source->digests = digests;
  source->kept = PyList_New(0);
  if (source->kept == NULL) return -1;
  if (add_any(source, keys, width) == 0) return 0;
  source_close(source);
  return -1;
}
