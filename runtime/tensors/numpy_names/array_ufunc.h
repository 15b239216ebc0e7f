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
static PyObject *gs_numpys_error = NULL; /* takes an error and the operands, gives NumPy's kind of error; owned */

/* Are there integers among the operands, in a function of arrays? Then the dtype of the result is NumPy's. */
static int (*gs_joins_integers)(PyObject *const *operands, Py_ssize_t count) = NULL;

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

/* Ops raise what PyTorch raises. The error that there is, in the kind that NumPy's function has for it. */
static PyObject *
gs_raise_as_numpy(PyObject *const *operands, Py_ssize_t count)
{
    PyObject *type, *value, *traceback, *given, *error = NULL;
    Py_ssize_t n;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    given = PyTuple_New(count);
    if (given != NULL && value != NULL) {
        for (n = 0; n < count; n++) {
            Py_INCREF(operands[n]);
            PyTuple_SET_ITEM(given, n, operands[n]);
        }
        error = PyObject_CallFunctionObjArgs(gs_numpys_error, value, given, NULL);
    }
    Py_XDECREF(given);
    if (error == NULL || error == value) {
        PyErr_Clear();
        Py_XDECREF(error);
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
}

static PyObject *
gs_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self; /* one of the operands, or the output */
    if (names == NULL && count > 2 && gs_is_plain_call(args[1])) {
        PyObject *op = gs_joins_integers(args + 2, count - 2) ? NULL : gs_find_op(args[0]);
        if (op != NULL) {
            PyObject *result;
            Py_INCREF(op);
            result = PyObject_Vectorcall(op, args + 2, (size_t)(count - 2), NULL);
            Py_DECREF(op);
            /* Was it an operand of a class that knows ufuncs itself? Then NumPy asks that next. */
            if (result == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
                return gs_left_to_others(args + 2, count - 2);
            }
            if (result == NULL && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
                return gs_raise_as_numpy(args + 2, count - 2);
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
gs_add_array_ufunc(PyTypeObject *type, PyObject *ops, PyObject *other, PyObject *is_foreign, PyObject *numpys_error,
                   int (*joins_integers)(PyObject *const *, Py_ssize_t))
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
    Py_INCREF(numpys_error);
    gs_numpys_error = numpys_error;
    gs_joins_integers = joins_integers;
    status = PyDict_SetItemString(type->tp_dict, "__array_ufunc__", method);
    Py_DECREF(method);
    PyType_Modified(type);
    return status;
}

#endif
