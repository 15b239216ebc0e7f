/* Singular values and vectors of many small matrices. */
#ifndef GS_SINGULAR_VALUES_KERNELS_H
#define GS_SINGULAR_VALUES_KERNELS_H

#include <stddef.h>

#define GS_MOST_ROWS 8

/* Descending singular values of contiguous matrices of finite numbers with `rows` rows and `columns` columns. Of each
 * matrix `u` receives the first `left` left singular vectors as columns, and `vh` the first `right` right ones as rows;
 * no vectors if `u` is NULL. Gives the number of the first matrix for which the steps did not converge, or -1. */
ptrdiff_t gs_small_svd(const double *a, double *u, double *values, double *vh, ptrdiff_t count, int rows, int columns,
                       int left, int right);

#endif
