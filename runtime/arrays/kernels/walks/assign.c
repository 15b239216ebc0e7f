#include "assign.h"
#include "halves.h"
#include "iteration.h"
#include "order.h"
#include "short_copy.h"
#include "transposed.h"
#include "support/array_cache.h"
#include "support/meta.h"
#include "support/numbers.h"
#include "support/promotion.h"
#include "threads/fill.h"
#include "threads/thread_pool.h"

int
gs_numeric_type(PyObject *array)
{
    PyArray_Descr *descr = gs_fields(array)->descr;
    int type = descr->type_num;
    if (type < 0 || type >= GS_TYPES || gs_descr[type] == NULL) {
        PyErr_Format(PyExc_TypeError,
                     "arrays of dtype %S are not supported; supported are bool, integer, floating point and complex types",
                     (PyObject *)descr);
        return -1;
    }
    return type;
}

int
gs_check_writable(PyObject *array)
{
    PyArrayObject_fields *a = gs_fields(array);
    if (gs_is_meta(array)) {
        return 0; /* there is nothing to write; the caller checks for that */
    }
    if (!(a->flags & NPY_ARRAY_WRITEABLE)) {
        PyErr_SetString(PyExc_RuntimeError, "cannot write into a read-only array; use a .clone() of the tensor");
        return -1;
    }
    for (int i = 0; i < a->nd; i++) {
        if (a->strides[i] == 0 && a->dimensions[i] > 1 && gs_size(array) > 0) {
            PyErr_SetString(PyExc_RuntimeError,
                            "unsupported operation: more than one element of the written-to tensor refers to a single "
                            "memory location. Please clone() the tensor before performing the operation.");
            return -1;
        }
    }
    return 0;
}

/* ---- overlap */

static void
memory_bounds(PyObject *array, uintptr_t *low, uintptr_t *high)
{
    PyArrayObject_fields *a = gs_fields(array);
    *low = (uintptr_t)a->data;
    *high = *low + (uintptr_t)PyArray_ITEMSIZE((PyArrayObject *)array);
    for (int i = 0; i < a->nd; i++) {
        if (a->dimensions[i] == 0) {
            *high = *low;
            return;
        }
        npy_intp reach = a->strides[i] * (a->dimensions[i] - 1);
        if (reach < 0) {
            *low -= (uintptr_t)-reach;
        } else {
            *high += (uintptr_t)reach;
        }
    }
}

int
gs_may_overlap(PyObject *a, PyObject *b)
{
    uintptr_t a_low, a_high, b_low, b_high;
    memory_bounds(a, &a_low, &a_high);
    memory_bounds(b, &b_low, &b_high);
    return a_low < b_high && b_low < a_high;
}

/* ---- copies */

/* Float conversions are common (a float32 network fed with float64 data) and NumPy's warn on overflow, so they are done
 * here.  They have the signature of an inner loop. */
#define AS_IT_IS(x) (x)
#define TRUTH(x) ((x) != 0) /* of a byte that may be any number */

#define CONVERT(name, from, to, converted)                                                             \
    GS_CLONES static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data) \
    {                                                                                                  \
        npy_intp n = dims[0];                                                                          \
        (void)data;                                                                                    \
        if (strides[0] == sizeof(from) && strides[1] == sizeof(to)) {                                  \
            const from *in = (const from *)args[0];                                                    \
            to *out = (to *)args[1];                                                                   \
            GS_IVDEP                                                                                   \
            for (npy_intp i = 0; i < n; i++) {                                                         \
                out[i] = (to)converted(in[i]);                                                         \
            }                                                                                          \
            return;                                                                                    \
        }                                                                                              \
        for (npy_intp i = 0; i < n; i++) {                                                             \
            const from *in = (const from *)(args[0] + i * strides[0]);                                 \
            *(to *)(args[1] + i * strides[1]) = (to)converted(*in);                                    \
        }                                                                                              \
    }

