/* The numbers of the headers, and their structs from dicts and as dicts, by the tables of _abi.h. */
#include "_internal.h"

enum kind {
  INT32,
  UINT32,
  UINT64,
  DOUBLE,
  PATH,  /* a pointer to text */
  BYTES, /* a pointer to bytes, and their number in another field */
  SEEDS, /* a pointer to uint32_t, and their number in another field */
  AT,    /* a pointer to one thing */
  ID,    /* an array of bytes */
  TEXT,
  BYTES_IN, /* an array, and how much of it is used in another field */
  SEEDS_IN,
  DOUBLES, /* an array */
  INTERVAL,
  END
};

typedef struct Field {
  const char* name;
  enum kind kind;
  size_t offset;
  size_t length; /* ID and TEXT: the bytes of the array.  DOUBLES: their number.  AT: the bytes that the pointer points
                    to.  Otherwise: the offset of the field with the length */
} Field;

typedef struct Number {
  const char* name;
  int is_signed;
  uint64_t value;
} Number;

#include "_abi.h"

static PyObject* value_of_number(const Number* number) {
  if (number->is_signed) return PyLong_FromLongLong((long long)number->value);
  return PyLong_FromUnsignedLongLong(number->value);
}

int add_numbers(PyObject* module) {
  int done = 0;
  for (size_t i = 0; done == 0 && i < sizeof numbers / sizeof *numbers; i++) {
    PyObject* value = value_of_number(&numbers[i]);
    done = PyModule_AddObjectRef(module, numbers[i].name, value);
    Py_XDECREF(value);
  }
  return done;
}

/* --- From dicts --------------------------------------------------------------------------------------------------- */

/* Python's own errors do not say which option they are about.  `kind`: "an integer". */
static int refuse_value(const Field* field, const char* kind, PyObject* value) {
  const int is_range = PyErr_ExceptionMatches(PyExc_OverflowError);
  if (!is_range && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  if (is_range) {
    PyErr_Format(PyExc_OverflowError, "%s is negative or too large: %R", field->name, value);
  } else {
    PyErr_Format(PyExc_TypeError, "%s is not %s: %R", field->name, kind, value);
  }
  return -1;
}

/* Python takes a bool for 0 or 1. */
static int refuse_bool(const Field* field, const char* kind, PyObject* value) {
  PyErr_SetNone(PyExc_TypeError);
  return refuse_value(field, kind, value);
}

static int fill_number(char* record, const Field* field, PyObject* value) {
  if (PyBool_Check(value)) return refuse_bool(field, "an integer", value);
  uint64_t number = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) return refuse_value(field, "an integer", value);
  if (field->kind == UINT64) {
    memcpy(record + field->offset, &number, sizeof number);
    return 0;
  }
  const uint32_t narrow = (uint32_t)number;
  if (number > (field->kind == INT32 ? INT32_MAX : UINT32_MAX)) {
    PyErr_Format(PyExc_OverflowError, "%s is too large", field->name);
    return -1;
  }
  memcpy(record + field->offset, &narrow, sizeof narrow);
  return 0;
}

/* Refuses 0, which would mean "not given". */
static int fill_double(char* record, const Field* field, PyObject* value) {
  if (PyBool_Check(value)) return refuse_bool(field, "a number", value);
  double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred()) return refuse_value(field, "a number", value);
  if (number == 0) number = -0.0;
  memcpy(record + field->offset, &number, sizeof number);
  return 0;
}

/* Makes the struct point into the bytes object, whose bytes are aligned as malloc's.  A path ends at its NUL, so a NUL
 * inside is a ValueError. */
static int fill_bytes(char* record, const Field* field, PyObject* value) {
  char* data = NULL;
  Py_ssize_t bytes = 0;
  if (PyBytes_AsStringAndSize(value, &data, field->kind == PATH ? NULL : &bytes) < 0)
    return refuse_value(field, "bytes", value);
  memcpy(record + field->offset, &data, sizeof data);
  if (field->kind == PATH) return 0;
  if (field->kind == AT) {
    if ((size_t)bytes == field->length) return 0;
    PyErr_Format(PyExc_ValueError, "%s has %zu bytes, and not %zd", field->name, field->length, bytes);
    return -1;
  }
  const uint64_t length = (uint64_t)bytes / (field->kind == SEEDS ? sizeof(uint32_t) : 1);
  memcpy(record + field->length, &length, sizeof length);
  return 0;
}

