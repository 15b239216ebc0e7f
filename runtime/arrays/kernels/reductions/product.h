/* Products of contiguous float arrays. */
#ifndef GRADSMITH_PRODUCT_H
#define GRADSMITH_PRODUCT_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* out[o, i] = product over r of x[o, r, i]; sizes are at least 1.  The order of multiplications depends on the sizes and
 * the elements alone, never on the number of threads. */
void gs_product_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
void gs_product_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);

GS_HIDDEN_END

#endif
