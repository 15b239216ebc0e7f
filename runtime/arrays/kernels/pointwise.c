/* Unary and binary ufuncs on arrays.
 *
 * Each entry has a fast path for plain operands of one type and shape, written out so that it costs little more than
 * the inner loop itself, and a general path: find the type to compute in, convert the operands, broadcast, walk.
 */
#include "halves.h"
#include "support/array_cache.h"
#include "support/loops.h"
#include "support/meta.h"
#include "support/numbers.h"
#include "support/promotion.h"
#include "threads/thread_pool.h"
#include "walks/assign.h"
#include "walks/order.h"
#include "walks/tiles.h"

/* ---- flat runs over plain operands */

typedef struct {
    const gs_loop *loop;
    int n_operands;
    char *args[3];
    npy_intp strides[3];
} flat_run;

static void
run_part(void *context, npy_intp first, npy_intp last)
{
    const flat_run *run = context;
    char *args[3];
    npy_intp strides[3];
    npy_intp n = last - first;
    for (int i = 0; i < run->n_operands; i++) {
        strides[i] = run->strides[i];
        args[i] = run->args[i] + first * strides[i];
    }
    run->loop->run(args, &n, strides, run->loop->data);
}

/* Gives up the GIL, so it holds the operands: another thread may drop them meanwhile. */
static GS_NOINLINE void
run_large(flat_run *run, PyObject *a, PyObject *b, PyObject *out, npy_intp n)
{
    Py_INCREF(a);
    Py_INCREF(b);
    Py_INCREF(out);
    gs_parallel(run_part, run, n, run->loop->cost, 64);
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(out);
}

static inline int
is_large(const gs_loop *loop, npy_intp n)
{
    return n >= GS_GRAIN / 16 && n * loop->cost >= GS_GRAIN;
}

static inline void
run_1(const gs_loop *loop, PyObject *a, npy_intp size, PyObject *out)
{
    npy_intp n = gs_size(a);
    flat_run run = {loop, 2, {gs_fields(a)->data, gs_fields(out)->data, NULL}, {size, gs_itemsize[loop->out_type], 0}};
    if (GS_UNLIKELY(is_large(loop, n))) {
        run_large(&run, a, a, out, n);
        return;
    }
    loop->run(run.args, &n, run.strides, loop->data);
}

static inline void
run_2(const gs_loop *loop, PyObject *a, PyObject *b, npy_intp size, PyObject *out)
{
    npy_intp n = gs_size(a);
    flat_run run = {loop,
                    3,
                    {gs_fields(a)->data, gs_fields(b)->data, gs_fields(out)->data},
                    {size, size, gs_itemsize[loop->out_type]}};
    if (GS_UNLIKELY(is_large(loop, n))) {
        run_large(&run, a, b, out, n);
        return;
    }
    loop->run(run.args, &n, run.strides, loop->data);
}

/* The number sits in *element, in the loop's type. */
static inline void
run_scalar(const gs_loop *loop, PyObject *a, npy_intp size, char *element, int number_first, PyObject *out)
{
    npy_intp n = gs_size(a);
    flat_run run = {loop, 3, {gs_fields(a)->data, element, gs_fields(out)->data}, {size, 0, gs_itemsize[loop->out_type]}};
    if (number_first) {
        run.args[0] = element;
        run.args[1] = gs_fields(a)->data;
        run.strides[0] = 0;
        run.strides[1] = size;
    }
    if (GS_UNLIKELY(is_large(loop, n))) {
        run_large(&run, a, a, out, n);
        return;
    }
    loop->run(run.args, &n, run.strides, loop->data);
}

/* ---- the general path: operands converted to one type */

static int
check_divisor(gs_ufunc ufunc, int type, PyObject *dividend, PyObject *divisor)
{
    if (gs_ufuncs[ufunc].rule != GS_RULE_INTEGER_DIVISION || gs_category_of(type) != GS_INT || gs_is_meta(divisor)) {
        return 0;
    }
    if (gs_size(dividend) == 0 || PyArray_CountNonzero((PyArrayObject *)divisor) == gs_size(divisor)) {
        return 0;
    }
    PyErr_Format(PyExc_RuntimeError, "ZeroDivisionError: %s: integer division by zero", gs_op_name(ufunc));
    return -1;
}