static int fill_field(char* record, const Field* field, PyObject* value) {
  switch (field->kind) {
    case INT32:
    case UINT32:
    case UINT64:
      return fill_number(record, field, value);
    case DOUBLE:
      return fill_double(record, field, value);
    default:
      return fill_bytes(record, field, value);
  }
}

static const Field* find(const Field* fields, PyObject* name) {
  while (fields->kind != END && PyUnicode_CompareWithASCIIString(name, fields->name) != 0) fields++;
  return fields;
}

static int fill(void* record, const Field* fields, PyObject* given) {
  PyObject *name = NULL, *value = NULL;
  for (Py_ssize_t at = 0; PyDict_Next(given, &at, &name, &value);) {
    const Field* field = find(fields, name);
    if (field->kind == END) {
      PyErr_Format(PyExc_TypeError, "there is no option %R here", name);
      return -1;
    }
    if (fill_field(record, field, value) < 0) return -1;
  }
  return 0;
}

int fill_options(bfs_options* options, PyObject* given) {
  *options = (bfs_options)BFS_OPTIONS_INIT;
  return fill(options, bfs_options_fields, given);
}

int fill_plan_request(bfs_plan_request* request, PyObject* given) {
  *request = (bfs_plan_request)BFS_PLAN_REQUEST_INIT;
  return fill(request, bfs_plan_request_fields, given);
}

/* --- As dicts ----------------------------------------------------------------------------------------------------- */

static PyObject* tuple_of(const char* seeds, uint32_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (uint32_t i = 0; tuple != NULL && i < count; i++) {
    uint32_t seed;
    memcpy(&seed, seeds + i * sizeof seed, sizeof seed);
    PyObject* number = PyLong_FromUnsignedLong(seed);
    if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject* tuple_of_doubles(const char* at, size_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    double value;
    memcpy(&value, at + i * sizeof value, sizeof value);
    PyObject* number = PyFloat_FromDouble(value);
    if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject* value_of(const char* record, const Field* field) {
  const char* at = record + field->offset;
  int32_t int32;
  uint32_t uint32;
  uint64_t uint64;
  double number;
  bfs_interval interval;
  switch (field->kind) {
    case INT32:
      memcpy(&int32, at, sizeof int32);
      return PyLong_FromLong(int32);
    case UINT32:
      memcpy(&uint32, at, sizeof uint32);
      return PyLong_FromUnsignedLong(uint32);
    case UINT64:
      memcpy(&uint64, at, sizeof uint64);
      return PyLong_FromUnsignedLongLong(uint64);
    case DOUBLE:
      memcpy(&number, at, sizeof number);
      return PyFloat_FromDouble(number);
    case ID:
      return PyBytes_FromStringAndSize(at, (Py_ssize_t)field->length);
    case BYTES_IN:
      memcpy(&uint32, record + field->length, sizeof uint32);
      return PyBytes_FromStringAndSize(at, (Py_ssize_t)uint32);
    case SEEDS_IN:
      memcpy(&uint32, record + field->length, sizeof uint32);
      return tuple_of(at, uint32);
    case DOUBLES:
      return tuple_of_doubles(at, field->length);
    case TEXT:
      return PyUnicode_FromString(at);
    default:
      memcpy(&interval, at, sizeof interval);
      return Py_BuildValue("ddd", interval.estimate, interval.low, interval.high);
  }
}

static PyObject* dict_of(const void* record, const Field* field) {
  PyObject* dict = PyDict_New();
  for (; dict != NULL && field->kind != END; field++) {
    PyObject* value = value_of(record, field);
    if (value == NULL || PyDict_SetItemString(dict, field->name, value) < 0) Py_CLEAR(dict);
    Py_XDECREF(value);
  }
  return dict;
}

PyObject* dict_of_plan(const bfs_plan_result* plan) { return dict_of(plan, bfs_plan_result_fields); }
PyObject* dict_of_statistics(const bfs_statistics* statistics) { return dict_of(statistics, bfs_statistics_fields); }
PyObject* dict_of_comparison(const bfs_comparison* comparison) { return dict_of(comparison, bfs_comparison_fields); }
PyObject* dict_of_foreign(const bfs_foreign* foreign) { return dict_of(foreign, bfs_foreign_fields); }
