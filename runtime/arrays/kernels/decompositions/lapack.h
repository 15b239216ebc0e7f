/* Functions of the LAPACK that NumPy calls. */
#ifndef GRADSMITH_LAPACK_H
#define GRADSMITH_LAPACK_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

typedef void (*gs_function)(void);

/* With integers of 64 bits; matrices lie column after column. Lengths of strings come last, as Fortran's compilers hand
 * them over; spectral.h has the signatures. */
typedef struct {
    gs_function sytrd; /* a symmetric matrix to a diagonal and what is beside it */
    gs_function stedc; /* eigenvalues and eigenvectors of such a one, by divide and conquer */
    gs_function bdsdc; /* singular values and vectors of a bidiagonal matrix, by divide and conquer */
} gs_lapack;

/* Of NPY_FLOAT32 or NPY_FLOAT64. Found once, with the GIL; NULL when NumPy's library has one of them under no name that
 * says how wide its integers are. */
const gs_lapack *gs_lapack_of_numpy(int type);

GS_HIDDEN_END

#endif
