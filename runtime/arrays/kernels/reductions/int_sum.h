/* Sums of integers and bool, read in their own type. */
#ifndef GRADSMITH_INT_SUM_H
#define GRADSMITH_INT_SUM_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* out[o, i] = sum over r of x[o, r, i], modulo 2**64; sizes are at least 1, x is contiguous and of a bool or integer type.
 * -1 with MemoryError on failure.  Called with the GIL, which large sums release. */
int gs_sum_integers(int type, const char *x, int64_t *out, npy_intp outer, npy_intp r, npy_intp inner);

GS_HIDDEN_END

#endif
