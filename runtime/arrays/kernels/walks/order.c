#include "order.h"

static int
all_row_major(PyObject *const *operands, int n)
{
    int flags = NPY_ARRAY_C_CONTIGUOUS;
    for (int i = 0; i < n; i++) {
        flags &= gs_fields(operands[i])->flags;
    }
    return flags;
}

/* The outer one of two dimensions: positive for the first, negative for the second, 0 when it is undecided. */
static int
compare(PyObject *const *operands, int n, int nd, const npy_intp *dims, int first, int second)
{
    for (int i = 0; i < n; i++) {
        npy_intp a = Py_ABS(gs_broadcast_stride(operands[i], nd, first));
        npy_intp b = Py_ABS(gs_broadcast_stride(operands[i], nd, second));
        if (a == 0 || b == 0) {
            continue;
        }
        if (a != b) {
            return a > b ? 1 : -1;
        }
        if (dims[first] > dims[second]) {
            return 1;
        }
    }
    return 0;
}

/* Insertion sort that looks past dimensions which cannot be compared: the comparison is not transitive, so the result
 * depends on the algorithm, and this is PyTorch's. */
void
gs_order(PyObject *const *operands, int n, int nd, const npy_intp *dims, int *order)
{
    for (int i = 0; i < nd; i++) {
        order[i] = nd - 1 - i;
    }
    if (all_row_major(operands, n)) {
        return;
    }
    for (int i = 1; i < nd; i++) {
        int at = i;
        for (int k = i - 1; k >= 0; k--) {
            int outer = compare(operands, n, nd, dims, order[k], order[at]);
            if (outer < 0) {
                break;
            }
            if (outer > 0) {
                int moved = order[at];
                order[at] = order[k];
                order[k] = moved;
                at = k;
            }
        }
    }
}

int
gs_result_strides(PyObject *const *operands, int n, int nd, const npy_intp *dims, npy_intp size, npy_intp *strides)
{
    int order[NPY_MAXDIMS];
    int row_major = 1;
    gs_order(operands, n, nd, dims, order);
    for (int i = 0; i < nd; i++) {
        int d = order[i];
        row_major &= d == nd - 1 - i;
        strides[d] = size;
        size *= dims[d] > 0 ? dims[d] : 1;
    }
    return row_major;
}

PyObject *
gs_result_new(int type, PyObject *const *operands, int n, int nd, const npy_intp *dims)
{
    npy_intp strides[NPY_MAXDIMS];
    PyObject *out = gs_array_new(type, nd, dims);
    if (out == NULL || all_row_major(operands, n)) {
        return out;
    }
    if (!gs_result_strides(operands, n, nd, dims, gs_itemsize[type], strides)) {
        memcpy(gs_fields(out)->strides, strides, sizeof(npy_intp) * (size_t)nd);
        PyArray_UpdateFlags((PyArrayObject *)out, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    }
    return out;
}

PyObject *
gs_result_like(PyObject *operand, int type)
{
    return gs_result_new(type, &operand, 1, gs_fields(operand)->nd, gs_fields(operand)->dimensions);
}

int
gs_has_strides(PyObject *array, const npy_intp *strides)
{
    PyArrayObject_fields *a = gs_fields(array);
    for (int i = 0; i < a->nd; i++) {
        if (a->dimensions[i] != 1 && a->strides[i] != strides[i]) {
            return 0;
        }
    }
    return 1;
}

int
gs_is_dense(PyObject *array)
{
    PyArrayObject_fields *a = gs_fields(array);
    npy_intp strides[NPY_MAXDIMS];
    if (a->flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)) {
        return 1;
    }
    gs_result_strides(&array, 1, a->nd, a->dimensions, PyArray_ITEMSIZE((PyArrayObject *)array), strides);
    return gs_has_strides(array, strides);
}
