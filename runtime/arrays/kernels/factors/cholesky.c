/* Factors of positive definite matrices and their gradients, by halves: Note [Blocks of factorisations].
 *
 *     | A11     |   | L11     |   | L11^H L21^H |        L21 = A21 L11^-H,   A22 - L21 L21^H,   which is factored
 *     | A21 A22 | = | L21 L22 | * |       L22^H |
 *
 * The gradient S solves L^H S L = H, where all matrices but L are Hermitian.  By blocks, from the last rows to the first,
 *
 *     L22^H S22 L22 = H22
 *     S21 = (Y - S22 L21) L11^-1                                      with Y = L22^-H H21
 *     L11^H S11 L11 = H11 - L21^H W - W^H L21                         with W = Y - S22 L21 / 2
 *
 * which are half as many multiplications as two solutions by L.  Complex numbers have no products with a conjugate:
 * there is a copy of the conjugates.
 */
#include "factors/cholesky.h"
#include "factors/triangular.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LEAF 16       /* rows that are left of the recursion */
#define LOWER_LEAF 32 /* rows of a square of which only the lower half counts */

#define FACTOR_TYPE 0
#include "factors/number_types.h"
#include "factors/cholesky_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 1
#include "factors/number_types.h"
#include "factors/cholesky_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 2
#include "factors/number_types.h"
#include "factors/cholesky_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 3
#include "factors/number_types.h"
#include "factors/cholesky_template.h"
#undef FACTOR_TYPE

#define CALL(algebra, name, ...)                                                \
    ((algebra)->type == NPY_FLOAT32     ? name##_float32(__VA_ARGS__)           \
     : (algebra)->type == NPY_FLOAT64   ? name##_float64(__VA_ARGS__)           \
     : (algebra)->type == NPY_COMPLEX64 ? name##_complex64(__VA_ARGS__)         \
                                        : name##_complex128(__VA_ARGS__))

static const gs_triangle LOWER = {0, 0}, UPPER = {1, 0};

/* Matrices of one call; what a function does not need is zero. */
typedef struct {
    gs_algebra algebra;
    const char *a, *gradients; /* a: what is factored, or the factors */
    char *found;
    npy_int32 *orders;
    npy_intp n;
    atomic_int has_no_memory;
} definite_job;

static int
is_complex(const gs_algebra *algebra)
{
    return algebra->type == NPY_COMPLEX64 || algebra->type == NPY_COMPLEX128;
}

static gs_block
contiguous(const gs_algebra *algebra, const char *data, npy_intp columns)
{
    return (gs_block){(char *)data, columns * algebra->size, algebra->size};
}

static npy_intp
half_of(npy_intp n)
{
    return (n / 2 + LEAF - 1) / LEAF * LEAF;
}

static npy_intp
least(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

/* The lower triangle of c -= a @ b with a (n, k) and b (k, n); numbers next to it, above the diagonal, become any. */
static void
subtract_lower(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp n, npy_intp k)
{
    if (n <= LOWER_LEAF) {
        gs_subtract_product(algebra, c, a, b, n, k, n);
        return;
    }
    npy_intp half = half_of(n), rest = n - half;
    subtract_lower(algebra, c, a, b, half, k);
    gs_subtract_product(algebra, gs_part(c, half, 0), gs_part(a, half, 0), b, rest, k, half);
    subtract_lower(algebra, gs_part(c, half, half), gs_part(a, half, 0), gs_part(b, 0, half), rest, k);
}

/* ---- factors */

/* L21 and the rest of A22; `memory` holds conjugates of L21. */
static void
subtract_left(const gs_algebra *algebra, gs_block a, npy_intp half, npy_intp rest, char *memory)
{
    gs_block below = gs_part(a, half, 0), conjugates = below;
    if (is_complex(algebra)) {
        conjugates = contiguous(algebra, memory, half);
        CALL(algebra, conjugate, conjugates, below, rest, half);
    }
    gs_solve_triangular(algebra, a, LOWER, gs_turned(conjugates), half, rest);
    if (is_complex(algebra)) {
        CALL(algebra, conjugate, below, conjugates, rest, half);
    }
    subtract_lower(algebra, gs_part(a, half, half), below, gs_turned(conjugates), rest, half);
}

/* 0, or the order of the first leading minor that is not positive. */
static npy_intp
factor(const gs_algebra *algebra, gs_block a, npy_intp n, char *memory)
{
    if (n <= LEAF) {
        return CALL(algebra, factor_leaf, a, n);
    }
    npy_intp half = half_of(n), order = factor(algebra, a, half, memory);
    if (order != 0) {
        return order;
    }
    subtract_left(algebra, a, half, n - half, memory);
    order = factor(algebra, gs_part(a, half, half), n - half, memory);
    return order == 0 ? 0 : half + order;
}

/* The lower triangle, and as much above it as `subtract_lower` touches. */
static void
copy_lower(const gs_algebra *algebra, gs_block to, gs_block from, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        memcpy(to.data + i * to.row, from.data + i * from.row, (size_t)(least(i + LOWER_LEAF, n) * algebra->size));
    }
}

static void
clear_upper(const gs_algebra *algebra, gs_block a, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        memset(a.data + i * a.row + (i + 1) * algebra->size, 0, (size_t)((n - 1 - i) * algebra->size));
    }
}