static void
walk_all(const gs_loop *loop, int n_in, PyObject *const *inputs, PyObject *out)
{
    PyObject *operands[GS_MAX_OPERANDS];
    memcpy(operands, inputs, sizeof(PyObject *) * (size_t)n_in);
    operands[n_in] = out;
    gs_iteration it;
    gs_iteration_init(&it, operands, n_in + 1, gs_fields(out)->nd, gs_fields(out)->dimensions);
    gs_run_elementwise(&it, loop);
}

static PyObject *
raise_negative_power(void)
{
    PyErr_SetString(PyExc_RuntimeError,
                    "Integers to negative integer powers are not allowed; convert the base to a floating point type");
    return NULL;
}

static PyObject *
compute_publicly(gs_ufunc ufunc, int type, PyObject *const *inputs)
{
    PyObject *result = gs_call_ufunc(ufunc, inputs, NULL);
    if (result == NULL && ufunc == GS_POWER && PyErr_ExceptionMatches(PyExc_ValueError)) {
        raise_negative_power();
    } else if (result == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        gs_raise_not_implemented(gs_op_name(ufunc), type);
    }
    return result;
}

/* NumPy's functions have a rule of their own where operands disagree: row-major if one of them is. */
static PyObject *
in_order(PyObject *result, PyObject *const *inputs, int n_in)
{
    npy_intp strides[NPY_MAXDIMS];
    int type = result == NULL ? -1 : gs_type(result);
    if (type < 0) {
        return result;
    }
    int nd = gs_fields(result)->nd;
    const npy_intp *dims = gs_fields(result)->dimensions;
    gs_result_strides(inputs, n_in, nd, dims, gs_itemsize[type], strides);
    if (gs_has_strides(result, strides)) {
        return result;
    }
    PyObject *out = gs_result_new(type, inputs, n_in, nd, dims);
    if (out != NULL && gs_copy_into(out, result) < 0) {
        Py_CLEAR(out);
    }
    Py_DECREF(result);
    return out;
}

/* The type that `compute_publicly` gives is found with inputs without dimensions. */
static PyObject *
meta_publicly(gs_ufunc ufunc, int type, int nd, const npy_intp *dims)
{
    PyObject *element = gs_meta_new(type, 0, NULL);
    PyObject *inputs[2] = {element, element};
    PyObject *model = element == NULL ? NULL : compute_publicly(ufunc, type, inputs);
    PyObject *out = model == NULL ? NULL : gs_meta_new(gs_fields(model)->descr->type_num, nd, dims);
    Py_XDECREF(element);
    Py_XDECREF(model);
    return out;
}

/* Inputs are aligned arrays of `type`, or stand-ins; held by the caller. */
static PyObject *
compute(gs_ufunc ufunc, int type, PyObject *const *inputs)
{
    int n_in = gs_ufuncs[ufunc].n_in;
    npy_intp dims[NPY_MAXDIMS];
    int nd = gs_broadcast_shape(inputs, n_in, dims);
    if (nd < 0 || (n_in == 2 && check_divisor(ufunc, type, inputs[0], inputs[1]) < 0)) {
        return NULL;
    }
    const gs_loop *loop = gs_find_loop(ufunc, type);
    if (gs_any_meta(inputs, n_in)) {
        return loop == NULL ? meta_publicly(ufunc, type, nd, dims) : gs_meta_new(loop->out_type, nd, dims);
    }
    if (loop == NULL) {
        return in_order(compute_publicly(ufunc, type, inputs), inputs, n_in);
    }
    PyObject *out = gs_result_new(loop->out_type, inputs, n_in, nd, dims);
    if (out != NULL) {
        walk_all(loop, n_in, inputs, out);
    }
    return out;
}

