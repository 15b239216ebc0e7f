/* Sums, means, products, largest and smallest elements along any axes.
 *
 * The array's dimensions are put in the order of memory and merged into groups that are kept or reduced:
 *
 *     [kept][reduced][kept][reduced] ...       innermost last
 *
 * Then the innermost reduced group is removed, again and again.  Each time the array is (outer, r, inner) and becomes
 * (outer, inner), so there is one kernel shape for everything.
 */
#include "extremes.h"
#include "int_sum.h"
#include "integer_complex_product.h"
#include "product.h"
#include "sum.h"
#include "support/array_cache.h"
#include "support/axes.h"
#include "support/loops.h"
#include "support/meta.h"
#include "support/promotion.h"
#include "threads/thread_pool.h"
#include "walks/assign.h"
#include "walks/order.h"

/* Removes r from (outer, r, inner) of elements of a type; -1 on failure. */
typedef int (*reducer)(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner);

/* ---- reducers */

static int
sum_floats(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    return type == NPY_FLOAT32 ? gs_sum_float32((const float *)x, (float *)out, outer, r, inner)
                               : gs_sum_float64((const double *)x, (double *)out, outer, r, inner);
}

static int
sum_numbers(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    return type == NPY_FLOAT32 ? gs_sum_numbers_float32((const float *)x, (float *)out, outer, r, inner)
                               : gs_sum_numbers_float64((const double *)x, (double *)out, outer, r, inner);
}

static int
sum_squares(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    return type == NPY_FLOAT32 ? gs_sum_squares_float32((const float *)x, (float *)out, outer, r, inner)
                               : gs_sum_squares_float64((const double *)x, (double *)out, outer, r, inner);
}

static int
multiply(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    if (type == NPY_FLOAT32) {
        gs_product_float32((const float *)x, (float *)out, outer, r, inner);
    } else if (type == NPY_FLOAT64) {
        gs_product_float64((const double *)x, (double *)out, outer, r, inner);
    } else {
        gs_integer_complex_product(type, x, out, outer, r, inner);
    }
    return 0;
}

/* The parts of a complex number are added like two columns. */
static int
sum_complex(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    if (type == NPY_COMPLEX64) {
        return inner == 1 ? gs_sum_pairs_float32((const float *)x, (float *)out, outer, r)
                          : gs_sum_float32((const float *)x, (float *)out, outer, r, 2 * inner);
    }
    return inner == 1 ? gs_sum_pairs_float64((const double *)x, (double *)out, outer, r)
                      : gs_sum_float64((const double *)x, (double *)out, outer, r, 2 * inner);
}

static int
sum_integers(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    (void)loop;
    return gs_sum_integers(type, x, (int64_t *)out, outer, r, inner);
}

typedef struct {
    const gs_loop *loop;
    const char *x;
    char *out;
    npy_intp size, r, inner;
} loop_job;

/* out = x[0] op x[1] op ...: NumPy's loops reduce when output and first input are the same element with stride 0. */
static void
reduce_rows(void *context, npy_intp first, npy_intp last)
{
    const loop_job *job = context;
    npy_intp n = job->r - 1;
    npy_intp strides[3] = {0, job->size, 0};
    for (npy_intp row = first; row < last; row++) {
        const char *x = job->x + row * job->r * job->size;
        char *out = job->out + row * job->size;
        char *args[3] = {out, (char *)x + job->size, out};
        memcpy(out, x, (size_t)job->size);
        if (n > 0) {
            job->loop->run(args, &n, strides, job->loop->data);
        }
    }
}

static void
reduce_columns(void *context, npy_intp first, npy_intp last)
{
    const loop_job *job = context;
    npy_intp strides[3] = {job->size, job->size, job->size};
    npy_intp row_bytes = job->inner * job->size;
    for (npy_intp o = first; o < last; o++) {
        const char *x = job->x + o * job->r * row_bytes;
        char *out = job->out + o * row_bytes;
        memcpy(out, x, (size_t)row_bytes);
        for (npy_intp i = 1; i < job->r; i++) {
            char *args[3] = {out, (char *)x + i * row_bytes, out};
            npy_intp n = job->inner;
            job->loop->run(args, &n, strides, job->loop->data);
        }
    }
}

static int
reduce_by_loop(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    loop_job job = {loop, x, out, gs_itemsize[type], r, inner};
    gs_parallel(inner == 1 ? reduce_rows : reduce_columns, &job, outer, r * inner, 1);
    return 0;
}

/* ---- groups of dimensions */

typedef struct {
    int n;
    npy_intp size[NPY_MAXDIMS];
    char reduced[NPY_MAXDIMS];
    int is_c_order;         /* memory order is the order of the dimensions */
    int order[NPY_MAXDIMS]; /* the array's dimensions, innermost in memory first */
} groups;

