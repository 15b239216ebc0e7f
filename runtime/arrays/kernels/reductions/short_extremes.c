/* Note [Extremes of short rows]
 *
 * NumPy's loops, made for long rows, take longer to begin and to ask for floating-point errors than to look through a dozen
 * elements.  Here a row is taken for one of 8, 16 or 32 elements, for which a compiler makes vectors: what lies behind its
 * end counts for its first element.  The last rows, behind which nothing lies, are copied to where there is something.
 */
#include "short_extremes.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <string.h>

#define MOST 32

typedef struct {
    const void *x;
    void *out;
    npy_intp rows, n;
} job;

/* Is y to be taken for x?  NaN is, and stays. */
#define IS_LARGER(x, y) (((y) > (x)) | ((y) != (y)))
#define IS_SMALLER(x, y) (((y) < (x)) | ((y) != (y)))

#define FOLD(half, IS_BETTER)                                                              \
    if (width > half) {                                                                    \
        GS_VECTOR                                                                          \
        for (int k = 0; k < half; k++) {                                                   \
            lanes[k] = IS_BETTER(lanes[k], lanes[k + half]) ? lanes[k + half] : lanes[k];  \
        }                                                                                  \
    }

#define EXTREMES(NAME, REAL, IS_BETTER)                                                       \
    GS_INLINE REAL NAME##_of_row(const REAL *x, int n, int width)                             \
    {                                                                                         \
        REAL lanes[MOST], first = x[0];                                                       \
        GS_VECTOR                                                                             \
        for (int k = 0; k < width; k++) {                                                     \
            REAL element = x[k];                                                              \
            lanes[k] = k < n ? element : first;                                               \
        }                                                                                     \
        FOLD(16, IS_BETTER) FOLD(8, IS_BETTER) FOLD(4, IS_BETTER) FOLD(2, IS_BETTER)          \
        FOLD(1, IS_BETTER)                                                                    \
        return lanes[0];                                                                      \
    }                                                                                         \
                                                                                              \
    GS_INLINE void NAME##_of_rows(const job *j, npy_intp first, npy_intp last, int width)     \
    {                                                                                         \
        REAL copy[MOST] = {0}, *out = j->out;                                                 \
        for (npy_intp row = first; row < last; row++) {                                       \
            const REAL *x = (const REAL *)j->x + row * j->n;                                  \
            if ((j->rows - row) * j->n < width) {                                             \
                memcpy(copy, x, sizeof(REAL) * (size_t)j->n);                                 \
                x = copy;                                                                     \
            }                                                                                 \
            REAL found = NAME##_of_row(x, j->n, width);                                       \
            out[row] = found;                                                                 \
        }                                                                                     \
    }                                                                                         \
                                                                                              \
    GS_CLONES static void NAME(void *context, npy_intp first, npy_intp last)                  \
    {                                                                                         \
        const job *j = context;                                                               \
        if (j->n <= 8) {                                                                      \
            NAME##_of_rows(j, first, last, 8);                                                \
        } else if (j->n <= 16) {                                                              \
            NAME##_of_rows(j, first, last, 16);                                               \
        } else {                                                                              \
            NAME##_of_rows(j, first, last, MOST);                                             \
        }                                                                                     \
    }

EXTREMES(largest_floats, float, IS_LARGER)
EXTREMES(largest_doubles, double, IS_LARGER)
EXTREMES(smallest_floats, float, IS_SMALLER)
EXTREMES(smallest_doubles, double, IS_SMALLER)

int
gs_has_short_extremes(int type, npy_intp n)
{
    return n <= MOST && (type == NPY_FLOAT32 || type == NPY_FLOAT64);
}

void
gs_short_extremes(int type, int largest, const void *x, void *out, npy_intp rows, npy_intp n)
{
    static const gs_task tasks[2][2] = {{smallest_floats, smallest_doubles}, {largest_floats, largest_doubles}};
    job j = {x, out, rows, n};
    gs_parallel(tasks[largest][type == NPY_FLOAT64], &j, rows, n, 1);
}
