/* softmax, log_softmax and logsumexp, with the gradients of the first two.
 *
 * The array is (outer, n, inner) with the axis in the middle.  For the last axis (inner == 1) whole rows are worked on;
 * for other axes tiles of columns are.
 */
#include "elementary/logarithm.h"
#include "networks/exponential.h"
#include "support/array_cache.h"
#include "support/axes.h"
#include "support/meta.h"
#include "support/promotion.h"
#include "threads/thread_pool.h"
#include "walks/assign.h"

#include <math.h>

#define TILE 1024    /* elements whose sum is taken at once */
#define COLUMNS 256  /* columns of a tile of columns */
#define ELEMENT_COST 8

typedef enum { SOFTMAX, LOG_SOFTMAX, LOGSUMEXP, SOFTMAX_BACKWARD, LOG_SOFTMAX_BACKWARD } operation;

typedef struct {
    const void *a; /* the input, or the gradient */
    const void *b; /* the result of the forward, for backward */
    void *out;
    npy_intp n, inner;
    npy_intp outer;
} job;

#include "support/with_float32.h"
#include "networks/exponential_rows.h"
#include "softmax_template.h"

#include "support/with_float64.h"
#include "networks/exponential_rows.h"
#include "softmax_template.h"

/* ---- dispatch: by operation, then by type; rows and columns */

static const gs_task row_tasks[5][2] = {
    [SOFTMAX] = {softmax_rows_float32, softmax_rows_float64},
    [LOG_SOFTMAX] = {log_softmax_rows_float32, log_softmax_rows_float64},
    [LOGSUMEXP] = {logsumexp_rows_float32, logsumexp_rows_float64},
    [SOFTMAX_BACKWARD] = {softmax_backward_rows_float32, softmax_backward_rows_float64},
    [LOG_SOFTMAX_BACKWARD] = {log_softmax_backward_rows_float32, log_softmax_backward_rows_float64},
};

static const gs_task column_tasks[5][2] = {
    [SOFTMAX] = {softmax_columns_float32, softmax_columns_float64},
    [LOG_SOFTMAX] = {log_softmax_columns_float32, log_softmax_columns_float64},
    [LOGSUMEXP] = {logsumexp_columns_float32, logsumexp_columns_float64},
    [SOFTMAX_BACKWARD] = {softmax_backward_columns_float32, softmax_backward_columns_float64},
    [LOG_SOFTMAX_BACKWARD] = {log_softmax_backward_columns_float32, log_softmax_backward_columns_float64},
};

static void
run(operation op, int type, job *j)
{
    int index = type == NPY_FLOAT64;
    if (j->inner == 1) {
        gs_parallel(row_tasks[op][index], j, j->outer, j->n * ELEMENT_COST + 8, 1);
        return;
    }
    npy_intp n_tiles = (j->inner + COLUMNS - 1) / COLUMNS;
    npy_intp columns = j->inner < COLUMNS ? j->inner : COLUMNS;
    gs_parallel(column_tasks[op][index], j, j->outer * n_tiles, j->n * columns * ELEMENT_COST + 8, 1);
}

/* The shape (outer, n, inner) around dimensions first..last of a plain array. */
static void
set_shape(job *j, PyObject *array, int first, int last)
{
    PyArrayObject_fields *a = gs_fields(array);
    j->outer = j->n = j->inner = 1;
    for (int d = 0; d < a->nd; d++) {
        *(d < first ? &j->outer : d <= last ? &j->n : &j->inner) *= a->dimensions[d];
    }
}

static int
check_float(const char *name, PyObject *array)
{
    int type = gs_numeric_type(array);
    if (type < 0) {
        return -1;
    }
    int is_float = type == NPY_FLOAT32 || type == NPY_FLOAT64 || type == NPY_HALF;
    return is_float ? type : gs_raise_not_implemented(name, type);
}

/* A plain array of a type; steals a cast. */
static PyObject *
plain_of_type(PyObject *array, int type)
{
    PyObject *converted = gs_cast(array, type);
    if (converted == NULL) {
        return NULL;
    }
    PyObject *plain = gs_contiguous(converted);
    gs_array_release(converted);
    return plain;
}

static PyObject *
back_to_type(PyObject *result, int type)
{
    if (result == NULL || gs_type(result) == type) {
        return result;
    }
    PyObject *converted = gs_cast(result, type);
    gs_array_release(result);
    return converted;
}

