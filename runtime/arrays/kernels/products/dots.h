/* Products of few long rows with few long columns. */
#ifndef GRADSMITH_DOTS_H
#define GRADSMITH_DOTS_H

#include "products/gemm.h"

GS_HIDDEN_BEGIN

/* Is this a product of so few rows and columns, each so long and in one piece, that packing them would take longer? */
int gs_suits_dots(const gs_gemm_job *job);

/* Needs AVX-512; neither the GIL nor memory. */
void gs_dots(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
