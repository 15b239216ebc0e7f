#include "kernels.h"
#include "numpy_api.h"

static PyObject *
max_along(PyObject *a, int axis)
{
    PyObject *number = PyLong_FromLong(axis);
    PyObject *max = gs_amax(a, number, 1);
    Py_DECREF(number);
    return max;
}

PyObject *
gs_softmax(PyObject *a, int axis)
{
    PyObject *number = PyLong_FromLong(axis);
    PyObject *e = gs_unary(GS_EXP, gs_binary(GS_SUBTRACT, a, max_along(a, axis)));
    return gs_binary(GS_TRUE_DIVIDE, e, gs_sum(e, number, 1));
}

PyObject *
gs_softmax_backward(PyObject *grad, PyObject *result, int axis)
{
    PyObject *number = PyLong_FromLong(axis);
    PyObject *s = gs_sum(gs_binary(GS_MULTIPLY, grad, result), number, 1);
    return gs_binary(GS_MULTIPLY, result, gs_binary(GS_SUBTRACT, grad, s));
}

PyObject *
gs_log_softmax(PyObject *a, int axis)
{
    PyObject *number = PyLong_FromLong(axis);
    PyObject *x = gs_binary(GS_SUBTRACT, a, max_along(a, axis));
    return gs_binary(GS_SUBTRACT, x, gs_unary(GS_LOG, gs_sum(gs_unary(GS_EXP, x), number, 1)));
}

PyObject *
gs_log_softmax_backward(PyObject *grad, PyObject *result, int axis)
{
    PyObject *number = PyLong_FromLong(axis);
    PyObject *s = gs_sum(grad, number, 1);
    return gs_binary(GS_SUBTRACT, grad, gs_binary(GS_MULTIPLY, gs_unary(GS_EXP, result), s));
}

PyObject *
gs_logsumexp(PyObject *a, PyObject *axes, int keepdims)
{
    PyObject *m = gs_amax(a, axes, 1);
    PyObject *s = gs_unary(GS_LOG, gs_sum(gs_unary(GS_EXP, gs_binary(GS_SUBTRACT, a, m)), axes, 1));
    PyObject *r = gs_binary(GS_ADD, s, m);
    return keepdims ? r : gs_sum(r, axes, 0);
}
