#include "axes.h"

int
gs_normalize_axis(npy_intp axis, int nd)
{
    npy_intp range = nd == 0 ? 1 : nd;
    if (axis < -range || axis >= range) {
        PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%zd, %zd], but got %zd)", -range,
                     range - 1, axis);
        return -1;
    }
    return (int)(axis < 0 ? axis + range : axis);
}

static int
add_axis(gs_axes *axes, PyObject *number)
{
    npy_intp axis = PyNumber_AsSsize_t(number, PyExc_IndexError);
    if (axis == -1 && PyErr_Occurred()) {
        return -1;
    }
    int normal = gs_normalize_axis(axis, axes->nd);
    if (normal < 0) {
        return -1;
    }
    if (axes->nd == 0) {
        return 0;
    }
    if (axes->reduced[normal]) {
        PyErr_Format(PyExc_RuntimeError, "dim %d appears multiple times in the list of dims", normal);
        return -1;
    }
    axes->reduced[normal] = 1;
    return 0;
}

static int
add_axes(gs_axes *axes, PyObject *argument)
{
    PyObject *numbers = PySequence_Fast(argument, "expected an int or a sequence of ints as dim");
    if (numbers == NULL) {
        return -1;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(numbers);
    int status = 0;
    if (n == 0) {
        memset(axes->reduced, 1, sizeof(axes->reduced));
    }
    for (Py_ssize_t i = 0; i < n && status == 0; i++) {
        status = add_axis(axes, PySequence_Fast_GET_ITEM(numbers, i));
    }
    Py_DECREF(numbers);
    return status;
}

static void
set_shape(gs_axes *axes, const npy_intp *dims, int keepdims)
{
    axes->out_nd = 0;
    axes->count = 1;
    for (int d = 0; d < axes->nd; d++) {
        if (axes->reduced[d]) {
            axes->count *= dims[d];
        }
        if (axes->reduced[d] && !keepdims) {
            axes->out_dim[d] = -1;
            continue;
        }
        axes->out_dim[d] = axes->out_nd;
        axes->out_dims[axes->out_nd++] = axes->reduced[d] ? 1 : dims[d];
    }
}

int
gs_axes_parse(gs_axes *axes, PyObject *argument, PyObject *array, int keepdims)
{
    axes->nd = gs_fields(array)->nd;
    memset(axes->reduced, argument == Py_None, sizeof(axes->reduced));
    if (argument != Py_None && (PyIndex_Check(argument) ? add_axis(axes, argument) : add_axes(axes, argument)) < 0) {
        return -1;
    }
    set_shape(axes, gs_fields(array)->dimensions, keepdims);
    return 0;
}

static int
raise_not_a_broadcast(PyObject *array, int nd, const npy_intp *dims)
{
    PyObject *from = gs_shape_text(gs_fields(array)->nd, gs_fields(array)->dimensions), *to = gs_shape_text(nd, dims);
    if (from != NULL && to != NULL) {
        PyErr_Format(PyExc_RuntimeError, "cannot sum an array of shape %U to shape %U, which does not broadcast to it", from,
                     to);
    }
    Py_XDECREF(from);
    Py_XDECREF(to);
    return -1;
}

int
gs_axes_of_broadcast(gs_axes *axes, PyObject *array, int nd, const npy_intp *dims)
{
    PyArrayObject_fields *a = gs_fields(array);
    int extra = a->nd - nd;
    axes->nd = a->nd;
    axes->out_nd = nd;
    axes->count = 1;
    if (extra < 0) {
        return raise_not_a_broadcast(array, nd, dims);
    }
    for (int d = 0; d < a->nd; d++) {
        int own = d - extra;
        if (own >= 0 && dims[own] != 1 && dims[own] != a->dimensions[d]) {
            return raise_not_a_broadcast(array, nd, dims);
        }
        axes->reduced[d] = own < 0 || (dims[own] == 1 && a->dimensions[d] != 1);
        axes->out_dim[d] = own < 0 ? -1 : own;
        axes->count *= axes->reduced[d] ? a->dimensions[d] : 1;
    }
    memcpy(axes->out_dims, dims, sizeof(npy_intp) * (size_t)nd);
    return 0;
}