/* conj of a real array, floor of an integer one, sign of a mask: the argument is its own result. */
static int
is_identity(gs_ufunc ufunc, int type)
{
    gs_category category = gs_category_of(type);
    switch (gs_ufuncs[ufunc].rule) {
    case GS_RULE_POSITIVE:
    case GS_RULE_UNCHANGED: return category != GS_COMPLEX;
    case GS_RULE_ROUNDING: return category <= GS_INT;
    case GS_RULE_BOOL_UNCHANGED: return category == GS_BOOL;
    default: return 0;
    }
}

static GS_NOINLINE PyObject *
unary_general(gs_ufunc ufunc, PyObject *a)
{
    int type = gs_numeric_type(a);
    int compute_type = type < 0 ? -1 : gs_compute_type(ufunc, type);
    if (compute_type < 0) {
        return NULL;
    }
    PyObject *input = gs_meta_or_prepared(a, compute_type);
    if (input == NULL) {
        return NULL;
    }
    PyObject *result = is_identity(ufunc, compute_type) ? gs_meta_or_clone(input) : compute(ufunc, compute_type, &input);
    gs_array_release(input);
    return result;
}

/* The type for a pair of arrays, PyTorch's exception for bool operands of `-` included. */
static int
pair_type(gs_ufunc ufunc, PyObject *a, PyObject *b)
{
    int type = gs_result_type_of(a, b);
    if (type < 0) {
        return -1;
    }
    if (gs_ufuncs[ufunc].rule == GS_RULE_SUBTRACT &&
        (gs_fields(a)->descr->type_num == NPY_BOOL || gs_fields(b)->descr->type_num == NPY_BOOL)) {
        type = NPY_BOOL;
    }
    return gs_compute_type(ufunc, type);
}

/* Of halves: in float32, where the number keeps its digits, and rounded once at the end.  PyTorch does so for products and
 * quotients; for all else it makes a half of the number first. */
static int
computes_halves_wide(gs_ufunc ufunc)
{
    return ufunc == GS_MULTIPLY || ufunc == GS_TRUE_DIVIDE || ufunc == GS_FLOOR_DIVIDE;
}

static PyObject *
binary_of_type(gs_ufunc ufunc, int type, PyObject *a, PyObject *b)
{
    PyObject *inputs[2] = {gs_meta_or_prepared(a, type), NULL};
    inputs[1] = inputs[0] == NULL ? NULL : gs_meta_or_prepared(b, type);
    PyObject *result = inputs[1] == NULL ? NULL : compute(ufunc, type, inputs);
    gs_array_xrelease(inputs[0]);
    gs_array_xrelease(inputs[1]);
    return result;
}

static GS_NOINLINE PyObject *
binary_general(gs_ufunc ufunc, PyObject *a, PyObject *b)
{
    int type = gs_type(a);
    if (type < 0 || type != gs_type(b) || gs_find_loop(ufunc, type) == NULL || gs_loops[ufunc][type].state != GS_DIRECT) {
        type = pair_type(ufunc, a, b);
        if (type < 0) {
            return NULL;
        }
    }
    /* A second operand without dimensions is as good as a number. */
    if (type == NPY_HALF && gs_fields(b)->nd == 0 && gs_type(b) != NPY_HALF && computes_halves_wide(ufunc)) {
        return gs_rounded_to_half(binary_of_type(ufunc, NPY_FLOAT32, a, b));
    }
    return binary_of_type(ufunc, type, a, b);
}

/* ---- numbers */

/* The common cases of gs_store_number; 0 means: ask the general path. */
static inline int
store_quickly(PyObject *number, int type, char *element)
{
    double value;
    if (PyFloat_CheckExact(number)) {
        value = PyFloat_AS_DOUBLE(number);
    } else if (PyLong_CheckExact(number)) {
        value = PyLong_AsDouble(number);
        if (GS_UNLIKELY(value == -1.0 && PyErr_Occurred())) {
            PyErr_Clear();
            return 0;
        }
    } else {
        return 0;
    }
    if (type == NPY_FLOAT32) {
        float v = (float)value;
        memcpy(element, &v, sizeof(v));
        return 1;
    }
    if (type == NPY_FLOAT64) {
        memcpy(element, &value, sizeof(value));
        return 1;
    }
    return 0;
}

