#include "kernels.h"
#include "numpy_api.h"

static PyObject *
swapped(PyObject *a, int transpose)
{
    if (!transpose || gs_fields(a)->nd < 2) {
        Py_INCREF(a);
        return a;
    }
    return PyArray_SwapAxes((PyArrayObject *)a, gs_fields(a)->nd - 1, gs_fields(a)->nd - 2);
}

PyObject *
gs_matmul(PyObject *a, int transpose_a, PyObject *b, int transpose_b)
{
    PyObject *x = swapped(a, transpose_a), *y = swapped(b, transpose_b);
    PyObject *r = gs_as_array(gs_call_numpy("matmul", PyTuple_Pack(2, x, y), NULL));
    Py_XDECREF(x);
    Py_XDECREF(y);
    return r;
}

PyObject *
gs_linear(PyObject *x, PyObject *weight, PyObject *bias)
{
    PyObject *y = gs_matmul(x, 0, weight, 1);
    return y == NULL || bias == NULL ? y : gs_binary(GS_ADD, y, bias);
}
