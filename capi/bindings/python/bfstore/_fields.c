/* The structs of bfstore.h from dicts and as dicts: a table for each, whose offsets the C compiler knows. */
#include "_bfstore.h"

enum kind { INT32, UINT32, UINT64, DOUBLE, PATH, BYTES, SEEDS, ID, TEXT, INTERVAL, END };

typedef struct Field {
  const char* name;
  enum kind kind;
  size_t offset;
  size_t length_offset; /* of BYTES and SEEDS: where their length or number is */
} Field;

#define FIELD(type, kind, name) \
  { #name, kind, offsetof(type, name), 0 }
#define COUNTED(type, kind, name, length) \
  { #name, kind, offsetof(type, name), offsetof(type, length) }
#define LAST \
  { NULL, END, 0, 0 }

/* --- From dicts --------------------------------------------------------------------------------------------------- */

static int fill_number(char* record, const Field* field, PyObject* value) {
  uint64_t number = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) return -1;
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

/* 0 would be "not given". */
static int fill_double(char* record, const Field* field, PyObject* value) {
  double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred()) return -1;
  if (number == 0) number = -0.0;
  memcpy(record + field->offset, &number, sizeof number);
  return 0;
}

/* The struct points into the bytes object.  A path ends at its NUL: one inside is a ValueError. */
static int fill_bytes(char* record, const Field* field, PyObject* value) {
  char* data = NULL;
  Py_ssize_t bytes = 0;
  if (PyBytes_AsStringAndSize(value, &data, field->kind == PATH ? NULL : &bytes) < 0) return -1;
  if (field->kind == ID) {
    if (bytes != 16) {
      PyErr_Format(PyExc_ValueError, "%s has 16 bytes", field->name);
      return -1;
    }
    memcpy(record + field->offset, data, 16);
    return 0;
  }
  memcpy(record + field->offset, &data, sizeof data);
  const uint64_t length = (uint64_t)bytes / (field->kind == SEEDS ? sizeof(uint32_t) : 1);
  if (field->kind != PATH) memcpy(record + field->length_offset, &length, sizeof length);
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

#define OPTION(kind, name) FIELD(bfs_options, kind, name)
static const Field options_fields[] = {
    OPTION(UINT32, mode),
    OPTION(UINT64, flags),
    OPTION(UINT64, capacity),
    OPTION(DOUBLE, fpr),
    OPTION(DOUBLE, bits_per_key),
    OPTION(UINT64, max_bytes),
    OPTION(UINT64, num_bits),
    OPTION(UINT32, num_probes),
    OPTION(UINT32, layout),
    OPTION(UINT32, hash),
    OPTION(UINT64, seed),
    OPTION(PATH, like),
    COUNTED(bfs_options, BYTES, note, note_bytes),
    COUNTED(bfs_options, BYTES, key, key_bytes),
    OPTION(UINT32, lock_timeout_ms),
    OPTION(UINT32, writeback_check_ms),
    OPTION(ID, file_id),
    COUNTED(bfs_options, SEEDS, seeds, num_seeds),
    LAST,
};

#define OPEN_OPTION(kind, name) FIELD(bfs_open_options, kind, name)
static const Field open_options_fields[] = {
    OPEN_OPTION(INT32, fd),
    OPEN_OPTION(UINT64, flags),
    COUNTED(bfs_open_options, BYTES, key, key_bytes),
    OPEN_OPTION(UINT64, offset),
    OPEN_OPTION(UINT64, max_bytes),
    OPEN_OPTION(UINT32, lock_timeout_ms),
    OPEN_OPTION(UINT32, writeback_check_ms),
    LAST,
};

#define COPY_OPTION(kind, name) FIELD(bfs_copy_options, kind, name)
static const Field copy_options_fields[] = {
    COPY_OPTION(UINT32, mode),
    COPY_OPTION(UINT64, flags),
    COPY_OPTION(UINT32, lock_timeout_ms),
    COPY_OPTION(DOUBLE, fpr),
    LAST,
};

#define REQUEST(kind, name) FIELD(bfs_plan_request, kind, name)
static const Field plan_request_fields[] = {
    REQUEST(UINT32, layout),    REQUEST(UINT64, capacity), REQUEST(DOUBLE, fpr),        REQUEST(DOUBLE, bits_per_key),
    REQUEST(UINT64, max_bytes), REQUEST(UINT64, num_bits), REQUEST(UINT32, num_probes), LAST,
};

int fill_options(bfs_options* options, PyObject* given) {
  *options = (bfs_options)BFS_OPTIONS_INIT;
  return fill(options, options_fields, given);
}

int fill_open_options(bfs_open_options* options, PyObject* given) {
  *options = (bfs_open_options)BFS_OPEN_OPTIONS_INIT;
  return fill(options, open_options_fields, given);
}

int fill_copy_options(bfs_copy_options* options, PyObject* given) {
  *options = (bfs_copy_options)BFS_COPY_OPTIONS_INIT;
  return fill(options, copy_options_fields, given);
}

int fill_plan_request(bfs_plan_request* request, PyObject* given) {
  *request = (bfs_plan_request)BFS_PLAN_REQUEST_INIT;
  return fill(request, plan_request_fields, given);
}

/* --- As dicts ----------------------------------------------------------------------------------------------------- */

static PyObject* value_of(const char* at, enum kind kind) {
  int32_t int32;
  uint32_t uint32;
  uint64_t uint64;
  double number;
  bfs_interval interval;
  switch (kind) {
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
      return PyBytes_FromStringAndSize(at, 16);
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
    PyObject* value = value_of((const char*)record + field->offset, field->kind);
    if (value == NULL || PyDict_SetItemString(dict, field->name, value) < 0) Py_CLEAR(dict);
    Py_XDECREF(value);
  }
  return dict;
}

#define PLAN(kind, name) FIELD(bfs_plan_result, kind, name)
static const Field plan_fields[] = {
    PLAN(UINT32, layout),       PLAN(UINT32, num_probes),
    PLAN(UINT32, abilities),    PLAN(UINT64, num_bits),
    PLAN(UINT64, capacity),     PLAN(DOUBLE, fpr),
    PLAN(DOUBLE, bits_per_key), PLAN(UINT64, body_bytes),
    PLAN(UINT64, file_bytes),   PLAN(DOUBLE, fill_ratio),
    PLAN(DOUBLE, bloom_fpr),    PLAN(DOUBLE, cache_lines),
    PLAN(DOUBLE, page_faults),  LAST,
};

#define FACT(kind, name) FIELD(bfs_statistics, kind, name)
static const Field statistics_fields[] = {
    FACT(UINT32, layout),
    FACT(UINT32, hash),
    FACT(UINT32, num_probes),
    FACT(UINT64, num_bits),
    FACT(UINT64, capacity),
    FACT(DOUBLE, fpr),
    FACT(UINT64, seed),
    FACT(UINT64, body_bytes),
    FACT(UINT64, keys_added),
    FACT(INT32, health),
    FACT(UINT32, saturated),
    FACT(UINT32, has_fill),
    FACT(UINT32, has_memory),
    FACT(UINT64, set_bits),
    FACT(DOUBLE, fill_ratio),
    FACT(DOUBLE, estimated_keys),
    FACT(DOUBLE, estimated_keys_low),
    FACT(DOUBLE, estimated_keys_high),
    FACT(DOUBLE, estimated_fpr),
    FACT(UINT64, huge_page_bytes),
    FACT(UINT64, resident_bytes),
    FACT(TEXT, isa),
    FACT(ID, file_id),
    FACT(UINT64, keys_removed),
    FACT(UINT64, counters_at_15),
    LAST,
};

#define COMMON(kind, name) FIELD(bfs_comparison, kind, name)
static const Field comparison_fields[] = {
    COMMON(UINT32, differs),       COMMON(UINT32, comparable),    COMMON(UINT32, equal),     COMMON(UINT32, a_in_b),
    COMMON(UINT32, b_in_a),        COMMON(UINT32, some_in_both),  COMMON(UINT64, num_bits),  COMMON(UINT64, set_bits_a),
    COMMON(UINT64, set_bits_b),    COMMON(UINT64, set_bits_both), COMMON(INTERVAL, keys_a),  COMMON(INTERVAL, keys_b),
    COMMON(INTERVAL, keys_either), COMMON(INTERVAL, keys_both),   COMMON(INTERVAL, jaccard), LAST,
};

#define FOREIGN(kind, name) FIELD(bfs_foreign, kind, name)
static const Field foreign_fields[] = {
    FOREIGN(UINT32, needs),
    FOREIGN(UINT32, layout),
    FOREIGN(UINT32, hash),
    FOREIGN(UINT64, num_bits),
    FOREIGN(UINT64, capacity),
    FOREIGN(DOUBLE, fpr),
    FOREIGN(UINT64, keys),
    FOREIGN(UINT64, bytes),
    FOREIGN(UINT32, num_probes),
    FOREIGN(UINT32, has_keys),
    LAST,
};

PyObject* dict_of_plan(const bfs_plan_result* plan) { return dict_of(plan, plan_fields); }
PyObject* dict_of_statistics(const bfs_statistics* statistics) { return dict_of(statistics, statistics_fields); }
PyObject* dict_of_comparison(const bfs_comparison* comparison) { return dict_of(comparison, comparison_fields); }
PyObject* dict_of_foreign(const bfs_foreign* foreign) { return dict_of(foreign, foreign_fields); }
