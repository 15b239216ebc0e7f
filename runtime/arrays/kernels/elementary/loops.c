/* Note [Loops of elementary functions]
 *
 * NumPy's loops differ from machine to machine: in their bits, and in speed where it has vector code for some instruction
 * sets only.  These are the same everywhere, and give an element the same bits whatever its neighbours and steps are.
 *
 * Elements in steps go through a small buffer: so all of them are computed in whole vectors.
 */
#include "elementary/loops.h"
#include "elementary/elementary.h"

#define BLOCK GS_NEAR_BLOCK

#define LANES_OF(size) (64 / (npy_intp)(size)) /* elements of a vector of AVX-512, two of AVX2 */

typedef void (*block_function)(const void *in, void *out, npy_intp n); /* n is a multiple of the lanes */

/* Elements side by side, fewer than fill a vector, with zeros behind them. */
GS_INLINE void
run_few(block_function function, npy_intp size, const char *in, char *out, npy_intp n)
{
    _Alignas(64) char given[64] = {0}, found[64];
    memcpy(given, in, (size_t)(n * size));
    function(given, found, LANES_OF(size));
    memcpy(out, found, (size_t)(n * size));
}

/* Elements side by side; the last ones make up a vector with some that have been computed before, if they are there still. */
GS_INLINE void
run_side_by_side(block_function function, npy_intp size, const char *in, char *out, npy_intp n)
{
    npy_intp lanes = LANES_OF(size), whole = n / lanes * lanes, last = (n - lanes) * size;
    int is_apart = in + n * size <= out || out + n * size <= in;
    if (whole > 0) {
        function(in, out, whole);
    }
    if (whole < n && last > 0 && is_apart) {
        function(in + last, out + last, lanes);
    } else if (whole < n) {
        run_few(function, size, in + whole * size, out + whole * size, n - whole);
    }
}

/* Walks over rows of elements in any steps. */
static void
run_in_blocks(block_function function, npy_intp size, char **args, const npy_intp *dims, const npy_intp *strides)
{
    _Alignas(64) char buffer[BLOCK * sizeof(double)];
    const char *in = args[0];
    char *out = args[1];
    npy_intp n = dims[0], lanes = LANES_OF(size);
    if (strides[0] == size && strides[1] == size) {
        run_side_by_side(function, size, in, out, n);
        return;
    }
    for (npy_intp first = 0, here; first < n; first += here) {
        here = n - first < BLOCK ? n - first : BLOCK;
        npy_intp whole = (here + lanes - 1) / lanes * lanes;
        for (npy_intp i = 0; i < here; i++) {
            memcpy(buffer + i * size, in + (first + i) * strides[0], (size_t)size);
        }
        memset(buffer + here * size, 0, (size_t)((whole - here) * size));
        function(buffer, buffer, whole);
        for (npy_intp i = 0; i < here; i++) {
            memcpy(out + (first + i) * strides[1], buffer + i * size, (size_t)size);
        }
    }
}