/* Operations whose result has the shape of their input.  b may be NULL. */
static PyObject *
along_axis(operation op, const char *name, PyObject *a, PyObject *b, int axis)
{
    int type = check_float(name, a);
    axis = type < 0 ? -1 : gs_normalize_axis(axis, gs_fields(a)->nd);
    if (axis < 0) {
        return NULL;
    }
    if (b != NULL && !gs_same_shape(a, b)) {
        PyErr_Format(PyExc_RuntimeError, "%s: gradient and result must have the same shape", name);
        return NULL;
    }
    if (gs_is_meta(a)) {
        return gs_meta_like(a, type);
    }
    int computed = type == NPY_HALF ? NPY_FLOAT32 : type;
    job j = {0};
    PyObject *x = plain_of_type(a, computed);
    PyObject *y = x == NULL || b == NULL ? NULL : plain_of_type(b, computed);
    PyObject *out = x == NULL || (b != NULL && y == NULL) ? NULL : gs_array_like(x, computed);
    if (out != NULL && gs_size(out) > 0) {
        set_shape(&j, x, axis, axis);
        j.a = gs_fields(x)->data;
        j.b = y == NULL ? NULL : gs_fields(y)->data;
        j.out = gs_fields(out)->data;
        run(op, computed, &j);
    }
    gs_array_xrelease(x);
    gs_array_xrelease(y);
    return back_to_type(out, type);
}

PyObject *
gs_softmax(PyObject *a, int axis)
{
    return along_axis(SOFTMAX, "softmax", a, NULL, axis);
}

PyObject *
gs_softmax_backward(PyObject *grad, PyObject *result, int axis)
{
    return along_axis(SOFTMAX_BACKWARD, "softmax_backward", grad, result, axis);
}

PyObject *
gs_log_softmax(PyObject *a, int axis)
{
    return along_axis(LOG_SOFTMAX, "log_softmax", a, NULL, axis);
}

PyObject *
gs_log_softmax_backward(PyObject *grad, PyObject *result, int axis)
{
    return along_axis(LOG_SOFTMAX_BACKWARD, "log_softmax_backward", grad, result, axis);
}

/* ---- logsumexp reduces, along any axes */

/* Brings the reduced axes to the end, so that they are one; a plain copy, or the array itself when they are there. */
static PyObject *
reduced_axes_last(PyObject *array, const gs_axes *axes)
{
    npy_intp order[NPY_MAXDIMS];
    int n = 0, in_order = 1;
    for (int reduced = 0; reduced <= 1; reduced++) {
        for (int d = 0; d < axes->nd; d++) {
            if (axes->reduced[d] == reduced) {
                in_order &= n == d;
                order[n++] = d;
            }
        }
    }
    if (in_order) {
        return gs_contiguous(array);
    }
    PyArray_Dims permutation = {order, n};
    PyObject *view = PyArray_Transpose((PyArrayObject *)array, &permutation);
    PyObject *plain = view == NULL ? NULL : gs_contiguous(view);
    Py_XDECREF(view);
    return plain;
}

/* Is there exactly one group of neighbouring reduced axes in a plain array?  Then no copy is needed. */
static int
is_one_group(PyObject *array, const gs_axes *axes, int *first, int *last)
{
    *first = -1;
    *last = -1;
    for (int d = 0; d < axes->nd; d++) {
        if (!axes->reduced[d]) {
            continue;
        }
        if (*first < 0) {
            *first = d;
        } else if (*last != d - 1) {
            return 0;
        }
        *last = d;
    }
    return *first >= 0 && gs_is_plain(array);
}

static PyObject *
logsumexp_of(PyObject *x, int type, const gs_axes *axes)
{
    job j = {0};
    int first, last;
    int one_group = is_one_group(x, axes, &first, &last);
    PyObject *plain = one_group ? gs_contiguous(x) : reduced_axes_last(x, axes);
    PyObject *out = plain == NULL ? NULL : gs_array_new(type, axes->out_nd, axes->out_dims);
    if (out != NULL && gs_size(out) > 0) {
        if (one_group) {
            set_shape(&j, plain, first, last);
        } else {
            j.n = axes->count;
            j.outer = gs_size(out);
            j.inner = 1;
        }
        j.a = gs_fields(plain)->data;
        j.out = gs_fields(out)->data;
        run(LOGSUMEXP, type, &j);
    }
    gs_array_xrelease(plain);
    return out;
}

PyObject *
gs_logsumexp(PyObject *a, PyObject *argument, int keepdims)
{
    gs_axes axes;
    int type = gs_numeric_type(a);
    if (type < 0 || gs_axes_parse(&axes, argument, a, keepdims) < 0) {
        return NULL;
    }
    type = gs_category_of(type) <= GS_INT ? gs_default_float : check_float("logsumexp", a);
    if (type >= 0 && gs_is_meta(a)) {
        return gs_meta_new(type, axes.out_nd, axes.out_dims);
    }
    int computed = type == NPY_HALF ? NPY_FLOAT32 : type;
    PyObject *x = type < 0 ? NULL : gs_cast(a, computed);
    if (x == NULL) {
        return NULL;
    }
    PyObject *result = logsumexp_of(x, computed, &axes);
    gs_array_release(x);
    return back_to_type(result, type);
}
