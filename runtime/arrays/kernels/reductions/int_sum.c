/* Sums of integers without a converted copy of them: each element is widened as it is added.
 *
 * The array is (outer, r, inner).  A long r is cut into parts and many columns into tiles, so that there is work for all
 * threads; the sums of the parts are added at the end.  Integers may be added in any order.
 */
#include "int_sum.h"
#include "threads/thread_pool.h"

#include <stdlib.h>

#define PART 65536 /* elements of a column, or of a row, that are summed together */
#define TILE 512   /* columns that are summed together: their sums stay in L1 */

typedef struct {
    const char *x;
    uint64_t *sums; /* (outer, n_parts, inner) */
    npy_intp r, inner;
    npy_intp n_parts, part;
    npy_intp n_tiles;
} job;

/* The part of an array that one item of a job covers. */
typedef struct {
    npy_intp first; /* element of x */
    npy_intp rows, columns;
    uint64_t *sums;
} cell;

static inline cell
cell_at(const job *j, npy_intp item)
{
    npy_intp tile = item % j->n_tiles, rest = item / j->n_tiles;
    npy_intp part = rest % j->n_parts, o = rest / j->n_parts;
    npy_intp row = part * j->part, column = tile * TILE;
    cell c = {(o * j->r + row) * j->inner + column, j->r - row, j->inner - column, j->sums + rest * j->inner + column};
    c.rows = c.rows < j->part ? c.rows : j->part;
    c.columns = c.columns < TILE ? c.columns : TILE;
    return c;
}

#define AS_IT_IS(x) ((uint64_t)(x))
#define TRUTH(x) ((uint64_t)((x) != 0)) /* of a byte that may be any number */

#define SUM(NAME, TYPE, VALUE)                                                            \
    GS_CLONES static void sum_##NAME(void *context, npy_intp first, npy_intp last)        \
    {                                                                                     \
        const job *j = context;                                                           \
        for (npy_intp item = first; item < last; item++) {                                \
            cell c = cell_at(j, item);                                                    \
            const TYPE *x = (const TYPE *)j->x + c.first;                                 \
            if (j->inner == 1) {                                                          \
                uint64_t sum = 0;                                                         \
                for (npy_intp i = 0; i < c.rows; i++) {                                   \
                    sum += VALUE(x[i]);                                                   \
                }                                                                         \
                *c.sums = sum;                                                            \
                continue;                                                                 \
            }                                                                             \
            memset(c.sums, 0, sizeof(uint64_t) * (size_t)c.columns);                      \
            for (npy_intp i = 0; i < c.rows; i++, x += j->inner) {                        \
                GS_IVDEP                                                                  \
                for (npy_intp k = 0; k < c.columns; k++) {                                \
                    c.sums[k] += VALUE(x[k]);                                             \
                }                                                                         \
            }                                                                             \
        }                                                                                 \
    }

SUM(bool, uint8_t, TRUTH)
SUM(int8, int8_t, AS_IT_IS)
SUM(uint8, uint8_t, AS_IT_IS)
SUM(int16, int16_t, AS_IT_IS)
SUM(uint16, uint16_t, AS_IT_IS)
SUM(int32, int32_t, AS_IT_IS)
SUM(uint32, uint32_t, AS_IT_IS)
SUM(int64, int64_t, AS_IT_IS)

static gs_task
task_for(int type)
{
    int is_signed = !PyTypeNum_ISUNSIGNED(type);
    if (type == NPY_BOOL) {
        return sum_bool;
    }
    switch (gs_itemsize[type]) {
    case 1: return is_signed ? sum_int8 : sum_uint8;
    case 2: return is_signed ? sum_int16 : sum_uint16;
    case 4: return is_signed ? sum_int32 : sum_uint32;
    default: return sum_int64; /* modulo 2**64 the sign makes no difference */
    }
}

static void
add_parts(const job *j, uint64_t *out, npy_intp outer)
{
    const uint64_t *part = j->sums;
    memset(out, 0, sizeof(uint64_t) * (size_t)(outer * j->inner));
    for (npy_intp o = 0; o < outer; o++, out += j->inner) {
        for (npy_intp p = 0; p < j->n_parts; p++, part += j->inner) {
            for (npy_intp i = 0; i < j->inner; i++) {
                out[i] += part[i];
            }
        }
    }
}

int
gs_sum_integers(int type, const char *x, int64_t *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    job j = {.x = x, .sums = (uint64_t *)out, .r = r, .inner = inner, .n_parts = 1, .part = r};
    j.n_tiles = (inner + TILE - 1) / TILE;
    if (r > PART) {
        j.part = PART;
        j.n_parts = (r + PART - 1) / PART;
        j.sums = malloc(sizeof(uint64_t) * (size_t)(outer * j.n_parts * inner));
        if (j.sums == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    npy_intp columns = inner < TILE ? inner : TILE;
    gs_parallel(task_for(type), &j, outer * j.n_parts * j.n_tiles, j.part * columns / 2 + 8, 1);
    if (j.n_parts > 1) {
        add_parts(&j, (uint64_t *)out, outer);
        free(j.sums);
    }
    return 0;
}
