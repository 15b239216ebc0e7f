/* Copying between arrays whose dimensions lie in memory in another order. */
#ifndef GRADSMITH_TRANSPOSED_H
#define GRADSMITH_TRANSPOSED_H

#include "iteration.h"

GS_HIDDEN_BEGIN

/* Copies elements of `size` bytes between the two operands of an iteration, the second of which is the output; they are
 * aligned and share no memory.  Returns 0, having done nothing, for layouts that would gain nothing.  The GIL is
 * released when there is much to copy: the caller holds references to both. */
int gs_copy_transposed(const gs_iteration *it, npy_intp size);

/* Elements of 4 or 8 bytes of some rows, which become columns: out[j][i] = in[i][j], by distances of rows in bytes.  What
 * is copied at once should be in the cache. */
void gs_lay_across(npy_intp size, const void *in, npy_intp in_step, void *out, npy_intp out_step, npy_intp rows,
                   npy_intp columns);

GS_HIDDEN_END

#endif
