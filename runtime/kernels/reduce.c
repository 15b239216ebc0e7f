/* Sums, means, largest and smallest elements. */
#include "kernels.h"
#include "numpy_api.h"

static PyObject *
reduce_by_numpy(const char *name, PyObject *a, PyObject *axes, int keepdims)
{
    return gs_as_array(gs_call_numpy(name, PyTuple_Pack(1, a),
                                     Py_BuildValue("{sOsO}", "axis", axes, "keepdims", keepdims ? Py_True : Py_False)));
}

PyObject *
gs_sum(PyObject *a, PyObject *axes, int keepdims)
{
    return reduce_by_numpy("sum", a, axes, keepdims);
}

PyObject *
gs_mean(PyObject *a, PyObject *axes, int keepdims)
{
    return reduce_by_numpy("mean", a, axes, keepdims);
}

PyObject *
gs_amax(PyObject *a, PyObject *axes, int keepdims)
{
    return reduce_by_numpy("max", a, axes, keepdims);
}

PyObject *
gs_amin(PyObject *a, PyObject *axes, int keepdims)
{
    return reduce_by_numpy("min", a, axes, keepdims);
}

PyObject *
gs_sum_to(PyObject *a, int nd, const npy_intp *dims)
{
    PyArrayObject_fields *f = gs_fields(a);
    int extra = f->nd - nd, n_axes = 0;
    npy_intp axes[NPY_MAXDIMS];
    for (int d = 0; d < f->nd; d++) {
        if (d < extra || (dims[d - extra] == 1 && f->dimensions[d] != 1)) {
            axes[n_axes++] = d;
        }
    }
    if (n_axes == 0) {
        Py_INCREF(a);
        return a;
    }
    PyObject *tuple = PyTuple_New(n_axes);
    for (int i = 0; i < n_axes; i++) {
        PyTuple_SET_ITEM(tuple, i, PyLong_FromSsize_t(axes[i]));
    }
    PyObject *sum = gs_sum(a, tuple, 1);
    Py_DECREF(tuple);
    PyArray_Dims shape = {(npy_intp *)dims, nd};
    PyObject *result = sum == NULL ? NULL : PyArray_Newshape((PyArrayObject *)sum, &shape, NPY_CORDER);
    Py_XDECREF(sum);
    return result;
}
