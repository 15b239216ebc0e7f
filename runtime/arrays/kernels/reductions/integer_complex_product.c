/* Note [Products in lanes]
 *
 * Multiplied one after the other, every element waits for the one before it, so rows are multiplied in lanes, as in
 * product.c.  A complex row of which a lane leaves the range of its type is multiplied again in order, as NumPy does:
 * its product may be within it.
 */
#include "integer_complex_product.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <math.h>

#define LANES 16
#define TILE 256 /* columns that are multiplied together */

typedef struct {
    const void *x;
    void *out;
    npy_intp r, inner, n_tiles;
} job;

/* ---- integers: read in their own type, and multiplied without a sign, which wraps around */

#define AS_IT_IS(x) ((uint64_t)(x))
#define TRUTH(x) ((uint64_t)((x) != 0)) /* of a byte that may be any number */

#define INTEGERS(NAME, TYPE, VALUE)                                                    \
    GS_CLONES static void row_##NAME(const TYPE *x, uint64_t *out, npy_intp n)         \
    {                                                                                  \
        uint64_t lanes[LANES], product = 1;                                            \
        npy_intp i = 0;                                                                \
        for (int k = 0; k < LANES; k++) {                                              \
            lanes[k] = 1;                                                              \
        }                                                                              \
        for (; i + LANES <= n; i += LANES) {                                           \
            GS_VECTOR for (int k = 0; k < LANES; k++)                                  \
            {                                                                          \
                lanes[k] *= VALUE(x[i + k]);                                           \
            }                                                                          \
        }                                                                              \
        for (; i < n; i++) {                                                           \
            product *= VALUE(x[i]);                                                    \
        }                                                                              \
        for (int k = 0; k < LANES; k++) {                                              \
            product *= lanes[k];                                                       \
        }                                                                              \
        *out = product;                                                                \
    }                                                                                  \
                                                                                       \
    GS_CLONES static void multiply_##NAME(uint64_t *out, const TYPE *x, npy_intp n)    \
    {                                                                                  \
        GS_IVDEP                                                                       \
        for (npy_intp j = 0; j < n; j++) {                                             \
            out[j] *= VALUE(x[j]);                                                     \
        }                                                                              \
    }

INTEGERS(bool, uint8_t, TRUTH)
INTEGERS(int8, int8_t, AS_IT_IS)
INTEGERS(uint8, uint8_t, AS_IT_IS)
INTEGERS(int16, int16_t, AS_IT_IS)
INTEGERS(uint16, uint16_t, AS_IT_IS)
INTEGERS(int32, int32_t, AS_IT_IS)
INTEGERS(uint32, uint32_t, AS_IT_IS)
INTEGERS(int64, int64_t, AS_IT_IS)

/* ---- complex numbers: parts side by side */

#define PART(x) (x)

#include "support/with_float32.h"
#define SMALLEST FLT_MIN
#include "complex_product_template.h"

#include "support/with_float64.h"
#undef SMALLEST
#define SMALLEST DBL_MIN
#include "complex_product_template.h"

/* ---- tasks: rows, or tiles of columns */

/* Elements have PARTS numbers of TYPE, and products as many of RESULT. */
#define PRODUCT(NAME, TYPE, RESULT, PARTS, VALUE)                                                       \
    static void rows_##NAME(void *context, npy_intp first, npy_intp last)                               \
    {                                                                                                   \
        const job *j = context;                                                                         \
        for (npy_intp i = first; i < last; i++) {                                                       \
            row_##NAME((const TYPE *)j->x + i * j->r * PARTS, (RESULT *)j->out + i * PARTS, j->r);      \
        }                                                                                               \
    }                                                                                                   \
                                                                                                        \
    static void tiles_##NAME(void *context, npy_intp first, npy_intp last)                              \
    {                                                                                                   \
        const job *j = context;                                                                         \
        for (npy_intp item = first; item < last; item++) {                                              \
            npy_intp o = item / j->n_tiles, column = item % j->n_tiles * TILE;                          \
            npy_intp n = j->inner - column < TILE ? j->inner - column : TILE;                           \
            const TYPE *x = (const TYPE *)j->x + (o * j->r * j->inner + column) * PARTS;                \
            RESULT *out = (RESULT *)j->out + (o * j->inner + column) * PARTS;                           \
            for (npy_intp k = 0; k < n * PARTS; k++) {                                                  \
                out[k] = (RESULT)VALUE(x[k]);                                                           \
            }                                                                                           \
            for (npy_intp i = 1; i < j->r; i++) {                                                       \
                multiply_##NAME(out, x + i * j->inner * PARTS, n);                                      \
            }                                                                                           \
        }                                                                                               \
    }

PRODUCT(bool, uint8_t, uint64_t, 1, TRUTH)
PRODUCT(int8, int8_t, uint64_t, 1, AS_IT_IS)
PRODUCT(uint8, uint8_t, uint64_t, 1, AS_IT_IS)
PRODUCT(int16, int16_t, uint64_t, 1, AS_IT_IS)
PRODUCT(uint16, uint16_t, uint64_t, 1, AS_IT_IS)
PRODUCT(int32, int32_t, uint64_t, 1, AS_IT_IS)
PRODUCT(uint32, uint32_t, uint64_t, 1, AS_IT_IS)
PRODUCT(int64, int64_t, uint64_t, 1, AS_IT_IS)
PRODUCT(float32, float, float, 2, PART)
PRODUCT(float64, double, double, 2, PART)

typedef struct {
    gs_task rows, tiles;
} tasks;

#define TASKS(NAME) ((tasks){rows_##NAME, tiles_##NAME})

static tasks
tasks_for(int type)
{
    int is_signed = !PyTypeNum_ISUNSIGNED(type);
    if (type == NPY_BOOL) {
        return TASKS(bool);
    }
    if (type == NPY_COMPLEX64 || type == NPY_COMPLEX128) {
        return type == NPY_COMPLEX64 ? TASKS(float32) : TASKS(float64);
    }
    switch (gs_itemsize[type]) {
    case 1: return is_signed ? TASKS(int8) : TASKS(uint8);
    case 2: return is_signed ? TASKS(int16) : TASKS(uint16);
    case 4: return is_signed ? TASKS(int32) : TASKS(uint32);
    default: return TASKS(int64); /* modulo 2**64 the sign makes no difference */
    }
}

void
gs_integer_complex_product(int type, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    job j = {x, out, r, inner, (inner + TILE - 1) / TILE};
    tasks t = tasks_for(type);
    if (inner == 1) {
        gs_parallel(t.rows, &j, outer, 2 * r + 8, 1);
    } else {
        gs_parallel(t.tiles, &j, outer * j.n_tiles, 2 * r * (inner < TILE ? inner : TILE) + 8, 1);
    }
}
