/* Note [Rare extremes]
 *
 * An extreme lasts: of elements in random order, the i-th is one with the probability 1 / i. So a block of elements is
 * compared with the extreme so far at once, in vectors, and walked only where one of them reaches it. Columns that lie side by
 * side are compared row by row.
 */
#include "extremes_kernels.h"
#include "support/simd.h"

enum { BLOCK = 32, COLUMNS = 256 };

#define TEMPLATE "runtime/arrays/functions/running/extremes_template.h"
#include "each_real_type.h"

int
gs_has_extremes(int type)
{
#define YES(suffix) return 1
    switch (gs_real_type(type)) {
        GS_REAL_CASES(YES)
    }
    return 0;
}

npy_intp
gs_extreme_tiles(npy_intp inner)
{
    return (inner + COLUMNS - 1) / COLUMNS;
}

void
gs_run_extremes(void *extremes, npy_intp first, npy_intp last)
{
    const gs_running_extremes *e = extremes;
#define RUN(suffix) (e->largest ? maxima_##suffix : minima_##suffix)(e, first, last)
    switch (gs_real_type(e->type)) {
        GS_REAL_CASES(RUN)
    }
}
