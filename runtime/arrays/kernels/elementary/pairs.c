/* Note [Loops of pairs]
 *
 * NumPy computes these functions one element after the other by the C library, or, maximum and minimum, where one operand
 * is a number.  Here they are computed in vectors, block by block.  What a block cannot do exactly, such as remainders of
 * quotients that have more digits than a number, it leaves to NumPy's loop.
 *
 * Operands in steps go through small buffers, so that an element has the same bits whatever its neighbours are.
 */
#include "elementary/pairs.h"
#include "elementary/elementary.h"
#include "elementary/squares.h"

#define LANES 16
#define BLOCK GS_NEAR_BLOCK

/* n elements, a multiple of LANES; 0 when the block is not one that the function can do. */
typedef int (*pair_function)(const void *x, const void *y, void *out, npy_intp n);

/* The elements of an operand side by side: where they lie, or in the buffer. */
static const void *
side_by_side(const char *data, npy_intp step, npy_intp size, npy_intp n, npy_intp whole, char *buffer)
{
    if (step == size && n == whole) {
        return data;
    }
    for (npy_intp i = 0; i < whole; i++) {
        memcpy(buffer + i * size, data + (i < n ? i : 0) * step, (size_t)size);
    }
    return buffer;
}

/* NumPy's loop, as a loop of ours finds it. */
typedef struct {
    gs_loop_function run;
    void *data;
} numpys_loop;

static void
run_numpys(char **args, const npy_intp *dims, const npy_intp *strides, void *data)
{
    const numpys_loop *loop = data;
    loop->run(args, dims, strides, loop->data);
}

static void
run_pairs(pair_function function, npy_intp size, char **args, const npy_intp *dims, const npy_intp *strides, void *numpys)
{
    _Alignas(64) char x_buffer[BLOCK * sizeof(double)], y_buffer[BLOCK * sizeof(double)], buffer[BLOCK * sizeof(double)];
    const void *x = x_buffer, *y = y_buffer;
    if (strides[2] == 0) { /* a reduction, in which each element needs the one before */
        run_numpys(args, dims, strides, numpys);
        return;
    }
    for (npy_intp first = 0, here; first < dims[0]; first += here) {
        here = dims[0] - first < BLOCK ? dims[0] - first : BLOCK;
        npy_intp whole = (here + LANES - 1) / LANES * LANES;
        char *now[3] = {args[0] + first * strides[0], args[1] + first * strides[1], args[2] + first * strides[2]};
        if (first == 0 || strides[0] != 0) {
            x = side_by_side(now[0], strides[0], size, here, whole, x_buffer);
        }
        if (first == 0 || strides[1] != 0) {
            y = side_by_side(now[1], strides[1], size, here, whole, y_buffer);
        }
        int is_dense = strides[2] == size && here == whole;
        if (!function(x, y, is_dense ? now[2] : buffer, whole)) {
            run_numpys(now, &here, strides, numpys);
            continue;
        }
        for (npy_intp i = 0; i < (is_dense ? 0 : here); i++) {
            memcpy(now[2] + i * strides[2], buffer + i * size, (size_t)size);
        }
    }
}

