/* Elimination halves the columns of a matrix, so that most of the work are products: Note [Blocks of factorisations].
 *
 *     left half:   a panel of few columns, or halved again       | A11 |       P | L11 | U11
 *                                                                | A21 |         | L21 |
 *     right half:  rows exchanged as on the left, then           U12 = L11^-1 A12,   A22 - L21 U12,   which is factored
 *     left half:   rows of L21 exchanged as on the right
 */
#include "factors/lu.h"
#include "factors/triangular.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PANEL 16 /* columns that are left of the recursion */

#define FACTOR_TYPE 0
#include "factors/number_types.h"
#include "factors/lu_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 1
#include "factors/number_types.h"
#include "factors/lu_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 2
#include "factors/number_types.h"
#include "factors/lu_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 3
#include "factors/number_types.h"
#include "factors/lu_template.h"
#undef FACTOR_TYPE

static const gs_triangle UNIT_LOWER = {0, 1}, UPPER = {1, 0};

/* Matrices of one call; what a function does not need is zero. */
typedef struct {
    gs_algebra algebra;
    char *a; /* what is factored, or the factors */
    npy_int32 *pivots;
    char *x; /* what is solved, or the inverses */
    npy_intp m, n, k;
    npy_intp step;
    gs_triangle triangle;
    gs_block first; /* triangular matrix, of any strides */
    int transposed;
    atomic_int has_no_memory;
} factors_job;

static gs_block
contiguous(const gs_algebra *algebra, char *data, npy_intp columns)
{
    return (gs_block){data, columns * algebra->size, algebra->size};
}

