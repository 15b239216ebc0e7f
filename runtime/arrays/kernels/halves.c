/* Note [Halves]
 *
 * NumPy computes float16 element by element: it converts, computes in float32 and rounds.  The same is done here a block
 * at a time, with loops that the compiler makes vectors of.  The results are the same, because a sum, product, quotient or
 * root of two halves that is rounded to float32 first is still rounded right: 24 digits are more than twice 11 and two.
 * A reduction keeps its result in float32 until its end.
 *
 * Conversions are exact or round to nearest, ties to even.  They are integer arithmetic and selects; a half below the
 * normal ones is a multiple of 2^-24, as are the sums of a float and 0.5.  A double is rounded to odd first: it becomes the
 * float towards zero, whose last bit says whether anything was cut off.  NaN keeps its first digits and is quiet.
 */
#include "halves.h"
#include "elementary/exponential.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

/* ---- elements */

#define REBIASED ((uint32_t)(127 - 15) << 23) /* between the exponents of both types */
#define FLOAT_SIGN 0x80000000u
#define FLOAT_INFINITY 0x7F800000u
#define LEAST_NORMAL 0x38800000u /* 2^-14 */
#define PAST_HALVES 0x47800000u  /* 2^16 */
#define HALF_INFINITY 0x7C00u
#define HALF_NAN 0x7E00u

GS_INLINE float
float_of_half(npy_half half)
{
    uint32_t size = half & 0x7FFFu;
    gs_float_bits small = {(float)(int32_t)size * 0x1p-24f};
    uint32_t bits = (size << 13) + REBIASED;
    bits = size >= HALF_INFINITY ? bits + REBIASED : bits;
    bits = size < 0x400u ? small.bits : bits;
    gs_float_bits found = {.bits = bits | (uint32_t)(half & 0x8000u) << 16};
    return found.value;
}

GS_INLINE npy_half
half_of_float(float number)
{
    gs_float_bits given = {number};
    uint32_t size = given.bits & ~FLOAT_SIGN;
    gs_float_bits small = {.bits = size < LEAST_NORMAL ? size : 0};
    small.value += 0.5f;
    uint32_t nan = HALF_NAN | (size >> 13 & 0x3FFu);
    uint32_t half = (size - REBIASED + 0xFFFu + (size >> 13 & 1u)) >> 13;
    half = size < LEAST_NORMAL ? small.bits - 0x3F000000u : half;
    half = size >= PAST_HALVES ? HALF_INFINITY : half;
    half = size > FLOAT_INFINITY ? nan : half;
    return (npy_half)(half | (given.bits >> 16 & 0x8000u));
}

GS_INLINE float
rounded_to_odd(double number)
{
    gs_float_bits odd = {(float)number};
    odd.bits -= __builtin_fabs((double)odd.value) > __builtin_fabs(number);
    odd.bits |= (double)odd.value != number;
    return odd.value;
}

#define DOUBLE_OF_HALF(half) ((double)float_of_half(half))
#define HALF_OF_DOUBLE(number) half_of_float(rounded_to_odd(number))
#define HALF_OF_BOOL(byte) half_of_float((byte) != 0) /* of a byte that may be any number */
#define HALF_OF_INTEGER(number) half_of_float((float)(number)) /* exact up to 2^24, far beyond the largest half */

/* ---- elements side by side */

#define BLOCK 512

#define DENSE(name, from, to, converted)                       \
    GS_CLONES static void name(const from *in, to *out, npy_intp n) \
    {                                                          \
        GS_IVDEP                                               \
        for (npy_intp i = 0; i < n; i++) {                     \
            out[i] = converted(in[i]);                         \
        }                                                      \
    }

DENSE(widen_portably, npy_half, float, float_of_half)
DENSE(halve_portably, float, npy_half, half_of_float)
DENSE(widen_to_doubles, npy_half, double, DOUBLE_OF_HALF)
DENSE(halve_bools, uint8_t, npy_half, HALF_OF_BOOL)
DENSE(halve_bytes, uint8_t, npy_half, HALF_OF_INTEGER)
DENSE(halve_int32, int32_t, npy_half, HALF_OF_INTEGER)
DENSE(halve_int64, int64_t, npy_half, HALF_OF_INTEGER)
DENSE(round_to_odd, double, float, rounded_to_odd)

