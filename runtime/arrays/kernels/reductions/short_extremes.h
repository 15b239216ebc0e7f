/* The largest and smallest elements of short rows of floating numbers. */
#ifndef GRADSMITH_SHORT_EXTREMES_H
#define GRADSMITH_SHORT_EXTREMES_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Are there kernels for rows of n elements of this type? */
int gs_has_short_extremes(int type, npy_intp n);

/* out[row] = the largest, or the smallest, of x[row, :], NaN where there is one.  Called with the GIL. */
void gs_short_extremes(int type, int largest, const void *x, void *out, npy_intp rows, npy_intp n);

GS_HIDDEN_END

#endif
