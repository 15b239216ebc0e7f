/* Sorting by digits: the order of the elements of a row, equal ones in the order of their places. */
#ifndef GRADSMITH_RADIX_KERNELS_H
#define GRADSMITH_RADIX_KERNELS_H

#include "support/numpy_api.h"

/* What the bits of an element mean. */
typedef enum { GS_UNSIGNED, GS_SIGNED, GS_FLOATING } gs_number_kind;

/* Places of the elements of each row, in ascending order; NaN is the greatest of all, and -0 equals 0.  Rows are
 * contiguous; elements have 4 or 8 bytes, and a row less than 2^32 of them.  -1 where there is no memory.  Called without
 * the GIL. */
int gs_order_rows(const void *rows, npy_intp n_rows, npy_intp n, int itemsize, gs_number_kind kind, npy_int64 *places);

#endif
