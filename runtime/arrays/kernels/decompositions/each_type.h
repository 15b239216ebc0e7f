/* The text of float32.c and float64.c, with that of the other headers below. */
#include "decompositions/decompositions.h"
#include "decompositions/lapack.h"
#include "decompositions/rows.h"
#include "factors/blocks.h"
#include "factors/number_types.h"
#include "kernels.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE (64 / (npy_intp)sizeof(NUMBER)) /* numbers of a cache line */

#if FACTOR_TYPE == 0
#define TYPE NPY_FLOAT32
#define BITS int32_t
#define MAGNITUDE_BITS INT32_MAX
#define DECOMPOSITION(name) gs_##name##_float32
#define LEAST_SQUARE 1e-30 /* between these, a sum of squares is as accurate as others */
#define MOST_SQUARE 1e30
#define LEAST_NORM 1e-30 /* below it, vectors are multiplied by ENLARGED */
#define ENLARGED 0x1p100
#define LEAST_MAGNITUDE 1e-12 /* between these, the numbers of a matrix need no scale */
#define MOST_MAGNITUDE 1e12
#define MOST_EXPONENT 100 /* of a scale */
#else
#define TYPE NPY_FLOAT64
#define BITS int64_t
#define MAGNITUDE_BITS INT64_MAX
#define DECOMPOSITION(name) gs_##name##_float64
#define LEAST_SQUARE 1e-280
#define MOST_SQUARE 1e280
#define LEAST_NORM 1e-290
#define ENLARGED 0x1p600
#define LEAST_MAGNITUDE 1e-130
#define MOST_MAGNITUDE 1e130
#define MOST_EXPONENT 1000
#endif

/* Rows begin at a cache line, so many numbers apart: then they are read at full speed. */
static npy_intp
row_step(npy_intp n)
{
    return (n + LINE - 1) / LINE * LINE;
}

/* Where to begin for the numbers from i on, when those before are zero in one operand, or not looked at in the result. */
static npy_intp
line_of(npy_intp i)
{
    return i / LINE * LINE;
}

static npy_intp
least(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static size_t
bytes(npy_intp numbers)
{
    return sizeof(NUMBER) * (size_t)numbers;
}

static gs_block
block_at(const NUMBER *data, npy_intp step)
{
    return (gs_block){(char *)data, step * (npy_intp)sizeof(NUMBER), sizeof(NUMBER)};
}

static void
transpose(const NUMBER *from, npy_intp from_step, NUMBER *to, npy_intp to_step, npy_intp rows, npy_intp columns)
{
    gs_transpose_rows(sizeof(NUMBER), from, (npy_intp)bytes(from_step), to, (npy_intp)bytes(to_step), rows, columns);
}

GS_CLONES static void
multiply(NUMBER *x, NUMBER factor, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

#include "decompositions/reflections.h"
#include "decompositions/bidiagonal.h"
#include "decompositions/qr.h"
#include "decompositions/spectral.h"
