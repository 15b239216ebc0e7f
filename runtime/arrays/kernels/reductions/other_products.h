/* Products of contiguous arrays of integers and of complex numbers; see product.h. */
#ifndef GRADSMITH_OTHER_PRODUCTS_H
#define GRADSMITH_OTHER_PRODUCTS_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* out[o, i] = product over r of x[o, r, i]; sizes are at least 1.  Integers wrap around. */
void gs_product_int64(const int64_t *x, int64_t *out, npy_intp outer, npy_intp r, npy_intp inner);
void gs_product_complex64(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
void gs_product_complex128(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);

GS_HIDDEN_END

#endif
