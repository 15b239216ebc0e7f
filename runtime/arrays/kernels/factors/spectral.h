/* Eigenvalues and singular values of matrices that are not small. */
#ifndef GRADSMITH_SPECTRAL_H
#define GRADSMITH_SPECTRAL_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Is there what these need, see lapack.h? Called with the GIL, as all of these are. */
int gs_can_decompose(void);

/* Both work on `count` contiguous matrices of finite numbers of double precision, with the GIL released. They return the
 * number of matrices that were done: less than `count` if that of one did not converge; -1 with MemoryError.
 *
 * Eigenvalues of symmetric matrices in ascending order, and eigenvectors as columns. */
npy_intp gs_eigh(const double *a, double *values, double *vectors, npy_intp count, npy_intp n);

/* Singular values in descending order of m by n numbers, m >= n, between vectors that are columns of u and rows of vh.
 * Both NULL where no vectors are wanted; u has `left` columns: n or m. */
npy_intp gs_svd(const double *a, double *u, double *values, double *vh, npy_intp count, npy_intp m, npy_intp n,
                npy_intp left);

GS_HIDDEN_END

#endif
