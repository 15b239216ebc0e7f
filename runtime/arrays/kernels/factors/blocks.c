/* Note [Blocks of factorisations]
 *
 * Factorisations and triangular solutions halve their matrices until few rows or columns are left. Between the halves
 * is always c -= a @ b, of all shapes: long and thin ones near the end of the recursion, large ones at its beginning.
 * There are three ways to compute it:
 *
 *   in place   a strip of b, two vectors wide, is copied to the stack; rows of a and c are used where they lie
 *   packed     the product of gemm.c: copying both operands pays when each element is used often enough
 *   BLAS       NumPy's loop, into memory of its own, where there is no product of our own: complex numbers, no AVX-512
 *
 * The choice follows from the type, the processor and the shape, so that every run gives the same bits.
 */
#include "factors/blocks.h"
#include "products/gemm.h"
#include "support/simd.h"

#include <float.h>
#include <stdlib.h>

#define ROWS 4         /* of c at a time: 8 sums hide how long a multiplication takes, and leave registers for operands */
#define MOST_TERMS 128 /* rows of a strip of b: 8 KB of the L1 cache */

#define PACKED_FROM 500000.0 /* multiplications from which on packing both operands pays */
#define BLAS_FROM 500000.0   /* and from which on BLAS does, in spite of the additional result */
#define COMPLEX_BLAS_FROM 4096.0

#define FACTOR_TYPE 0
#include "factors/number_types.h"
#include "factors/blocks_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 1
#include "factors/number_types.h"
#include "factors/blocks_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 2
#include "factors/number_types.h"
#include "factors/blocks_template.h"
#undef FACTOR_TYPE
#define FACTOR_TYPE 3
#include "factors/number_types.h"
#include "factors/blocks_template.h"
#undef FACTOR_TYPE

int
gs_begin_algebra(gs_algebra *algebra, int type)
{
    if (type != NPY_FLOAT32 && type != NPY_FLOAT64 && type != NPY_COMPLEX64 && type != NPY_COMPLEX128) {
        PyErr_Format(PyExc_TypeError, "expected matrices of float32, float64, complex64 or complex128, but got %s",
                     gs_type_name(type));
        return -1;
    }
    const gs_loop *loop = gs_matmul_loop(type);
    int is_real = type == NPY_FLOAT32 || type == NPY_FLOAT64;
    *algebra = (gs_algebra){
        .type = type,
        .size = gs_itemsize[type],
        .is_packed = is_real && gs_get_matmul_backend() == GS_MATMUL_OWN,
        .loop = loop->state == GS_REFUSED ? NULL : loop,
    };
    return 0;
}

static void
subtract_in_place(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    if (algebra->type == NPY_FLOAT32) {
        subtract_product_float32(c, a, b, m, k, n);
    } else if (algebra->type == NPY_FLOAT64) {
        subtract_product_float64(c, a, b, m, k, n);
    } else if (algebra->type == NPY_COMPLEX64) {
        subtract_product_complex64(c, a, b, m, k, n);
    } else {
        subtract_product_complex128(c, a, b, m, k, n);
    }
}

/* 0 without memory for the packed operands. */
static int
subtract_packed(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    npy_intp s = algebra->size;
    gs_gemm_job job = {algebra->type, a.data,     b.data,    c.data,       m,         k, n,
                       a.row / s,     a.column / s, b.row / s, b.column / s, c.row / s, 1};
    return gs_gemm_unlocked(&job) == 0;
}

static void
subtract_rows(const gs_algebra *algebra, gs_block c, const char *product, npy_intp m, npy_intp n)
{
    for (npy_intp i = 0; i < m; i++) {
        char *row = c.data + i * c.row;
        const char *other = product + i * n * algebra->size;
        if (algebra->type == NPY_FLOAT32 || algebra->type == NPY_COMPLEX64) {
            subtract_row_float32((float *)row, (const float *)other, n * algebra->size / (npy_intp)sizeof(float));
        } else {
            subtract_row_float64((double *)row, (const double *)other, n * algebra->size / (npy_intp)sizeof(double));
        }
    }
}

/* 0 without memory for the product. */
static int
subtract_by_blas(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    char *product = malloc((size_t)(m * n * algebra->size));
    if (product == NULL) {
        return 0;
    }
    char *args[3] = {a.data, b.data, product};
    npy_intp core[4] = {1, m, k, n};
    npy_intp strides[9] = {0, 0, 0, a.row, a.column, b.row, b.column, n * algebra->size, algebra->size};
    algebra->loop->run(args, core, strides, algebra->loop->data);
    subtract_rows(algebra, c, product, m, n);
    free(product);
    return 1;
}

static int
suits_packed(const gs_algebra *algebra, gs_block a, npy_intp m, npy_intp k, npy_intp n)
{
    return algebra->is_packed && m >= 16 && k >= 32 && n >= 32 && (a.row == algebra->size || a.column == algebra->size) &&
           (double)m * (double)k * (double)n >= PACKED_FROM;
}

static int
suits_blas(const gs_algebra *algebra, npy_intp m, npy_intp k, npy_intp n)
{
    int is_real = algebra->type == NPY_FLOAT32 || algebra->type == NPY_FLOAT64;
    return !algebra->is_packed && algebra->loop != NULL && m > 1 && n > 1 && k > 1 &&
           (double)m * (double)k * (double)n >= (is_real ? BLAS_FROM : COMPLEX_BLAS_FROM);
}

void
gs_subtract_product(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    if (c.column != algebra->size && c.row == algebra->size) {
        gs_subtract_product(algebra, gs_turned(c), gs_turned(b), gs_turned(a), n, k, m);
        return;
    }
    if (suits_packed(algebra, a, m, k, n) && subtract_packed(algebra, c, a, b, m, k, n)) {
        return;
    }
    if (suits_blas(algebra, m, k, n) && subtract_by_blas(algebra, c, a, b, m, k, n)) {
        return;
    }
    subtract_in_place(algebra, c, a, b, m, k, n);
}
