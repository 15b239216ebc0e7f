/* Factors of matrices by elimination with row exchanges, and what is computed by them. */
#ifndef GRADSMITH_LU_H
#define GRADSMITH_LU_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* All of these work on `count` contiguous matrices, of any of the four types of BLAS. They are called with the GIL, which
 * is released when there is much to do; -1 with MemoryError, or with TypeError for another type.
 *
 * Replaces matrices of m by n numbers by both factors; `pivots` receive the row, counted from 1, with which each of the
 * first min(m, n) rows is exchanged. A column of zeros stays as it is. */
int gs_lu(int type, void *a, npy_int32 *pivots, npy_intp count, npy_intp m, npy_intp n);

/* Replaces x, which is n by k, by the solution of a x = x, or of that with the transpose of a. Factors are `step` matrices
 * apart: 0 if there is one for all. */
int gs_lu_solve(int type, const void *factors, const npy_int32 *pivots, npy_intp step, void *x, npy_intp count, npy_intp n,
                npy_intp k, int transposed);

/* The inverses of the matrices that have these factors. */
int gs_lu_inverse(int type, const void *factors, const npy_int32 *pivots, void *inverse, npy_intp count, npy_intp n);

/* Replaces x, which is n by k, by the solution of a x = x with triangular matrices a. */
int gs_triangular(int type, const void *a, npy_intp a_row, npy_intp a_column, npy_intp a_step, int upper,
                  int unitriangular, void *x, npy_intp count, npy_intp n, npy_intp k);

GS_HIDDEN_END

#endif
