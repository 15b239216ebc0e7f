/* The largest and smallest elements of floating numbers along short rows, and along columns that lie side by side. */
#ifndef GRADSMITH_EXTREMES_H
#define GRADSMITH_EXTREMES_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Are there kernels for arrays (outer, r, inner), reduced along the middle, that are faster than NumPy's loops? */
int gs_has_extremes(int type, npy_intp r, npy_intp inner);

/* out[i, j] = the largest, or the smallest, of x[i, :, j], NaN where there is one.  Called with the GIL. */
void gs_extremes(int type, int largest, const void *x, void *out, npy_intp outer, npy_intp r, npy_intp inner);

GS_HIDDEN_END

#endif