static void
add_group(groups *g, npy_intp size, char reduced)
{
    if (g->n > 0 && g->reduced[g->n - 1] == reduced) {
        g->size[g->n - 1] *= size;
        return;
    }
    g->size[g->n] = size;
    g->reduced[g->n++] = reduced;
}

/* 0 when the array is not dense in any order. */
static int
find_groups(groups *g, PyObject *array, const gs_axes *axes)
{
    PyArrayObject_fields *a = gs_fields(array);
    g->n = 0;
    g->is_c_order = gs_is_plain(array);
    if (!g->is_c_order && (!(a->flags & NPY_ARRAY_ALIGNED) || !gs_is_dense(array))) {
        return 0;
    }
    gs_order(&array, 1, a->nd, a->dimensions, g->order);
    for (int i = a->nd - 1; i >= 0; i--) {
        int d = g->order[i];
        if (a->dimensions[d] != 1) {
            add_group(g, a->dimensions[d], axes->reduced[d]);
        }
    }
    return 1;
}

/* ---- the result */

/* Kept dimensions lie in memory as they do in the input. */
static PyObject *
new_result(int type, const groups *g, const gs_axes *axes)
{
    if (g->is_c_order) {
        return gs_array_new(type, axes->out_nd, axes->out_dims);
    }
    npy_intp strides[NPY_MAXDIMS];
    npy_intp stride = gs_itemsize[type];
    for (int i = 0; i < axes->out_nd; i++) {
        strides[i] = stride;
    }
    for (int i = 0; i < axes->nd; i++) {
        int d = g->order[i];
        if (axes->out_dim[d] >= 0) {
            strides[axes->out_dim[d]] = stride;
            stride *= axes->out_dims[axes->out_dim[d]];
        }
    }
    Py_INCREF(gs_descr[type]);
    return PyArray_NewFromDescr(&PyArray_Type, gs_descr[type], axes->out_nd, (npy_intp *)axes->out_dims, strides, NULL, 0,
                                NULL);
}

static npy_intp
product(const groups *g, int first, int last)
{
    npy_intp size = 1;
    for (int i = first; i < last; i++) {
        size *= g->size[i];
    }
    return size;
}

static void
remove_group(groups *g, int at)
{
    int merges = at > 0 && at + 1 < g->n; /* both neighbours are kept ones */
    if (merges) {
        g->size[at - 1] *= g->size[at + 1];
    }
    int gone = merges ? 2 : 1;
    for (int i = at; i + gone < g->n; i++) {
        g->size[i] = g->size[i + gone];
        g->reduced[i] = g->reduced[i + gone];
    }
    g->n -= gone;
}

static int
innermost_reduced(const groups *g)
{
    int at = g->n - 1;
    while (at >= 0 && !g->reduced[at]) {
        at--;
    }
    return at;
}

/* Are the elements something else than what is added? */
static int
looks_at_elements(reducer reduce)
{
    return reduce == sum_numbers || reduce == sum_squares;
}

/* Reduces the dense data at x, of type `from`, into out, of type `type`. */
static int
reduce_groups(groups *g, reducer reduce, const gs_loop *loop, int from, int type, const char *x, char *out)
{
    PyObject *source = NULL; /* holds x after the first step */
    int status = 0;
    for (int at = innermost_reduced(g); at >= 0 && status == 0; at = innermost_reduced(g)) {
        npy_intp outer = product(g, 0, at), r = g->size[at], inner = product(g, at + 1, g->n);
        remove_group(g, at);
        PyObject *step = NULL;
        char *to = out;
        if (innermost_reduced(g) >= 0) {
            npy_intp n = outer * inner;
            step = gs_array_new(type, 1, &n);
            to = step == NULL ? NULL : gs_fields(step)->data;
        }
        status = to == NULL ? -1 : reduce(from, loop, x, to, outer, r, inner);
        from = type;
        reduce = looks_at_elements(reduce) ? sum_floats : reduce; /* these are sums, where a NaN is one of infinities */
        gs_array_xrelease(source);
        source = step;
        x = to;
    }
    gs_array_xrelease(source);
    return status;
}

static int
reduce_or_copy(groups *g, PyObject *array, reducer reduce, const gs_loop *loop, int type, char *out)
{
    int from = gs_type(array);
    const char *x = gs_fields(array)->data;
    if (innermost_reduced(g) >= 0) {
        return reduce_groups(g, reduce, loop, from, type, x, out);
    }
    npy_intp n = product(g, 0, g->n); /* every reduced dimension has size 1 */
    if (from != type || looks_at_elements(reduce)) {
        return reduce(from, loop, x, out, n, 1, 1);
    }
    memcpy(out, x, (size_t)(n * gs_itemsize[type]));
    return 0;
}