static void
factor_some(void *context, npy_intp first, npy_intp last)
{
    definite_job *job = context;
    const gs_algebra *algebra = &job->algebra;
    npy_intp n = job->n, step = n * n * algebra->size;
    char *memory = malloc(is_complex(algebra) ? (size_t)(step / 4 + 1) : 1);
    if (memory == NULL) {
        atomic_store(&job->has_no_memory, 1);
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        gs_block found = contiguous(algebra, job->found + i * step, n);
        copy_lower(algebra, found, contiguous(algebra, job->a + i * step, n), n);
        job->orders[i] = (npy_int32)factor(algebra, found, n, memory);
        if (job->orders[i] != 0) {
            CALL(algebra, set_nan, found, n);
        }
        clear_upper(algebra, found, n);
    }
    free(memory);
}

/* ---- gradients */

/* A factor, its conjugates, which are the same numbers if these are real, and memory for half as many rows and columns. */
typedef struct {
    gs_block l, conjugates;
    char *memory, *more_memory;
} gs_factor;

static gs_factor
part_of_factor(gs_factor factor, npy_intp place)
{
    factor.l = gs_part(factor.l, place, place);
    factor.conjugates = gs_part(factor.conjugates, place, place);
    return factor;
}

/* s -= L^H g with g (n, k). */
static void
subtract_adjoint_product(const gs_algebra *algebra, gs_block s, gs_block conjugates, gs_block g, npy_intp n, npy_intp k)
{
    if (n <= LEAF) {
        double _Complex numbers[LEAF * LEAF];
        gs_block triangle = contiguous(algebra, (char *)numbers, LEAF);
        CALL(algebra, copy_triangle, triangle, conjugates, n);
        gs_subtract_product(algebra, s, gs_turned(triangle), g, n, n, k);
        return;
    }
    npy_intp half = half_of(n), rest = n - half;
    gs_block below = gs_part(g, half, 0);
    subtract_adjoint_product(algebra, s, conjugates, g, half, k);
    gs_subtract_product(algebra, s, gs_turned(gs_part(conjugates, half, 0)), below, half, rest, k);
    subtract_adjoint_product(algebra, gs_part(s, half, 0), gs_part(conjugates, half, half), below, rest, k);
}

/* The lower triangle of s -= L^H g, for which g's is enough. */
static void
subtract_lower_adjoint_product(const gs_algebra *algebra, gs_block s, gs_block conjugates, gs_block g, npy_intp n)
{
    if (n <= LEAF) {
        double _Complex numbers[LEAF * LEAF];
        gs_block triangle = contiguous(algebra, (char *)numbers, LEAF);
        CALL(algebra, copy_triangle, triangle, g, n);
        subtract_adjoint_product(algebra, s, conjugates, triangle, n, n);
        return;
    }
    npy_intp half = half_of(n), rest = n - half;
    gs_block last = gs_part(conjugates, half, half), below = gs_part(g, half, 0);
    subtract_lower_adjoint_product(algebra, s, conjugates, g, half);
    subtract_lower(algebra, s, gs_turned(gs_part(conjugates, half, 0)), below, half, rest);
    subtract_adjoint_product(algebra, gs_part(s, half, 0), last, below, rest, half);
    subtract_lower_adjoint_product(algebra, gs_part(s, half, half), last, gs_part(g, half, half), rest);
}

/* x = L^-H x: a solution with the conjugates, for which their transpose does. */
static void
solve_adjoint(const gs_algebra *algebra, gs_factor factor, gs_block x, npy_intp n, npy_intp k)
{
    gs_solve_triangular(algebra, gs_turned(factor.conjugates), UPPER, x, n, k);
}

/* x = x L^-1 */
static void
solve_from_right(const gs_algebra *algebra, gs_factor factor, gs_block x, npy_intp m, npy_intp n)
{
    gs_solve_triangular(algebra, gs_turned(factor.l), UPPER, gs_turned(x), n, m);
}

