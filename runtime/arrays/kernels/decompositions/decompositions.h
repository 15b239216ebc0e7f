/* Decompositions by reflections, of matrices of float32 and float64. */
#ifndef GRADSMITH_DECOMPOSITIONS_H
#define GRADSMITH_DECOMPOSITIONS_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* All of these work on `count` contiguous matrices of NPY_FLOAT32 or NPY_FLOAT64, as results are. They are called with
 * the GIL, which is released when there is much to do; -1 with MemoryError.
 *
 * What is wanted of the QR decomposition of m by n numbers, or NULL: */
typedef struct {
    void *basis;    /* m by k: the first columns of the orthogonal factor */
    void *triangle; /* k by n: the rows of the other one */
    void *parts;    /* n by m: its columns, each with the vector of a reflection after the diagonal, as from geqrf */
    void *factors;  /* of the min(m, n) reflections */
} gs_qr_results;

int gs_qr(int type, const void *a, const gs_qr_results *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k);

/* Is there what the others need, see lapack.h? */
int gs_can_decompose(void);

/* They take finite numbers, and return how many matrices were done: less than `count` if that of one did not converge.
 *
 * Eigenvalues of symmetric matrices in ascending order, and eigenvectors as columns, or NULL where none are wanted. */
npy_intp gs_eigh(int type, const void *a, void *values, void *vectors, npy_intp count, npy_intp n);

/* Singular values in descending order of m by n numbers, m >= n, between vectors that are columns of u and rows of vh.
 * Both NULL where no vectors are wanted; u has `left` columns: n or m. */
npy_intp gs_svd(int type, const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n,
                npy_intp left);

/* The same of one type: each_type.h. */
#define GS_DECOMPOSITIONS_OF(type)                                                                                     \
    int gs_qr_##type(const void *a, const gs_qr_results *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k); \
    npy_intp gs_eigh_##type(const void *a, void *values, void *vectors, npy_intp count, npy_intp n);                   \
    npy_intp gs_svd_##type(const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n,     \
                           npy_intp left);

GS_DECOMPOSITIONS_OF(float32)
GS_DECOMPOSITIONS_OF(float64)

GS_HIDDEN_END

#endif
