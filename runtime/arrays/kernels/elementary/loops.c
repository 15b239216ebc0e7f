/* Note [Loops of elementary functions]
 *
 * NumPy's loops differ from machine to machine: in their bits, and in speed where it has vector code for some instruction
 * sets only.  These are the same everywhere, and give an element the same bits whatever its neighbours and steps are.
 *
 * Elements in steps, and the last ones of a row, go through a small buffer: so all of them are computed in whole vectors.
 */
#include "elementary/loops.h"
#include "elementary/elementary.h"

#define BLOCK GS_NEAR_BLOCK

typedef void (*block_function)(const void *in, void *out, npy_intp n); /* n is a multiple of LANES */

#define LANES 16

/* Walks over rows of elements in any steps. */
static void
run_in_blocks(block_function function, npy_intp size, char **args, const npy_intp *dims, const npy_intp *strides)
{
    _Alignas(64) char buffer[BLOCK * sizeof(double)];
    const char *in = args[0];
    char *out = args[1];
    npy_intp n = dims[0], first = 0;
    if (strides[0] == size && strides[1] == size) {
        first = n / LANES * LANES;
        function(in, out, first);
    }
    for (npy_intp here; first < n; first += here) {
        here = n - first < BLOCK ? n - first : BLOCK;
        npy_intp whole = (here + LANES - 1) / LANES * LANES;
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
        for (npy_intp i = 0; i < n / LANES * LANES; i++) {                                                          \
            result[i] = gs_##name(x[i]);                                                                            \
        }                                                                                                           \
    }                                                                                                               \
    LOOP_OF_BLOCKS(name, real)

/* Note [Usual arguments]
 *
 * A function takes fewer steps where its argument and result are neither tiny nor huge nor NaN, which is so for nearly all
 * numbers.  Blocks are looked through first, while they are read into the cache, and one with an unusual argument goes the
 * long way.  Both ways give the same bits.  An argument is usual whose bits, as `key` puts them, are at most `most`. */
#define LOOP_OF_USUAL(name, key, most, usual, anywhere, real, bits)                                                 \
    GS_CLONES static void name##_block(const void *in, void *out, npy_intp n)                                       \
    {                                                                                                               \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                                       \
            const real *x = (const real *)in + first;                                                               \
            real *result = (real *)out + first;                                                                     \
            npy_intp here = n - first < BLOCK ? n - first : BLOCK;                                                  \
            bits largest = 0;                                                                                       \
            for (npy_intp i = 0; i < here / LANES * LANES; i++) {                                                   \
                bits here_bits = key(x[i]);                                                                         \
                largest = here_bits > largest ? here_bits : largest;                                                \
            }                                                                                                       \
            if (GS_UNLIKELY(largest > most)) {                                                                      \
                GS_IVDEP                                                                                            \
                for (npy_intp i = 0; i < here / LANES * LANES; i++) {                                               \
                    result[i] = anywhere(x[i]);                                                                     \
                }                                                                                                   \
                continue;                                                                                           \
            }                                                                                                       \
            GS_IVDEP                                                                                                \
            for (npy_intp i = 0; i < here / LANES * LANES; i++) {                                                   \
                result[i] = usual(x[i]);                                                                            \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    LOOP_OF_BLOCKS(name, real)

LOOP_OF_USUAL(expf, gs_size_bits_f, GS_MOST_OF_NORMAL_EXP_F, gs_normal_expf, gs_expf, float, uint32_t)
LOOP_OF_USUAL(exp, gs_size_bits, GS_MOST_OF_NORMAL_EXP, gs_normal_exp, gs_exp, double, uint64_t)
LOOP(expm1f, float)
LOOP(expm1, double)
LOOP_OF_USUAL(logf, gs_bits_above_least_f, GS_MOST_ABOVE_LEAST_F, gs_log_of_normal_f, gs_logf, float, uint32_t)
LOOP_OF_USUAL(log, gs_bits_above_least, GS_MOST_ABOVE_LEAST, gs_log_of_normal, gs_log, double, uint64_t)
LOOP(log1pf, float)
LOOP(log1p, double)
LOOP(tanhf, float)
LOOP(tanh, double)
/* See Note [Sines and cosines]. */
LOOP_OF_USUAL(sinf, gs_size_bits_f, GS_NEAR_BITS_F, gs_sinf, gs_sin_anywheref, float, uint32_t)
LOOP_OF_USUAL(sin, gs_size_bits, GS_NEAR_BITS, gs_sin, gs_sin_anywhere, double, uint64_t)
LOOP_OF_USUAL(cosf, gs_size_bits_f, GS_NEAR_BITS_F, gs_cosf, gs_cos_anywheref, float, uint32_t)
LOOP_OF_USUAL(cos, gs_size_bits, GS_NEAR_BITS, gs_cos, gs_cos_anywhere, double, uint64_t)

gs_loop_function
gs_elementary_loop(gs_ufunc ufunc, int type)
{
    int is_float = type == NPY_FLOAT32;
    if (!is_float && type != NPY_FLOAT64) {
        return NULL;
    }
    switch (ufunc) {
    case GS_EXP: return is_float ? expf_loop : exp_loop;
    case GS_EXPM1: return is_float ? expm1f_loop : expm1_loop;
    case GS_LOG: return is_float ? logf_loop : log_loop;
    case GS_LOG1P: return is_float ? log1pf_loop : log1p_loop;
    case GS_TANH: return is_float ? tanhf_loop : tanh_loop;
    case GS_SIN: return is_float ? sinf_loop : sin_loop;
    case GS_COS: return is_float ? cosf_loop : cos_loop;
    default: return NULL;
    }
}
