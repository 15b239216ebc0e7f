/* Blocks of matrices, and the product that factorisations spend their time on. */
#ifndef GRADSMITH_BLOCKS_H
#define GRADSMITH_BLOCKS_H

#include "support/loops.h"

GS_HIDDEN_BEGIN

/* A matrix or a part of one; the strides are in bytes. */
typedef struct {
    char *data;
    npy_intp row, column;
} gs_block;

/* How blocks of one type are multiplied; see gs_begin_algebra. */
typedef struct {
    int type; /* NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64 or NPY_COMPLEX128 */
    npy_intp size;
    int is_packed;       /* by the product of gemm.c */
    const gs_loop *loop; /* otherwise by BLAS, or NULL */
} gs_algebra;

/* Called with the GIL; -1 with TypeError for another type. Everything else here is called without it, or with it. */
int gs_begin_algebra(gs_algebra *algebra, int type);

static inline gs_block
gs_turned(gs_block a)
{
    return (gs_block){a.data, a.column, a.row};
}

static inline gs_block
gs_part(gs_block a, npy_intp row, npy_intp column)
{
    a.data += row * a.row + column * a.column;
    return a;
}

/* c -= a @ b with a (m, k) and b (k, n); b and c have a unit stride in one of their directions. */
void gs_subtract_product(const gs_algebra *algebra, gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n);

GS_HIDDEN_END

#endif
