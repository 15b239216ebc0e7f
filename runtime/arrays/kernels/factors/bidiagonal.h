/* Reduction of matrices to their diagonal and the one above it. */
#ifndef GRADSMITH_BIDIAGONAL_H
#define GRADSMITH_BIDIAGONAL_H

#include "factors/reflections.h"

GS_HIDDEN_BEGIN

/* A = Q B P^T for m by n numbers, m >= n. The columns of A are rows here, gs_row_step(m) numbers apart, and are used up.
 * B has n numbers on its diagonal and n - 1 above it. Vectors of reflections are rows too, as far apart as their sizes
 * demand: n `left` ones of m numbers, the product of which is Q, and n `right` ones of n numbers with P; so many factors
 * have both. */
typedef struct {
    double *columns;
    npy_intp m, n;
    double *diagonal, *above;
    double *left, *left_factors;
    double *right, *right_factors;
} gs_bidiagonal;

/* The numbers of memory that gs_reduce_to_bidiagonal needs. */
npy_intp gs_memory_to_reduce(npy_intp m, npy_intp n);

void gs_reduce_to_bidiagonal(const gs_algebra *algebra, const gs_bidiagonal *a, double *memory);

GS_HIDDEN_END

#endif
