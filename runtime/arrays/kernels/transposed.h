/* Copying between arrays whose dimensions lie in memory in another order. */
#ifndef GRADSMITH_TRANSPOSED_H
#define GRADSMITH_TRANSPOSED_H

#include "support/iteration.h"

GS_HIDDEN_BEGIN

/* Copies elements of `size` bytes between the two operands of an iteration, the second of which is the output; they are
 * aligned and share no memory.  Returns 0, having done nothing, for layouts that would gain nothing.  The GIL is
 * released when there is much to copy: the caller holds references to both. */
int gs_copy_transposed(const gs_iteration *it, npy_intp size);

GS_HIDDEN_END

#endif