/* Where integers of one type and an integer of theirs have a result of that type. */
static int
keeps_integers(gs_ufunc ufunc)
{
    return ufunc == GS_ADD || ufunc == GS_SUBTRACT || ufunc == GS_MULTIPLY || ufunc == GS_MAXIMUM || ufunc == GS_MINIMUM;
}

/* An integer that the type has; 0 means: ask the general path. */
static int
store_integer_quickly(PyObject *number, int type, char *element)
{
    if (type < 0 || gs_category_of(type) != GS_INT || !PyLong_CheckExact(number)) {
        return 0;
    }
    int overflow, is_unsigned = PyTypeNum_ISUNSIGNED(type);
    int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
    int64_t top = INT64_MAX >> (64 - 8 * gs_itemsize[type]);
    int64_t greatest = is_unsigned && gs_itemsize[type] < 8 ? 2 * top + 1 : top;
    if (overflow || value > greatest || value < (is_unsigned ? 0 : -top - 1)) {
        return 0;
    }
    memcpy(element, &value, (size_t)gs_itemsize[type]); /* its lowest bytes come first */
    return 1;
}

/* A number beside elements that the result is written over. */
static inline int
store_in_place(gs_ufunc ufunc, PyObject *number, int type, char *element)
{
    if (ufunc == GS_POWER) {
        return 0;
    }
    return store_quickly(number, type, element) ||
           (keeps_integers(ufunc) && store_integer_quickly(number, type, element));
}

/* x ** c by a cheaper ufunc with the same result, for the exponents that people write; GS_POWER for all others. */
static gs_ufunc
simpler_power(int type, const char *element)
{
    double exponent;
    if (type == NPY_FLOAT32) {
        float e;
        memcpy(&e, element, sizeof(e));
        exponent = e;
    } else if (type == NPY_FLOAT64) {
        memcpy(&exponent, element, sizeof(exponent));
    } else {
        return GS_POWER;
    }
    return exponent == 2.0    ? GS_SQUARE
           : exponent == 0.5  ? GS_SQRT
           : exponent == -1.0 ? GS_RECIPROCAL
           : exponent == 1.0  ? GS_POSITIVE
                              : GS_POWER;
}

static int
is_comparison(gs_ufunc ufunc)
{
    return ufunc == GS_EQUAL || ufunc == GS_NOT_EQUAL || ufunc == GS_LESS || ufunc == GS_LESS_EQUAL ||
           ufunc == GS_GREATER || ufunc == GS_GREATER_EQUAL;
}

/* A comparison with a number beyond the type's range, as one with its last element: x < 300 of int8 is x <= 127. */
static gs_ufunc
comparison_with_end(gs_ufunc ufunc, int side)
{
    if (side > 0) {
        return ufunc == GS_LESS || ufunc == GS_LESS_EQUAL || ufunc == GS_NOT_EQUAL ? GS_LESS_EQUAL : GS_GREATER;
    }
    return ufunc == GS_GREATER || ufunc == GS_GREATER_EQUAL || ufunc == GS_NOT_EQUAL ? GS_GREATER_EQUAL : GS_LESS;
}

/* The type for an array and a number. */
static int
scalar_type(gs_ufunc ufunc, PyObject *a, PyObject *number)
{
    gs_result_state state = GS_RESULT_STATE_INIT;
    int a_type = gs_numeric_type(a);
    int category = a_type < 0 ? -1 : gs_number_category(number);
    if (category < 0 || gs_add_operand(&state, a_type, gs_fields(a)->nd) < 0 || gs_add_number(&state, number) < 0) {
        return -1;
    }
    if (gs_ufuncs[ufunc].rule == GS_RULE_SUBTRACT && (a_type == NPY_BOOL || category == GS_BOOL)) {
        return gs_compute_type(ufunc, NPY_BOOL);
    }
    return gs_compute_type(ufunc, gs_result_type(&state));
}

