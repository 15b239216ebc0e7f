/* Note [Extremes of short rows]
 *
 * NumPy's loops, made for long rows, take longer to begin and to ask for floating-point errors than to look through some
 * dozens of elements.  Here a row is taken for one of 8, 16 or 32 elements, for which a compiler makes vectors: what lies
 * behind its end counts for its first element.  The last rows, behind which nothing lies, are copied to where there is
 * something.  Of longer rows 32 elements are looked at together, some of those at the end of a row twice.
 *
 * Columns side by side are gone down together, row by row.
 */
#include "extremes.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <string.h>

#define LANES 32            /* of rows */
#define LONGEST_ROW 1024
#define MOST_COLUMNS 256

typedef struct {
    const void *x;
    void *out;
    npy_intp outer, r, inner;
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
    GS_INLINE REAL NAME##_of_lanes(REAL *restrict lanes, int width)                           \
    {                                                                                         \
        FOLD(16, IS_BETTER) FOLD(8, IS_BETTER) FOLD(4, IS_BETTER) FOLD(2, IS_BETTER)          \
        FOLD(1, IS_BETTER)                                                                    \
        return lanes[0];                                                                      \
    }                                                                                         \
                                                                                              \
    GS_INLINE REAL NAME##_of_row(const REAL *x, int n, int width)                             \
    {                                                                                         \
        REAL lanes[LANES], first = x[0];                                                      \
        GS_VECTOR                                                                             \
        for (int k = 0; k < width; k++) {                                                     \
            REAL element = x[k];                                                              \
            lanes[k] = k < n ? element : first;                                               \
        }                                                                                     \
        return NAME##_of_lanes(lanes, width);                                                 \
    }                                                                                         \
                                                                                              \
    GS_INLINE void NAME##_of_rows(const job *j, npy_intp first, npy_intp last, int width)     \
    {                                                                                         \
        REAL copy[LANES] = {0}, *out = j->out;                                                \
        for (npy_intp row = first; row < last; row++) {                                       \
            const REAL *x = (const REAL *)j->x + row * j->r;                                  \
            if ((j->outer - row) * j->r < width) {                                            \
                memcpy(copy, x, sizeof(REAL) * (size_t)j->r);                                 \
                x = copy;                                                                     \
            }                                                                                 \
            REAL found = NAME##_of_row(x, j->r, width);                                       \
            out[row] = found;                                                                 \
        }                                                                                     \
    }                                                                                         \
                                                                                              \
    GS_INLINE void NAME##_raise(REAL *restrict lanes, const REAL *x, npy_intp n)              \
    {                                                                                         \
        GS_VECTOR                                                                             \
        for (npy_intp k = 0; k < n; k++) {                                                    \
            REAL element = x[k];                                                              \
            lanes[k] = IS_BETTER(lanes[k], element) ? element : lanes[k];                     \
        }                                                                                     \
    }                                                                                         \
                                                                                              \
    GS_INLINE void NAME##_of_longer_rows(const job *j, npy_intp first, npy_intp last)         \
    {                                                                                         \
        for (npy_intp row = first; row < last; row++) {                                       \
            const REAL *x = (const REAL *)j->x + row * j->r, *end = x + j->r - LANES;         \
            REAL lanes[LANES];                                                                \
            GS_VECTOR                                                                         \
            for (int k = 0; k < LANES; k++) {                                                 \
                REAL one = x[k], other = end[k];                                              \
                lanes[k] = IS_BETTER(one, other) ? other : one;                               \
            }                                                                                 \
            for (x += LANES; x < end; x += LANES) {                                           \
                NAME##_raise(lanes, x, LANES);                                                \
            }                                                                                 \
            ((REAL *)j->out)[row] = NAME##_of_lanes(lanes, LANES);                            \
        }                                                                                     \
    }                                                                                         \
                                                                                              \
    GS_CLONES static void NAME(void *context, npy_intp first, npy_intp last)                  \
    {                                                                                         \
        const job *j = context;                                                               \
        if (j->r <= 8) {                                                                      \
            NAME##_of_rows(j, first, last, 8);                                                \
        } else if (j->r <= 16) {                                                              \
            NAME##_of_rows(j, first, last, 16);                                               \
        } else if (j->r <= LANES) {                                                           \
            NAME##_of_rows(j, first, last, LANES);                                            \
        } else {                                                                              \
            NAME##_of_longer_rows(j, first, last);                                            \
        }                                                                                     \
    }                                                                                         \
                                                                                              \
    GS_CLONES static void NAME##_of_columns(void *context, npy_intp first, npy_intp last)     \
    {                                                                                         \
        const job *j = context;                                                               \
        for (npy_intp i = first; i < last; i++) {                                             \
            const REAL *x = (const REAL *)j->x + i * j->r * j->inner;                         \
            REAL *out = (REAL *)j->out + i * j->inner;                                        \
            memcpy(out, x, sizeof(REAL) * (size_t)j->inner);                                  \
            for (npy_intp row = 1; row < j->r; row++) {                                       \
                NAME##_raise(out, x + row * j->inner, j->inner);                              \
            }                                                                                 \
        }                                                                                     \
    }

EXTREMES(largest_floats, float, IS_LARGER)
EXTREMES(largest_doubles, double, IS_LARGER)
EXTREMES(smallest_floats, float, IS_SMALLER)
EXTREMES(smallest_doubles, double, IS_SMALLER)

int
gs_has_extremes(int type, npy_intp r, npy_intp inner)
{
    return (type == NPY_FLOAT32 || type == NPY_FLOAT64) && (inner == 1 ? r <= LONGEST_ROW : inner <= MOST_COLUMNS);
}

void
gs_extremes(int type, int largest, const void *x, void *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    static const gs_task of_rows[2][2] = {{smallest_floats, smallest_doubles}, {largest_floats, largest_doubles}};
    static const gs_task of_columns[2][2] = {{smallest_floats_of_columns, smallest_doubles_of_columns},
                                             {largest_floats_of_columns, largest_doubles_of_columns}};
    int is_double = type == NPY_FLOAT64;
    job j = {x, out, outer, r, inner};
    gs_parallel(inner == 1 ? of_rows[largest][is_double] : of_columns[largest][is_double], &j, outer, r * inner, 1);
}
