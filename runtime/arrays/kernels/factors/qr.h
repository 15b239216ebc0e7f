/* Factors of matrices by reflections: an orthogonal one and a triangular one. */
#ifndef GRADSMITH_QR_H
#define GRADSMITH_QR_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* What is wanted of each matrix of m by n numbers, or NULL. */
typedef struct {
    double *basis;    /* m by k: the first columns of the orthogonal factor */
    double *triangle; /* k by n: the rows of the other one */
    double *parts;    /* n by m: its columns, each with the vector of a reflection after the diagonal, as from dgeqrf */
    double *factors;  /* of the min(m, n) reflections */
} gs_qr_results;

/* Of `count` contiguous matrices of double precision. Called with the GIL, which is released when there is much to do; -1
 * with MemoryError. */
int gs_qr(const double *a, const gs_qr_results *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k);

GS_HIDDEN_END

#endif