/* The last element of an integer type on one side. */
static PyObject *
end_of_range(int type, int side)
{
    int64_t top = INT64_MAX >> (64 - 8 * gs_itemsize[type]);
    int64_t end = PyTypeNum_ISUNSIGNED(type) ? -(side > 0) : side > 0 ? top : -top - 1;
    PyObject *element = gs_array_new(type, 0, NULL);
    if (element != NULL) {
        memcpy(gs_fields(element)->data, &end, (size_t)gs_itemsize[type]); /* its lowest bytes come first */
    }
    return element;
}

/* Bounds, exponents and what alone decides the type are checked, all other operands wrap around.  See numbers.h, Note [Numbers that do not fit]. */
static PyObject *
element_of(gs_ufunc ufunc, int type, PyObject *number, int number_first, int beside_bool)
{
    int is_exponent = ufunc == GS_POWER && !number_first && (gs_category_of(type) == GS_INT || type == NPY_FLOAT16);
    if (ufunc == GS_MAXIMUM || ufunc == GS_MINIMUM || is_exponent || beside_bool) {
        return gs_full(type, 0, NULL, number);
    }
    return gs_wrapped(type, number);
}

static PyObject *
compare_with_end(gs_ufunc ufunc, int type, PyObject *input, int side)
{
    PyObject *end = end_of_range(type, side);
    PyObject *inputs[2] = {input, end};
    PyObject *result = end == NULL ? NULL : compute(comparison_with_end(ufunc, side), type, inputs);
    gs_array_xrelease(end);
    return result;
}

static PyObject *
scalar_computed(gs_ufunc ufunc, int type, PyObject *input, PyObject *number, int number_first, int beside_bool)
{
    int side = gs_category_of(type) == GS_INT ? gs_side_of_range(number, type) : 0;
    if (side != 0 && is_comparison(ufunc) && !number_first) {
        return compare_with_end(ufunc, type, input, side);
    }
    if (side < 0 && ufunc == GS_POWER && !number_first && PyTypeNum_ISUNSIGNED(type)) {
        return raise_negative_power();
    }
    PyObject *element = element_of(ufunc, type, number, number_first, beside_bool);
    if (element == NULL) {
        return NULL;
    }
    PyObject *result;
    gs_ufunc simpler = ufunc == GS_POWER && !number_first ? simpler_power(type, gs_fields(element)->data) : ufunc;
    if (simpler == GS_POSITIVE) {
        result = gs_meta_or_clone(input);
    } else if (gs_ufuncs[simpler].n_in == 1) {
        result = compute(simpler, type, &input);
    } else {
        PyObject *inputs[2] = {number_first ? element : input, number_first ? input : element};
        result = compute(ufunc, type, inputs);
    }
    gs_array_release(element);
    return result;
}

static PyObject *
binary_scalar_of_type(gs_ufunc ufunc, int type, PyObject *a, PyObject *number, int number_first)
{
    int beside_bool = gs_type(a) == NPY_BOOL && gs_category_of(type) == GS_INT;
    PyObject *input = gs_meta_or_prepared(a, type);
    if (input == NULL) {
        return NULL;
    }
    PyObject *result = scalar_computed(ufunc, type, input, number, number_first, beside_bool);
    gs_array_release(input);
    return result;
}

/* The loop of float32 for contiguous halves and a number, of which `element` becomes a float; else NULL. */
static const gs_loop *
loop_of_halves(gs_ufunc ufunc, PyObject *a, PyObject *number, float *element)
{
    if (gs_type(a) != NPY_HALF || !computes_halves_wide(ufunc) || !gs_is_plain(a) || gs_is_meta(a)) {
        return NULL;
    }
    const gs_loop *loop = gs_find_loop(ufunc, NPY_FLOAT32);
    int is_direct = loop != NULL && loop->state == GS_DIRECT && loop->out_type == NPY_FLOAT32;
    return is_direct && store_quickly(number, NPY_FLOAT32, (char *)element) ? loop : NULL;
}

