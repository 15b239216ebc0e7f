/* Products of contiguous arrays of integers and of complex numbers; see product.h. */
#ifndef GRADSMITH_INTEGER_COMPLEX_PRODUCT_H
#define GRADSMITH_INTEGER_COMPLEX_PRODUCT_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* out[o, i] = product over r of x[o, r, i]; sizes are at least 1.  Products of integers and bool are int64, and wrap
 * around. */
void gs_integer_complex_product(int type, const char *x, char *out, npy_intp outer, npy_intp r, npy_intp inner);

GS_HIDDEN_END

#endif