/* The result has type `type`, and so has the array, unless the reducer widens; at least one element goes into each of the
 * result. */
static PyObject *
reduce_array(PyObject *array, const gs_axes *axes, reducer reduce, const gs_loop *loop, int type)
{
    groups g;
    Py_INCREF(array);
    if (!find_groups(&g, array, axes)) {
        PyObject *copy = gs_clone_by_rows(array);
        Py_DECREF(array);
        if (copy == NULL) {
            return NULL;
        }
        array = copy;
        find_groups(&g, array, axes);
    }
    PyObject *out = new_result(type, &g, axes);
    if (out != NULL && gs_size(out) > 0) {
        if (reduce_or_copy(&g, array, reduce, loop, type, gs_fields(out)->data) < 0) {
            Py_CLEAR(out);
        }
    }
    gs_array_release(array);
    return out;
}

/* ---- sums */

static PyObject *
zeros(int type, const gs_axes *axes)
{
    PyObject *out = gs_array_new(type, axes->out_nd, axes->out_dims);
    if (out != NULL) {
        memset(gs_fields(out)->data, 0, (size_t)(gs_size(out) * gs_itemsize[type]));
    }
    return out;
}

/* The type additions are done in: ints may not overflow, halves would lose everything after a few thousand ones. */
static int
sum_type(int type)
{
    return gs_category_of(type) <= GS_INT ? NPY_INT64 : type == NPY_HALF ? NPY_FLOAT32 : type;
}

static reducer
adder_for(int type)
{
    return type == NPY_FLOAT32 || type == NPY_FLOAT64       ? sum_floats
           : type == NPY_COMPLEX64 || type == NPY_COMPLEX128 ? sum_complex
           : type == NPY_INT64                               ? sum_integers
                                                             : reduce_by_loop;
}

/* Integers are added as they are, everything else in the type of the sum. */
static PyObject *
addable(PyObject *a, int type)
{
    int own = gs_type(a);
    int widens = type == NPY_INT64 && own >= 0 && gs_category_of(own) <= GS_INT;
    return gs_prepare(a, widens ? own : type);
}

static PyObject *
sum_of_type(PyObject *a, int type, const gs_axes *axes)
{
    if (gs_is_meta(a)) {
        return gs_meta_new(type, axes->out_nd, axes->out_dims);
    }
    if (axes->count == 0) {
        return zeros(type, axes);
    }
    reducer add = adder_for(type);
    const gs_loop *loop = add == reduce_by_loop ? gs_find_loop(GS_ADD, type) : NULL;
    if (add == reduce_by_loop && loop == NULL) {
        gs_raise_not_implemented("sum", type);
        return NULL;
    }
    PyObject *input = addable(a, type);
    if (input == NULL) {
        return NULL;
    }
    PyObject *result = reduce_array(input, axes, add, loop, type);
    gs_array_release(input);
    return result;
}

/* `result`, which is consumed, in the type that a reduction of `type` has: halves are added in float32. */
static PyObject *
as_reduced(PyObject *result, int type)
{
    return type == NPY_HALF ? gs_rounded_to_half(result) : result;
}

static PyObject *
sum_along(PyObject *a, const gs_axes *axes)
{
    int type = gs_numeric_type(a);
    return type < 0 ? NULL : as_reduced(sum_of_type(a, sum_type(type), axes), type);
}

PyObject *
gs_sum(PyObject *a, PyObject *argument, int keepdims)
{
    gs_axes axes;
    return gs_axes_parse(&axes, argument, a, keepdims) < 0 ? NULL : sum_along(a, &axes);
}

PyObject *
gs_sum_to(PyObject *a, int nd, const npy_intp *dims)
{
    PyArrayObject_fields *f = gs_fields(a);
    if (f->nd == nd && memcmp(f->dimensions, dims, sizeof(npy_intp) * (size_t)nd) == 0) {
        Py_INCREF(a);
        return a;
    }
    gs_axes axes;
    return gs_axes_of_broadcast(&axes, a, nd, dims) < 0 ? NULL : sum_along(a, &axes);
}