#if defined(__x86_64__) && defined(__GNUC__) && !defined(GRADSMITH_NO_CLONES)
#include <immintrin.h>

/* Processors with AVX2 have instructions for both, which compilers do not make of the loops above. */
#define BY_INSTRUCTION __attribute__((target("avx2,f16c"))) static void

BY_INSTRUCTION
widen_by_instruction(const npy_half *in, float *out, npy_intp n)
{
    npy_intp i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(in + i))));
    }
    for (; i < n; i++) {
        out[i] = float_of_half(in[i]);
    }
}

BY_INSTRUCTION
halve_by_instruction(const float *in, npy_half *out, npy_intp n)
{
    npy_intp i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(out + i), halves);
    }
    for (; i < n; i++) {
        out[i] = half_of_float(in[i]);
    }
}

static void
widen(const npy_half *in, float *out, npy_intp n)
{
    (__builtin_cpu_supports("avx2") ? widen_by_instruction : widen_portably)(in, out, n);
}

static void
halve(const float *in, npy_half *out, npy_intp n)
{
    (__builtin_cpu_supports("avx2") ? halve_by_instruction : halve_portably)(in, out, n);
}
#else
#define widen widen_portably
#define halve halve_portably
#endif

static void
halve_doubles(const double *in, npy_half *out, npy_intp n)
{
    _Alignas(64) float block[BLOCK];
    for (npy_intp first = 0; first < n; first += BLOCK) {
        npy_intp count = n - first < BLOCK ? n - first : BLOCK;
        round_to_odd(in + first, block, count);
        halve(block, out + first, count);
    }
}

/* ---- conversions */

/* `dense` converts elements that lie side by side. */
#define CONVERT(name, from, to, converted, dense)                                                     \
    static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data)          \
    {                                                                                                 \
        (void)data;                                                                                   \
        if (strides[0] == sizeof(from) && strides[1] == sizeof(to)) {                                 \
            dense((const from *)args[0], (to *)args[1], dims[0]);                                     \
            return;                                                                                   \
        }                                                                                             \
        for (npy_intp i = 0; i < dims[0]; i++) {                                                      \
            *(to *)(args[1] + i * strides[1]) = converted(*(const from *)(args[0] + i * strides[0])); \
        }                                                                                             \
    }

CONVERT(half_to_float, npy_half, float, float_of_half, widen)
CONVERT(half_to_double, npy_half, double, DOUBLE_OF_HALF, widen_to_doubles)
CONVERT(float_to_half, float, npy_half, half_of_float, halve)
CONVERT(double_to_half, double, npy_half, HALF_OF_DOUBLE, halve_doubles)
CONVERT(bool_to_half, uint8_t, npy_half, HALF_OF_BOOL, halve_bools)
CONVERT(byte_to_half, uint8_t, npy_half, HALF_OF_INTEGER, halve_bytes)
CONVERT(int32_to_half, int32_t, npy_half, HALF_OF_INTEGER, halve_int32)
CONVERT(int64_to_half, int64_t, npy_half, HALF_OF_INTEGER, halve_int64)

gs_loop_function
gs_half_converter(int from, int to)
{
    if (from == NPY_HALF) {
        return to == NPY_FLOAT32 ? half_to_float : to == NPY_FLOAT64 ? half_to_double : NULL;
    }
    if (to == NPY_HALF) {
        switch (from) {
        case NPY_FLOAT32: return float_to_half;
        case NPY_FLOAT64: return double_to_half;
        case NPY_INT64: return int64_to_half;
        case NPY_INT32: return int32_to_half;
        case NPY_BOOL: return bool_to_half;
        case NPY_UINT8: return byte_to_half;
        }
    }
    return NULL;
}

/* ---- loops */

typedef struct {
    const gs_loop *wide;
    int n_in;
} half_loop;

