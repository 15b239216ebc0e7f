/* Matrices of double precision as rows, and memory for them. */
#ifndef GRADSMITH_ROWS_H
#define GRADSMITH_ROWS_H

#include "support/array_cache.h"

GS_HIDDEN_BEGIN

/* to[j][i] = from[i][j], of rows so many numbers apart. */
void gs_transpose_rows(const double *from, npy_intp from_step, double *to, npy_intp to_step, npy_intp rows,
                       npy_intp columns);

/* An array of so many numbers, which begins at a cache line when it is large: a call that comes again and again pays for
 * no fresh pages. With the GIL; NULL with MemoryError. */
PyObject *gs_work_memory(npy_intp numbers, double **memory);

GS_HIDDEN_END

#endif
