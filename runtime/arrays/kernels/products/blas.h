/* The BLAS that NumPy calls, and SciPy's, seen from outside. */
#ifndef GRADSMITH_BLAS_H
#define GRADSMITH_BLAS_H

#include "support/simd.h"

GS_HIDDEN_BEGIN

/* Lets BLAS use at most n threads, see Note [Threads of BLAS]; called with the GIL, sets no exception. */
void gs_limit_blas_threads(int n);

/* The same limit, if there is one, for a SciPy that was imported later. */
void gs_limit_threads_of_scipy(void);

/* The limit that was asked for, or 0, and the threads of both libraries, 0 where they cannot be asked. */
typedef struct {
    int limit, numpy, scipy;
} gs_blas_threads;

/* For who limits them for a while and then gives them back. */
gs_blas_threads gs_get_blas_threads(void);
void gs_put_blas_threads(gs_blas_threads before);

/* The address of the first of these functions, of which NULL is the last, that NumPy's library has, or NULL; with the GIL. */
void *gs_function_of_numpy(const char *const *names);

/* Has it chosen kernels for AVX-512 on this machine?  Found out once, with the GIL. */
int gs_blas_uses_avx512(void);

GS_HIDDEN_END

#endif
