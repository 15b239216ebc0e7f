/* Functions of the LAPACK that NumPy calls. */
#ifndef GRADSMITH_LAPACK_H
#define GRADSMITH_LAPACK_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Of double precision and with integers of 64 bits; matrices lie column after column. NULL where NumPy's library has none
 * under a name that says so. Lengths of strings come last, as Fortran's compilers hand them over. */
typedef struct {
    /* A symmetric matrix to a diagonal and what is beside it. */
    void (*sytrd)(const char *uplo, const int64_t *n, double *a, const int64_t *lda, double *d, double *e, double *tau,
                  double *work, const int64_t *lwork, int64_t *info, size_t);
    /* Eigenvalues and eigenvectors of such a one, by divide and conquer. */
    void (*stedc)(const char *compz, const int64_t *n, double *d, double *e, double *z, const int64_t *ldz, double *work,
                  const int64_t *lwork, int64_t *iwork, const int64_t *liwork, int64_t *info, size_t);
    /* Singular values and vectors of a bidiagonal matrix, by divide and conquer. */
    void (*bdsdc)(const char *uplo, const char *compq, const int64_t *n, double *d, double *e, double *u,
                  const int64_t *ldu, double *vt, const int64_t *ldvt, double *q, int64_t *iq, double *work,
                  int64_t *iwork, int64_t *info, size_t, size_t);
} gs_lapack;

/* Found once, with the GIL; NULL when one of the functions is missing. */
const gs_lapack *gs_lapack_of_numpy(void);

GS_HIDDEN_END

#endif
