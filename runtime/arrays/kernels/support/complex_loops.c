/* log1p      NumPy takes log(1 + z): near zero nothing is left of the real part.
 * reciprocal NumPy gives NaN for both parts at zero, PyTorch an infinite real part.
 * sign       z / |z| part by part, as in PyTorch, which decides what infinities give.
 */
#include "complex_loops.h"
#include "elementary/squares.h"

#include <math.h>

typedef struct {
    double re, im;
} number;

/* Functions of one number are not inlined: in a loop the compiler would take vector functions for most elements and
 * scalar ones for the rest, whose last bits differ. */
#if defined(__GNUC__) || defined(__clang__)
#define APART static __attribute__((noinline))
#else
#define APART static
#endif

/* ---- log1p */

static void
two_sum(double a, double b, double *sum, double *error)
{
    *sum = a + b;
    double b_part = *sum - a;
    *error = (a - (*sum - b_part)) + (b - b_part);
}

/* |1 + z|**2 - 1 = 2x + x*x + y*y for small z, whose terms may cancel: rounding errors are added at the end. */
static double
square_less_one(number z)
{
    double xx = z.re * z.re, yy = z.im * z.im, squares, sum, squares_error, sum_error;
    two_sum(xx, yy, &squares, &squares_error);
    two_sum(2 * z.re, squares, &sum, &sum_error);
    return sum + (sum_error + squares_error + fma(z.re, z.re, -xx) + fma(z.im, z.im, -yy));
}

APART number
log1p_of(number z)
{
    if (isnan(z.re) || isnan(z.im)) {
        return (number){NAN, NAN};
    }
    int is_small = fabs(z.re) < 0.5 && fabs(z.im) < 0.75;
    double real = is_small ? log1p(square_less_one(z)) / 2 : log(hypot(1 + z.re, z.im));
    return (number){real, atan2(z.im, 1 + z.re)};
}

/* ---- reciprocal: the greater part is divided by first, so that no square overflows */

APART number
reciprocal_of(number z)
{
    if (z.re == 0 && z.im == 0) {
        return (number){INFINITY, NAN};
    }
    if (fabs(z.im) <= fabs(z.re)) {
        double ratio = z.im / z.re, divisor = z.re + z.im * ratio;
        return (number){1 / divisor, -ratio / divisor};
    }
    double ratio = z.re / z.im, divisor = z.re * ratio + z.im;
    return (number){ratio / divisor, -1 / divisor};
}

/* ---- loops */

#define LOOP(name, real)                                                                                  \
    static void name##_##real(char **args, const npy_intp *dims, const npy_intp *strides, void *data)    \
    {                                                                                                     \
        (void)data;                                                                                       \
        for (npy_intp i = 0; i < dims[0]; i++) {                                                          \
            const real *in = (const real *)(args[0] + i * strides[0]);                                    \
            real *out = (real *)(args[1] + i * strides[1]);                                               \
            number result = name((number){in[0], in[1]});                                                 \
            out[0] = (real)result.re;                                                                     \
            out[1] = (real)result.im;                                                                     \
        }                                                                                                 \
    }

LOOP(log1p_of, float)
LOOP(log1p_of, double)
LOOP(reciprocal_of, float)
LOOP(reciprocal_of, double)
/* ---- sign: parts by themselves, in vectors */

#define BLOCK 256

GS_CLONES static void
signs_of(double *re, double *im, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        double magnitude = gs_root_of_squares(re[i], im[i]);
        double divisor = magnitude == 0 ? 1 : magnitude;
        re[i] = magnitude == 0 ? 0 : re[i] / divisor;
        im[i] = magnitude == 0 ? 0 : im[i] / divisor;
    }
}

#define SIGN_LOOP(real)                                                                                   \
    static void sign_of_##real(char **args, const npy_intp *dims, const npy_intp *strides, void *data)    \
    {                                                                                                     \
        _Alignas(64) double re[BLOCK], im[BLOCK];                                                         \
        (void)data;                                                                                       \
        for (npy_intp first = 0, n; first < dims[0]; first += n) {                                        \
            n = dims[0] - first < BLOCK ? dims[0] - first : BLOCK;                                        \
            for (npy_intp i = 0; i < n; i++) {                                                            \
                const real *in = (const real *)(args[0] + (first + i) * strides[0]);                      \
                re[i] = in[0];                                                                            \
                im[i] = in[1];                                                                            \
            }                                                                                             \
            signs_of(re, im, n);                                                                          \
            for (npy_intp i = 0; i < n; i++) {                                                            \
                real *out = (real *)(args[1] + (first + i) * strides[1]);                                 \
                out[0] = (real)re[i];                                                                     \
                out[1] = (real)im[i];                                                                     \
            }                                                                                             \
        }                                                                                                 \
    }

SIGN_LOOP(float)
SIGN_LOOP(double)

gs_loop_function
gs_complex_loop(gs_ufunc ufunc, int type)
{
    if (type != NPY_COMPLEX64 && type != NPY_COMPLEX128) {
        return NULL;
    }
    int is_double = type == NPY_COMPLEX128;
    switch (ufunc) {
    case GS_LOG1P: return is_double ? log1p_of_double : log1p_of_float;
    case GS_RECIPROCAL: return is_double ? reciprocal_of_double : reciprocal_of_float;
    case GS_SIGN: return is_double ? sign_of_double : sign_of_float;
    default: return NULL;
    }
}
