/* Note [Products in lanes]
 *
 * Multiplied one after the other, every element waits for the one before it, so rows are multiplied in lanes, as in
 * product.c.  A complex row of which a lane leaves the range of its type is multiplied again in order, as NumPy does:
 * its product may be within it.
 */
#include "other_products.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <math.h>

#define LANES 16
#define TILE 256 /* columns that are multiplied together */

/* ---- integers: without a sign, in which they wrap around */

typedef struct {
    const void *x;
    void *out;
    npy_intp r, inner, n_tiles;
} job;

GS_CLONES static uint64_t
row_of_integers(const uint64_t *x, npy_intp n)
{
    uint64_t lanes[LANES], product = 1;
    npy_intp i = 0;
    for (int k = 0; k < LANES; k++) {
        lanes[k] = 1;
    }
    for (; i + LANES <= n; i += LANES) {
        GS_VECTOR for (int k = 0; k < LANES; k++)
        {
            lanes[k] *= x[i + k];
        }
    }
    for (; i < n; i++) {
        product *= x[i];
    }
    for (int k = 0; k < LANES; k++) {
        product *= lanes[k];
    }
    return product;
}

GS_CLONES static void
multiply_integers(uint64_t *out, const uint64_t *x, npy_intp n)
{
    GS_IVDEP
    for (npy_intp j = 0; j < n; j++) {
        out[j] *= x[j];
    }
}

/* ---- complex numbers: parts side by side */

#include "support/with_float32.h"
#define SMALLEST FLT_MIN
#include "other_products_template.h"

#include "support/with_float64.h"
#undef SMALLEST
#define SMALLEST DBL_MIN
#include "other_products_template.h"

/* ---- tasks: rows, or tiles of columns */

#define PRODUCT(NAME, TYPE, PARTS, ROW, MULTIPLY)                                                                \
    static void rows_##NAME(void *context, npy_intp first, npy_intp last)                                        \
    {                                                                                                            \
        const job *j = context;                                                                                  \
        for (npy_intp row = first; row < last; row++) {                                                          \
            ROW((const TYPE *)j->x + row * j->r * PARTS, (TYPE *)j->out + row * PARTS, j->r);                    \
        }                                                                                                        \
    }                                                                                                            \
                                                                                                                 \
    static void tiles_##NAME(void *context, npy_intp first, npy_intp last)                                       \
    {                                                                                                            \
        const job *j = context;                                                                                  \
        for (npy_intp item = first; item < last; item++) {                                                       \
            npy_intp o = item / j->n_tiles, column = item % j->n_tiles * TILE;                                   \
            npy_intp n = j->inner - column < TILE ? j->inner - column : TILE;                                    \
            const TYPE *x = (const TYPE *)j->x + (o * j->r * j->inner + column) * PARTS;                         \
            TYPE *out = (TYPE *)j->out + (o * j->inner + column) * PARTS;                                        \
            memcpy(out, x, sizeof(TYPE) * (size_t)(n * PARTS));                                                  \
            for (npy_intp i = 1; i < j->r; i++) {                                                                \
                MULTIPLY(out, x + i * j->inner * PARTS, n);                                                      \
            }                                                                                                    \
        }                                                                                                        \
    }

#define INTEGER_ROW(x, out, n) (*(out) = row_of_integers(x, n))

PRODUCT(int64, uint64_t, 1, INTEGER_ROW, multiply_integers)
PRODUCT(complex64, float, 2, row_float32, multiply_float32)
PRODUCT(complex128, double, 2, row_float64, multiply_float64)

static void
run(gs_task rows, gs_task tiles, const void *x, void *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    job j = {x, out, r, inner, (inner + TILE - 1) / TILE};
    if (inner == 1) {
        gs_parallel(rows, &j, outer, 2 * r + 8, 1);
    } else {
        gs_parallel(tiles, &j, outer * j.n_tiles, 2 * r * (inner < TILE ? inner : TILE) + 8, 1);
    }
}

void
gs_product_int64(const int64_t *x, int64_t *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    run(rows_int64, tiles_int64, x, out, outer, r, inner);
}

void
gs_product_complex64(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    run(rows_complex64, tiles_complex64, x, out, outer, r, inner);
}

void
gs_product_complex128(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    run(rows_complex128, tiles_complex128, x, out, outer, r, inner);
}
