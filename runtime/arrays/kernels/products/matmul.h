/* One product of matrices, by whatever is best at it. */
#ifndef GRADSMITH_MATMUL_H
#define GRADSMITH_MATMUL_H

#include "products/gemm.h"

GS_HIDDEN_BEGIN

/* c = a @ b by gemm.c, by BLAS or by a kernel for small ones; the job neither subtracts nor has a bias.  Called with the
 * GIL, which larger products release; -1 with MemoryError. */
int gs_product_into(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
