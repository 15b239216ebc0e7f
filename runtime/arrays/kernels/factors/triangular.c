/* By halves: Note [Blocks of factorisations]. */
#include "factors/triangular.h"
#include "support/simd.h"

#include <float.h>

#define LEAF 16 /* rows that are left of the recursion */

#define FACTOR_TYPE 0
#include "factors/number_types.h"
#include "factors/triangular_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 1
#include "factors/number_types.h"
#include "factors/triangular_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 2
#include "factors/number_types.h"
#include "factors/triangular_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 3
#include "factors/number_types.h"
#include "factors/triangular_template.h"
#undef FACTOR_TYPE

static void
solve_vector(const gs_algebra *algebra, gs_block a, gs_triangle triangle, gs_block x, npy_intp n)
{
    if (algebra->type == NPY_FLOAT32) {
        solve_vector_float32(a, triangle, x, n);
    } else if (algebra->type == NPY_FLOAT64) {
        solve_vector_float64(a, triangle, x, n);
    } else if (algebra->type == NPY_COMPLEX64) {
        solve_vector_complex64(a, triangle, x, n);
    } else {
        solve_vector_complex128(a, triangle, x, n);
    }
}

static void
solve_leaf(const gs_algebra *algebra, gs_block a, gs_triangle triangle, gs_block x, npy_intp n, npy_intp k)
{
    if (algebra->type == NPY_FLOAT32) {
        solve_leaf_float32(a, triangle, x, n, k);
    } else if (algebra->type == NPY_FLOAT64) {
        solve_leaf_float64(a, triangle, x, n, k);
    } else if (algebra->type == NPY_COMPLEX64) {
        solve_leaf_complex64(a, triangle, x, n, k);
    } else {
        solve_leaf_complex128(a, triangle, x, n, k);
    }
}

void
gs_solve_triangular(const gs_algebra *algebra, gs_block a, gs_triangle triangle, gs_block x, npy_intp n, npy_intp k)
{
    if (n == 0 || k == 0) {
        return;
    }
    if (k == 1 && x.row == algebra->size) {
        solve_vector(algebra, a, triangle, x, n);
        return;
    }
    if (n <= LEAF) {
        solve_leaf(algebra, a, triangle, x, n, k);
        return;
    }
    npy_intp half = (n / 2 + LEAF - 1) / LEAF * LEAF, rest = n - half;
    gs_block lower = gs_part(a, half, half), below = gs_part(x, half, 0);
    if (triangle.upper) {
        gs_solve_triangular(algebra, lower, triangle, below, rest, k);
        gs_subtract_product(algebra, x, gs_part(a, 0, half), below, half, rest, k);
        gs_solve_triangular(algebra, a, triangle, x, half, k);
    } else {
        gs_solve_triangular(algebra, a, triangle, x, half, k);
        gs_subtract_product(algebra, below, gs_part(a, half, 0), x, rest, half, k);
        gs_solve_triangular(algebra, lower, triangle, below, rest, k);
    }
}
