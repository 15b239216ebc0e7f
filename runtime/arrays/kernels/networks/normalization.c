/* Note [Means and variances]
 *
 * A variance is never the mean of squares less the square of the mean: in float32 nothing would be left of it where the
 * mean is large.  Elements are gone over in chunks that stay in L1.  Each chunk has its sum taken, then the squares of
 * the differences from its mean, whose own sum says what rounding the mean has left over; and chunks are merged in double
 * (Chan, Golub and LeVeque, 1979).  So memory is read once for the statistics of a group, and once more to write.
 *
 * Where groups are columns, with elements far apart, a block of columns is gone over row by row, with sums in double.
 *
 * Threads take whole groups: sums have one order, whatever the number of threads.
 */
#include "networks/normalization.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <math.h>

#define CHUNK 2048     /* elements whose moments are taken at once */
#define COLUMNS 256    /* columns of a block, where groups are columns */
#define SHORT_RUN 16   /* elements in a row from which on a group is gone over by rows */
#define ROWS_AT_ONCE 8 /* short ones, so that their divisions and roots overlap */
#define ROWS_IN_REAL 16 /* rows whose sums are added before they go on in double */

typedef struct {
    const gs_normalization *n;
    const void *grad, *x, *weight, *bias;
    const void *known_mean, *known_var;
    void *out, *mean, *var;
} job;

typedef struct {
    double count, mean, squares; /* squares: of the differences from the mean, summed */
} moments;

static moments
merged(moments a, moments b)
{
    double count = a.count + b.count, apart = b.mean - a.mean;
    if (a.count == 0) {
        return b;
    }
    moments result = {count, a.mean + apart * (b.count / count),
                      a.squares + b.squares + apart * apart * (a.count * b.count / count)};
    return result;
}

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static inline int
goes_by_columns(const gs_normalization *n)
{
    return n->outer > 1 && n->inner < SHORT_RUN;
}

/* Groups that are gone over together, where each is one row: as many as stay in L1. */
static npy_intp
rows_at_once(const gs_normalization *n)
{
    npy_intp most = n->outer == 1 ? CHUNK / n->inner : 1;
    return most < 1 ? 1 : smaller(most, ROWS_AT_ONCE);
}

/* Groups of which a block of columns consists. */
static npy_intp
groups_in_block(const gs_normalization *n)
{
    return n->inner >= COLUMNS ? 1 : COLUMNS / n->inner;
}

#include "support/with_float32.h"
#include "normalization_template.h"

#include "support/with_float64.h"
#include "normalization_template.h"

static int
run(gs_task by_rows, gs_task by_columns, const gs_normalization *n, job *j)
{
    npy_intp cost = n->outer * n->inner * 4 + 16;
    j->n = n;
    if (n->groups == 0 || n->outer == 0 || n->inner == 0) {
        return 0;
    }
    if (goes_by_columns(n)) {
        npy_intp step = groups_in_block(n);
        gs_parallel(by_columns, j, (n->groups + step - 1) / step, cost * step, 1);
    } else {
        gs_parallel(by_rows, j, n->groups, cost, 1);
    }
    return 0;
}

int
gs_standardize(const void *settings, const void *x, const void *weight, const void *bias, void *result, void *mean,
               void *var)
{
    const gs_normalization *n = settings;
    job j = {.x = x, .weight = weight, .bias = bias, .out = result, .mean = mean, .var = var};
    return n->type == NPY_FLOAT32 ? run(standardize_rows_float32, standardize_columns_float32, n, &j)
                                  : run(standardize_rows_float64, standardize_columns_float64, n, &j);
}

int
gs_standardize_backward(const void *settings, const void *grad, const void *x, const void *weight, const void *mean,
                        const void *var, void *result)
{
    const gs_normalization *n = settings;
    job j = {.grad = grad, .x = x, .weight = weight, .known_mean = mean, .known_var = var, .out = result};
    return n->type == NPY_FLOAT32 ? run(backward_rows_float32, backward_columns_float32, n, &j)
                                  : run(backward_rows_float64, backward_columns_float64, n, &j);
}

int
gs_standardize_sums(const void *settings, const void *grad, const void *x, const void *mean, const void *var, void *sums)
{
    const gs_normalization *n = settings;
    npy_intp factors = n->period * (n->inner / n->run);
    npy_intp members = n->outer * (n->groups / n->period);
    job j = {.n = n, .grad = grad, .x = x, .known_mean = mean, .known_var = var, .out = sums};
    if (goes_by_columns(n) && n->period == n->groups) {
        npy_intp step = groups_in_block(n);
        gs_parallel(n->type == NPY_FLOAT32 ? sums_of_blocks_float32 : sums_of_blocks_float64, &j,
                    (n->groups + step - 1) / step, n->outer * n->inner * step * 3 + 16, 1);
    } else if (n->run == 1) {
        npy_intp blocks = (n->inner + COLUMNS - 1) / COLUMNS;
        gs_parallel(n->type == NPY_FLOAT32 ? sums_of_columns_float32 : sums_of_columns_float64, &j, n->period * blocks,
                    members * smaller(n->inner, COLUMNS) * 3 + 16, 1);
    } else {
        gs_parallel(n->type == NPY_FLOAT32 ? sums_of_runs_float32 : sums_of_runs_float64, &j, factors,
                    members * n->run * 3 + 16, 1);
    }
    return 0;
}