PyObject *
gs_mean(PyObject *a, PyObject *argument, int keepdims)
{
    gs_axes axes;
    int type = gs_numeric_type(a);
    if (type < 0 || gs_axes_parse(&axes, argument, a, keepdims) < 0) {
        return NULL;
    }
    if (gs_category_of(type) <= GS_INT) {
        PyErr_Format(PyExc_RuntimeError,
                     "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                     "Got: %s",
                     gs_type_name(type));
        return NULL;
    }
    PyObject *mean = sum_of_type(a, sum_type(type), &axes);
    PyObject *count = mean == NULL ? NULL : PyLong_FromSsize_t(axes.count);
    if (count == NULL || gs_binary_scalar_into(GS_TRUE_DIVIDE, mean, count, 0, mean) < 0) {
        Py_CLEAR(mean);
    }
    Py_XDECREF(count);
    return as_reduced(mean, type);
}

/* ---- sums of what is no NaN, of float32 and float64 */

static int
is_single_or_double(const char *name, int type)
{
    if (type == NPY_FLOAT32 || type == NPY_FLOAT64) {
        return 1;
    }
    gs_raise_not_implemented(name, type);
    return 0;
}

static PyObject *
sum_of_floats(const char *name, PyObject *a, PyObject *argument, int keepdims, reducer sum)
{
    gs_axes axes;
    int type = gs_numeric_type(a);
    if (type < 0 || !is_single_or_double(name, type) || gs_axes_parse(&axes, argument, a, keepdims) < 0) {
        return NULL;
    }
    return axes.count == 0 ? zeros(type, &axes) : reduce_array(a, &axes, sum, NULL, type);
}

PyObject *
gs_nansum(PyObject *a, PyObject *argument, int keepdims)
{
    return sum_of_floats("nansum", a, argument, keepdims, sum_numbers);
}

PyObject *
gs_sum_of_squares(PyObject *a, PyObject *argument, int keepdims)
{
    return sum_of_floats("sum_of_squares", a, argument, keepdims, sum_squares);
}

/* ---- products; of halves in float32, which they are converted to first */

static PyObject *
ones(int type, const gs_axes *axes)
{
    PyObject *one = PyLong_FromLong(1);
    PyObject *out = one == NULL ? NULL : gs_full(type, axes->out_nd, axes->out_dims, one);
    Py_XDECREF(one);
    return out;
}

PyObject *
gs_prod(PyObject *a, PyObject *argument, int keepdims)
{
    gs_axes axes;
    int type = gs_numeric_type(a);
    if (type < 0 || gs_axes_parse(&axes, argument, a, keepdims) < 0) {
        return NULL;
    }
    if (type == NPY_HALF) {
        gs_raise_not_implemented("prod", type);
        return NULL;
    }
    int wide = gs_category_of(type) <= GS_INT ? NPY_INT64 : type;
    return axes.count == 0 ? ones(wide, &axes) : reduce_array(a, &axes, multiply, NULL, wide);
}

/* ---- extremes */

static int
keep_largest(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    if (gs_has_extremes(type, r, inner)) {
        gs_extremes(type, 1, x, out, outer, r, inner);
        return 0;
    }
    return reduce_by_loop(type, loop, x, out, outer, r, inner);
}

static int
keep_smallest(int type, const gs_loop *loop, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    if (gs_has_extremes(type, r, inner)) {
        gs_extremes(type, 0, x, out, outer, r, inner);
        return 0;
    }
    return reduce_by_loop(type, loop, x, out, outer, r, inner);
}

static PyObject *
extreme(gs_ufunc ufunc, const char *name, PyObject *a, PyObject *argument, int keepdims)
{
    gs_axes axes;
    int type = gs_numeric_type(a);
    if (type < 0 || gs_axes_parse(&axes, argument, a, keepdims) < 0) {
        return NULL;
    }
    if (axes.count == 0) {
        PyErr_Format(PyExc_IndexError, "%s(): Expected reduction dim to have non-zero size; the tensor has no element along it",
                     name);
        return NULL;
    }
    const gs_loop *loop = gs_category_of(type) == GS_COMPLEX ? NULL : gs_find_loop(ufunc, type);
    if (loop == NULL) {
        gs_raise_not_implemented(name, type);
        return NULL;
    }
    if (gs_is_meta(a)) {
        return gs_meta_new(type, axes.out_nd, axes.out_dims);
    }
    PyObject *input = gs_prepare(a, type);
    if (input == NULL) {
        return NULL;
    }
    PyObject *result = reduce_array(input, &axes, ufunc == GS_MAXIMUM ? keep_largest : keep_smallest, loop, type);
    gs_array_release(input);
    return result;
}

PyObject *
gs_amax(PyObject *a, PyObject *axes, int keepdims)
{
    return extreme(GS_MAXIMUM, "amax", a, axes, keepdims);
}

PyObject *
gs_amin(PyObject *a, PyObject *axes, int keepdims)
{
    return extreme(GS_MINIMUM, "amin", a, axes, keepdims);
}
