/* Products with a right operand so narrow that one vector, or two, hold a row of it. */
#ifndef GRADSMITH_NARROW_H
#define GRADSMITH_NARROW_H

#include "products/gemm.h"

GS_HIDDEN_BEGIN

/* Does a row of b fit one or two vectors, and is the product large enough to gain by that? */
int gs_suits_narrow(const gs_gemm_job *job);

/* Needs AVX-512 and not the GIL. */
void gs_narrow(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