CONVERT(float_to_double, float, double, AS_IT_IS)
CONVERT(double_to_float, double, float, AS_IT_IS)
CONVERT(int64_to_float, int64_t, float, AS_IT_IS)
CONVERT(int64_to_double, int64_t, double, AS_IT_IS)
CONVERT(int32_to_float, int32_t, float, AS_IT_IS)
CONVERT(int32_to_double, int32_t, double, AS_IT_IS)
CONVERT(bool_to_float, uint8_t, float, TRUTH)
CONVERT(bool_to_double, uint8_t, double, TRUTH)
CONVERT(byte_to_float, uint8_t, float, AS_IT_IS)
CONVERT(byte_to_double, uint8_t, double, AS_IT_IS)

static gs_loop_function
converter(int from, int to)
{
    if (to == NPY_FLOAT32) {
        switch (from) {
        case NPY_FLOAT64: return double_to_float;
        case NPY_INT64: return int64_to_float;
        case NPY_INT32: return int32_to_float;
        case NPY_BOOL: return bool_to_float;
        case NPY_UINT8: return byte_to_float;
        }
    } else if (to == NPY_FLOAT64) {
        switch (from) {
        case NPY_FLOAT32: return float_to_double;
        case NPY_INT64: return int64_to_double;
        case NPY_INT32: return int32_to_double;
        case NPY_BOOL: return bool_to_double;
        case NPY_UINT8: return byte_to_double;
        }
    }
    return gs_half_converter(from, to);
}

/* Elements as they are, a few of them: NumPy's own copy takes longer to set up than to run. */
#define MOVE(name, unit)                                                                           \
    static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data)       \
    {                                                                                              \
        (void)data;                                                                                \
        for (npy_intp i = 0; i < dims[0]; i++) {                                                   \
            *(unit *)(args[1] + i * strides[1]) = *(const unit *)(args[0] + i * strides[0]);       \
        }                                                                                          \
    }

MOVE(move_4_bytes, uint32_t)
MOVE(move_8_bytes, uint64_t)

#define FEW 4096

static gs_loop_function
mover(int type)
{
    return gs_itemsize[type] == 4 ? move_4_bytes : gs_itemsize[type] == 8 ? move_8_bytes : NULL;
}

/* Elements as they are, of a source that is walked backwards. */
#define REVERSE(name, unit)                                                                        \
    GS_CLONES static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data) \
    {                                                                                              \
        const unit *in = (const unit *)args[0];                                                    \
        unit *out = (unit *)args[1];                                                               \
        npy_intp n = dims[0];                                                                      \
        (void)strides, (void)data;                                                                 \
        GS_IVDEP                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            out[i] = in[-i];                                                                       \
        }                                                                                          \
    }

typedef struct {
    uint64_t first, second;
} pair;

REVERSE(reverse_1_byte, uint8_t)
REVERSE(reverse_2_bytes, uint16_t)
REVERSE(reverse_4_bytes, uint32_t)
REVERSE(reverse_8_bytes, uint64_t)
REVERSE(reverse_16_bytes, pair)

#define LONGEST_ROW 1024 /* bytes; NumPy copies longer ones as fast */
#define SHORT 16 /* elements; NumPy goes faster over many shorter rows */

/* NULL unless rows of the source are reversed ones of the output. */
static gs_loop_function
reverser(const gs_iteration *it, npy_intp size)
{
    if (it->strides[0][0] != -size || it->strides[1][0] != size || it->dims[0] < SHORT) {
        return NULL;
    }
    switch (size) {
    case 1: return reverse_1_byte;
    case 2: return reverse_2_bytes;
    case 4: return reverse_4_bytes;
    case 8: return reverse_8_bytes;
    case 16: return reverse_16_bytes;
    }
    return NULL;
}

/* Rows that lie side by side on both sides. */
static void
copy_row(char **args, const npy_intp *dims, const npy_intp *strides, void *data)
{
    (void)data;
    gs_copy_few(args[1], args[0], dims[0] * strides[0]);
}

/* NULL unless there are many short rows, which NumPy copies with a call for each. */
static gs_loop_function
row_copier(const gs_iteration *it, npy_intp size)
{
    int is_dense = it->nd > 1 && it->strides[0][0] == size && it->strides[1][0] == size;
    return is_dense && it->dims[0] > GS_FEW_STEPS && it->dims[0] * size <= LONGEST_ROW ? copy_row : NULL;
}

