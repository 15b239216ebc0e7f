/* Products of matrices so small that a call of BLAS would take most of the time. */
#ifndef GRADSMITH_SMALL_PRODUCTS_H
#define GRADSMITH_SMALL_PRODUCTS_H

#include "products/gemm.h"

GS_HIDDEN_BEGIN

#define GS_SMALL 4 /* rows and columns at most */

/* c = a @ b for one product of NPY_FLOAT32 or NPY_FLOAT64 with at most GS_SMALL rows, columns and terms; operands may have
 * any strides. */
void gs_small_product(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
