/* The type bfstore._bfstore.Handle, made of the parts in the other sources. */
#include "_internal.h"

/* The methods of every source, one table after the other. */
static PyMethodDef all_methods[100];

static void collect_methods(void) {
  const PyMethodDef* const tables[] = {lookup_methods, form_methods, life_methods};
  size_t count = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const PyMethodDef* method = tables[i]; method->ml_name != NULL; method++) all_methods[count++] = *method;
}

static PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, (void*)handle_dealloc},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, handle_properties},
    {Py_sq_contains, (void*)handle_in},
    {0, NULL},
};

/* Its name is that of the subclass that users see, since Python's errors about arguments show it. */
static PyType_Spec handle_spec = {"bfstore._bfstore.Filter", sizeof(Handle), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  handle_slots};

PyObject* handle_type_new(PyObject* module) {
  collect_methods();
  return PyType_FromModuleAndSpec(module, &handle_spec, NULL);
}