/* One block of floats from halves; a repeated element is one float. */
static npy_intp
widened(const char *in, npy_intp stride, npy_intp n, float *block)
{
    char *args[2] = {(char *)in, (char *)block};
    npy_intp count = stride == 0 ? 1 : n, strides[2] = {stride, sizeof(float)};
    half_to_float(args, &count, strides, NULL);
    return stride == 0 ? 0 : (npy_intp)sizeof(float);
}

static void
run_block(const half_loop *loop, char *const *args, npy_intp n, const npy_intp *strides)
{
    _Alignas(64) float blocks[3][BLOCK];
    char *out = args[loop->n_in], *wide_args[3];
    npy_intp steps[3];
    for (int i = 0; i < loop->n_in; i++) {
        wide_args[i] = (char *)blocks[i];
        steps[i] = widened(args[i], strides[i], n, blocks[i]);
    }
    int is_half = loop->wide->out_type == NPY_FLOAT32;
    wide_args[loop->n_in] = is_half ? (char *)blocks[2] : out;
    steps[loop->n_in] = is_half ? (npy_intp)sizeof(float) : strides[loop->n_in];
    loop->wide->run(wide_args, &n, steps, loop->wide->data);
    if (is_half) {
        char *rounded[2] = {(char *)blocks[2], out};
        npy_intp rounded_strides[2] = {sizeof(float), strides[loop->n_in]};
        float_to_half(rounded, &n, rounded_strides, NULL);
    }
}

/* The first operand is the result, and takes up all of the second. */
static void
reduce(const half_loop *loop, char *const *args, npy_intp n, const npy_intp *strides)
{
    _Alignas(64) float block[BLOCK];
    float result = float_of_half(*(const npy_half *)args[0]);
    for (npy_intp first = 0; first < n; first += BLOCK) {
        npy_intp count = n - first < BLOCK ? n - first : BLOCK;
        char *wide_args[3] = {(char *)&result, (char *)block, (char *)&result};
        npy_intp steps[3] = {0, widened(args[1] + first * strides[1], strides[1], count, block), 0};
        loop->wide->run(wide_args, &count, steps, loop->wide->data);
    }
    *(npy_half *)args[2] = half_of_float(result);
}

static void
run_halves(char **args, const npy_intp *dims, const npy_intp *strides, void *data)
{
    const half_loop *loop = data;
    int last = loop->n_in;
    if (last == 2 && args[0] == args[2] && strides[0] == 0 && strides[2] == 0) {
        reduce(loop, args, dims[0], strides);
        return;
    }
    for (npy_intp first = 0; first < dims[0]; first += BLOCK) {
        npy_intp n = dims[0] - first < BLOCK ? dims[0] - first : BLOCK;
        char *block[3] = {args[0] + first * strides[0], args[1] + first * strides[1], NULL};
        block[last] = args[last] + first * strides[last];
        run_block(loop, block, n, strides);
    }
}

/* What only changes the sign needs no float. */
#define NEGATIVE(half) (npy_half)((half) ^ 0x8000u)
#define ABSOLUTE(half) (npy_half)((half) & 0x7FFFu)

DENSE(negate, npy_half, npy_half, NEGATIVE)
DENSE(take_absolute, npy_half, npy_half, ABSOLUTE)
CONVERT(run_negative, npy_half, npy_half, NEGATIVE, negate)
CONVERT(run_absolute, npy_half, npy_half, ABSOLUTE, take_absolute)

int
gs_take_half_loop(gs_ufunc ufunc, gs_loop *loop)
{
    static half_loop loops[GS_N_UFUNCS];
    if (ufunc == GS_NEGATIVE || ufunc == GS_ABSOLUTE) {
        loop->run = ufunc == GS_NEGATIVE ? run_negative : run_absolute;
        loop->out_type = NPY_HALF;
        return 1;
    }
    const gs_loop *wide = ufunc == GS_NEXTAFTER ? NULL : gs_find_loop(ufunc, NPY_FLOAT32);
    if (wide == NULL || (wide->out_type != NPY_FLOAT32 && wide->out_type != NPY_BOOL)) {
        return 0;
    }
    loops[ufunc] = (half_loop){wide, gs_ufuncs[ufunc].n_in};
    loop->run = run_halves;
    loop->data = &loops[ufunc];
    loop->out_type = wide->out_type == NPY_FLOAT32 ? NPY_HALF : NPY_BOOL;
    return 1;
}