static void
solve_leaf_on_both_sides(const gs_algebra *algebra, gs_factor factor, gs_block s, npy_intp n)
{
    CALL(algebra, mirror, s, n);
    solve_adjoint(algebra, factor, s, n, n);
    solve_from_right(algebra, factor, s, n, n);
    CALL(algebra, mirror, s, n);
}

/* Of S11 the terms with S21 and S22, and S21 but for the last solution. */
static void
subtract_below(const gs_algebra *algebra, gs_factor factor, gs_block s, npy_intp half, npy_intp rest)
{
    gs_block l21 = gs_part(factor.l, half, 0), conjugates = gs_part(factor.conjugates, half, 0);
    gs_block s21 = gs_part(s, half, 0), w = contiguous(algebra, factor.memory, half), of_w = w;
    memset(factor.memory, 0, (size_t)(rest * half * algebra->size));
    gs_subtract_product(algebra, w, gs_part(s, half, half), l21, rest, rest, half);
    CALL(algebra, add_both, s21, w, rest, half);
    if (is_complex(algebra)) {
        of_w = contiguous(algebra, factor.more_memory, half);
        CALL(algebra, conjugate, of_w, w, rest, half);
    }
    subtract_lower(algebra, s, gs_turned(conjugates), w, half, rest);
    subtract_lower(algebra, s, gs_turned(of_w), l21, half, rest);
}

/* S for the lower triangle of H, which it replaces. */
static void
solve_on_both_sides(const gs_algebra *algebra, gs_factor factor, gs_block s, npy_intp n)
{
    if (n <= LEAF) {
        solve_leaf_on_both_sides(algebra, factor, s, n);
        return;
    }
    npy_intp half = half_of(n), rest = n - half;
    gs_block s21 = gs_part(s, half, 0);
    gs_factor last = part_of_factor(factor, half);
    solve_on_both_sides(algebra, last, gs_part(s, half, half), rest);
    solve_adjoint(algebra, last, s21, rest, half);
    subtract_below(algebra, factor, s, half, rest);
    solve_from_right(algebra, factor, s21, rest, half);
    CALL(algebra, adjoin, gs_part(s, 0, half), s21, rest, half);
    solve_on_both_sides(algebra, factor, s, half);
}

static void
find_slope(const definite_job *job, npy_intp i, char *memory)
{
    const gs_algebra *algebra = &job->algebra;
    npy_intp n = job->n, step = n * n * algebra->size, quarter = n * n / 4 * algebra->size;
    gs_block l = contiguous(algebra, job->a + i * step, n), g = contiguous(algebra, job->gradients + i * step, n);
    gs_block s = contiguous(algebra, job->found + i * step, n);
    gs_factor factor = {l, l, memory, memory + quarter};
    if (is_complex(algebra)) {
        factor.conjugates = contiguous(algebra, memory + 2 * quarter, n);
        CALL(algebra, conjugate, factor.conjugates, l, n, n);
    }
    memset(s.data, 0, (size_t)step);
    subtract_lower_adjoint_product(algebra, s, factor.conjugates, g, n);
    CALL(algebra, halve, s, n);
    solve_on_both_sides(algebra, factor, s, n);
}

static void
find_slopes(void *context, npy_intp first, npy_intp last)
{
    definite_job *job = context;
    npy_intp step = job->n * job->n * job->algebra.size;
    char *memory = malloc((size_t)(is_complex(&job->algebra) ? step / 2 + step : step / 4) + 1);
    if (memory == NULL) {
        atomic_store(&job->has_no_memory, 1);
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        find_slope(job, i, memory);
    }
    free(memory);
}

/* ---- entries */

static int
run(gs_task task, definite_job *job, npy_intp count)
{
    double n = (double)job->n, cost = n * n * n / 8 + 16;
    if (count > 0 && job->n > 0) {
        gs_parallel(task, job, count, cost < 1e15 ? (npy_intp)cost : (npy_intp)1e15, 1);
    }
    if (!job->has_no_memory) {
        return 0;
    }
    PyErr_NoMemory();
    return -1;
}

int
gs_cholesky(int type, const void *a, void *factors, npy_int32 *orders, npy_intp count, npy_intp n)
{
    definite_job job = {.a = a, .found = factors, .orders = orders, .n = n};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(factor_some, &job, count);
}

int
gs_cholesky_slope(int type, const void *factors, const void *gradients, void *slopes, npy_intp count, npy_intp n)
{
    definite_job job = {.a = factors, .gradients = gradients, .found = slopes, .n = n};
    return gs_begin_algebra(&job.algebra, type) < 0 ? -1 : run(find_slopes, &job, count);
}
