/* Eigenvalues and eigenvectors of many small symmetric matrices. */
#ifndef GS_EIGENVALUES_KERNELS_H
#define GS_EIGENVALUES_KERNELS_H

#include <stddef.h>

#define GS_MOST_ROWS 8

/* Ascending eigenvalues, and eigenvectors as columns, of contiguous matrices of finite numbers. Gives the number of the
 * first matrix for which the steps did not converge, or -1. */
ptrdiff_t gs_small_eigh(const double *a, double *values, double *vectors, ptrdiff_t count, int n);

#endif