#define LOOP_OF_BLOCKS(name, real)                                                                                  \
    static void name##_loop(char **args, const npy_intp *dims, const npy_intp *strides, void *data)                 \
    {                                                                                                               \
        (void)data;                                                                                                 \
        run_in_blocks(name##_block, sizeof(real), args, dims, strides);                                             \
    }

#define LOOP(name, real)                                                                                            \
    GS_CLONES static void name##_block(const void *in, void *out, npy_intp n)                                       \
    {                                                                                                               \
        const real *x = in;                                                                                         \
        real *result = out;                                                                                         \
        GS_IVDEP                                                                                                    \
        for (npy_intp i = 0; i < n / LANES_OF(sizeof(real)) * LANES_OF(sizeof(real)); i++) {                            \
            result[i] = gs_##name(x[i]);                                                                            \
        }                                                                                                           \
    }                                                                                                               \
    LOOP_OF_BLOCKS(name, real)

/* Note [Usual arguments]
 *
 * A function takes fewer steps where its argument and result are neither tiny nor huge nor NaN, which is so for nearly all
 * numbers.  A block is computed for such ones, and once more the long way if it turns out to have an unusual argument: both
 * ways give the same bits.  `is_unusual` says so by its highest bit. */
#define LOOP_OF_USUAL(name, is_unusual, usual, anywhere, real, bits)                                                \
    GS_CLONES static void name##_block(const void *in, void *out, npy_intp n)                                       \
    {                                                                                                               \
        real kept[BLOCK];                                                                                           \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                                       \
            npy_intp here = n - first < BLOCK ? n - first : BLOCK;                                                  \
            real *result = (real *)out + first;                                                                     \
            const real *x = (const real *)in + first;                                                               \
            if (x == result) {                                                                                      \
                x = memcpy(kept, x, (size_t)here * sizeof(real));                                                   \
            }                                                                                                       \
            bits any = 0;                                                                                           \
            GS_IVDEP                                                                                                \
            for (npy_intp i = 0; i < here / LANES_OF(sizeof(real)) * LANES_OF(sizeof(real)); i++) {                     \
                any |= is_unusual(x[i]);                                                                            \
                result[i] = usual(x[i]);                                                                            \
            }                                                                                                       \
            if (GS_UNLIKELY(any >> (8 * sizeof(bits) - 1))) {                                                       \
                GS_IVDEP                                                                                            \
                for (npy_intp i = 0; i < here / LANES_OF(sizeof(real)) * LANES_OF(sizeof(real)); i++) {                 \
                    result[i] = anywhere(x[i]);                                                                     \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    LOOP_OF_BLOCKS(name, real)

LOOP_OF_USUAL(expf, gs_is_unusual_expf, gs_normal_expf, gs_expf, float, uint32_t)
LOOP_OF_USUAL(exp, gs_is_unusual_exp, gs_normal_exp, gs_exp, double, uint64_t)
LOOP(expm1f, float)
LOOP(expm1, double)
LOOP_OF_USUAL(logf, gs_is_unusual_logf, gs_log_of_normal_f, gs_logf, float, uint32_t)
LOOP_OF_USUAL(log, gs_is_unusual_log, gs_log_of_normal, gs_log, double, uint64_t)
LOOP(exp2f, float)
LOOP(exp2, double)
LOOP(log1pf, float)
LOOP(log1p, double)
LOOP(sinhf, float)
LOOP(sinh, double)
LOOP(coshf, float)
LOOP(cosh, double)
LOOP(atanhf, float)
LOOP(atanh, double)
LOOP(tanhf, float)
LOOP(tanh, double)
/* See Note [Sines and cosines]. */
LOOP_OF_USUAL(sinf, gs_is_unusual_anglef, gs_sinf, gs_sin_anywheref, float, uint32_t)
LOOP_OF_USUAL(sin, gs_is_unusual_angle, gs_sin, gs_sin_anywhere, double, uint64_t)
LOOP_OF_USUAL(cosf, gs_is_unusual_anglef, gs_cosf, gs_cos_anywheref, float, uint32_t)
LOOP_OF_USUAL(cos, gs_is_unusual_angle, gs_cos, gs_cos_anywhere, double, uint64_t)

LOOP_OF_USUAL(tanf, gs_is_unusual_anglef, gs_tanf, gs_tan_anywheref, float, uint32_t)
LOOP_OF_USUAL(tan, gs_is_unusual_angle, gs_tan, gs_tan_anywhere, double, uint64_t)

LOOP(asinf, float)
LOOP(asin, double)
LOOP(acosf, float)
LOOP(acos, double)
LOOP(atanf, float)
LOOP(atan, double)
LOOP(log2f, float)
LOOP(log2, double)
LOOP(log10f, float)
LOOP(log10, double)
/* Of NaN the sign is zero, as in PyTorch; NumPy gives NaN. */
#define gs_signf(x) (float)(((x) > 0) - ((x) < 0))
#define gs_sign(x) (double)(((x) > 0) - ((x) < 0))
#define gs_reciprocalf(x) (1 / (x))
#define gs_reciprocal(x) (1 / (x))

LOOP(signf, float)
LOOP(sign, double)
LOOP(reciprocalf, float)
LOOP(reciprocal, double)

gs_loop_function
gs_elementary_loop(gs_ufunc ufunc, int type)
{
    int is_float = type == NPY_FLOAT32;
    if (!is_float && type != NPY_FLOAT64) {
        return NULL;
    }
    switch (ufunc) {
    case GS_EXP: return is_float ? expf_loop : exp_loop;
    case GS_EXP2: return is_float ? exp2f_loop : exp2_loop;
    case GS_SINH: return is_float ? sinhf_loop : sinh_loop;
    case GS_COSH: return is_float ? coshf_loop : cosh_loop;
    case GS_ARCTANH: return is_float ? atanhf_loop : atanh_loop;
    case GS_EXPM1: return is_float ? expm1f_loop : expm1_loop;
    case GS_LOG: return is_float ? logf_loop : log_loop;
    case GS_LOG1P: return is_float ? log1pf_loop : log1p_loop;
    case GS_TANH: return is_float ? tanhf_loop : tanh_loop;
    case GS_SIN: return is_float ? sinf_loop : sin_loop;
    case GS_COS: return is_float ? cosf_loop : cos_loop;
    case GS_TAN: return is_float ? tanf_loop : tan_loop;
    case GS_ARCSIN: return is_float ? asinf_loop : asin_loop;
    case GS_ARCCOS: return is_float ? acosf_loop : acos_loop;
    case GS_ARCTAN: return is_float ? atanf_loop : atan_loop;
    case GS_LOG2: return is_float ? log2f_loop : log2_loop;
    case GS_LOG10: return is_float ? log10f_loop : log10_loop;
    case GS_SIGN: return is_float ? signf_loop : sign_loop;
    case GS_RECIPROCAL: return is_float ? reciprocalf_loop : reciprocal_loop;
    default: return NULL;
    }
}