static GS_NOINLINE PyObject *
binary_scalar_general(gs_ufunc ufunc, PyObject *a, PyObject *number, int number_first)
{
    float element;
    const gs_loop *of_halves = loop_of_halves(ufunc, a, number, &element);
    if (of_halves != NULL) {
        PyObject *out = gs_array_like(a, NPY_HALF);
        if (out != NULL) {
            gs_halves_with_number(of_halves, a, element, number_first, out);
        }
        return out;
    }
    int type = scalar_type(ufunc, a, number);
    if (type < 0) {
        return NULL;
    }
    if (type == NPY_HALF && computes_halves_wide(ufunc)) {
        return gs_rounded_to_half(binary_scalar_of_type(ufunc, NPY_FLOAT32, a, number, number_first));
    }
    return binary_scalar_of_type(ufunc, type, a, number, number_first);
}

/* ---- new results */

PyObject *
gs_unary(gs_ufunc ufunc, PyObject *a)
{
    int type = gs_type(a);
    if (GS_LIKELY(type >= 0 && gs_is_plain(a) && gs_loops[ufunc][type].state == GS_DIRECT)) {
        const gs_loop *loop = &gs_loops[ufunc][type];
        PyObject *out = gs_array_like(a, loop->out_type);
        if (GS_LIKELY(out != NULL)) {
            run_1(loop, a, gs_itemsize[type], out);
        }
        return out;
    }
    return unary_general(ufunc, a);
}

static inline int
is_direct_pair(gs_ufunc ufunc, int type, PyObject *a, PyObject *b)
{
    return type >= 0 && gs_fields(a)->descr == gs_fields(b)->descr &&
           (gs_fields(a)->flags & gs_fields(b)->flags & GS_PLAIN) == GS_PLAIN && gs_same_shape(a, b) &&
           gs_loops[ufunc][type].state == GS_DIRECT;
}

PyObject *
gs_binary(gs_ufunc ufunc, PyObject *a, PyObject *b)
{
    int type = gs_type(a);
    if (GS_LIKELY(is_direct_pair(ufunc, type, a, b))) {
        const gs_loop *loop = &gs_loops[ufunc][type];
        PyObject *out = gs_array_like(a, loop->out_type);
        if (GS_LIKELY(out != NULL)) {
            run_2(loop, a, b, gs_itemsize[type], out);
        }
        return out;
    }
    return binary_general(ufunc, a, b);
}

/* ---- small powers */

/* f(g(a)), where g of nothing is a itself. */
static PyObject *
unary_of(gs_ufunc f, PyObject *g_of_a)
{
    PyObject *result = g_of_a == NULL ? NULL : gs_unary(f, g_of_a);
    gs_array_xrelease(g_of_a);
    return result;
}

static PyObject *
cube(PyObject *a)
{
    PyObject *result = gs_unary(GS_SQUARE, a);
    if (result != NULL && gs_binary_into(GS_MULTIPLY, result, a, result) < 0) {
        gs_array_release(result);
        return NULL;
    }
    return result;
}

static PyObject *small_power(PyObject *a, PyObject *number);

static PyObject *
small_power_of_halves(PyObject *a, PyObject *number)
{
    PyObject *wide = gs_meta_or_prepared(a, NPY_FLOAT32);
    PyObject *power = wide == NULL ? NULL : small_power(wide, number);
    gs_array_xrelease(wide);
    return gs_rounded_to_half(power);
}

/* Powers that are products, quotients or roots: NumPy's loop takes fifty times as long.  The same choice as PyTorch's.
 * NULL without an exception when it is none of them. */
