/* Products with a right operand so narrow that one vector, or two, hold a row of it. */
#ifndef GRADSMITH_NARROW_H
#define GRADSMITH_NARROW_H

#include "products/gemm.h"

GS_HIDDEN_BEGIN

/* Do one or two vectors hold a row of b, and are there rows of a and terms enough to use them? */
int gs_suits_narrow(const gs_gemm_job *job);

/* Needs AVX-512 and not the GIL. */
void gs_narrow(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