static npy_intp
least(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

/* ---- exchanges of rows */

static void
swap_rows(char *one, char *other, size_t size)
{
    char kept[512];
    for (size_t here; size > 0; size -= here, one += here, other += here) {
        here = size < sizeof kept ? size : sizeof kept;
        memcpy(kept, one, here);
        memcpy(one, other, here);
        memcpy(other, kept, here);
    }
}

static void
exchange(const gs_algebra *algebra, gs_block x, const npy_int32 *pivots, npy_intp first, npy_intp last, npy_intp columns)
{
    for (npy_intp step = first; step < last; step++) {
        if (pivots[step] != step + 1) {
            swap_rows(x.data + step * x.row, x.data + (pivots[step] - 1) * x.row, (size_t)(columns * algebra->size));
        }
    }
}

static void
exchange_back(const gs_algebra *algebra, gs_block x, const npy_int32 *pivots, npy_intp steps, npy_intp columns)
{
    for (npy_intp step = steps - 1; step >= 0; step--) {
        exchange(algebra, x, pivots, step, step + 1, columns);
    }
}

/* ---- factors */

static void
factor_panel(const gs_algebra *algebra, gs_block a, npy_int32 *pivots, npy_intp m, npy_intp n, void *memory)
{
    if (algebra->type == NPY_FLOAT32) {
        factor_panel_float32(a, pivots, m, n, memory);
    } else if (algebra->type == NPY_FLOAT64) {
        factor_panel_float64(a, pivots, m, n, memory);
    } else if (algebra->type == NPY_COMPLEX64) {
        factor_panel_complex64(a, pivots, m, n, memory);
    } else {
        factor_panel_complex128(a, pivots, m, n, memory);
    }
}

static void factor(const gs_algebra *algebra, gs_block a, npy_int32 *pivots, npy_intp m, npy_intp n, void *memory);

/* Columns from `left` on, once those before are factored. */
static void
factor_rest(const gs_algebra *algebra, gs_block a, npy_int32 *pivots, npy_intp m, npy_intp n, npy_intp left, void *memory)
{
    gs_block upper = gs_part(a, 0, left), rest = gs_part(a, left, left), below = gs_part(a, left, 0);
    npy_intp rows = m - left, columns = n - left;
    exchange(algebra, upper, pivots, 0, left, columns);
    gs_solve_triangular(algebra, a, UNIT_LOWER, upper, left, columns);
    if (rows == 0) {
        return;
    }
    gs_subtract_product(algebra, rest, below, upper, rows, left, columns);
    factor(algebra, rest, pivots + left, rows, columns, memory);
    exchange(algebra, below, pivots + left, 0, least(rows, columns), left);
    for (npy_intp step = left; step < least(m, n); step++) {
        pivots[step] += (npy_int32)left;
    }
}

static void
factor(const gs_algebra *algebra, gs_block a, npy_int32 *pivots, npy_intp m, npy_intp n, void *memory)
{
    if (n <= PANEL) {
        factor_panel(algebra, a, pivots, m, n, memory);
        return;
    }
    npy_intp left = least(m, (n / 2 + PANEL - 1) / PANEL * PANEL);
    factor(algebra, a, pivots, m, left, memory);
    factor_rest(algebra, a, pivots, m, n, left, memory);
}

static void
factor_some(void *context, npy_intp first, npy_intp last)
{
    factors_job *job = context;
    npy_intp m = job->m, n = job->n, size = job->algebra.size;
    void *panel = malloc((size_t)(m * PANEL * size));
    if (panel == NULL) {
        atomic_store(&job->has_no_memory, 1);
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        gs_block a = contiguous(&job->algebra, job->a + i * m * n * size, n);
        factor(&job->algebra, a, job->pivots + i * least(m, n), m, n, panel);
    }
    free(panel);
}

/* ---- solutions */

static void
solve_one(const factors_job *job, gs_block a, const npy_int32 *pivots, gs_block x)
{
    const gs_algebra *algebra = &job->algebra;
    if (job->transposed) {
        gs_solve_triangular(algebra, gs_turned(a), (gs_triangle){0, 0}, x, job->n, job->k);
        gs_solve_triangular(algebra, gs_turned(a), (gs_triangle){1, 1}, x, job->n, job->k);
        exchange_back(algebra, x, pivots, job->n, job->k);
    } else {
        exchange(algebra, x, pivots, 0, job->n, job->k);
        gs_solve_triangular(algebra, a, UNIT_LOWER, x, job->n, job->k);
        gs_solve_triangular(algebra, a, UPPER, x, job->n, job->k);
    }
}

static void
solve_some(void *context, npy_intp first, npy_intp last)
{
    factors_job *job = context;
    npy_intp n = job->n, size = job->algebra.size;
    for (npy_intp i = first; i < last; i++) {
        gs_block a = contiguous(&job->algebra, job->a + i * job->step * n * n * size, n);
        gs_block x = contiguous(&job->algebra, job->x + i * n * job->k * size, job->k);
        solve_one(job, a, job->pivots + i * job->step * n, x);
    }
}

static void
solve_triangular_some(void *context, npy_intp first, npy_intp last)
{
    factors_job *job = context;
    for (npy_intp i = first; i < last; i++) {
        gs_block a = job->first;
        a.data += i * job->step;
        gs_block x = contiguous(&job->algebra, job->x + i * job->n * job->k * job->algebra.size, job->k);
        gs_solve_triangular(&job->algebra, a, job->triangle, x, job->n, job->k);
    }
}

/* ---- inverses */

static void
set_unit(const gs_algebra *algebra, gs_block x, npy_intp n)
{
    if (algebra->type == NPY_FLOAT32) {
        set_unit_float32(x, n);
    } else if (algebra->type == NPY_FLOAT64) {
        set_unit_float64(x, n);
    } else if (algebra->type == NPY_COMPLEX64) {
        set_unit_complex64(x, n);
    } else {
        set_unit_complex128(x, n);
    }
}

static void
set_zero(const gs_algebra *algebra, gs_block x, npy_intp m, npy_intp n)
{
    for (npy_intp i = 0; i < m; i++) {
        memset(x.data + i * x.row, 0, (size_t)(n * algebra->size));
    }
}

/* The inverse of a lower triangle with ones on its diagonal, whose upper half is never touched but to become zero. */
static void
invert_lower(const gs_algebra *algebra, gs_block a, gs_block x, npy_intp n)
{
    if (n <= 2 * PANEL) {
        set_unit(algebra, x, n);
        gs_solve_triangular(algebra, a, UNIT_LOWER, x, n, n);
        return;
    }
    npy_intp half = (n / 2 + PANEL - 1) / PANEL * PANEL, rest = n - half;
    gs_block below = gs_part(x, half, 0);
    invert_lower(algebra, a, x, half);
    invert_lower(algebra, gs_part(a, half, half), gs_part(x, half, half), rest);
    set_zero(algebra, gs_part(x, 0, half), half, rest);
    set_zero(algebra, below, rest, half);
    gs_subtract_product(algebra, below, gs_part(a, half, 0), x, rest, half, half);
    gs_solve_triangular(algebra, gs_part(a, half, half), UNIT_LOWER, below, rest, half);
}

/* Exchanges of rows before elimination are exchanges of columns after it, the last one first. */
static void
permute_columns(const gs_algebra *algebra, char *x, const npy_int32 *pivots, npy_intp n, npy_intp *places, void *row)
{
    for (npy_intp i = 0; i < n; i++) {
        places[i] = i;
    }
    for (npy_intp step = n - 1; step >= 0; step--) {
        npy_intp other = pivots[step] - 1, kept = places[step];
        places[step] = places[other];
        places[other] = kept;
    }
    if (algebra->type == NPY_FLOAT32) {
        permute_columns_float32((float *)x, places, n, row);
    } else if (algebra->type == NPY_FLOAT64) {
        permute_columns_float64((double *)x, places, n, row);
    } else if (algebra->type == NPY_COMPLEX64) {
        permute_columns_complex64((float _Complex *)x, places, n, row);
    } else {
        permute_columns_complex128((double _Complex *)x, places, n, row);
    }
}

static void
invert_some(void *context, npy_intp first, npy_intp last)
{
    factors_job *job = context;
    npy_intp n = job->n, size = job->algebra.size;
    npy_intp *places = malloc((size_t)n * (sizeof(npy_intp) + (size_t)size));  /* and behind them one row */
    if (places == NULL) {
        atomic_store(&job->has_no_memory, 1);
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        gs_block a = contiguous(&job->algebra, job->a + i * n * n * size, n);
        gs_block x = contiguous(&job->algebra, job->x + i * n * n * size, n);
        invert_lower(&job->algebra, a, x, n);
        gs_solve_triangular(&job->algebra, a, UPPER, x, n, n);
        permute_columns(&job->algebra, x.data, job->pivots + i * n, n, places, places + n);
    }
    free(places);
}

/* ---- entries */

static int
run(gs_task task, factors_job *job, npy_intp count, npy_intp rows, npy_intp columns, npy_intp depth)
{
    double cost = (double)rows * (double)columns * (double)depth / 4 + 16;
    if (count > 0 && rows > 0 && columns > 0) {
        gs_parallel(task, job, count, cost < 1e15 ? (npy_intp)cost : (npy_intp)1e15, 1);
    }
    if (!job->has_no_memory) {
        return 0;
    }
    PyErr_NoMemory();
    return -1;
}

int
gs_lu(int type, void *a, npy_int32 *pivots, npy_intp count, npy_intp m, npy_intp n)
{
    factors_job job = {.a = a, .pivots = pivots, .m = m, .n = n};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(factor_some, &job, count, m, n, least(m, n));
}

int
gs_lu_solve(int type, const void *factors, const npy_int32 *pivots, npy_intp step, void *x, npy_intp count, npy_intp n,
            npy_intp k, int transposed)
{
    factors_job job = {.a = (char *)factors, .pivots = (npy_int32 *)pivots, .x = x, .n = n, .k = k, .step = step,
                       .transposed = transposed};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(solve_some, &job, count, n, n, k);
}

int
gs_lu_inverse(int type, const void *factors, const npy_int32 *pivots, void *inverse, npy_intp count, npy_intp n)
{
    factors_job job = {.a = (char *)factors, .pivots = (npy_int32 *)pivots, .x = inverse, .n = n};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(invert_some, &job, count, n, n, n);
}

int
gs_triangular(int type, const void *a, npy_intp a_row, npy_intp a_column, npy_intp a_step, int upper, int unitriangular,
              void *x, npy_intp count, npy_intp n, npy_intp k)
{
    factors_job job = {.first = {(char *)a, a_row, a_column}, .step = a_step, .triangle = {upper, unitriangular}, .x = x,
                       .n = n, .k = k};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(solve_triangular_some, &job, count, n, k, n);
}
