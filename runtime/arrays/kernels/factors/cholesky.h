/* Triangular factors of positive definite matrices, and their gradients. */
#ifndef GRADSMITH_CHOLESKY_H
#define GRADSMITH_CHOLESKY_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* All of these work on `count` contiguous matrices of n by n, of any of the four types of BLAS. They are called with the
 * GIL, which is released when there is much to do; -1 with MemoryError, or with TypeError for another type.
 *
 * The lower triangular factors L with L L^H = A; only the lower triangles of A are read. `orders` receive 0, or the order
 * of the first leading minor that is not positive; such a factor is NaN. */
int gs_cholesky(int type, const void *a, void *factors, npy_int32 *orders, npy_intp count, npy_intp n);

/* The Hermitian gradients of A for gradients of L: L^-H H L^-1, where H is the Hermitian part of the lower triangle, with
 * half of its diagonal, of L^H times the gradient. Of both only the lower triangles are read. */
int gs_cholesky_slope(int type, const void *factors, const void *gradients, void *slopes, npy_intp count, npy_intp n);

GS_HIDDEN_END

#endif
