/* Walking several operands of one broadcast shape. */
#ifndef GRADSMITH_ITERATION_H
#define GRADSMITH_ITERATION_H

#include "support/loops.h"
#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

#define GS_MAX_OPERANDS 9 /* eight inputs of a fused kernel and its output */

/* One more dimension than NumPy allows: the innermost one may be split in two. */
#define GS_MAX_DIMS (NPY_MAXDIMS + 1)
#define GS_FEW_STEPS 8 /* rows of so few elements may be walked the other way */

/* Dimensions are stored as they lie in the output, innermost first (Note [Order of dimensions]); those of length 1 are
 * gone, and neighbours that all operands step through evenly are merged, so that operands of any shape that lie in
 * memory alike and without gaps are left with one dimension.  A broadcast operand has stride 0.  nd is at least 1 and
 * size may be 0. */
typedef struct {
    int n_operands;
    int nd;
    npy_intp size;
    npy_intp dims[GS_MAX_DIMS];
    npy_intp sizes[GS_MAX_OPERANDS]; /* of elements, in bytes */
    char *data[GS_MAX_OPERANDS];
    npy_intp strides[GS_MAX_OPERANDS][GS_MAX_DIMS];
} gs_iteration;

/* The common shape of arrays; its number of dimensions, or -1 with PyTorch's RuntimeError set. */
int gs_broadcast_shape(PyObject *const *arrays, int n, npy_intp *dims);

/* Arrays must broadcast to the shape; the last one is the output and has it exactly. */
void gs_iteration_init(gs_iteration *it, PyObject *const *arrays, int n, int nd, const npy_intp *dims);

/* The same without an output: in row-major order, as the elements of a result would lie. */
void gs_iteration_by_rows(gs_iteration *it, PyObject *const *arrays, int n, int nd, const npy_intp *dims);

/* Is there a loop for short rows that takes them: each input repeated or dense, the output dense? */
int gs_has_loop_of_rows(const gs_iteration *it, const gs_loop *loop);

/* Runs a loop over all elements, on several threads when there are many.  With enough elements to make that
 * worthwhile the GIL is released: the caller holds references to all operands. */
void gs_iteration_run(gs_iteration *it, const gs_loop *loop);

GS_HIDDEN_END

#endif
