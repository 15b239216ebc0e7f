/* `size`: PyTorch's method and NumPy's attribute. `x.size()` is the shape, `x.size` the number of elements.
 *
 * Python does not fetch a method before it calls it: a method descriptor is called with the instance for its first
 * argument, which is how `x.size(0)` gets to the method at its own price.  Only where `size` is not called at once is the
 * attribute made, an int that can be called (element_count.py).
 */
#ifndef GS_SIZE_METHOD_H
#define GS_SIZE_METHOD_H

#include <Python.h>
#include <stddef.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *method; /* owned */
    PyObject *count;  /* what makes the attribute of a tensor, owned */
} gs_size_method;

static PyObject *
gs_size_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    return PyObject_Vectorcall(((gs_size_method *)self)->method, args, count, names);
}

static PyObject *
gs_size_get(PyObject *self, PyObject *tensor, PyObject *type)
{
    (void)type;
    if (tensor == NULL) {
        PyObject *method = ((gs_size_method *)self)->method;
        Py_INCREF(method);
        return method;
    }
    return PyObject_CallOneArg(((gs_size_method *)self)->count, tensor);
}

static PyTypeObject gs_size_method_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradsmith.size_method",
    .tp_basicsize = sizeof(gs_size_method),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(gs_size_method, call),
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = gs_size_get,
};

/* Put it into a class, for whose life it stays; -1 with an exception when there is no memory for it. */
static int
gs_add_size(PyTypeObject *type, PyObject *method, PyObject *count)
{
    gs_size_method *size;
    int status;
    if (PyType_Ready(&gs_size_method_type) < 0) {
        return -1;
    }
    size = PyObject_New(gs_size_method, &gs_size_method_type);
    if (size == NULL) {
        return -1;
    }
    Py_INCREF(method);
    Py_INCREF(count);
    size->call = gs_size_call;
    size->method = method;
    size->count = count;
    status = PyDict_SetItemString(type->tp_dict, "size", (PyObject *)size);
    PyType_Modified(type);
    return status;
}

#endif