static int
copy_by_numpy(PyObject *out, PyObject *array)
{
    if (gs_type(out) >= 0 && gs_type(out) == gs_type(array)) {
        return PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)array); /* no cast: nothing to warn of */
    }
    PyObject *silence = gs_silence_begin();
    if (silence == NULL) {
        return -1;
    }
    int status = PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)array);
    gs_silence_end(silence);
    return status;
}

static int
same_dense_layout(PyObject *a, PyObject *b)
{
    if (gs_type(a) < 0 || gs_type(a) != gs_type(b) || !gs_same_shape(a, b)) {
        return 0;
    }
    return (gs_is_plain(a) && gs_is_plain(b)) || (gs_has_strides(a, gs_fields(b)->strides) && gs_is_dense(a));
}

#define PAGE 4096

typedef struct {
    const char *from;
    char *to;
    npy_intp nbytes;
} page_copy;

static void
copy_pages(void *context, npy_intp first, npy_intp last)
{
    const page_copy *c = context;
    npy_intp end = last * PAGE < c->nbytes ? last * PAGE : c->nbytes;
    memcpy(c->to + first * PAGE, c->from + first * PAGE, (size_t)(end - first * PAGE));
}

/* Is `array`, which can be expanded to the shape of `out`, one element, and `out` dense and of its type? */
static int
is_repeated_element(PyObject *out, PyObject *array)
{
    PyArrayObject_fields *a = gs_fields(array);
    if (gs_type(out) < 0 || gs_type(out) != gs_type(array) || !gs_is_dense(out)) {
        return 0;
    }
    for (int i = 0; i < a->nd; i++) {
        if (a->strides[i] != 0 && a->dimensions[i] != 1) {
            return 0;
        }
    }
    return 1;
}

/* By loops of our own; 0, having done nothing, where there is none that is better than NumPy's. */
static int
copy_by_loop(PyObject *out, PyObject *array)
{
    int from = gs_type(array), to = gs_type(out);
    int aligned = gs_fields(array)->flags & gs_fields(out)->flags & NPY_ARRAY_ALIGNED;
    if (from < 0 || to < 0 || !aligned || !gs_same_shape(out, array)) {
        return 0;
    }
    gs_loop loop = {from == to ? mover(to) : converter(from, to), NULL, (int16_t)to, 1, GS_DIRECT};
    PyObject *operands[2] = {array, out};
    gs_iteration it;
    gs_iteration_init(&it, operands, 2, gs_fields(out)->nd, gs_fields(out)->dimensions);
    if (from == to && it.size > FEW) {
        loop.run = reverser(&it, gs_itemsize[to]);
        loop.run = loop.run == NULL ? row_copier(&it, gs_itemsize[to]) : loop.run;
    }
    if (from == to && it.size > FEW && loop.run == NULL) {
        return gs_copy_transposed(&it, gs_itemsize[to]);
    }
    if (loop.run == NULL) {
        return 0;
    }
    gs_iteration_run(&it, &loop);
    return 1;
}

/* Into an array that shares no memory with the source. */
static int
copy_apart(PyObject *out, PyObject *array)
{
    if (same_dense_layout(out, array)) {
        npy_intp nbytes = gs_size(out) * gs_itemsize[gs_type(out)];
        page_copy copy = {gs_fields(array)->data, gs_fields(out)->data, nbytes};
        Py_INCREF(array);
        gs_parallel(copy_pages, &copy, (nbytes + PAGE - 1) / PAGE, PAGE / 4, 1);
        Py_DECREF(array);
        return 0;
    }
    if (is_repeated_element(out, array)) {
        npy_intp size = gs_itemsize[gs_type(out)];
        gs_repeat(gs_fields(out)->data, gs_size(out) * size, gs_fields(array)->data, size);
        return 0;
    }
    Py_INCREF(array);
    int done = copy_by_loop(out, array);
    Py_DECREF(array);
    return done ? 0 : copy_by_numpy(out, array);
}

/* `out`, new and of the array's shape, with its elements. */
static PyObject *
with_elements(PyObject *out, PyObject *array)
{
    if (out != NULL && copy_apart(out, array) < 0) {
        Py_CLEAR(out);
    }
    return out;
}

PyObject *
gs_cast(PyObject *array, int type)
{
    if (gs_type(array) == type) {
        Py_INCREF(array);
        return array;
    }
    return with_elements(gs_result_like(array, type), array);
}

