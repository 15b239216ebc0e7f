/* Products of a matrix and a vector, and outer products. */
#ifndef GRADSMITH_GEMV_H
#define GRADSMITH_GEMV_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* All arrays hold elements of `type`, NPY_FLOAT32 or NPY_FLOAT64; rows of the matrix have unit stride and start `step`
 * elements apart.  Called with the GIL, which large products release. */

/* out[i] = sum over j of matrix[i, j] * x[j] */
void gs_matrix_vector(int type, const void *matrix, npy_intp step, const void *x, void *out, npy_intp rows, npy_intp columns);

/* out[j] = sum over i of x[i] * matrix[i, j] */
void gs_vector_matrix(int type, const void *x, const void *matrix, npy_intp step, void *out, npy_intp rows, npy_intp columns);

/* out[i, j] = x[i] * y[j], where x has any stride (in elements) */
void gs_outer(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns);

/* The same on one thread, which need not hold the GIL. */
void gs_outer_unlocked(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns);

GS_HIDDEN_END

#endif
