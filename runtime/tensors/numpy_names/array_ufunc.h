/* `__array_ufunc__`, which NumPy calls for each ufunc of a tensor.
 *
 * Written in C for its price: NumPy hands over the arguments as an array, and the op takes them from there. A method that
 * Cython writes with *inputs and **kwargs would make a tuple and a dict of them first.
 */
#ifndef GS_ARRAY_UFUNC_H
#define GS_ARRAY_UFUNC_H

#include <Python.h>

#include <string.h>

static PyObject *gs_op_of_ufunc = NULL; /* dict from ufunc to op, owned */
static PyObject *gs_other_ufunc = NULL; /* what is called for all the rest, owned */
static PyObject *gs_is_foreign = NULL;  /* has one of its arguments ufuncs of its own? owned */

/* Ufuncs of the last calls, by their addresses, and their ops; both live as long as the dict has them. */
#define GS_KNOWN_UFUNCS 64
static struct {
    PyObject *ufunc, *op;
} gs_known_ufuncs[GS_KNOWN_UFUNCS];

/* To be called when the dict changes. */
static void
gs_forget_ufuncs(void)
{
    memset(gs_known_ufuncs, 0, sizeof(gs_known_ufuncs));
}

/* Borrowed; NULL if there is none, or with an exception. */
static PyObject *
gs_find_op(PyObject *ufunc)
{
    size_t place = ((size_t)ufunc / sizeof(void *) / 2) % GS_KNOWN_UFUNCS;
    if (gs_known_ufuncs[place].ufunc != ufunc) {
        PyObject *op = PyDict_GetItemWithError(gs_op_of_ufunc, ufunc);
        if (op == NULL) {
            return NULL;
        }
        gs_known_ufuncs[place].ufunc = ufunc;
        gs_known_ufuncs[place].op = op;
    }
    return gs_known_ufuncs[place].op;
}

/* Is this the method of a plain call, "__call__"? */
static int
gs_is_plain_call(PyObject *method)
{
    return PyUnicode_CheckExact(method) && PyUnicode_IS_ASCII(method) && PyUnicode_GET_LENGTH(method) == 8 &&
           memcmp(PyUnicode_1BYTE_DATA(method), "__call__", 8) == 0;
}

/* NotImplemented if an operand has `__array_ufunc__` and is neither a tensor nor NumPy's; else the error that there is. */
static PyObject *
gs_left_to_others(PyObject *const *operands, Py_ssize_t count)
{
    PyObject *type, *value, *traceback, *answer;
    PyErr_Fetch(&type, &value, &traceback);
    answer = PyObject_Vectorcall(gs_is_foreign, operands, (size_t)count, NULL);
    if (answer == Py_True) {
        Py_DECREF(answer);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (answer == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(answer);
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static PyObject *
gs_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self; /* one of the operands, or the output */
    if (names == NULL && count > 2 && gs_is_plain_call(args[1])) {
        PyObject *op = gs_find_op(args[0]);
        if (op != NULL) {
            PyObject *result;
            Py_INCREF(op);
            result = PyObject_Vectorcall(op, args + 2, (size_t)(count - 2), NULL);
            Py_DECREF(op);
            /* Was it an operand of a class that knows ufuncs itself? Then NumPy asks that next. */
            if (result == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
                return gs_left_to_others(args + 2, count - 2);
            }
            return result;
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    return PyObject_Vectorcall(gs_other_ufunc, args, (size_t)count, names);
}

static PyMethodDef gs_array_ufunc_def = {
    "__array_ufunc__", (PyCFunction)(void (*)(void))gs_array_ufunc, METH_FASTCALL | METH_KEYWORDS,
    "What a ufunc of NumPy gives for operands of which one is a tensor, or for a tensor to write to."};

/* Put the method into a class; -1 with an exception when there is no memory for it. */
static int
gs_add_array_ufunc(PyTypeObject *type, PyObject *ops, PyObject *other, PyObject *is_foreign)
{
    int status;
    PyObject *method = PyDescr_NewMethod(type, &gs_array_ufunc_def);
    if (method == NULL) {
        return -1;
    }
    Py_INCREF(ops);
    Py_INCREF(other);
    Py_INCREF(is_foreign);
    gs_op_of_ufunc = ops;
    gs_other_ufunc = other;
    gs_is_foreign = is_foreign;
    status = PyDict_SetItemString(type->tp_dict, "__array_ufunc__", method);
    Py_DECREF(method);
    PyType_Modified(type);
    return status;
}

#endif