#define LOOP_OF_PAIRS(name, real)                                                                                   \
    static void name##_loop(char **args, const npy_intp *dims, const npy_intp *strides, void *numpys)               \
    {                                                                                                               \
        run_pairs(name##_block, sizeof(real), args, dims, strides, numpys);                                         \
    }

/* A block of any elements. */
#define PAIRS(name, real, expression)                                                                               \
    GS_CLONES static int name##_block(const void *left, const void *right, void *out, npy_intp n)                   \
    {                                                                                                               \
        const real *xs = left, *ys = right;                                                                         \
        real *result = out;                                                                                         \
        GS_IVDEP                                                                                                    \
        for (npy_intp i = 0; i < n / LANES * LANES; i++) {                                                          \
            real x = xs[i], y = ys[i];                                                                              \
            result[i] = expression;                                                                                 \
        }                                                                                                           \
        return 1;                                                                                                   \
    }                                                                                                               \
    LOOP_OF_PAIRS(name, real)

/* A block of elements that are all `usual`.  Nothing is written before that is known, as the output may be an operand. */
#define PAIRS_OF_USUAL(name, real, usual, expression)                                                               \
    GS_CLONES static int name##_block(const void *left, const void *right, void *out, npy_intp n)                   \
    {                                                                                                               \
        const real *xs = left, *ys = right;                                                                         \
        real *result = out;                                                                                         \
        int unusual = 0;                                                                                            \
        for (npy_intp i = 0; i < n / LANES * LANES; i++) {                                                          \
            real x = xs[i], y = ys[i];                                                                              \
            unusual |= !(usual);                                                                                    \
        }                                                                                                           \
        if (GS_UNLIKELY(unusual)) {                                                                                 \
            return 0;                                                                                               \
        }                                                                                                           \
        GS_IVDEP                                                                                                    \
        for (npy_intp i = 0; i < n / LANES * LANES; i++) {                                                          \
            real x = xs[i], y = ys[i];                                                                              \
            result[i] = expression;                                                                                 \
        }                                                                                                           \
        return 1;                                                                                                   \
    }                                                                                                               \
    LOOP_OF_PAIRS(name, real)

/* ---- the greater and the smaller
 *
 * NumPy has vectors for two arrays.  NaN wins in maximum and minimum, and loses in fmax and fmin.  Of zeros of both signs
 * these vectors keep the second, and the loops here the first, so a single element has to go one way: how it lies beside
 * the other operand says nothing. */

#define ORDERED(name, real, expression)                                                                             \
    PAIRS(name##_of_number, real, expression)                                                                       \
    static void name##_loop(char **args, const npy_intp *dims, const npy_intp *strides, void *numpys)               \
    {                                                                                                               \
        int has_number = (strides[0] == 0) != (strides[1] == 0) || dims[0] == 1;                                    \
        (has_number ? name##_of_number_loop : run_numpys)(args, dims, strides, numpys);                             \
    }

ORDERED(maximumf, float, x >= y || x != x ? x : y)
ORDERED(maximum, double, x >= y || x != x ? x : y)
ORDERED(minimumf, float, x <= y || x != x ? x : y)
ORDERED(minimum, double, x <= y || x != x ? x : y)
ORDERED(fmaxf, float, x >= y || y != y ? x : y)
ORDERED(fmax, double, x >= y || y != y ? x : y)
ORDERED(fminf, float, x <= y || y != y ? x : y)
ORDERED(fmin, double, x <= y || y != y ? x : y)

PAIRS(copysignf, float, __builtin_copysignf(x, y))
PAIRS(copysign, double, __builtin_copysign(x, y))

/* ---- remainders
 *
 * The quotient of two floats, rounded to a double and cut, is the whole part of the true quotient while that is below 2^24,
 * and the product with it is exact.  Of doubles the quotient may be too great or too small by one, which the remainder, exact
 * by a fused product, shows. */

#define MOST_QUOTIENT_F 16777216.0
#define MOST_QUOTIENT 1125899906842624.0

GS_INLINE float
rest_f(float x, float y)
{
    double rest = (double)x - trunc((double)x / (double)y) * (double)y;
    return __builtin_copysignf((float)rest, x);
}

GS_INLINE double
rest(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    double rest = __builtin_fma(-trunc(a / b), b, a);
    rest = rest < 0 ? rest + b : rest;
    rest = rest >= b ? rest - b : rest;
    return __builtin_copysign(rest, x);
}

/* With the sign of the divisor, as Python's and NumPy's. */
#define SIGNED_REST(name, real, rest, copysign)                                                                     \
    GS_INLINE real name(real x, real y)                                                                             \
    {                                                                                                               \
        real r = rest(x, y);                                                                                        \
        real moved = (r < 0) != (y < 0) ? r + y : r;                                                                \
        return r == 0 ? copysign(r, y) : moved;                                                                     \
    }

SIGNED_REST(signed_rest_f, float, rest_f, __builtin_copysignf)
SIGNED_REST(signed_rest, double, rest, __builtin_copysign)

/* The quotient of what the remainder leaves is whole but for its rounding. */
#define WHOLE_QUOTIENT(name, real, rest, floor, copysign)                                                           \
    GS_INLINE real name(real x, real y)                                                                             \
    {                                                                                                               \
        real r = rest(x, y);                                                                                        \
        real quotient = (x - r) / y;                                                                                \
        quotient = r != 0 && (r < 0) != (y < 0) ? quotient - 1 : quotient;                                          \
        real whole = floor(quotient);                                                                               \
        whole = quotient - whole > (real)0.5 ? whole + 1 : whole;                                                   \
        return quotient != 0 ? whole : copysign(quotient, x / y);                                                   \
    }

WHOLE_QUOTIENT(whole_quotient_f, float, rest_f, floorf, __builtin_copysignf)
WHOLE_QUOTIENT(whole_quotient, double, rest, floor, __builtin_copysign)

#define HAS_REST_F (fabs((double)x / (double)y) < MOST_QUOTIENT_F && fabsf(y) < INFINITY)
#define HAS_REST (fabs(x / y) < MOST_QUOTIENT && fabs(y) < INFINITY)

PAIRS_OF_USUAL(fmodf, float, HAS_REST_F, rest_f(x, y))
PAIRS_OF_USUAL(fmod, double, HAS_REST, rest(x, y))
PAIRS_OF_USUAL(remainderf, float, HAS_REST_F, signed_rest_f(x, y))
PAIRS_OF_USUAL(remainder, double, HAS_REST, signed_rest(x, y))
PAIRS_OF_USUAL(floor_dividef, float, HAS_REST_F, whole_quotient_f(x, y))
PAIRS_OF_USUAL(floor_divide, double, HAS_REST, whole_quotient(x, y))

/* ---- roots of sums of squares, angles, and logarithms of sums of exponentials */

PAIRS(hypotf, float, gs_root_of_squares_f(x, y))
PAIRS(hypot, double, gs_root_of_squares(x, y))

PAIRS(atan2f, float, gs_atan2f(x, y))
PAIRS(atan2, double, gs_atan2(x, y))

PAIRS(logaddexpf, float, x == y ? x + 0.693147180559945309f : (x > y ? x : y) + gs_log1pf(gs_expf(-fabsf(x - y))))
PAIRS(logaddexp, double, x == y ? x + 0.693147180559945309 : (x > y ? x : y) + gs_log1p(gs_exp(-fabs(x - y))))

/* most + rest / log 2, where the quotient and the sum lose nothing on the way. */
GS_INLINE double
add_to_base_two(double most, double rest)
{
    gs_double_bits upper = {rest};
    upper.bits &= 0xffffffff00000000u;
    double product = upper.value * 1.4426950407214463;
    double low = (rest - upper.value) * 1.4426950407214463 + rest * 1.6751713164886512e-10;
    double sum = most + product, part = sum - most;
    double lost = (most - (sum - part)) + (product - part);
    return fabs(most) == INFINITY ? most : sum + (lost + low);
}

GS_INLINE float
logaddexp2_f(float x, float y)
{
    double rest = gs_log_for_single(1.0 + (double)gs_exp2f(-fabsf(x - y)));
    float sum = (float)((double)(x > y ? x : y) + rest * 1.4426950408889634);
    sum = x == y ? x + 1.0f : sum;
    sum = x != x ? x : sum;
    return y != y ? y : sum;
}

GS_INLINE double
logaddexp2_d(double x, double y)
{
    double sum = add_to_base_two(x > y ? x : y, gs_log1p(gs_exp2(-fabs(x - y))));
    sum = x == y ? x + 1.0 : sum;
    sum = x != x ? x : sum;
    return y != y ? y : sum;
}

PAIRS(logaddexp2f, float, logaddexp2_f(x, y))
PAIRS(logaddexp2, double, logaddexp2_d(x, y))

/* ---- the next number: the bits of the size, one more or less */

#define NEXT(name, real, bits_of, integer, copysign)                                                                \
    GS_INLINE real name(real x, real y)                                                                             \
    {                                                                                                               \
        bits_of next = {x}, least;                                                                                  \
        integer is_outward = (x < y) == (x > 0);                                                                    \
        next.bits += is_outward ? 1 : (integer)-1;                                                                  \
        least.bits = 1;                                                                                             \
        real found = x == 0 ? copysign(least.value, y) : next.value;                                                \
        found = x == y ? y : found;                                                                                 \
        found = x != x ? x : found;                                                                                 \
        return y != y ? y : found;                                                                                  \
    }

NEXT(next_after_f, float, gs_float_bits, uint32_t, __builtin_copysignf)
NEXT(next_after, double, gs_double_bits, uint64_t, __builtin_copysign)

PAIRS(nextafterf, float, next_after_f(x, y))
PAIRS(nextafter, double, next_after(x, y))

/* ---- */

#define CASE(NAME, name)                                                                                            \
    case GS_##NAME: return is_float ? name##f_loop : name##_loop

static gs_loop_function
own_loop(gs_ufunc ufunc, int is_float)
{
    switch (ufunc) {
    CASE(MAXIMUM, maximum);
    CASE(MINIMUM, minimum);
    CASE(FMAX, fmax);
    CASE(FMIN, fmin);
    CASE(COPYSIGN, copysign);
    CASE(FMOD, fmod);
    CASE(REMAINDER, remainder);
    CASE(FLOOR_DIVIDE, floor_divide);
    CASE(HYPOT, hypot);
    CASE(ARCTAN2, atan2);
    CASE(LOGADDEXP, logaddexp);
    CASE(LOGADDEXP2, logaddexp2);
    CASE(NEXTAFTER, nextafter);
    default: return NULL;
    }
}

void
gs_take_pair_loop(gs_ufunc ufunc, int type, gs_loop *loop)
{
    static numpys_loop kept[GS_N_UFUNCS][2];
    int is_float = type == NPY_FLOAT32;
    gs_loop_function own = is_float || type == NPY_FLOAT64 ? own_loop(ufunc, is_float) : NULL;
    if (own != NULL) {
        kept[ufunc][is_float] = (numpys_loop){loop->run, loop->data};
        loop->data = &kept[ufunc][is_float];
        loop->run = own;
    }
}