static PyObject *
small_power(PyObject *a, PyObject *number)
{
    int type = gs_type(a);
    int is_real = type == NPY_FLOAT32 || type == NPY_FLOAT64;
    if (type == NPY_HALF) {
        return small_power_of_halves(a, number);
    }
    double exponent;
    if (PyFloat_CheckExact(number)) {
        exponent = PyFloat_AS_DOUBLE(number);
    } else if (PyLong_CheckExact(number)) {
        exponent = PyLong_AsDouble(number);
        if (exponent == -1.0 && PyErr_Occurred()) {
            PyErr_Clear(); /* too large for a double: not small */
            return NULL;
        }
    } else {
        return NULL;
    }
    if (type >= 0 && gs_category_of(type) == GS_INT && PyLong_CheckExact(number)) { /* modulo 2^bits, as every power */
        return exponent == 2.0 ? gs_unary(GS_SQUARE, a) : exponent == 3.0 ? cube(a) : NULL;
    }
    if (!is_real && type != NPY_COMPLEX64 && type != NPY_COMPLEX128) {
        return NULL;
    }
    return exponent == 1.0               ? gs_meta_or_clone(a)
           : exponent == 2.0             ? gs_unary(GS_SQUARE, a)
           : exponent == 3.0             ? cube(a)
           : exponent == -1.0            ? gs_unary(GS_RECIPROCAL, a)
           : exponent == -2.0            ? unary_of(GS_RECIPROCAL, gs_unary(GS_SQUARE, a))
           : exponent == 0.5 && is_real  ? gs_unary(GS_SQRT, a)
           : exponent == -0.5 && is_real ? unary_of(GS_RECIPROCAL, gs_unary(GS_SQRT, a))
                                         : NULL;
}

