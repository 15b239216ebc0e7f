/* Matrices as rows, and memory for them. */
#ifndef GRADSMITH_ROWS_H
#define GRADSMITH_ROWS_H

#include "support/array_cache.h"

GS_HIDDEN_BEGIN

/* to[j][i] = from[i][j], of elements of 4 or 8 bytes; from one row to the next are so many bytes. */
void gs_transpose_rows(npy_intp size, const void *from, npy_intp from_step, void *to, npy_intp to_step, npy_intp rows,
                       npy_intp columns);

/* An array of so many bytes, which begins at a cache line when it is large: a call that comes again and again pays for no
 * fresh pages. With the GIL; NULL with MemoryError. */
PyObject *gs_work_memory(npy_intp bytes, void **memory);

GS_HIDDEN_END

#endif