PyObject *
gs_clone(PyObject *array)
{
    int type = gs_type(array);
    if (type < 0) {
        return PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER);
    }
    return with_elements(gs_result_like(array, type), array);
}

PyObject *
gs_clone_by_rows(PyObject *array)
{
    int type = gs_numeric_type(array);
    if (type < 0) {
        return NULL;
    }
    return with_elements(gs_array_new(type, gs_fields(array)->nd, gs_fields(array)->dimensions), array);
}

PyObject *
gs_contiguous(PyObject *array)
{
    if (gs_type(array) >= 0 && gs_is_plain(array)) {
        Py_INCREF(array);
        return array;
    }
    return gs_clone_by_rows(array);
}

PyObject *
gs_prepare(PyObject *array, int type)
{
    if (gs_type(array) == type && !(gs_fields(array)->flags & NPY_ARRAY_ALIGNED)) {
        return gs_clone(array);
    }
    return gs_cast(array, type);
}

static int
check_expands(PyObject *out, PyObject *array)
{
    PyArrayObject_fields *o = gs_fields(out), *a = gs_fields(array);
    int extra = o->nd - a->nd;
    int bad = extra < 0 ? 0 : -1;
    for (int d = 0; d < a->nd && bad < 0; d++) {
        if (a->dimensions[d] != 1 && a->dimensions[d] != o->dimensions[d + extra]) {
            bad = d + extra;
        }
    }
    if (bad < 0) {
        return 0;
    }
    PyObject *target = gs_shape_text(o->nd, o->dimensions), *source = gs_shape_text(a->nd, a->dimensions);
    if (target != NULL && source != NULL && extra < 0) {
        PyErr_Format(PyExc_RuntimeError,
                     "The number of sizes of the target (%d) must be at least the number of dimensions of the source "
                     "(%d).  Target sizes: %U.  Tensor sizes: %U",
                     o->nd, a->nd, target, source);
    } else if (target != NULL && source != NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "The expanded size of the tensor (%zd) must match the existing size (%zd) at non-singleton dimension "
                     "%d.  Target sizes: %U.  Tensor sizes: %U",
                     o->dimensions[bad], a->dimensions[bad - extra], bad, target, source);
    }
    Py_XDECREF(target);
    Py_XDECREF(source);
    return -1;
}

int
gs_copy_into(PyObject *out, PyObject *array)
{
    if (gs_check_writable(out) < 0 || check_expands(out, array) < 0) {
        return -1;
    }
    if (gs_is_meta(out)) {
        return 0;
    }
    return gs_may_overlap(out, array) ? copy_by_numpy(out, array) : copy_apart(out, array);
}

/* ---- filling */

static int
fill_plain(PyObject *out, int type, PyObject *number)
{
    char element[sizeof(npy_clongdouble)] = {0};
    if (gs_store_number(number, type, element) < 0) {
        return -1;
    }
    gs_repeat(gs_fields(out)->data, gs_size(out) * gs_itemsize[type], element, gs_itemsize[type]);
    return 0;
}

int
gs_fill(PyObject *out, PyObject *number)
{
    int type = gs_numeric_type(out);
    if (type < 0 || gs_check_writable(out) < 0) {
        return -1;
    }
    if (gs_is_meta(out)) {
        return 0;
    }
    if (gs_type(out) == type && gs_is_plain(out)) {
        return fill_plain(out, type, number);
    }
    PyObject *element = gs_full(type, 0, NULL, number);
    int status = element == NULL ? -1 : PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)element);
    gs_array_xrelease(element);
    return status;
}

PyObject *
gs_wrapped(int type, PyObject *number)
{
    PyObject *out = gs_array_new(type, 0, NULL);
    if (out != NULL && gs_wrap_number(number, type, gs_fields(out)->data) < 0) {
        Py_CLEAR(out);
    }
    return out;
}

PyObject *
gs_full(int type, int nd, const npy_intp *dims, PyObject *number)
{
    PyObject *out = gs_array_new(type, nd, dims);
    if (out != NULL && fill_plain(out, type, number) < 0) {
        Py_CLEAR(out);
    }
    return out;
}