PyObject *
gs_binary_scalar(gs_ufunc ufunc, PyObject *a, PyObject *number, int number_first)
{
    int type = gs_type(a);
    char element[sizeof(double)];
    if (ufunc == GS_POWER && !number_first) {
        PyObject *result = small_power(a, number);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    if (GS_LIKELY(type >= 0 && gs_is_plain(a) && gs_loops[ufunc][type].state == GS_DIRECT && ufunc != GS_POWER &&
                  store_quickly(number, type, element))) {
        const gs_loop *loop = &gs_loops[ufunc][type];
        PyObject *out = gs_array_like(a, loop->out_type);
        if (GS_LIKELY(out != NULL)) {
            run_scalar(loop, a, gs_itemsize[type], element, number_first, out);
        }
        return out;
    }
    return binary_scalar_general(ufunc, a, number, number_first);
}

/* ---- results into an array that exists */

static int
store_result(gs_ufunc ufunc, PyObject *result, PyObject *out)
{
    if (result == NULL) {
        return -1;
    }
    int status = -1;
    int from = gs_numeric_type(result), to = gs_numeric_type(out);
    if (from < 0 || to < 0) {
        ;
    } else if (!gs_can_store(from, to)) {
        PyErr_Format(PyExc_RuntimeError, "%s_: result type %s can't be cast to the desired output type %s",
                     gs_inplace_op_name(ufunc), gs_type_name(from), gs_type_name(to));
    } else if (!gs_same_shape(result, out)) {
        PyObject *has = gs_shape_text(gs_fields(out)->nd, gs_fields(out)->dimensions);
        PyObject *needs = gs_shape_text(gs_fields(result)->nd, gs_fields(result)->dimensions);
        if (has != NULL && needs != NULL) {
            PyErr_Format(PyExc_RuntimeError, "%s_: output with shape %U doesn't match the broadcast shape %U",
                         gs_inplace_op_name(ufunc), has, needs);
        }
        Py_XDECREF(has);
        Py_XDECREF(needs);
    } else if (gs_is_meta(result) && !gs_is_meta(out)) {
        status = gs_raise_no_data();
    } else {
        status = gs_copy_into(out, result);
    }
    gs_array_release(result);
    return status;
}

/* A plain output that is exactly the operand, or shares nothing with it. */
static inline int
is_safe_target(PyObject *operand, PyObject *out)
{
    return gs_fields(operand)->data == gs_fields(out)->data || !gs_may_overlap(operand, out);
}

static inline int
is_direct_target(PyObject *a, PyObject *out, int out_type)
{
    const int wanted = GS_PLAIN | NPY_ARRAY_WRITEABLE;
    return gs_type(out) == out_type && (gs_fields(out)->flags & wanted) == wanted && gs_same_shape(a, out) &&
           (out_type == gs_type(a) ? is_safe_target(a, out) : !gs_may_overlap(a, out));
}

/* Do arrays that are not row-major lie in memory alike, so that one flat run serves them? */
static GS_NOINLINE int
is_ordered_target(gs_ufunc ufunc, int type, PyObject *a, PyObject *out)
{
    const int flags = gs_fields(a)->flags & gs_fields(out)->flags;
    return type >= 0 && gs_type(a) == type && gs_type(out) == type && (flags & NPY_ARRAY_ALIGNED) &&
           (gs_fields(out)->flags & NPY_ARRAY_WRITEABLE) && gs_same_shape(a, out) &&
           gs_has_strides(out, gs_fields(a)->strides) && gs_is_dense(a) && is_safe_target(a, out) &&
           gs_loops[ufunc][type].state == GS_DIRECT && gs_loops[ufunc][type].out_type == type;
}

int
gs_unary_into(gs_ufunc ufunc, PyObject *a, PyObject *out)
{
    int type = gs_type(a);
    if ((type >= 0 && gs_is_plain(a) && gs_loops[ufunc][type].state == GS_DIRECT &&
         is_direct_target(a, out, gs_loops[ufunc][type].out_type)) ||
        is_ordered_target(ufunc, type, a, out)) {
        run_1(&gs_loops[ufunc][type], a, gs_itemsize[type], out);
        return 0;
    }
    return gs_check_writable(out) < 0 ? -1 : store_result(ufunc, gs_unary(ufunc, a), out);
}

int
gs_binary_into(gs_ufunc ufunc, PyObject *a, PyObject *b, PyObject *out)
{
    int type = gs_type(a);
    if ((is_direct_pair(ufunc, type, a, b) && is_direct_target(a, out, gs_loops[ufunc][type].out_type) &&
         is_direct_target(b, out, gs_loops[ufunc][type].out_type)) ||
        (is_ordered_target(ufunc, type, a, out) && is_ordered_target(ufunc, type, b, out))) {
        run_2(&gs_loops[ufunc][type], a, b, gs_itemsize[type], out);
        return 0;
    }
    return gs_check_writable(out) < 0 ? -1 : store_result(ufunc, gs_binary(ufunc, a, b), out);
}

int
gs_binary_scalar_into(gs_ufunc ufunc, PyObject *a, PyObject *number, int number_first, PyObject *out)
{
    int type = gs_type(a);
    char element[sizeof(double)];
    int fits = (type >= 0 && gs_is_plain(a) && gs_loops[ufunc][type].state == GS_DIRECT &&
                is_direct_target(a, out, gs_loops[ufunc][type].out_type)) ||
               is_ordered_target(ufunc, type, a, out);
    if (fits && store_in_place(ufunc, number, type, element)) {
        run_scalar(&gs_loops[ufunc][type], a, gs_itemsize[type], element, number_first, out);
        return 0;
    }
    float wide;
    const gs_loop *of_halves = loop_of_halves(ufunc, a, number, &wide);
    if (of_halves != NULL && is_direct_target(a, out, NPY_HALF)) {
        gs_halves_with_number(of_halves, a, wide, number_first, out);
        return 0;
    }
    return gs_check_writable(out) < 0 ? -1 : store_result(ufunc, gs_binary_scalar(ufunc, a, number, number_first), out);
}

/* ---- sums of gradients */

/* Adds in place when the target can take the sum as it is. */
static inline int
try_add_in_place(PyObject *target, PyObject *other)
{
    int type = gs_type(target);
    if (!gs_array_is_exclusive(target) ||
        !(is_direct_pair(GS_ADD, type, target, other) || is_ordered_target(GS_ADD, type, other, target))) {
        return 0;
    }
    run_2(&gs_loops[GS_ADD][type], target, other, gs_itemsize[type], target);
    return 1;
}

int
gs_accumulate(PyObject **slot, PyObject *value)
{
    PyObject *sum = *slot;
    if (sum == NULL) {
        *slot = value;
        return 0;
    }
    if (try_add_in_place(sum, value)) {
        gs_array_release(value);
        return 0;
    }
    if (try_add_in_place(value, sum)) {
        *slot = value;
        gs_array_release(sum);
        return 0;
    }
    PyObject *result = gs_binary(GS_ADD, sum, value);
    gs_array_release(value);
    if (result == NULL) {
        return -1;
    }
    *slot = result;
    gs_array_release(sum);
    return 0;
}