/* ---- formulas */

typedef struct {
    const gs_fused_kernel *kernel;
    const double *scalars;
    npy_half *data[GS_FUSED_MAX_INPUTS + 1]; /* of the inputs, then the result */
} half_formula;

static void
run_formula(void *context, npy_intp first, npy_intp last)
{
    _Alignas(64) float blocks[GS_FUSED_MAX_INPUTS + 1][BLOCK];
    char *args[GS_FUSED_MAX_INPUTS + 1];
    const half_formula *formula = context;
    int n_inputs = formula->kernel->n_inputs;
    for (int i = 0; i <= n_inputs; i++) {
        args[i] = (char *)blocks[i];
    }
    for (; first < last; first += BLOCK) {
        npy_intp n = last - first < BLOCK ? last - first : BLOCK;
        for (int i = 0; i < n_inputs; i++) {
            widen(formula->data[i] + first, blocks[i], n);
        }
        formula->kernel->loops[0](args, formula->scalars, n);
        halve(blocks[n_inputs], formula->data[n_inputs] + first, n);
    }
}

static int
is_dense_like(PyObject *array, PyObject *out)
{
    return gs_fields(array)->descr == gs_descr[NPY_HALF] && gs_is_plain(array) && gs_same_shape(array, out);
}

int
gs_fused_halves(const gs_fused_kernel *kernel, PyObject *const *inputs, const double *scalars, PyObject *out)
{
    half_formula formula = {.kernel = kernel, .scalars = scalars};
    if (!is_dense_like(out, out) || !(gs_fields(out)->flags & NPY_ARRAY_WRITEABLE)) {
        return 0;
    }
    for (int i = 0; i < kernel->n_inputs; i++) {
        if (!is_dense_like(inputs[i], out)) {
            return 0;
        }
        formula.data[i] = (npy_half *)gs_fields(inputs[i])->data;
    }
    formula.data[kernel->n_inputs] = (npy_half *)gs_fields(out)->data;
    for (int i = 0; i < kernel->n_inputs; i++) {
        Py_INCREF(inputs[i]);
    }
    gs_parallel(run_formula, &formula, gs_size(out), kernel->cost + kernel->n_inputs, BLOCK);
    for (int i = 0; i < kernel->n_inputs; i++) {
        Py_DECREF(inputs[i]);
    }
    return 1;
}

/* ---- halves and a number */

typedef struct {
    const gs_loop *loop;
    const npy_half *in;
    float number;
    int number_first;
    npy_half *out;
} half_scaling;

static void
run_with_number(void *context, npy_intp first, npy_intp last)
{
    _Alignas(64) float block[BLOCK];
    const half_scaling *scaling = context;
    float number = scaling->number;
    int place = scaling->number_first;
    char *args[3] = {(char *)block, (char *)block, (char *)block};
    npy_intp strides[3] = {sizeof(float), sizeof(float), sizeof(float)};
    args[!place] = (char *)&number;
    strides[!place] = 0;
    for (; first < last; first += BLOCK) {
        npy_intp n = last - first < BLOCK ? last - first : BLOCK;
        widen(scaling->in + first, block, n);
        scaling->loop->run(args, &n, strides, scaling->loop->data);
        halve(block, scaling->out + first, n);
    }
}

void
gs_halves_with_number(const gs_loop *loop, PyObject *a, float number, int number_first, PyObject *out)
{
    half_scaling scaling = {loop, (npy_half *)gs_fields(a)->data, number, number_first, (npy_half *)gs_fields(out)->data};
    Py_INCREF(a);
    gs_parallel(run_with_number, &scaling, gs_size(out), 2, BLOCK);
    Py_DECREF(a);
}
