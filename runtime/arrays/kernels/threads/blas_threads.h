/* The threads of the BLAS that NumPy calls: see Note [Threads of BLAS]. */
#ifndef GRADSMITH_BLAS_THREADS_H
#define GRADSMITH_BLAS_THREADS_H

#include "support/simd.h"

GS_HIDDEN_BEGIN

/* Lets BLAS use at most n threads; called with the GIL, sets no exception. */
void gs_limit_blas_threads(int n);

GS_HIDDEN_END

#endif
